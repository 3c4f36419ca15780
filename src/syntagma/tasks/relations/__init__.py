"""Relations between two mentions."""
