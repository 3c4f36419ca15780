"""Runs to report on, and reports that are written quickly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from syntagma.report import write
from tests.report_pages import trained


@pytest.fixture
def drawn_plots():
    """Used by tests that look at plots."""


@pytest.fixture
def empty_plots(request, monkeypatch):
    """Write empty plots, which is much faster, unless the test uses `drawn_plots`."""
    if "drawn_plots" not in request.fixturenames:
        from matplotlib.figure import Figure

        monkeypatch.setattr(
            Figure, "savefig", lambda self, path, **_: Path(path).write_text("<svg/>")
        )


@pytest.fixture
def small_parser(monkeypatch, tiny_parser):
    """Draw trees with a tiny parser instead of the default one."""
    monkeypatch.setattr(write, "DEFAULT_PARSER", tiny_parser)


@pytest.fixture(scope="session")
def spans(tmp_path_factory, tiny_encoder):
    """A plain and a guided reader, each with two seeds."""
    root = tmp_path_factory.mktemp("spans")
    runs = {}
    for preset in ("none", "sg-net"):
        for seed in (1, 2):
            folder = trained(
                root,
                tiny_encoder,
                "spans",
                f"{preset}-{seed}",
                preset=preset,
                parser="linear",
                training={"num_train_epochs": 1, "seed": seed},
            )
            runs[preset, seed] = folder
            # A tiny model gets no answer right, so replace its scores.
            rows = json.loads((folder / "examples.json").read_text())
            right = {"none": ("0-0", "0-1", "0-no"), "sg-net": ("0-1", "0-2", "0-3")}[preset]
            for key in rows:
                rows[key] = dict.fromkeys(("exact", "f1"), float(key in right))
            (folder / "examples.json").write_text(json.dumps(rows))
    return runs


@pytest.fixture
def both(spans):
    """A plain and a guided run with the same seed."""
    return [spans["none", 1], spans["sg-net", 1]]
