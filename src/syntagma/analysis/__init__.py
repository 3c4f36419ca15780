"""Read finished runs, compare them, and take their scores apart."""
