"""What frozen vectors know: properties of sentences, distances and depths of their trees."""
