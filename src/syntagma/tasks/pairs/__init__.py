"""Two texts and how they relate: inference."""
