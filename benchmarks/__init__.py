"""Measurements: each prints a table of ratios within one run, and `make bench` saves them all."""
