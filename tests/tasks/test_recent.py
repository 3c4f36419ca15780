"""Texts are cut into pieces and parsed once, and only where a tree can change a score."""

from __future__ import annotations

import copy
import pickle

import pytest
import torch

from syntagma.encoders.load import load_tokenizer
from syntagma.models.span_model import SpanModel
from syntagma.parse.sources.cache import ParseCache
from syntagma.parse.sources.load import load_source
from syntagma.tasks.layout import TextPair
from syntagma.tasks.recent import Recent
from syntagma.tasks.spans.reader import Reader
from syntagma.tasks.spans.squad import SpanExample
from syntagma.tasks.spans.task import SpanTask
from tests.conftest import SENTENCES

PASSAGE = " ".join(SENTENCES[:2])
QUESTIONS = ["Who saw the boat from the quay?", "When did it leave?"]
HEAD = {"max_length": 150, "doc_stride": 16, "max_question_length": 24}


class TestRecent:
    def test_the_least_recently_used_value_is_dropped(self):
        recent = Recent(10)
        for key in "abc":
            recent.add(key, key.upper(), size=3)
        assert recent.get("a") == "A"
        recent.add("d", "D", size=4)
        assert [recent.get(key) for key in "abcd"] == ["A", None, "C", "D"]

    def test_a_value_larger_than_the_limit_is_not_kept(self):
        recent = Recent(10)
        recent.add("a", 1, size=4)
        recent.add("b", 2, size=11)
        assert (recent.get("a"), recent.get("b")) == (1, None)

    def test_a_value_that_is_added_again_counts_once(self):
        recent = Recent(10)
        for _ in range(5):
            recent.add("a", 1, size=6)
        recent.add("b", 2, size=4)
        assert (recent.get("a"), recent.get("b")) == (1, 2)

    @pytest.mark.parametrize("copied", [copy.deepcopy, lambda r: pickle.loads(pickle.dumps(r))])
    def test_a_copy_starts_empty_with_the_same_limit(self, copied):
        recent = Recent(3)
        recent.add("a", 1, size=3)
        other = copied(recent)
        assert len(other) == 0
        other.add("b", 2, size=3)
        assert (other.get("b"), recent.get("b")) == (2, None)


class Counting:
    """A parse source that notes which texts it was asked for."""

    def __init__(self) -> None:
        self.source = load_source("random:1")
        self.fingerprint = self.source.fingerprint
        self.asked: list[str] = []

    def parse_texts(self, texts):
        texts = list(texts)
        self.asked += texts
        return self.source.parse_texts(texts)


def reader_of(folder, guides, source, **head) -> Reader:
    torch.manual_seed(0)
    model = SpanModel.from_encoder(str(folder), task="spans", guides=guides, head=HEAD | head)
    for weight in model.parameters():
        if weight.ndim == 1:  # New norms and biases are 1 and 0; shake them.
            weight.data += 0.1 * torch.randn_like(weight)
    tokenizer = load_tokenizer(str(folder))
    return Reader(model, tokenizer, cache=ParseCache(source), precision="float32")


def scores(reader, question, *, all_trees):
    [window] = reader.encode_pairs([(PASSAGE, question)], all_trees=all_trees)
    with torch.inference_mode():
        found = reader.model(**reader.batch([window]))
    return torch.stack([found.start_logits, found.end_logits])


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"num_layers": 2},
        {"aggregate_special": True},
        *({"aggregation": kind} for kind in ("learned", "concatenation", "guided_only")),
    ],
)
def test_a_questions_tree_changes_no_score_of_sg_net(settings, tiny_encoder):
    reader = reader_of(tiny_encoder, {"ancestor_attention": settings}, Counting())
    assert not reader.model.reads_question_trees
    for question in QUESTIONS:
        without = scores(reader, question, all_trees=False)
        with_trees = scores(reader, question, all_trees=True)
        assert torch.equal(without, with_trees)


@pytest.mark.parametrize(
    ("guides", "head"),
    [
        ({"tree_distance": {}}, {}),
        ({"tree_bias": {}}, {}),
        ({"pos_embedding": {}}, {}),
        ({"ancestor_attention": {}, "coattention": {}}, {}),
        ({"ancestor_attention": {"aggregation": "bi_attention"}}, {}),
        ({"ancestor_attention": {}}, {"objective": "both"}),
    ],
)
def test_where_a_questions_tree_can_reach_a_score_it_is_parsed(guides, head, tiny_encoder):
    source = Counting()
    reader = reader_of(tiny_encoder, guides, source, **head)
    assert reader.model.reads_question_trees
    reader.answer(PASSAGE, QUESTIONS[0])
    assert source.asked == [PASSAGE, QUESTIONS[0]]


def test_a_passage_is_parsed_once_for_all_questions(tiny_encoder):
    source = Counting()
    reader = reader_of(tiny_encoder, {"ancestor_attention": {}}, source)
    first = reader.answer(PASSAGE, QUESTIONS[0])
    reader.answer(PASSAGE, QUESTIONS[1])
    assert reader.answer(PASSAGE, QUESTIONS[0]) == first
    assert source.asked == [PASSAGE]


def test_a_passage_is_cut_into_pieces_once(tiny_encoder, monkeypatch):
    reader = reader_of(tiny_encoder, {}, Counting())
    seen = []
    encode = reader.texts._encode
    monkeypatch.setattr(
        reader.texts,
        "_encode",
        lambda texts, *options: seen.extend(texts) or encode(texts, *options),
    )
    for question in (*QUESTIONS, QUESTIONS[0]):
        reader.answer(PASSAGE, question)
    assert seen == [PASSAGE, *QUESTIONS]


def test_pictures_show_the_questions_tree(tiny_encoder):
    source = Counting()
    reader = reader_of(tiny_encoder, {"ancestor_attention": {}}, source)
    layout = reader.lay_out(TextPair(PASSAGE, QUESTIONS[0]))
    assert QUESTIONS[0] in source.asked
    assert layout.batch["input_ids"].shape[0] == 1


def test_training_parses_no_question_in_vain(tiny_encoder):
    source = Counting()
    task = SpanTask(reader_of(tiny_encoder, {"ancestor_attention": {}}, source))
    word = PASSAGE.split()[1]
    example = SpanExample(
        "q", PASSAGE, QUESTIONS[0], answers=(word,), answer_starts=(PASSAGE.index(word),)
    )
    [window] = task.features([example])
    assert source.asked == [PASSAGE]
    assert window.start > 0
