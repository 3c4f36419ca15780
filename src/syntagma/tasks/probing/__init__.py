"""Probes of frozen encoders: properties of sentences, distances and depths in their trees."""
