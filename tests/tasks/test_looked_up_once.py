"""Setting up a run, or loading a reader, looks up each model and builds each setting only once."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from syntagma.encoders import reference
from syntagma.settings import build
from syntagma.tasks.experiment import Experiment
from syntagma.tasks.spans.reader import Reader
from syntagma.training.run import train
from tests.builders import pairs


@contextmanager
def counting(calls: dict[Callable[..., Any], str]) -> Iterator[Counter[tuple[str, Any]]]:
    """Count the calls of functions by the value of one argument, wherever they were imported."""
    codes = {function.__code__: (function.__name__, name) for function, name in calls.items()}
    counts: Counter[tuple[str, Any]] = Counter()

    def profile(frame, event, _):
        if event == "call" and frame.f_code in codes:
            function, name = codes[frame.f_code]
            counts[function, frame.f_locals[name]] += 1

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        yield counts
    finally:
        sys.setprofile(before)


@pytest.fixture
def counted(monkeypatch):
    # The cache of models that other tests have already looked up would hide a lookup.
    monkeypatch.setattr(reference, "_named", {})
    return {reference.resolve: "name", reference._described: "path", build: "kind"}


def test_setting_up_a_run_looks_up_each_name_once(counted, tmp_path):
    data = str(pairs(tmp_path / "train.jsonl", copies=1))
    settings = {
        "task": "pairs",
        "preset": "sg-net",
        "data": {"train": [data], "dev": [data], "limit": 4, "dev_limit": 4},
        "training": {"max_steps": 1},
    }
    with counting(counted) as counts:
        train(build(Experiment, settings), tmp_path / "run")
    assert counts["resolve", "default"] == 1
    assert counts["resolve", "default-parser"] == 1
    assert {kind.__name__ for function, kind in counts if function == "build"} >= {
        "Experiment", "PairHead", "AncestorAttention", "TrainingSettings",
    }  # fmt: skip
    assert set(counts.values()) == {1}, counts


def test_loading_the_reader_looks_up_each_name_once(counted):
    with counting(counted) as counts:
        Reader.from_pretrained("default-reader")
    assert counts["resolve", "default-reader"] == 1
    assert counts["resolve", "default"] == 1
    assert set(counts.values()) == {1}, counts
