"""Run every measurement that needs no data of yours."""

from __future__ import annotations

from benchmarks import guides, masks, parsing

for measurement in (masks, parsing, guides):
    measurement.main()
