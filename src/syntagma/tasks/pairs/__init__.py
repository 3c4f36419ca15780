"""Classification of text pairs, such as natural language inference."""
