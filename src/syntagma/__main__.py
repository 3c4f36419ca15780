"""``python -m syntagma``."""

from syntagma.cli import main

main()
