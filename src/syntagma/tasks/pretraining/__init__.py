"""Continued pre-training on words, heads and distances."""
