"""Cut raw text into sentences and words."""
