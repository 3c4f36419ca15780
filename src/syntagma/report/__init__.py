"""From saved results to tables and pictures."""
