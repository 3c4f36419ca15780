"""Annotated corpora on disk: text in, Parquet shards of parses out, and back."""
