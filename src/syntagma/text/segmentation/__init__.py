"""Segment raw text into sentences and words."""
