"""Types of a mention."""
