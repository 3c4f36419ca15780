"""Faster kernels for training on processors."""
