"""What ``structural_pairs.py`` draws from: words, clauses with their trees, and constructions."""
