"""Tiny guided encoders, and batches that they read."""

from __future__ import annotations

import torch

from syntagma.encoders.config import SyntagmaConfig
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.models.guides import resolve_guides
from tests.conftest import SUPPORTED, tiny_config

GUIDES: dict[str, dict[str, object]] = {
    "pos_embedding": {},
    "tree_distance": {},
    "ancestor_attention": {},
}


NOT_ADDING = {"deberta", "deberta-v2", "longformer", "mt5", "mvp", "t5"}
"""Encoders whose layers do not add their mask to the scores of attention."""

ADDING = [name for name in SUPPORTED if name not in NOT_ADDING]


def guided(model_type: str, **guides) -> GuidedEncoder:
    """Build an encoder with guides and random weights, in evaluation mode."""
    torch.manual_seed(0)
    config = SyntagmaConfig(encoder=tiny_config(model_type), guides=resolve_guides("none", guides))
    model = GuidedEncoder(config)
    model.post_init()
    return model.eval()


def batch(n: int = 9, rows: int = 3) -> dict[str, torch.Tensor]:
    """Return a special token, a chain of four words, a flat tree of three, a special token."""
    torch.manual_seed(1)
    enter = torch.tensor([-1, 0, 1, 2, 3, 4, 5, 6, -9])
    exit_ = torch.tensor([0, 4, 4, 4, 4, 7, 6, 7, -8])
    word = torch.tensor([-1, 0, 1, 2, 3, 4, 5, 6, -1])
    return {
        "input_ids": torch.randint(5, 90, (rows, n)),
        "attention_mask": torch.ones(rows, n, dtype=torch.long),
        "enter": enter.expand(rows, n).clone(),
        "exit": exit_.expand(rows, n).clone(),
        "word": word.expand(rows, n).clone(),
    }


def whole_batch() -> dict[str, torch.Tensor]:
    """Return :func:`batch` with all columns that guides read."""
    depth = torch.tensor([-1, 0, 1, 2, 3, 0, 1, 1, -1]).expand(3, 9)
    sentence = torch.tensor([-1, 0, 0, 0, 0, 1, 1, 1, -1]).expand(3, 9)
    parent = torch.tensor([-1, -1, 0, 1, 2, 3, 4, 4, -1]).expand(3, 9)
    return {
        **batch(),
        "depth": depth,
        "sentence": sentence,
        "tag": sentence + 2,
        "parent": parent,
        "relation": parent + 1,
    }


def padded_batch() -> dict[str, torch.Tensor]:
    """Return :func:`whole_batch` with a second row that is shorter and padded."""
    found = {name: column.clone() for name, column in whole_batch().items()}
    found["attention_mask"][1, 6:] = 0
    for name in ("word", "sentence"):
        found[name][1, 6:] = -1
    return found


def plain(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return what an encoder without guides reads of a batch."""
    return {name: tensors[name] for name in ("input_ids", "attention_mask")}
