"""Pretrained encoders: where they are found and how changes to them are kept small."""
