"""Observe models while they read, and draw attention and the turns of co-attention."""
