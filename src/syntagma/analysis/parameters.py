"""What guides have learnt, and how many parameters models have, read from model folders.

SEPREM reports the α that its models end up with (Table 6), SG-Net what a guide adds (7.7).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import safetensors

from syntagma.encoders.config import read_config
from syntagma.encoders.default import CONFIG, WEIGHTS
from syntagma.errors import DamagedFileError
from syntagma.models.guides import GUIDES, read_guides
from syntagma.tasks.auto import blank_model

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
    guides = config.read_guides(read_guides)
    counts = {ENCODER: 0, **dict.fromkeys(guides, 0), HEAD: 0}
    # The file may hold buffers too, or differences to what is published.
    for name, weight in blank_model(config).named_parameters():
        part = name.partition(".")[0]
        counts[part if part in counts else HEAD] += weight.numel()
    try:
        with safetensors.safe_open(folder / WEIGHTS, "pt") as file:
            learned = _learned(file, guides)
    except safetensors.SafetensorError as error:
        raise DamagedFileError(f"{folder / WEIGHTS}: damaged ({error})") from error
    return ModelNumbers(counts, learned)


def _learned(file: Any, guides: Mapping[str, Any]) -> dict[str, float]:
    """The few single numbers that characterise each guide."""
    found: dict[str, float] = {}
    for name, settings in guides.items():
        own = f"{name}."
        weights = {
            key.removeprefix(own): partial(_numbers, file, key)
            for key in file.keys()  # noqa: SIM118 (not a mapping)
            if key.startswith(own)
        }
        if weights:
            found |= GUIDES[name].learned_numbers(settings, weights)
    return found


def _numbers(file: Any, name: str) -> list[float]:
    values: list[float] = file.get_tensor(name).float().flatten().tolist()
    return values
