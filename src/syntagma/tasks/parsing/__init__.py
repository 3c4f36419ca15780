"""Training the parser."""
