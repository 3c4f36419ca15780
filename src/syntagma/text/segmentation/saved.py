"""The file of a segmenter that was learned from a treebank."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from syntagma.errors import DamagedFileError
from syntagma.formats import check_format, stamp
from syntagma.text.segmentation.learned.cutter import Cutter
from syntagma.text.segmentation.learned.expansion import Expander, Rule
from syntagma.text.segmentation.learned.joins import Joiner
from syntagma.text.segmentation.learned.pieces import Pieces
from syntagma.text.segmentation.segmenter import Segmenter
from syntagma.text.segmentation.splitter import NO_THRESHOLDS, Splitter

SEGMENTATION = "segmentation.safetensors"
"""Name of the file in the folder of a parser."""
FORMAT = 3
"""2 without a joiner and with few gaps, and 1 without pieces: so that earlier versions read it."""
_CARD = "card"
_PARTS = ("splitter", "cutter", "expander", "joiner")
_REMEDY = "train the parser again, or get the file again"

Arrays = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class SavedSegmenter:
    """Everything that a segmenter learned.

    Args:
        splitter: weights of :class:`Splitter`.
        cutter: weights of :class:`Cutter`.
        expander: weights of :class:`Expander`; empty if no token stands for several words.
        rules: its rules.
        endings: the endings of tokens to which they may apply.
        reads_pieces: whether the cutter looks at the pieces of an encoder.
        joiner: weights of :class:`Joiner`; empty if no word has a space inside.
    """

    splitter: Arrays = field(repr=False)
    cutter: Arrays = field(repr=False)
    expander: Arrays = field(default_factory=dict, repr=False)
    rules: tuple[Rule, ...] = field(default=(), repr=False)
    endings: tuple[str, ...] = ()
    reads_pieces: bool = False
    joiner: Arrays = field(default_factory=dict, repr=False)

    def segmenter(self, pieces: Pieces | None = None) -> Segmenter:
        """Return the segmenter with these weights.

        Args:
            pieces: of the parser's encoder; needed if it reads them.

        Raises:
            ValueError: it reads pieces, and none were given.
        """
        if self.reads_pieces and pieces is None:
            raise ValueError("this segmenter reads the pieces of an encoder, and none were given")
        expander = Expander(self.rules, self.endings, self.expander) if self.rules else None
        return Segmenter(
            Splitter(dict(self.splitter), NO_THRESHOLDS),
            cutter=Cutter(self.cutter, pieces if self.reads_pieces else None),
            expander=expander,
            joiner=Joiner(self.joiner) if self.joiner else None,
            content=self.to_bytes(),
        )

    def to_bytes(self) -> bytes:
        """Return the content of the file; the same weights give the same bytes."""
        arrays = {
            f"{part}.{name}": np.ascontiguousarray(array)
            for part in _PARTS
            for name, array in sorted(getattr(self, part).items())
        }
        is_new = self.joiner or "everywhere" in self.splitter
        card = stamp(FORMAT if is_new else 2 if self.reads_pieces else 1) | {
            "rules": [
                {
                    "cuts": rule.cuts,
                    "strip": rule.strip,
                    "add": rule.add,
                    "rest": rule.rest,
                    "tokens": sorted(rule.tokens),
                }
                for rule in self.rules
            ],
            "endings": self.endings,
        }
        if self.reads_pieces:
            card["reads_pieces"] = True
        # A single entry, because safetensors writes several in no fixed order.
        return save(arrays, metadata={_CARD: json.dumps(card, ensure_ascii=False)})

    @classmethod
    def read(cls, path: Path) -> SavedSegmenter:
        """Read the file.

        Raises:
            InputError: it was written in a later format.
            DamagedFileError: it is not such a file.
        """
        try:
            with safe_open(path, framework="numpy") as file:
                card = json.loads((file.metadata() or {})[_CARD])
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            check_format(card, path, FORMAT, remedy=_REMEDY)
            parts: dict[str, dict[str, Any]] = {part: {} for part in _PARTS}
            for name, array in arrays.items():
                part, _, own = name.partition(".")
                parts[part][own] = array
            rules = tuple(
                Rule(
                    tuple(each["cuts"]),
                    each["strip"],
                    each["add"],
                    tuple(each["rest"]),
                    frozenset(each["tokens"]),
                )
                for each in card["rules"]
            )
            reads_pieces = card.get("reads_pieces", False) is True
            found = cls(
                **parts, rules=rules, endings=tuple(card["endings"]), reads_pieces=reads_pieces
            )
            found.segmenter(lambda runs: [])  # Fails if weights are missing.
        except (SafetensorError, KeyError, TypeError, ValueError) as error:
            raise DamagedFileError(
                f"{path}: expected what a parser learned about segmentation, got a damaged file "
                f"({error}); {_REMEDY}"
            ) from error
        return found
