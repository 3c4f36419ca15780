"""Reproduce the tables and figures of the papers, and compare their numbers with ours."""
