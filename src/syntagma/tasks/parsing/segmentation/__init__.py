"""Learn from a treebank how raw text is cut into sentences, tokens and words."""
