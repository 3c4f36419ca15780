"""Machine translation, trained from scratch or from a pretrained model."""
