"""Search by meaning: texts as unit vectors of a sentence encoder."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from syntagma.batches import call_cost_on, token_budget_batches
from syntagma.encoders import hub
from syntagma.encoders.default import WEIGHTS, sha256
from syntagma.encoders.load import (
    build_encoder,
    encoder_weights,
    load_encoder_config,
    load_tokenizer,
    max_pieces,
)
from syntagma.encoders.precision import autocast, require_device, set_precision
from syntagma.encoders.reference import ModelName, find_model

MAX_PIECES = 256
"""Pieces of a text that its vector is computed from, as the encoders were published."""
BATCH_TOKENS = 4096
ROWS = 65_536
"""Number of vectors that are compared at a time, so that little of them is in memory at once."""


class SentenceEncoder:
    """Turns texts into unit vectors: the mean over the states of their pieces.

    This is how all-MiniLM and all-mpnet, the encoders that can be downloaded as ``default`` and
    ``accurate``, were trained to be read (Reimers & Gurevych 2019).

    Args:
        name: an encoder: ``default``, ``accurate``, a folder or a hub name.
        device: where to compute.

    Raises:
        InputError: there is no such encoder or device.
    """

    def __init__(self, name: ModelName = "default", *, device: str = "cpu") -> None:
        require_device(device)
        self.ref = find_model(name)
        config = load_encoder_config(self.ref)
        self.size = int(config.hidden_size)
        self.longest = min(MAX_PIECES, max_pieces(config))
        self.device = torch.device(device)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the encoder's weights, which the vectors depend on.

        It is empty if a model of the hub has its weights in several files or another format.
        """
        if self.ref.folder.is_dir():
            return self.ref.digest
        weights = hub.find_file(self.ref.place, WEIGHTS, self.ref.options)
        return "" if weights is None else sha256(weights)

    @cached_property
    def _loaded(self) -> tuple[Any, nn.Module]:
        # Only now: an index that is up to date needs no model.
        model = build_encoder(load_encoder_config(self.ref))
        model.load_state_dict(encoder_weights(self.ref))
        model = model.eval().to(self.device)
        set_precision(model, "auto")
        return load_tokenizer(self.ref), model

    @torch.inference_mode()
    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Compute the vectors of texts; what exceeds :data:`MAX_PIECES` does not count.

        Args:
            texts: any texts.

        Returns:
            Unit vectors, ``[n_texts, size]``.
        """
        vectors = np.zeros((len(texts), self.size), dtype=np.float32)
        if not texts:
            return vectors
        tokenizer, model = self._loaded
        pieces = tokenizer(
            list(texts), truncation=True, max_length=self.longest, return_attention_mask=False
        )["input_ids"]
        lengths = [len(row) for row in pieces]
        cost = call_cost_on(self.device.type)
        for batch in token_budget_batches(lengths, BATCH_TOKENS, call_cost=cost):
            padded = tokenizer.pad(
                {"input_ids": [pieces[index] for index in batch]}, return_tensors="pt"
            ).to(self.device)
            with autocast(self.device):
                states = model(**padded).last_hidden_state
            mask = padded["attention_mask"].unsqueeze(-1).to(torch.float32)
            means = (states.float() * mask).sum(1) / mask.sum(1)
            vectors[batch] = torch.nn.functional.normalize(means, dim=-1).cpu().numpy()
        return vectors


def similarities(
    vectors: NDArray[np.float16], questions: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Compute the cosine similarities of passages and questions.

    Args:
        vectors: unit vectors of the passages, ``[n_passages, size]``; may be mapped from a file.
        questions: unit vectors of the questions, ``[n_questions, size]``.

    Returns:
        The similarities, ``[n_questions, n_passages]``.
    """
    asked = torch.from_numpy(questions)
    found = np.empty((len(questions), len(vectors)), dtype=np.float32)
    for first in range(0, len(vectors), ROWS):
        # torch converts half precision several times as fast as NumPy.
        rows = torch.from_numpy(np.asarray(vectors[first : first + ROWS])).float()
        found[:, first : first + ROWS] = (asked @ rows.T).numpy()
    return found
