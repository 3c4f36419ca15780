"""Results are shown in one short line, and fingerprints depend on all that examples say."""

from __future__ import annotations

from dataclasses import dataclass, field, make_dataclass
from typing import NamedTuple

import numpy as np
import pytest

from syntagma.analysis.comparison import ComparedSystem, Comparison
from syntagma.extraction.document import Block, Document
from syntagma.parse.columns import ParsedText
from syntagma.reprs import full_repr, quoted
from syntagma.retrieval.retriever import Passage
from syntagma.runs.folder import RunFolder
from syntagma.tasks.choice.chooser import Choice
from syntagma.tasks.examples import fingerprint
from syntagma.tasks.open_qa.answers import Candidate, OpenPrediction
from syntagma.tasks.pairs.task import Relation
from syntagma.tasks.parsing.treebanks import TreeExample
from syntagma.tasks.relations.task import MentionRelation
from syntagma.tasks.typing.task import Types
from syntagma.text.brackets import BracketedSentence
from syntagma.text.sentence import Constituent, Parse, Sentence
from tests.page_fixtures import answer_of, span_of

LONG = "A very long text\nwith <b>lines</b> " * 200
WORDS = tuple(f"word{number}" for number in range(200))
SENTENCE = Sentence.from_words(WORDS)
PARSE = Parse(SENTENCE, tuple(range(200)), constituents=(Constituent("S", 0, 200),) * 50)
SPANS = [span_of(LONG, "very"), *[span_of(LONG, "long")] * 30]
ANSWER = answer_of(LONG, SPANS, null_odds=-1.0)
CANDIDATE = Candidate("very", 2, 6, 1.0, 0.5, 0, "p", 1)
SYSTEM = ComparedSystem("sg-net", WORDS, tuple(range(200)), {"exact": 60.0}, {}, p_value=0.5)

RESULTS = [
    (SENTENCE, "200 words"),
    (PARSE, "200 words, 50 phrases"),
    (BracketedSentence(WORDS, WORDS, PARSE.constituents), "200 words, 50 phrases"),
    (ParsedText.from_parses([PARSE, PARSE]), "2 sentences, 400 words"),
    (ANSWER, "'very', confidence 0.75"),
    (answer_of(LONG, SPANS, null_odds=-1.0, confidence=0.25), "unsure, 'very', confidence 0.25"),
    (answer_of(LONG, SPANS, null_odds=9.0), "none, probability of no answer 0.88"),
    (ANSWER.prediction, "31 spans"),
    (OpenPrediction.of(LONG, [CANDIDATE] * 30, 0.25), "30 candidates"),
    (Choice(1, LONG, (0.25, 0.75), False), "probability 0.75"),
    (Types(("person", "guide"), (0.5,) * 10000, False), "person, guide"),
    (Types((), (0.0,) * 10000, False), "no type"),
    (Relation("entailment", (0.25, 0.75)), "'entailment', probability 0.75"),
    (MentionRelation("born in", (0.5,) * 42, False), "'born in', probability 0.50"),
    (Passage("p7", LONG, "report.pdf"), "'p7'"),
    (Document(LONG, (Block("paragraph", 0, 9),) * 30), "30 blocks"),
    (Comparison("spans", ("exact",), "exact", LONG, 1000, (SYSTEM, SYSTEM)), "1,000 examples"),
    (SYSTEM, "200 runs"),
]


@pytest.mark.parametrize(("result", "part"), RESULTS, ids=lambda value: type(value).__name__)
def test_results_are_shown_in_one_short_line(result, part):
    shown = repr(result)
    assert "\n" not in shown
    assert len(shown) < 220
    assert shown.startswith(f"<{type(result).__name__} ")
    assert part in shown


def test_a_run_shows_its_folder_and_state(tmp_path):
    assert repr(RunFolder(tmp_path / "sg-net-1")).endswith("sg-net-1', to do>")


def test_long_texts_are_cut():
    assert quoted("x" * 10**6) == f"'{'x' * 59}…'"
    assert quoted("a\n b") == "'a b'"


class Pair(NamedTuple):
    left: object
    right: object


@dataclass
class Inner:
    value: object
    hidden: int = field(default=1, repr=False)


@pytest.mark.parametrize(
    "value",
    [
        1, "a'b", None, 0.5, (), (1,), [], [1, "a"], {}, {"a": (1,)}, np.float64(0.5),
        Inner((Inner(1),)), [Inner("a")], (Inner(1), 2), {1: Inner(Pair(1, (2,)))},
        Pair(Inner(1), [2.5]), make_dataclass("Made", ["x"])({"k": [Inner(None)]}),
    ],
    ids=repr,
)  # fmt: skip
def test_the_full_representation_is_that_of_dataclasses(value):
    assert full_repr(value) == repr(value)


def test_fingerprints_are_those_of_earlier_versions_and_see_all_fields():
    def example(**changes):
        values = {"heads": (2, 0), "constituents": (Constituent("S", 0, 2),)} | changes
        return TreeExample("1", Parse(Sentence.from_words(["Ships", "wait"]), **values), None)

    # Computed before results had short representations; run folders keep such values.
    assert fingerprint([example()]) == "d34ac6d1c3118a430767c0fa95a877e7"
    changed = [
        example(heads=(0, 1)), example(constituents=(Constituent("S", 0, 1),)),
        example(upos=("NOUN", "VERB")), example(probabilities=(0.5, 0.5)),
    ]  # fmt: skip
    assert len({fingerprint([each]) for each in [example(), *changed]}) == 5


def test_the_full_representation_of_a_result_has_its_values():
    assert full_repr([Relation("yes", (0.25,))]) == (
        "[Relation(label='yes', probabilities=(0.25,))]"
    )
    assert "heads=(0, 1" in full_repr((PARSE,))
