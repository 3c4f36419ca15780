"""Draw trees, attention, scores and curves as vector graphics."""
