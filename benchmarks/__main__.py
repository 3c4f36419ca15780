"""Run all benchmarks that need no external data."""

from __future__ import annotations

from importlib import import_module

for name in (
    "masks",
    "precision",
    "parsing",
    "reading",
    "export",
    "training",
    "padding",
    "guides",
    "distances",
    "choice",
    "translation",
    "corpora",
    "retrieval",
    "extraction",
    "start",
    "small",
    "serve",
    "beside",
):
    import_module(f"benchmarks.{name}").main()
