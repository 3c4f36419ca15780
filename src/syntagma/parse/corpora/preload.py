"""Imported by the server from which workers are forked: imports once what all of them need."""

import atexit
import os

from syntagma.lifeline import STARTER, ending_with_parent

# The server looks for the end of its parent only afterwards, and this takes seconds.
with ending_with_parent():
    import syntagma.parse.corpora.annotator  # noqa: F401

if STARTER in os.environ:
    # The server has nothing to save, and the teardown of torch would take a second.
    atexit.register(os._exit, 0)
