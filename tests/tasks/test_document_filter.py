"""Choosing training examples by document: which are kept, and patterns that match nothing."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from syntagma.errors import InputError
from syntagma.evaluation import evaluate
from syntagma.tasks.document_filter import DocumentFilter
from syntagma.tasks.parsing.treebanks import genre_of, read_treebank
from syntagma.training.run import train
from tests.builders import experiment
from tests.messages import naming

DOCUMENTS = ("GUM_news_tide", "GUM_fiction_lamp", "reviews-12")


@pytest.fixture(scope="module")
def treebank(tmp_path_factory):
    """Three documents of two sentences; only the first sentence of each names its document."""
    lines = []
    for document in DOCUMENTS:
        lines.append(f"# newdoc id = {document}")
        for _ in range(2):
            lines += ["1\tTides\t_\tNOUN\tNNS\t_\t2\tnsubj\t_\t_"]
            lines += ["2\tturn\t_\tVERB\tVBP\t_\t0\troot\t_\t_", ""]
    path = tmp_path_factory.mktemp("documents") / "three.conllu"
    path.write_text("\n".join(lines) + "\n")
    return path


def kept(treebank, **patterns):
    chosen = DocumentFilter(**patterns).select(read_treebank(treebank), lambda each: each.document)
    return [example.document for example in chosen]


def test_every_sentence_of_an_excluded_document_is_removed(treebank):
    rest = ["GUM_news_tide"] * 2 + ["reviews-12"] * 2
    assert kept(treebank, exclude=("GUM_fiction_*",)) == rest


def test_included_documents_are_kept_unless_they_are_excluded(treebank):
    assert kept(treebank, include=("GUM_*",), exclude=("*_lamp",)) == ["GUM_news_tide"] * 2


def test_a_pattern_that_matches_no_document_is_an_error_that_lists_ids(treebank):
    with pytest.raises(InputError, match=naming("data.documents.exclude GUM_essay_* 3 reviews-12")):
        kept(treebank, exclude=("GUM_essay_*",))


def test_excluding_everything_is_an_error(treebank):
    with pytest.raises(InputError, match=r"data\.documents: no training example is left"):
        kept(treebank, exclude=("*",))


def test_data_without_documents_cannot_be_filtered(tmp_path):
    path = tmp_path / "plain.conllu"
    path.write_text("1\tTurn\t_\tVERB\tVB\t_\t0\troot\t_\t_\n\n")
    with pytest.raises(InputError, match=r"data\.documents: .* do not name their documents"):
        kept(path, exclude=("x",))


def test_a_parser_does_not_learn_from_excluded_documents(treebank, tiny_encoder, tmp_path):
    text = treebank.read_text().replace("turn\t_\tVERB\tVBP", "turn\t_\tVERB\tODD", 3)
    changed = tmp_path / "changed.conllu"
    # The tag ODD is now in the first two documents only.
    changed.write_text(text)
    settings = experiment("parsing", str(changed), tiny_encoder, training={"max_steps": 1})
    train(settings, tmp_path / "all")
    chosen = replace(settings.data, documents=DocumentFilter(exclude=("GUM_*",)))
    train(replace(settings, data=chosen), tmp_path / "some")
    tags = [
        json.loads((tmp_path / name / "config.json").read_text())["labels"]["xpos"]
        for name in ("all", "some")
    ]
    assert tags == [["NNS", "ODD", "VBP"], ["NNS", "VBP"]]


def test_scores_by_genre(treebank, tmp_path, tiny_encoder):
    settings = experiment("parsing", str(treebank), tiny_encoder, training={"max_steps": 1})
    train(settings, tmp_path / "run")
    scores = evaluate(tmp_path / "run", [str(treebank)], by=["genre"])
    words = {name: scores[f"genre.{name}.words"] for name in ("GUM_news", "GUM_fiction", "reviews")}
    assert words == {"GUM_news": 4, "GUM_fiction": 4, "reviews": 4}


def test_a_sentence_without_a_document_has_an_unknown_genre(treebank):
    [first, *_] = read_treebank(treebank)
    assert genre_of(first) == "GUM_news"
    object.__setattr__(first, "document", "")
    assert genre_of(first) == "unknown"


def test_a_document_without_an_id_is_not_that_before(treebank, tmp_path):
    text = treebank.read_text()
    second = [line for line in text.splitlines() if line.startswith("# newdoc")][1]
    changed = tmp_path / "changed.conllu"
    changed.write_text(text.replace(second, "# newdoc", 1))
    before = [example.document for example in read_treebank(treebank)]
    name = second.removeprefix("# newdoc id = ")
    found = [example.document for example in read_treebank(changed)]
    assert found == ["" if document == name else document for document in before]
    assert "" in found


def test_the_setting_does_not_apply_to_tasks_without_documents():
    class Example:
        pass

    with pytest.raises(InputError, match="omit this setting"):
        DocumentFilter(exclude=("a",)).select([Example()], lambda example: "")
