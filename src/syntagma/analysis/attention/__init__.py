"""Record attention weights and co-attention scores of models, and draw them."""
