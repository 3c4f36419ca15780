"""Run every measurement that needs no data of yours."""

from __future__ import annotations

from benchmarks import choice, corpora, distances, guides, masks, padding, parsing, training

for measurement in (masks, parsing, training, padding, guides, distances, choice, corpora):
    measurement.main()
