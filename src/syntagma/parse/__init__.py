"""From sentences to parses; replaceable as a whole."""
