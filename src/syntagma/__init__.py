"""Make any pretrained Transformer encoder read with syntax."""

__version__ = "0.1.0"
