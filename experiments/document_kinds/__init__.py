"""Kinds of everyday documents, with questions: what ``made_documents.py`` writes."""
