"""Where parses come from: the parsers of this package and of others, files, and controls."""
