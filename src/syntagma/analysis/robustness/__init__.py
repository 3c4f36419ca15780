"""Measure how scores change with noisy parses or with parses of other sources.

SG-Net (journal version, section 7.6) replaces 0 to 100 % of the heads, POI-Net (Table 6) some of
the tags.  Models that do not read what is replaced appear as a flat line.
"""

from __future__ import annotations

from syntagma.analysis.robustness.noise import SHARES, NoiseCurve, check_kind, noise_curve
from syntagma.analysis.robustness.plots import write_noise_curves, write_parser_table
from syntagma.analysis.robustness.sources import OWN, ParserTable, check_sources, parser_table
from syntagma.analysis.robustness.trained import training_noise_curve

__all__ = [
    "OWN",
    "SHARES",
    "NoiseCurve",
    "ParserTable",
    "check_kind",
    "check_sources",
    "noise_curve",
    "parser_table",
    "training_noise_curve",
    "write_noise_curves",
    "write_parser_table",
]
