"""The weights of ``multilingual-parser``, which Syntagma reads from this folder."""
