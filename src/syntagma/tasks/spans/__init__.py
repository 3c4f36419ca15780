"""Extractive reading comprehension: answers are spans of a passage."""
