"""Progress bars are shown where somebody watches, and count examples."""

from __future__ import annotations

import logging
import sys

import pytest

from syntagma import progress
from syntagma.progress import chunks, predicting, progress_bar, steps


class Recorder:
    """A bar that keeps its positions."""

    def __init__(self, **options):
        self.n = 0
        self.options = options
        self.positions = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def update(self, n):
        self.n += n
        self.positions.append(self.n)


@pytest.fixture
def bars(monkeypatch):
    made = []

    def make(**options):
        made.append(Recorder(**options))
        return made[-1]

    monkeypatch.setattr(progress, "progress_bar", make)
    return made


@pytest.mark.parametrize(
    ("is_terminal", "level", "is_shown"),
    [
        (True, logging.WARNING, True),
        (True, logging.ERROR, False),  # --quiet
        (False, logging.WARNING, False),
        (False, logging.INFO, True),  # --verbose
    ],
)
def test_a_bar_is_shown_on_terminals_and_in_verbose_logs(
    capsys, monkeypatch, is_terminal, level, is_shown
):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal, raising=False)
    log = logging.getLogger("syntagma")
    monkeypatch.setattr(log, "level", level)
    log.manager._clear_cache()
    try:
        with progress_bar(total=2, desc="tides") as bar:
            bar.update(2)
    finally:
        monkeypatch.undo()
        log.manager._clear_cache()
    shown = capsys.readouterr()
    assert shown.out == ""
    assert ("tides: 100%" in shown.err) == is_shown


def predict(examples, size, batches_of_chunk):
    """Predict as models do: in chunks, and each chunk in batches of its items."""
    for chunk in chunks(examples, size):
        for _ in steps(batches_of_chunk(chunk)):
            pass
        yield from chunk


def test_examples_are_counted_within_chunks(bars):
    with predicting(10):
        # Two items for each example, in batches of two items.
        done = list(predict(range(10), 4, lambda chunk: [[0, 0]] * len(chunk)))
    assert done == list(range(10))
    assert bars[0].options["total"] == 10
    assert sorted(set(bars[0].positions)) == list(range(1, 11))
    assert bars[0].positions == sorted(bars[0].positions)


def test_models_that_a_model_uses_do_not_count(bars):
    def parse_first(chunk):
        list(predict(chunk, 1, lambda part: [[0]]))
        return [list(chunk)]

    with predicting(6):
        list(predict(range(6), 3, parse_first))
    assert sorted(set(bars[0].positions)) == [3, 6]


def test_a_second_pass_over_a_chunk_does_not_move_the_bar_back(bars):
    with predicting(4):
        for _ in chunks(range(4), 4):
            for _ in range(2):
                list(steps([[0], [1], [2], [3]]))
    assert bars[0].positions == sorted(bars[0].positions)
    assert bars[0].n == 4


def test_nothing_is_shown_outside_of_a_block(bars):
    assert list(predict(range(5), 2, lambda chunk: [[0]])) == list(range(5))
    assert bars == []


def test_an_empty_chunk_has_no_steps(bars):
    with predicting(0):
        assert list(predict([], 2, lambda chunk: [])) == []
        assert list(steps([])) == []
