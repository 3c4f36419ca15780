"""Benchmarks: each prints a table of ratios measured in one run; `make bench` runs them all."""
