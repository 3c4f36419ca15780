"""Dependency and constituency parsing, for training and scoring parsers."""
