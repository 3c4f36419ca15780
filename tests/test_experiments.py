"""Every experiment can be loaded, and says by which command it is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from syntagma.models.choice_model import ChoiceHead
from syntagma.models.guides import resolve_guides
from syntagma.models.mention_model import RelationHead, TypingHead
from syntagma.models.open_model import OpenHead
from syntagma.models.pair_model import PairHead
from syntagma.models.pretraining_model import PretrainingHead
from syntagma.models.probe_model import ProbeHead
from syntagma.models.span_model import SpanHead
from syntagma.models.structural_model import StructuralHead
from syntagma.models.translation_model import TranslationHead
from syntagma.parse.scorer import ParserHead
from syntagma.settings import build
from syntagma.tasks import TASKS
from syntagma.tasks.experiment import load_experiment

EXPERIMENTS = sorted((Path(__file__).parent.parent / "experiments").glob("*.yaml"))
HEADS = {
    "choice": ChoiceHead,
    "open_qa": OpenHead,
    "pairs": PairHead,
    "parsing": ParserHead,
    "pretraining": PretrainingHead,
    "probing": ProbeHead,
    "relations": RelationHead,
    "spans": SpanHead,
    "structural": StructuralHead,
    "translation": TranslationHead,
    "typing": TypingHead,
}


def test_every_task_has_a_head():
    assert HEADS.keys() == TASKS.keys()


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_it_loads_and_names_its_command(path):
    first = path.read_text(encoding="utf-8").splitlines()[0]
    name = f"experiments/{path.name}"
    assert first == f"# syntagma train {name} --out runs/{path.stem}"
    experiment = load_experiment(path)
    assert experiment.data.dev
    build(HEADS[experiment.task], experiment.head, where="head")
    if experiment.preset == "saved":
        # Begins from a run whose own experiment is here and named.
        start = experiment.encoder.removeprefix("runs/")
        assert (path.parent / f"{start}.yaml").is_file()
        assert f"experiments/{start}.yaml" in path.read_text(encoding="utf-8")
    else:
        resolve_guides(experiment.preset, experiment.guides)
