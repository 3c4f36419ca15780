"""Take results of `syntagma reproduce` into the package's index, and write docs/reproduce.md again.

python experiments/record_results.py runs/reproduce/cpu/results/sg-net_table3/result.json
"""

from __future__ import annotations

import sys
from pathlib import Path

from syntagma.reproduce.index import record

if __name__ == "__main__":
    page = Path(__file__).parent.parent / "docs" / "reproduce.md"
    for name in record([Path(path) for path in sys.argv[1:]], page):
        print(name)
