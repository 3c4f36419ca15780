"""Translation, trained from scratch or from a pretrained model."""
