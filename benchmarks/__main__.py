"""Run every measurement that needs no data of yours."""

from __future__ import annotations

from benchmarks import attention, choice, corpora, distances, guides, masks, padding, parsing

for measurement in (masks, parsing, attention, padding, guides, distances, choice, corpora):
    measurement.main()
