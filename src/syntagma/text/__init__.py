"""Raw text and treebank files: reading, segmentation, and alignment of words with pieces."""
