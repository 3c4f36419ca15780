"""Compare finished runs, test differences, and break scores down."""
