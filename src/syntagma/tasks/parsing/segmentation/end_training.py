"""Train the scorer of doubtful sentence ends on the states of a parser's encoder.

The encoder stays as it is: to parse, it has learned enough about the language.  The scorer learns
from all places that the splitter looks at, not from the doubtful ones alone.  There are few of
these in the treebank, because the splitter has learned from the same texts.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from syntagma.parse.parser import JointParser
from syntagma.parse.sentence_ends import (
    EndRescorer,
    EndScorer,
    seen_by_splitter,
    windows_around,
)
from syntagma.tasks.parsing.segmentation.gap_training import DocumentGaps, find_gaps, surplus
from syntagma.tasks.parsing.segmentation.layouts import laid_out
from syntagma.text.conllu import TreebankSentence
from syntagma.text.documents import RawDocument, raw_documents
from syntagma.text.segmentation.segmenter import english

log = logging.getLogger(__name__)

BATCH_SIZE = 256
PEAK_LEARNING_RATE = 1e-3
WEIGHT_DECAY = 0.05
MIN_EPOCHS, MIN_STEPS = 8, 1000
"""A small treebank is read more often."""
SCORED = 4096
"""Places that are scored together."""
MAX_PLACES = 80_000
"""A larger treebank is sampled: most places are clear."""


class Places(NamedTuple):
    """What is learned from.

    Args:
        states: of the pieces around each gap, ``[n_gaps, 2, width]``, in half precision.
        seen: what :func:`seen_by_splitter` returns, ``[n_gaps, n_columns]``.
        labels: 1 if a sentence ends there, ``[n_gaps]``.
    """

    states: Tensor
    seen: Tensor
    labels: Tensor


def texts_of(sentences: Sequence[TreebankSentence]) -> list[RawDocument]:
    """Return the texts of a treebank, and a quarter of them laid out in lines.

    Args:
        sentences: of the treebank, in order.
    """
    joined = list(raw_documents(sentences, paragraphs=False))[::4]
    lines = [laid_out(document, seed) for seed, document in enumerate(joined)]
    return [*raw_documents(sentences), *lines]


def train_sentence_ends(
    parser: JointParser,
    documents: Mapping[str, Sequence[RawDocument]],
    *,
    seed: int = 1,
    max_places: int = MAX_PLACES,
) -> None:
    """Train the scorer of sentence ends of a parser whose encoder is trained.

    The same documents and seed give the same weights.

    Args:
        parser: with a scorer of sentence ends.
        documents: texts with their sentences, by language; at least one.
        seed: of everything random.
        max_places: if there are more places, about as many are drawn.
    """
    scorer, rescorer = parser.model.sentence_ends, parser.languages.rescorer
    assert scorer is not None
    assert isinstance(rescorer, EndRescorer)
    begin = time.perf_counter()
    found: list[DocumentGaps] = []
    in_balance = False
    for code, texts in sorted(documents.items()):
        segmenter = parser.languages.segmenters[code] or english()
        everywhere = segmenter.splitter.everywhere
        found += find_gaps(texts, segmenter.runs, everywhere=everywhere)
        in_balance |= everywhere
    share = max_places / max(1, sum(len(gaps.labels) for gaps in found))
    draw = np.random.default_rng(seed)
    parts = []
    for gaps in found:
        chosen = np.flatnonzero(draw.random(len(gaps.labels)) < share)
        if len(chosen):
            parts.append(_read_places(rescorer, gaps, chosen))
    if not parts:
        log.warning("sentence ends: the treebank has no place to learn from")
        return
    places = Places(*map(torch.cat, zip(*parts, strict=True)))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        _fit(scorer, places, in_balance=in_balance)
    log.info(
        "sentence ends: learned from %d places in %.0f s",
        len(places.labels),
        time.perf_counter() - begin,
    )


@torch.inference_mode()
def _read_places(rescorer: EndRescorer, gaps: DocumentGaps, chosen: NDArray[np.int64]) -> Places:
    """Read some gaps of a text."""
    features = gaps.features.at(chosen)
    windows = windows_around(gaps.words.forms, gaps.first_words, features.gaps)
    states, known = rescorer.states(windows)
    columns = states.half(), seen_by_splitter(features), torch.from_numpy(gaps.labels[chosen])
    return Places(*(column[known] for column in columns))


def _fit(scorer: EndScorer, places: Places, *, in_balance: bool) -> None:
    """Minimise cross-entropy with AdamW under a one-cycle schedule.

    If ``in_balance``, as many of the places get a positive score as there are sentence ends.
    """
    # On the CPU: the matrices are small.
    device = scorer.output.weight.device
    scorer.float().cpu().train().requires_grad_(True)
    labels = places.labels.float()
    n_batches = max(1, len(labels) // BATCH_SIZE)
    epochs = max(MIN_EPOCHS, MIN_STEPS // n_batches)
    optimizer = torch.optim.AdamW(
        scorer.parameters(), lr=PEAK_LEARNING_RATE, weight_decay=WEIGHT_DECAY
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, PEAK_LEARNING_RATE, total_steps=epochs * n_batches + 1
    )
    for _ in range(epochs):
        order = torch.randperm(len(labels))
        for rows in order[: max(BATCH_SIZE, n_batches * BATCH_SIZE)].split(BATCH_SIZE):
            scores = scorer(places.states[rows].float(), places.seen[rows])
            loss = nn.functional.binary_cross_entropy_with_logits(scores, labels[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    scorer.eval().requires_grad_(False)
    if in_balance:
        batches = zip(places.states.split(SCORED), places.seen.split(SCORED), strict=True)
        scores = torch.cat([scorer(states.float(), seen) for states, seen in batches])
        scorer.output.bias.sub_(surplus(scores, places.labels))
    scorer.to(device)
