"""Sentence ends that the encoder decides on, where the words around them leave them in doubt.

The splitter (:mod:`syntagma.text.segmentation.splitter`) knows frequent words and the shapes of the
others.  Whether *Thanks Josh* is one sentence or two depends on what these words and those around
them mean, which an encoder knows better.  It is asked about the doubtful places alone, and only its
lower layers are computed, so that it costs little.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from syntagma.batches import call_cost_on, token_budget_batches
from syntagma.encoders.lowest_layers import lowest_layers
from syntagma.encoders.precision import Precision, autocast
from syntagma.parse.encode import SentenceEncoder
from syntagma.text.segmentation.gaps import CONTEXT_SIZES, WINDOW, GapFeatures, Integers
from syntagma.text.segmentation.segment import segment
from syntagma.text.segmentation.segmenter import Segmenter
from syntagma.text.segmentation.shapes import Shape
from syntagma.text.sentence import Sentence

# Saved parsers were trained with these values, and stored parses depend on them: a change needs new
# weights.
WORDS_AROUND = 8
"""Words that the encoder reads on each side of a gap."""
DEPTH = 1 / 2
"""Share of its layers that are computed."""
DOUBT = 2.0
"""If the log odds that the splitter gives are nearer to 0, the encoder is asked."""
HIDDEN_WIDTH = 128
BUDGET = 4096
"""Pieces of a batch, padding included."""


class EndScorer(nn.Module):
    """Scores gaps between words from states of the encoder, and from shapes of the words around.

    It does not read the splitter's score.  The splitter is surer of the texts from which it learned
    than of others, so its score would be trusted too much.

    Args:
        width: of the states.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.states = nn.Linear(2 * width, HIDDEN_WIDTH)
        self.shapes = nn.Embedding(2 * WINDOW * len(Shape), HIDDEN_WIDTH)
        self.spaces = nn.Linear(2 * WINDOW, HIDDEN_WIDTH, bias=False)
        self.contexts = nn.Embedding(sum(CONTEXT_SIZES), HIDDEN_WIDTH)
        self.output = nn.Linear(HIDDEN_WIDTH, 1)
        self.dropout = nn.Dropout(0.3)
        for table in (self.shapes, self.contexts):
            nn.init.normal_(table.weight, std=0.05)

    def forward(self, states: Tensor, seen: Tensor) -> Tensor:
        """Return a score of each gap, positive for a likely sentence end, ``[n]``.

        Args:
            states: of the last piece before the gap and of the first one after it,
                ``[n, 2, width]``.
            seen: what :func:`seen_by_splitter` returns, ``[n, 4 * WINDOW + 7]``.
        """
        shapes, spaces, contexts = seen.split([2 * WINDOW, 2 * WINDOW, len(CONTEXT_SIZES)], -1)
        shape_rows = shapes + len(Shape) * torch.arange(2 * WINDOW, device=seen.device)
        starts = torch.tensor(np.cumsum((0, *CONTEXT_SIZES[:-1])), device=seen.device)
        hidden = (
            self.states(self.dropout(self.norm(states)).flatten(1))
            + self.shapes(shape_rows).sum(1)
            + self.spaces(spaces.to(states.dtype))
            + self.contexts(contexts + starts).sum(1)
        )
        found: Tensor = self.output(self.dropout(torch.relu(hidden))).squeeze(-1)
        return found


def seen_by_splitter(features: GapFeatures) -> Tensor:
    """Return shapes and spaces of the words around gaps, and features of the paragraph.

    Args:
        features: of the gaps.

    Returns:
        ``[n_gaps, 4 * WINDOW + 7]``.
    """
    windows = features.windows
    columns = features.shapes[windows], features.spaces[windows], features.contexts
    return torch.from_numpy(np.concatenate(columns, axis=1))


class Window(NamedTuple):
    """The words around a gap.

    Args:
        forms: the words.
        split: number of those before the gap.
    """

    forms: tuple[str, ...]
    split: int


_Question = tuple[Window, tuple[int, ...]]
"""The words around a gap, and what the splitter sees."""


def windows_around(forms: Sequence[str], first_words: Integers, gaps: Integers) -> list[Window]:
    """Return the words around gaps, of the same paragraph.

    Args:
        forms: all words, ``[n_words]``.
        first_words: index of the first word of each paragraph, ``[n_paragraphs]``.
        gaps: index of the word before each gap, ``[n_gaps]``.
    """
    edges = np.append(first_words, len(forms))
    paragraph = np.searchsorted(first_words, gaps, side="right")
    begins = np.maximum(edges[paragraph - 1], gaps + 1 - WORDS_AROUND).tolist()
    ends = np.minimum(edges[paragraph], gaps + 1 + WORDS_AROUND).tolist()
    return [
        Window(tuple(forms[begin:end]), gap + 1 - begin)
        for begin, end, gap in zip(begins, ends, gaps.tolist(), strict=True)
    ]


class EndRescorer:
    """Asks the encoder of a parser where the splitter is in doubt.

    Args:
        scorer: trained on the states of this encoder.
        trunk: the encoder.
        encoder: encodes words for it.
        max_content: pieces that it reads, without special ones.
        precision: as for the parser.
    """

    doubt = DOUBT

    def __init__(
        self,
        scorer: EndScorer,
        trunk: Any,
        encoder: SentenceEncoder,
        max_content: int,
        precision: Precision = "float32",
    ) -> None:
        self.scorer = scorer
        self.trunk = lowest_layers(trunk, math.ceil(DEPTH * trunk.config.num_hidden_layers))
        self.encoder = encoder
        self.max_content = max_content
        self.precision = precision

    def __call__(
        self,
        forms: Sequence[str],
        first_words: Integers,
        features: GapFeatures,
        scores: NDArray[np.float32],
    ) -> NDArray[np.float32]:
        """Score gaps, see :class:`syntagma.text.segmentation.splitter.Rescorer`."""
        windows = windows_around(forms, first_words, features.gaps)
        return self.score(windows, seen_by_splitter(features), scores)

    @torch.inference_mode()
    def score(
        self, windows: Sequence[Window], seen: Tensor, scores: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Return the scores of gaps, those given where the words are too long to read.

        Args:
            windows: the words around each.
            seen: what :func:`seen_by_splitter` returns, ``[n_gaps, n_columns]``.
            scores: of the splitter, ``[n_gaps]``.
        """
        device = self.scorer.output.weight.device
        with autocast(device, self.precision):
            states, known = self.states(windows)
        new = self.scorer(states.to(device), seen.to(device)).float().cpu()
        found: NDArray[np.float32] = torch.where(known, new, torch.from_numpy(scores)).numpy()
        return found

    def states(self, windows: Sequence[Window]) -> tuple[Tensor, Tensor]:
        """Return the states of the pieces before and after gaps, and whether they were read.

        Args:
            windows: the words around each gap.

        Returns:
            ``[n_gaps, 2, width]``, and ``[n_gaps]``, on the CPU; false if the words are longer than
            the encoder reads.
        """
        encoded = self.encoder.encode([Sentence.spaced(window.forms) for window in windows])
        splits = torch.tensor([window.split for window in windows])
        states = torch.zeros(len(windows), 2, self.scorer.norm.normalized_shape[0])
        lengths = np.array([len(item) for item in encoded], np.int64)
        known = lengths <= self.max_content
        short = np.flatnonzero(known)
        n_pieces = lengths[short] + self.encoder.n_special
        device = self.scorer.output.weight.device
        for batch in token_budget_batches(n_pieces, BUDGET, call_cost=call_cost_on(device.type)):
            rows = short[batch]
            tensors = self.encoder.collate([encoded[row] for row in rows.tolist()])
            found = self.trunk(
                input_ids=tensors["input_ids"].to(device),
                attention_mask=tensors["attention_mask"].to(device),
            ).last_hidden_state.cpu()
            split = splits[rows].unsqueeze(1)
            pieces = tensors["word_of_piece"]
            numbers = torch.arange(pieces.shape[1])
            last = ((pieces >= 0) & (pieces < split)).mul(numbers).argmax(1)
            first = (pieces >= split).int().argmax(1)
            row = torch.arange(len(rows))
            states[rows] = torch.stack([found[row, last], found[row, first]], 1).float()
        return states, torch.from_numpy(known)


class _Collector:
    """Collects the doubtful gaps of many texts, to score all of them in one batch.

    Args:
        rescorer: scores them.
    """

    def __init__(self, rescorer: EndRescorer) -> None:
        self.doubt = rescorer.doubt
        self._rescorer = rescorer
        self._is_collecting = True
        self.n_asked = 0
        self._asked: dict[_Question, np.float32] = {}
        self._answers: dict[_Question, np.float32] = {}

    def __call__(
        self,
        forms: Sequence[str],
        first_words: Integers,
        features: GapFeatures,
        scores: NDArray[np.float32],
    ) -> NDArray[np.float32]:
        """Collect gaps, or return their scores if all are collected."""
        windows = windows_around(forms, first_words, features.gaps)
        seen = map(tuple, seen_by_splitter(features).tolist())
        questions = list(zip(windows, seen, strict=True))
        asked = dict(zip(questions, scores, strict=True))
        if self._is_collecting:
            self._asked |= asked
            self.n_asked += len(asked)
            return scores
        # A paragraph that is cut for its length can have others now.
        self._answer({each: asked[each] for each in asked if each not in self._answers})
        return np.array([self._answers[each] for each in questions])

    def score(self) -> None:
        """Score all that was collected."""
        self._answer(self._asked)
        self._is_collecting = False

    def _answer(self, asked: Mapping[_Question, np.float32]) -> None:
        if asked:
            windows, seen = zip(*asked, strict=True)
            scores = np.array(list(asked.values()))
            found = self._rescorer.score(windows, torch.tensor(seen), scores)
            self._answers |= dict(zip(asked, found, strict=True))


def segment_together(
    texts: Sequence[str], segmenters: Sequence[Segmenter | None], *, mode: str = "raw"
) -> list[list[Sentence]]:
    """Segment texts as :func:`syntagma.segment` does, asking the encoder about all at once.

    Texts with doubtful places are cut twice, which takes little beside a call of the encoder for
    each.

    Args:
        texts: the texts.
        segmenters: of each; ``None`` for the rules for English.
        mode: as for :func:`syntagma.segment`.
    """
    collectors: dict[int, _Collector] = {}
    found: list[list[Sentence]] = []
    waiting: dict[int, Segmenter] = {}
    for place, (text, segmenter) in enumerate(zip(texts, segmenters, strict=True)):
        rescorer = None if segmenter is None else segmenter.splitter.rescorer
        if segmenter is None or not isinstance(rescorer, EndRescorer) or len(texts) == 1:
            found.append(segment(text, mode=mode, segmenter=segmenter))
            continue
        collector = collectors.setdefault(id(rescorer), _Collector(rescorer))
        collecting, before = segmenter.rescored_by(collector), collector.n_asked
        found.append(segment(text, mode=mode, segmenter=collecting))
        if collector.n_asked > before:
            waiting[place] = collecting
    for collector in collectors.values():
        collector.score()
    for place, segmenter in waiting.items():
        found[place] = segment(texts[place], mode=mode, segmenter=segmenter)
    return found
