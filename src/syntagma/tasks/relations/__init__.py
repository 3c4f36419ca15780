"""Relation classification: the relation between two mentions."""
