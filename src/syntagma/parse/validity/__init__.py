"""Trees that the validator of Universal Dependencies accepts."""
