"""Small made-up data sets, one for each task: to try a task on, and to test it with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SENTENCES = (
    "The old ferry crossed the wide river before dawn.",
    "Nobody on the quiet pier had expected it to come back so soon.",
    "Her captain, who never slept, counted 14 crates of oranges.",
    "They can't sell what they don't own, said the harbour master.",
    "A gull cried; the engines stopped, and the crew tied the ropes.",
    "Was the letter from Ms. Okafor still in the blue bag?",
    "Rain fell on the roofs of the town until the lamps went out.",
    "Zürich, São Paulo and 東京 were painted on the crates.",
)
"""What the data sets are made of."""

PRESETS = ("none", "sg-net", "seprem", "poi-net", "all")


@dataclass(frozen=True)
class Sample:
    """How a small data set of a task is made, and the settings that suit it.

    Args:
        write: writes it into a folder, so many copies of the sentences long, and returns what
            ``data.train`` names; the examples differ from copy to copy.
        head: settings of the head that suit texts so short, and an encoder of 160 positions.
        training: settings of the training without which the task cannot be trained.
        presets: the guides that models of the task take.
        encoder: what ``encoder`` must be for the task; empty where any encoder will do.
    """

    write: Callable[[Path, int], str]
    head: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)
    presets: tuple[str, ...] = PRESETS
    encoder: str = ""
