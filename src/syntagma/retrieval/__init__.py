"""Find the passages of documents that may answer a question."""
