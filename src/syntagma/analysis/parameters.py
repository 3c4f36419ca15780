"""What guides have learnt, and how many parameters models have, read from model folders.

SEPREM reports the α that its models end up with (Table 6), SG-Net what a guide adds (7.7).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp
from pathlib import Path
from typing import Any

import safetensors

from syntagma.encoders.config import read_config
from syntagma.encoders.saved import CONFIG, WEIGHTS
from syntagma.errors import DamagedFileError
from syntagma.models.auto import blank_model
from syntagma.models.config import GUIDES

__all__ = ["ModelNumbers", "read_numbers"]

ENCODER, HEAD = "encoder", "head"


@dataclass(frozen=True, slots=True)
class ModelNumbers:
    """Numbers of a saved model.

    Args:
        parameters: how many, by part: ``encoder``, each guide, ``head``.
        learned: single numbers that were learnt or set, by what they are.
    """

    parameters: dict[str, int]
    learned: dict[str, float]

    @property
    def total(self) -> int:
        """All parameters."""
        return sum(self.parameters.values())


def read_numbers(folder: str | Path) -> ModelNumbers | None:
    """The numbers of a model, without loading it.

    Args:
        folder: of a model or run.

    Returns:
        ``None`` where the model itself is not there.

    Raises:
        InputError: the configuration is not one of ours.
        DamagedFileError: the weights are damaged.
    """
    folder = Path(folder)
    if not (folder / WEIGHTS).is_file() or not (folder / CONFIG).is_file():
        return None
    config = read_config(folder)
    counts = {ENCODER: 0, **{name: 0 for name in GUIDES if name in config.guides}, HEAD: 0}
    # The file may hold buffers too, or differences to what is published.
    for name, weight in blank_model(config).named_parameters():
        part = name.partition(".")[0]
        counts[part if part in counts else HEAD] += weight.numel()
    try:
        with safetensors.safe_open(folder / WEIGHTS, "pt") as file:
            learned = _learned(file, config.guides)
    except safetensors.SafetensorError as error:
        raise DamagedFileError(f"{folder / WEIGHTS}: damaged ({error})") from error
    return ModelNumbers(counts, learned)


def _learned(file: Any, guides: dict[str, Any]) -> dict[str, float]:
    """The few single numbers that tell what a guide does."""
    found: dict[str, float] = {}
    names = set(file.keys())
    if (name := "tree_distance.alpha") in names:
        found["α, share of the mixed states (tree_distance)"] = _numbers(file, name)[0]
    attention = guides.get("ancestor_attention", {})
    if attention.get("aggregation") == "dual":
        found["α, share of H, set (ancestor_attention)"] = float(attention["alpha"])
    if (name := "ancestor_attention.aggregator.scalars") in names:
        plain, guided = _numbers(file, name)
        found["share of H, learnt (ancestor_attention)"] = 1 / (1 + exp(guided - plain))
        found["share of H′, learnt (ancestor_attention)"] = 1 / (1 + exp(plain - guided))
        scale = _numbers(file, "ancestor_attention.aggregator.scale")[0]
        found["γ, scale of both (ancestor_attention)"] = scale
    return found


def _numbers(file: Any, name: str) -> Sequence[float]:
    values: list[float] = file.get_tensor(name).float().flatten().tolist()
    return values
