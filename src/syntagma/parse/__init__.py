"""Parsing: the joint parser, its decoders and scores, other parse sources, annotated corpora."""
