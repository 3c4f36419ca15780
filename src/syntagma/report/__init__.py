"""From saved results to tables and pictures.

Here runs are compared and counted; ``drawing`` draws plain data, ``pages`` writes HTML of both.
"""
