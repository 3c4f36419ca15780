"""The script that trains spaCy on our treebanks: what it learns from, continues, and scores."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from syntagma.evaluation import score_predictions
from syntagma.parse.sources.adapters import SpacySource
from syntagma.tasks.parsing.treebanks import read_treebank

ROOT = Path(__file__).parent.parent
TRAIN = ROOT / "tests" / "data" / "gate" / "sentences.conllu"
DEV = ROOT / "examples" / "trees" / "questions-test.conllu"

pytestmark = pytest.mark.slow


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Run the script on our sentences, with further arguments."""
    pytest.importorskip("spacy")
    from experiments import spacy_peer

    def call(*arguments):
        files = ["--train", str(TRAIN), "--dev", str(DEV), "--out", str(tmp_path)]
        monkeypatch.setattr(sys, "argv", ["spacy_peer.py", *files, *arguments])
        spacy_peer.main()

    return call


def test_it_trains_continues_and_scores_as_we_do(run, tmp_path, capsys):
    examples = read_treebank(TRAIN)
    letters = [example for example in examples if example.document.startswith("letter")]
    run("--exclude", "letter-*", "--steps", "3")
    assert f"{len(examples) - len(letters)} of {len(examples)} sentences" in capsys.readouterr().out
    run("--steps", "2")
    legs = sorted(path.name for path in tmp_path.glob("leg-*"))
    assert legs == ["leg-001", "leg-002"]
    saved = json.loads((tmp_path / "scores.json").read_text())
    # The command of the package gives the same scores for the predictions.
    scores = score_predictions("parsing", [DEV], tmp_path / "questions-test.conllu")
    assert scores["las"] == saved["questions-test"]["las"]
    # The best model parses given words.
    dev = read_treebank(DEV)
    source = SpacySource.load(str(tmp_path / "model-best"))
    parses = source.parse_sentences([example.gold.sentence for example in dev])
    assert [parse.sentence for parse in parses] == [example.gold.sentence for example in dev]
    assert {parse.heads.count(0) for parse in parses} == {1}
