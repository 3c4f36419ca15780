"""The limits of a server: how much a request may ask for, and how jobs are batched."""

from __future__ import annotations

from dataclasses import dataclass, fields

from syntagma.errors import InputError


@dataclass(frozen=True, slots=True)
class Limits:
    """What a server accepts, and how long anyone waits.

    Args:
        body_bytes: the longest body of a request.
        text_characters: the longest text, passage or other string of a request.
        question_characters: the longest question.
        items: the most questions, texts or inputs of a request.
        requests: the most requests at a time, those that wait included.
        queue: the most jobs that wait for a worker.
        seconds: the longest time from the body of a request to its response; with streaming, to
            the next line.
        read_seconds: the longest time that a client may take to send a request, and the longest
            time in which it takes in nothing of the response.
        batch_items: the most jobs in a batch.
        batch_characters: the most characters in a batch; one longer job is a batch by itself.
        batch_wait_ms: milliseconds that a job may wait for others to join its batch while a
            worker is free.
    """

    body_bytes: int = 4 * 2**20
    text_characters: int = 200_000
    question_characters: int = 2_000
    items: int = 256
    requests: int = 64
    queue: int = 1024
    seconds: float = 30.0
    read_seconds: float = 10.0
    batch_items: int = 32
    batch_characters: int = 100_000
    batch_wait_ms: float = 5.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            lowest = 0 if field.name == "batch_wait_ms" else 1
            # The negation catches NaN too.
            if not value >= lowest or value == float("inf"):
                option = f"--{field.name.replace('_', '-')}"
                raise InputError(f"{option}: expected a number from {lowest}, got {value}")
        if self.queue < self.items:
            raise InputError(
                f"--queue {self.queue}: a request of --items {self.items} would never fit; raise "
                f"the queue to {self.items} or more, or lower the items"
            )
