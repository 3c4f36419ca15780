"""Train the classifier of :class:`syntagma.text.segmentation.splitter.Splitter` in torch."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from syntagma.text.documents import RawDocument
from syntagma.text.segmentation.assemble import line_breaks
from syntagma.text.segmentation.gaps import (
    CONTEXT_SIZES,
    N_SUFFIXES,
    UNKNOWN_ROW,
    WINDOW,
    GapFeatures,
    fingerprint,
    gap_features,
)
from syntagma.text.segmentation.layout import PARAGRAPH_BREAK
from syntagma.text.segmentation.runs import Runs, Words, read_words
from syntagma.text.segmentation.shapes import Shape

log = logging.getLogger(__name__)

BATCH_SIZE = 256
PEAK_LEARNING_RATE = 5e-3
# Share of known words that are trained as unknown ones.
UNKNOWN_SHARE = 0.1


class GapClassifier(nn.Module):
    """The network of :class:`syntagma.text.segmentation.splitter.Splitter` in trainable form."""

    def __init__(self, *, n_words: int, width: int, hidden_width: int, dropout_prob: float) -> None:
        super().__init__()
        self.words = nn.Embedding(n_words, width)
        self.shapes = nn.Embedding(len(Shape), width)
        self.suffixes = nn.Embedding(N_SUFFIXES + 1, width)
        self.spaces = nn.Embedding(2, width)
        contexts = [nn.Embedding(size, hidden_width) for size in CONTEXT_SIZES]
        self.contexts = nn.ModuleList(contexts)
        self.hidden = nn.Linear(2 * WINDOW * width, hidden_width)
        self.output = nn.Linear(hidden_width, 1)
        self.dropout = nn.Dropout(dropout_prob)
        # Rare words start near zero, so that what is hardly trained has little effect.
        for table, scale in (
            (self.words, 0.05),
            (self.suffixes, 0.05),
            (self.shapes, 0.3),
            (self.spaces, 0.3),
            *((table, 0.1) for table in contexts),
        ):
            nn.init.normal_(table.weight, std=scale)

    def forward(self, windows: Tensor, contexts: Tensor) -> Tensor:
        """Return the scores of gaps.

        Args:
            windows: word, shape, suffix and space of the surrounding words, ``[n, 2 * WINDOW, 4]``.
            contexts: ``[n, 7]``.
        """
        words, shapes, suffixes, spaces = windows.unbind(-1)
        if self.training:
            words = torch.where(torch.rand(words.shape) < UNKNOWN_SHARE, UNKNOWN_ROW, words)
        vectors = (
            self.words(words) + self.shapes(shapes) + self.suffixes(suffixes) + self.spaces(spaces)
        )
        hidden = self.hidden(self.dropout(vectors.flatten(1)))
        for column, table in enumerate(self.contexts):
            hidden = hidden + table(contexts[:, column])
        scores: Tensor = self.output(self.dropout(torch.relu(hidden))).squeeze(-1)
        return scores

    def weights(self, vocabulary: list[int]) -> dict[str, NDArray[Any]]:
        """Weights for :class:`syntagma.text.segmentation.splitter.Splitter`, in half precision."""
        tensors: dict[str, Any] = {
            "words": self.words.weight,
            "shapes": self.shapes.weight,
            "suffixes": self.suffixes.weight,
            "spaces": self.spaces.weight,
            "hidden": self.hidden.weight.T,
            "hidden_bias": self.hidden.bias,
            "output": self.output.weight[0],
            "output_bias": self.output.bias,
            **{f"context_{number}": table.weight for number, table in enumerate(self.contexts)},
        }
        arrays = {
            name: np.ascontiguousarray(tensor.detach().numpy().astype(np.float16))
            for name, tensor in tensors.items()
        }
        return {**arrays, "vocabulary": np.array(vocabulary, dtype=np.uint32)}


class DocumentGaps(NamedTuple):
    """The candidate gaps of a document.

    Args:
        words: its words.
        first_words: index of the first word of each paragraph, ``[n_paragraphs]``.
        features: of the gaps.
        labels: whether a sentence ends there, ``[n_gaps]``.
    """

    words: Words
    first_words: NDArray[np.int64]
    features: GapFeatures
    labels: NDArray[np.bool_]


def find_gaps(
    documents: Iterable[RawDocument], runs: Runs, *, everywhere: bool = False
) -> Iterator[DocumentGaps]:
    """Yield the candidate gaps of documents.

    Args:
        documents: the documents.
        runs: cuts their runs into words.
        everywhere: whether every gap is a candidate.
    """
    for document in documents:
        text = document.text
        words = read_words(text, 0, len(text), runs)
        cuts = [0, *(match.end() for match in PARAGRAPH_BREAK.finditer(text)), len(text)]
        bounds = list(pairwise(cuts))
        first_words = np.unique(np.searchsorted(words.starts, cuts[:-1]))
        first_words = first_words[first_words < len(words.forms)]
        _, breaks = line_breaks(text, bounds, words)
        features = gap_features(
            words.packed, words.first_of_run, first_words, breaks, everywhere=everywhere
        )
        ends = [end for _, end in document.sentences]
        labels = np.isin(words.ends[features.gaps], ends)
        yield DocumentGaps(words, first_words, features, labels)


def read_gaps(
    documents: Iterable[RawDocument], runs: Runs, *, everywhere: bool = False
) -> tuple[list[NDArray[np.int64]], list[NDArray[np.int64]], list[NDArray[np.bool_]]]:
    """Windows, contexts and labels of the candidate gaps of documents."""
    windows: list[NDArray[np.int64]] = []
    contexts: list[NDArray[np.int64]] = []
    labels: list[NDArray[np.bool_]] = []
    for found in find_gaps(documents, runs, everywhere=everywhere):
        features = found.features
        around = features.windows
        columns = (features.words, features.shapes, features.suffixes, features.spaces)
        windows.append(np.stack([column[around] for column in columns], axis=-1))
        contexts.append(features.contexts)
        labels.append(found.labels)
    return windows, contexts, labels


def known_words(documents: Iterable[RawDocument], runs: Runs, min_count: int) -> list[int]:
    """Fingerprints of the words that occur at least ``min_count`` times, in a fixed order.

    Args:
        documents: the documents.
        runs: cuts their runs into words.
        min_count: how often a word must occur.
    """
    counts: Counter[int] = Counter()
    for document in documents:
        words = read_words(document.text, 0, len(document.text), runs)
        counts.update(map(fingerprint, words.forms))
    return sorted(number for number, count in counts.items() if count >= min_count)


def surplus(scores: Tensor, labels: Tensor) -> float:
    """Return what to take from scores so that as many are positive as there are sentence ends.

    A gap rarely ends a sentence with a probability of a half where no sign shows it: without this,
    hardly any sentence would end.

    Args:
        scores: of gaps, ``[n_gaps]``.
        labels: whether a sentence ends there, ``[n_gaps]``.
    """
    n_ends = int(labels.sum())
    if not 0 < n_ends < len(labels):
        return 0.0
    ranked = scores.sort(descending=True).values
    return float(ranked[n_ends - 1 : n_ends + 1].mean())


def train(
    model: GapClassifier, windows: Tensor, contexts: Tensor, labels: Tensor, epochs: int
) -> None:
    """Minimise cross-entropy with AdamW under a one-cycle schedule."""
    if not len(labels):
        return
    n_batches = max(1, len(labels) // BATCH_SIZE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=PEAK_LEARNING_RATE, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, PEAK_LEARNING_RATE, total_steps=epochs * n_batches + 1, pct_start=0.1
    )
    for epoch in range(epochs):
        total = 0.0
        order = torch.randperm(len(labels))
        for rows in order[: max(BATCH_SIZE, len(labels) // BATCH_SIZE * BATCH_SIZE)].split(
            BATCH_SIZE
        ):
            scores = model(windows[rows], contexts[rows])
            loss = nn.functional.binary_cross_entropy_with_logits(scores, labels[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item()
        log.info("sentences, epoch %d: loss %.4f", epoch + 1, total / n_batches)
