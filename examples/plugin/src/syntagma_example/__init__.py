"""An example of a package with parts for Syntagma; its pyproject.toml names them."""
