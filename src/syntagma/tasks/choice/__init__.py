"""Reading comprehension with options."""
