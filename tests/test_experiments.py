"""Every experiment can be loaded, and says by which command it is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from syntagma.tasks import find_task
from syntagma.tasks.experiment import load_experiment

EXPERIMENTS = sorted((Path(__file__).parent.parent / "experiments").glob("*.yaml"))


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_it_loads_and_names_its_command(path):
    first = path.read_text(encoding="utf-8").splitlines()[0]
    name = f"experiments/{path.name}"
    assert first == f"# syntagma train {name} --out runs/{path.stem}"
    experiment = load_experiment(path)
    assert experiment.data.dev
    assert isinstance(experiment.head, find_task(experiment.task).model_class.head_class)
    if experiment.preset == "saved":
        # Begins from a run whose own experiment is here and named.
        start = experiment.encoder.removeprefix("runs/")
        assert (path.parent / f"{start}.yaml").is_file()
        assert f"experiments/{start}.yaml" in path.read_text(encoding="utf-8")
