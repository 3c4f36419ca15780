"""Sequences with markers: truncation of long texts, and what the parser reads."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntagma.errors import InputError
from syntagma.tasks.collect import gather
from syntagma.tasks.mentions.classifier import MarkedText, checked, pieces_around
from syntagma.tasks.relations.data import RelationExample
from syntagma.tasks.relations.task import RelationTask
from syntagma.tasks.typing.data import TypingExample
from syntagma.tasks.typing.task import TypingTask
from tests.builders import experiment
from tests.conftest import SENTENCES
from tests.messages import naming


class Recorder:
    """A parse source that records the texts it parses."""

    fingerprint = "recorder"

    def __init__(self, source):
        self.source = source
        self.seen = []

    def parse_texts(self, texts):
        texts = list(texts)
        self.seen += texts
        return self.source.parse_texts(texts)


def typer(encoder, **changes):
    settings = experiment("typing", "none.json", str(encoder), **changes)
    return TypingTask.new(settings, [TypingExample("0", "x", (0, 1), ("a", "b"))]).predictor


def classifier(encoder, **changes):
    settings = experiment("relations", "none.txt", str(encoder), **changes)
    example = RelationExample("0", "x", (0, 1), (0, 1), "Other")
    return RelationTask.new(settings, [example]).predictor


def shown(item, tokenizer, signs):
    """Decode a sequence, showing its markers as ``@`` and ``#``."""
    names = dict(zip(signs, "@#", strict=False))
    return " ".join(
        names.get(piece) or tokenizer.convert_ids_to_tokens(piece)
        for piece in item.text.pieces.tolist()
    )


@pytest.mark.parametrize("model_type", ["bert", "roberta", "xlm-roberta"])
def test_marker_positions_point_to_each_mentions_marker(model_type, encoder_folders):
    reader = classifier(encoder_folders[model_type], preset="seprem", parser="linear")
    reader.signs = [11, 12]
    text = SENTENCES[0]
    subject, object_ = ((text.index(w), text.index(w) + len(w)) for w in ("wide river", "ferry"))
    first, second = reader.items(
        [MarkedText(text, (subject, object_)), MarkedText(SENTENCES[4], ((8, 13), (0, 6)))]
    )
    batch = reader.collate([first, second])
    ids = batch["input_ids"]
    assert [row[places].tolist() for row, places in zip(ids, batch["markers"], strict=True)] == [
        [11, 12],
        [11, 12],
    ]
    # In the first text the subject comes after the object, but its marker is still listed first.
    assert batch["markers"][0, 0] > batch["markers"][0, 1]
    assert [len(first), len(second)] == batch["attention_mask"].sum(1).tolist()
    assert "labels" not in batch


def test_texts_are_parsed_without_markers(tiny_encoder):
    reader = classifier(tiny_encoder, preset="seprem", parser="linear")
    recorder = reader.texts.cache.source = Recorder(reader.texts.cache.source)
    text = "A white gull cried over Pier Nine."
    reader.relation(text, (2, 12), (24, 33))
    # A second pair of mentions in the same text does not parse it again.
    reader.relation(text, (8, 12), (24, 33))
    assert recorder.seen == [text]


def test_white_space_around_mentions_is_stripped(tiny_encoder):
    reader = classifier(tiny_encoder)
    reader.signs = [11, 12]
    text = "the old ferry crossed"
    (item,) = reader.items([MarkedText(text, ((3, 8), (8, 13)))])
    words = shown(item, reader.tokenizer, reader.signs).replace(" ##", "")
    assert words == "the @ old @ # ferry # crossed"


def test_a_blank_mention_gets_adjacent_markers(tiny_encoder):
    reader = classifier(tiny_encoder)
    reader.signs = [11, 12]
    (item,) = reader.items([MarkedText("the old ferry", ((4, 4), (13, 13)))])
    words = shown(item, reader.tokenizer, reader.signs).replace(" ##", "")
    assert words == "the @ @ old ferry # #"


class TestLongTexts:
    def test_context_on_both_sides_of_the_mention_is_kept(self, tiny_encoder):
        reader = typer(tiny_encoder, head={"max_length": 32})
        reader.signs = [11]
        text = "rain " * 100 + "ferry" + " rain" * 100
        start = text.index("ferry")
        (item,) = reader.items([MarkedText(text, ((start, start + 5),))])
        assert item.truncated
        assert len(item) == 32 == reader.collate([item])["input_ids"].shape[1]
        place = item.markers[0] - 1
        assert item.text.pieces[place] == 11
        assert item.text.starts[place + 1] == start
        # Equal context on both sides.
        assert abs(place - (len(item.text) - place - 3)) <= 2
        assert reader.types(text, (start, start + 5)).truncated

    @pytest.mark.parametrize("where", [0, 999])
    def test_a_mention_at_one_end_gets_all_context_from_the_other_side(self, where, tiny_encoder):
        reader = typer(tiny_encoder, head={"max_length": 32})
        text = "rain " * 200
        start = min(where, len(text) - 5)
        (item,) = reader.items([MarkedText(text, ((start, start + 4),))])
        assert len(item) == 32
        ends = item.text.starts[0], item.text.ends[-1]
        assert (ends[0] == 0) if where == 0 else (ends[1] == len(text) - 1)

    def test_distant_mentions_are_both_kept(self, tiny_encoder):
        reader = classifier(tiny_encoder, head={"max_length": 32}, preset="seprem", parser="linear")
        reader.signs = [11, 12]
        text = "ferry " + "rain " * 100 + "captain"
        (item,) = reader.items([MarkedText(text, ((0, 5), (len(text) - 7, len(text))))])
        assert item.truncated
        words = shown(item, reader.tokenizer, reader.signs).replace(" ##", "").split()
        assert words[:3] == ["@", "ferry", "@"]
        assert words[-3:] == ["#", "captain", "#"]
        assert [item.text.pieces[place - 1] for place in item.markers] == [11, 12]
        assert len(item.text.syntax["word"]) == len(item.text)

    def test_max_length_is_limited_by_the_encoder(self, tiny_encoder):
        reader = typer(tiny_encoder, head={"max_length": 500})
        with pytest.raises(InputError, match=naming("head.max_length 500 160")):
            reader.types("A gull.", (2, 6))

    @given(
        st.integers(1, 60).flatmap(
            lambda n: st.tuples(
                st.just(n), st.lists(st.integers(0, n - 1), min_size=1, max_size=4, unique=True)
            )
        ),
        st.integers(4, 40),
    )
    @settings(deadline=None)
    def test_all_markers_are_kept_and_the_whole_length_is_used(self, text, room):
        n_pieces, markers = text
        kept = pieces_around(n_pieces, markers, room).tolist()
        assert len(kept) == min(n_pieces, room)
        assert kept == sorted(set(kept))
        assert set(markers) <= set(kept)
        if max(markers) - min(markers) < room:
            assert kept == list(range(kept[0], kept[-1] + 1))


@pytest.mark.parametrize(
    ("mention", "message"),
    [
        ((2, 9), "mention (2, 9) 7"),
        ((-1, 3), "mention (-1, 3) 7"),
        ((2, 2), "mention (2, 2) offsets"),
        ((5, 3), "mention without characters"),
        ((1, 2), "mention without characters"),
    ],
)
def test_invalid_mentions_are_named(mention, message):
    with pytest.raises(InputError, match=naming(message)):
        checked("A gull.", (2, 6), mention)


@pytest.mark.parametrize("item", ["A gull.", ("A gull.",), ("A gull.", (0, 1), (2, 6))])
def test_the_number_of_mentions_is_checked(item, tiny_encoder):
    message = "(text, (start, end)) A gull."
    with pytest.raises(InputError, match=naming(message)):
        next(typer(tiny_encoder).stream([item]))


def test_stream_requires_a_list(tiny_encoder):
    for predictor in (typer(tiny_encoder), classifier(tiny_encoder)):
        with pytest.raises(InputError, match=naming("list texts mentions None")):
            next(predictor.stream(None))


@pytest.mark.parametrize("threshold", ["x", float("nan")])
def test_the_threshold_must_be_a_number(threshold, tiny_encoder):
    with pytest.raises(InputError, match=naming("threshold number")):
        typer(tiny_encoder).types("A gull.", (2, 6), threshold=threshold)


def test_empty_texts_are_rejected(tiny_encoder):
    with pytest.raises(InputError, match=naming("text empty")):
        typer(tiny_encoder).items([MarkedText(" ", ((0, 0),))])


def test_duplicate_ids_are_named_or_skipped():
    rows = [(place, TypingExample("7", "x", (0, 1), ())) for place in ("here", "there")]
    with pytest.raises(InputError, match=naming("there id 7 here")):
        gather(iter(rows), skip_bad=False)
    examples, wrong = gather(iter(rows), skip_bad=True)
    assert (len(examples), len(wrong)) == (1, 1)
