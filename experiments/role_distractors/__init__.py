"""Distractors for ``who_did_what.py``: who does what in a sentence, and sentences made from it."""
