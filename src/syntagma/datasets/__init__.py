"""Generators of datasets: unanswerable questions and probing sets."""
