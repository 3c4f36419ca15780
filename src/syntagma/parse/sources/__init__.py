"""Sources of parses: the parsers of this package and of other libraries, files, and controls."""
