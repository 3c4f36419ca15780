"""Encoders with syntactic guides."""
