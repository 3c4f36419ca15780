"""Word segmentation that was learned from a treebank."""
