"""Numbers of parameters of saved models, and values that their guides have learned.

SEPREM reports the learned α (Table 6), SG-Net the number of parameters added by the guide (7.7).
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
        parameters: number of parameters of the ``encoder``, of each guide, and of the ``head``.
        learned: values that were learned or fixed, by name.
    """

    parameters: dict[str, int]
    learned: dict[str, float]

    @property
    def total(self) -> int:
        """Number of all parameters."""
        return sum(self.parameters.values())


def read_numbers(folder: str | Path) -> ModelNumbers | None:
    """Read the numbers of a model without loading its weights.

    Args:
        folder: folder of a model or run.

    Returns:
        The numbers; ``None`` if the folder does not contain a model.

    Raises:
        InputError: the configuration is not that of a Syntagma model.
        DamagedFileError: the weights are damaged.
    """
    folder = Path(folder)
    if not (folder / WEIGHTS).is_file() or not (folder / CONFIG).is_file():
        return None
    config = read_config(folder)
    guides = config.read_guides(read_guides)
    counts = {ENCODER: 0, **dict.fromkeys(guides, 0), HEAD: 0}
    # Count on a model without memory: the file may also contain buffers, or only the differences
    # from published weights.
    for name, weight in blank_model(config).named_parameters():
        module = name.partition(".")[0]
        counts[module if module in counts else HEAD] += weight.numel()
    try:
        with safetensors.safe_open(folder / WEIGHTS, "pt") as file:
            learned = _learned(file, guides)
    except safetensors.SafetensorError as error:
        raise DamagedFileError(f"{folder / WEIGHTS}: damaged ({error})") from error
    return ModelNumbers(counts, learned)


def _learned(file: Any, guides: Mapping[str, Any]) -> dict[str, float]:
    """Collect the learned values of each guide."""
    found: dict[str, float] = {}
    for name, settings in guides.items():
        prefix = f"{name}."
        # Guides read only the weights that they need, so pass functions instead of values.
        weights = {
            key.removeprefix(prefix): partial(_numbers, file, key)
            for key in file.keys()  # noqa: SIM118 (not a mapping)
            if key.startswith(prefix)
        }
        if weights:
            found |= GUIDES[name].learned_numbers(settings, weights)
    return found


def _numbers(file: Any, name: str) -> list[float]:
    values: list[float] = file.get_tensor(name).float().flatten().tolist()
    return values
