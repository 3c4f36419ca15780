"""Generators of datasets: questions, passage layouts, probing sets, trees without punctuation."""
