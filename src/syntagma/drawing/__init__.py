"""Trees, attention, scores and curves as vector pictures."""
