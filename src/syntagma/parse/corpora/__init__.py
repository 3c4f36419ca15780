"""Annotated corpora: parses of large inputs in Parquet shards, written in parallel."""
