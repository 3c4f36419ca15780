"""The weights of a saved parser for one that has more labels."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor


def with_new_rows(saved: Mapping[str, Tensor], new: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return saved weights, with the last rows of the new ones where these have more.

    Args:
        saved: weights by name; in those of scorers each label has a row.
        new: weights of the parser to load them into, which may lack some.  Its labels begin with
            those of the saved parser.
    """
    added = {
        name: torch.cat([saved[name], new[name][len(saved[name]) :].to(saved[name])])
        for name in added_to(saved, new)
    }
    return dict(saved) | added


def added_to(saved: Mapping[str, Tensor], new: Mapping[str, Tensor]) -> set[str]:
    """Return the names of weights that have more rows than the saved ones."""
    return {
        name
        for name, weight in saved.items()
        if weight.ndim and name in new and len(new[name]) > len(weight)
    }
