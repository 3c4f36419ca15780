"""What a server counts and measures, in the format of Prometheus."""

from __future__ import annotations

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

MEDIA_TYPE = CONTENT_TYPE_LATEST
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128)


class Metrics:
    """The metrics of one server; labels come from fixed lists, never from requests."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.requests = Counter(
            "syntagma_requests", "Responses.", ["route", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "syntagma_request_seconds",
            "Time from the first byte of a request to the last of its response.",
            ["route"],
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.refused = Counter(
            "syntagma_refused_requests",
            "Requests that were refused, by the limit or the check that refused them.",
            ["reason"],
            registry=self.registry,
        )
        self.open = Gauge(
            "syntagma_open_requests", "Requests at this moment.", registry=self.registry
        )
        self.queue = Gauge(
            "syntagma_queue_jobs", "Jobs that wait for a worker.", registry=self.registry
        )
        self.waited = Histogram(
            "syntagma_queue_seconds",
            "Time that a job waited for a worker.",
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.batch_jobs = Histogram(
            "syntagma_batch_jobs",
            "Jobs in a batch.",
            ["operation"],
            buckets=_SIZES,
            registry=self.registry,
        )
        self.batch_seconds = Histogram(
            "syntagma_batch_seconds",
            "Time that a worker took for a batch.",
            ["operation"],
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.workers = Gauge(
            "syntagma_ready_workers", "Workers that have loaded the models.", registry=self.registry
        )
        self.deaths = Counter(
            "syntagma_worker_deaths",
            "Workers that ended unexpectedly.",
            registry=self.registry,
        )

    def text(self) -> bytes:
        """Return the current values."""
        return generate_latest(self.registry)
