"""Reading comprehension whose answers are spans of a passage."""
