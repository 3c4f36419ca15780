"""Turn parses and subword pieces into integer tensors."""
