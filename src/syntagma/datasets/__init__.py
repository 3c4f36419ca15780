"""Generators of datasets: unanswerable questions, probing sets, trees without punctuation."""
