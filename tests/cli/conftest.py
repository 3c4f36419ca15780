"""Run commands in this process, and an experiment to run them on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from syntagma.cli import main
from tests.builders import treebank


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Call a command; return its exit code, and what it printed on stdout and stderr."""

    def call(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as leaving:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return leaving.value.code, captured.out, captured.err

    return call


@pytest.fixture
def config(tmp_path: Path, tiny_encoder: str) -> Path:
    """The experiment file of a tiny parser."""
    path = tmp_path / "tiny.yaml"
    data = treebank(tmp_path / "tides.conllu", copies=1)
    path.write_text(
        f"task: parsing\nencoder: {tiny_encoder}\ndata:\n  train: {data}\n  dev: {data}\n"
        "head:\n  arc_width: 8\n  relation_width: 4\n"
        "training:\n  num_train_epochs: 1\n  precision: float32\n"
    )
    return path
