"""Choose which windows of a long text are read for a question.

Reading all of a book for every question takes minutes.  So the passages of a long text are ranked
for the question, as an index of documents ranks them (:mod:`syntagma.retrieval`), and only the
windows with the best ones are read.  A window is scored as if all were read; what is lost are
answers in windows that were not chosen.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from syntagma.encoders.default import find_download
from syntagma.errors import MissingExtraError
from syntagma.extraction.plain_text import text_document
from syntagma.retrieval.bm25 import KeywordScorer
from syntagma.retrieval.passages import Cut, cut
from syntagma.retrieval.ranking import Ranker
from syntagma.retrieval.terms import TermFinder
from syntagma.retrieval.vectors import SentenceEncoder
from syntagma.tasks.recent import Recent
from syntagma.tasks.spans.windows import SpanWindow

log = logging.getLogger(__name__)

MOST_WINDOWS = 48
"""The windows of a text that are all read: some 5,000 words."""
READ_WINDOWS = 24
"""The windows of a longer text that are read for a question, at most."""
KEPT_WORDS = 2_000_000
"""Words of recent texts whose passages are kept ranked, with their vectors about 25 MB."""


class WindowChooser:
    """Chooses windows of long texts; threads may share it."""

    def __init__(self) -> None:
        self._recent: Recent[str, tuple[list[Cut], Ranker]] = Recent(KEPT_WORDS)
        self._is_missing = False

    def choose(
        self, passage: str, question: str, windows: Sequence[SpanWindow]
    ) -> list[SpanWindow]:
        """Return the windows to read, in their order: all of them, unless there are many.

        Args:
            passage: the whole text.
            question: the question.
            windows: all windows of the text with the question.
        """
        if len(windows) <= MOST_WINDOWS or self._is_missing:
            return list(windows)
        try:
            cuts, ranker = self._ranked(passage)
        except MissingExtraError as error:
            self._is_missing = True
            log.warning("a long text is read as a whole for every question: %s", error)
            return list(windows)
        chosen: dict[int, None] = {}
        # Passages are shorter than windows, and several may be in one.
        for number in ranker.rank([question], top=4 * READ_WINDOWS)[0].numbers:
            chosen[_window_with(windows, cuts[number])] = None
            if len(chosen) == READ_WINDOWS:
                break
        return [windows[index] for index in sorted(chosen)]

    def _ranked(self, passage: str) -> tuple[list[Cut], Ranker]:
        """Cut a text into passages that can be ranked, once."""
        if (kept := self._recent.get(passage)) is not None:
            return kept
        cuts = cut(text_document(passage))
        texts = [passage[each.start : each.end] for each in cuts]
        keywords = KeywordScorer.build(texts, TermFinder())
        vectors = None
        if self._encoder is not None:
            vectors = self._encoder.encode(texts).astype(np.float16)
        found = cuts, Ranker(keywords, vectors, self._encoder)
        self._recent.add(passage, found, size=len(passage.split()))
        return found

    @cached_property
    def _encoder(self) -> SentenceEncoder | None:
        """The smallest sentence encoder on this machine; ``None`` without any."""
        name = next((name for name in ("default", "accurate") if find_download(name)), None)
        return None if name is None else SentenceEncoder(name)


def _window_with(windows: Sequence[SpanWindow], place: Cut) -> int:
    """Return the number of the window that has most of a passage, most centrally."""
    middle = (place.start + place.end) / 2

    def rank(index: int) -> tuple[int, float]:
        window = windows[index]
        starts = window.passage.starts[window.begin : window.end]
        ends = window.passage.ends[window.begin : window.end]
        first, last = int(starts[0]), int(ends[-1])
        inside = min(last, place.end) - max(first, place.start)
        return inside, -abs((first + last) / 2 - middle)

    return max(range(len(windows)), key=rank)
