"""Continued pre-training on masked words, heads and distances."""
