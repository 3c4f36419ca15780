"""From parses and word pieces to plain tensors."""
