"""Studies: systems that are trained on the same seeds and compared with their controls."""
