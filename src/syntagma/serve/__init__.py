"""Serve models over HTTP: ``syntagma serve``.

One process speaks HTTP and never computes; worker processes hold the models.  A request becomes
*jobs* (one question, one text, one input each); jobs of all requests wait in one bounded queue,
from which they go to the workers in batches.

``limits``, ``keys`` and ``gate`` guard the door; ``schemas``, ``answer_schemas`` and ``routes`` say
what the API is; ``service`` turns requests into jobs; ``batching`` is the queue; ``pool`` and
``worker`` are the two ends of the pipe to a worker process; ``operations`` does the work there, on
the models that ``named_models`` found on the command line.
"""
