"""The only code that touches raw text and treebank files."""
