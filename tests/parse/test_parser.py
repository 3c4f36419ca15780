"""The parser on sentences of all lengths, alone and in batches, and its components."""

from __future__ import annotations

import itertools
import logging
import shutil

import numpy as np
import pytest
import torch

from syntagma.encoders.load import load_tokenizer
from syntagma.errors import InputError
from syntagma.parse.encode import SentenceEncoder
from syntagma.parse.fingerprint import fingerprint_of_saved
from syntagma.parse.parser import JointParser
from syntagma.parse.scorer import Biaffine, ParserModel
from syntagma.parse.scores import AttachmentScore
from syntagma.parse.shapes import N_SHAPES, word_shapes
from syntagma.parse.sources.stream import parse_file
from syntagma.parse.trees import are_trees
from syntagma.text.sentence import Parse, Sentence
from tests.conftest import SENTENCES
from tests.messages import naming, says

LABELS = {"relations": ["det", "nsubj", "root"], "upos": ["NOUN", "X"], "xpos": ["NN", "VB"]}


def new_parser(folder, **options) -> JointParser:
    torch.manual_seed(3)
    model = ParserModel.from_encoder(
        str(folder),
        task="parsing",
        head={"arc_width": 16, "relation_width": 8},
        labels=LABELS,
    )
    # New biaffine weights are zero, so that all trees would have the same score.
    for module in model.modules():
        if isinstance(module, Biaffine):
            torch.nn.init.normal_(module.weight, std=1.0)
    options = {"precision": "float32"} | options
    return JointParser(model, load_tokenizer(str(folder)), **options)


@pytest.fixture(scope="module")
def parser(encoder_folders):
    return new_parser(encoder_folders["bert"])


def sentences(n=40):
    words = " ".join(SENTENCES).split()
    return [Sentence.from_words(words[k : k + 1 + (7 * k) % 23]) for k in range(n)]


def is_tree(parse):
    return are_trees(np.array(parse.heads), np.array([0, len(parse)])).all()


def test_every_parse_is_a_tree_with_one_root(parser):
    for parse in parser.parse(sentences()):
        assert is_tree(parse)
        assert [r == "root" for r in parse.relations] == [h == 0 for h in parse.heads]
        assert all(0 <= p <= 1 for p in parse.probabilities)


@pytest.mark.parametrize("budget", [40, 333, 100_000])
def test_a_sentence_gets_the_same_parse_alone_and_in_any_batch(parser, encoder_folders, budget):
    together = new_parser(encoder_folders["bert"], budget=budget).parse(sentences())
    for sentence, found in zip(sentences(), together, strict=True):
        (alone,) = parser.parse([sentence])
        assert found.heads == alone.heads
        assert (found.relations, found.upos, found.xpos) == (
            alone.relations, alone.upos, alone.xpos,
        )  # fmt: skip
        assert found.probabilities == pytest.approx(alone.probabilities, abs=1e-4)


def test_a_stream_is_parsed_in_order(parser):
    source = sentences(30)
    found = list(itertools.islice(parser.parse_stream(itertools.cycle(source)), 90))
    assert [parse.sentence for parse in found] == source * 3


def test_a_sentence_beyond_the_encoders_limit_is_read_in_windows(parser):
    words = (" ".join(SENTENCES) + " ").split() * 40
    long = Sentence.from_words(words[:3000])
    (parse,) = parser.parse([long])
    assert len(parse) == 3000
    assert is_tree(parse)


def test_several_sentences_beyond_the_encoders_limit_are_parsed(parser):
    """Each long sentence is batched alone, even if others have the same length."""
    words = " ".join(SENTENCES).split() * 6
    long = [Sentence.from_words(words[start : start + 120]) for start in range(4)]
    short = sentences(3)
    found = parser.parse([long[0], *short, *long[1:]])
    assert [parse.sentence for parse in found] == [long[0], *short, *long[1:]]
    for parse in found:
        assert parse.heads == parser.parse([parse.sentence])[0].heads


def test_windows_cover_every_piece(parser, monkeypatch):
    """Each piece gets its state from exactly one window, in order."""
    seen = {}
    score_pieces = ParserModel.score_pieces

    def spy(model, states, lower, root, word_of_piece, shapes, n_words, **options):
        assert states.shape == lower.shape
        seen["n_pieces"] = states.shape[1]
        seen["words"] = word_of_piece
        return score_pieces(model, states, lower, root, word_of_piece, shapes, n_words, **options)

    monkeypatch.setattr(ParserModel, "score_pieces", spy)
    for n_words in (60, 75, 100, 200, 333):
        words = (" ".join(SENTENCES) + " ").split() * 6
        parser.parse([Sentence.from_words(words[:n_words])])
        assert seen["n_pieces"] == seen["words"].shape[1]


def test_sentences_beyond_max_words_are_parsed_in_parts(encoder_folders, caplog):
    parser = new_parser(encoder_folders["bert"], max_words=10)
    long = Sentence.from_words((" ".join(SENTENCES)).split()[:34])
    with caplog.at_level(logging.WARNING):
        (parse,) = parser.parse([long])
    assert says(caplog.text, "34 max_words=10")
    assert is_tree(parse)
    assert parse.relations.count("parataxis") == 3
    with pytest.raises(InputError, match=naming("max_words 1 0")):
        new_parser(encoder_folders["bert"], max_words=0)


@pytest.mark.parametrize(
    "forms",
    [[], ["a"], ["\u200b"], ["\u0301", "x"], ["  "], ["東京", "😀"], ["x" * 600], ["\ud800"]],
)
def test_unusual_words_are_parsed(parser, forms):
    places = tuple(range(len(forms)))
    (parse,) = parser.parse([Sentence(tuple(forms), places, places)])
    assert len(parse) == len(forms)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("We can't", "list sentences We can't"),
        (None, "list sentences None"),
        (Sentence.from_words(["No"]), "list sentences Sentence 'No'"),
        ([Sentence.from_words(["No"]), "a b"],
         "sentence 2 a b parse_text() Sentence.from_words([…])"),
        ([Parse(Sentence.from_words(["No"]), (0,))], "sentence 1 Parse Sentence.from_words([…])"),
    ],
)  # fmt: skip
def test_invalid_sentences_are_rejected(parser, given, message):
    with pytest.raises(InputError, match=naming(message)):
        parser.parse(given)


def test_invalid_texts_are_rejected(parser):
    with pytest.raises(InputError, match=naming("string None")):
        parser.parse_text(None)
    with pytest.raises(InputError, match=naming("list texts None")):
        parser.parse_texts(None)
    with pytest.raises(InputError, match=naming("string 3")):
        next(parser.parse_texts([3]))
    with pytest.raises(InputError, match=naming("list texts bytes b'abc' decode")):
        parser(b"abc")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": 0}, "budget 1 0"),
        ({"budget": "x"}, "budget 1 'x'"),
        ({"max_words": True}, "max_words 1 True"),
        ({"max_words": "5"}, "max_words 1 '5'"),
        ({"languages": 3}, "languages Languages 3 lang='fr'"),
    ],
)
def test_invalid_options_are_rejected(encoder_folders, options, message):
    with pytest.raises(InputError, match=naming(message)):
        new_parser(encoder_folders["bert"], **options)


def test_an_unknown_precision_is_rejected_at_once(encoder_folders):
    with pytest.raises(InputError, match=naming("precision auto bfloat16 float32 x")):
        new_parser(encoder_folders["bert"], precision="x")


def test_offsets_refer_to_the_raw_text(parser):
    text = "  The ferry can't cross.  Nobody slept!"
    parses = parser.parse_text(text)
    assert [w.form for p in parses for w in p.sentence.words][:5] == [
        "The", "ferry", "ca", "n't", "cross",
    ]  # fmt: skip
    for parse in parses:
        for word in parse.sentence.words:
            assert text[word.start : word.end] == word.form


def test_many_texts_give_one_list_of_parses_each(parser):
    found = list(parser.parse_texts([SENTENCES[0], "", " ".join(SENTENCES[1:3])]))
    assert [len(parses) for parses in found] == [1, 0, 2]
    with pytest.raises(InputError, match=naming("parse_texts parse_text()")):
        parser.parse_texts(SENTENCES[0])


@pytest.mark.parametrize("kind", ["wordpiece", "byte_level", "unigram"])
def test_encoding_many_sentences_equals_encoding_each_alone(tokenizers, kind):
    encoder = SentenceEncoder(tokenizers[kind])
    many = [*sentences(12), Sentence.from_words([]), Sentence.from_words(["can", "not"])]
    for sentence, found in zip(many, encoder.encode(many), strict=True):
        (alone,) = encoder.encode([sentence])
        assert np.array_equal(found.pieces, alone.pieces)
        assert np.array_equal(found.word_of_piece, alone.word_of_piece)
        assert np.array_equal(found.shapes, alone.shapes)
        # Words are joined by spaces before tokenization, so each has at least one piece.
        assert set(range(len(sentence))) == set(found.word_of_piece.tolist()) - {-100}


@pytest.mark.parametrize(
    ("word", "case", "digits", "other"),
    [
        ("the", 1, 0, 0), ("The", 2, 0, 0), ("THE", 3, 0, 0), ("I", 4, 0, 0), ("iPhone", 5, 0, 0),
        ("3", 0, 1, 0), ("3rd", 1, 1, 0), ("...", 0, 0, 1), ("Mr.", 2, 0, 1), ("x-ray", 1, 0, 1),
        ("", 0, 0, 0), ("😀", 0, 0, 1), ("É", 4, 0, 0), ("McX", 5, 0, 0),
    ],
)  # fmt: skip
def test_word_shapes(word, case, digits, other):
    (shape,) = word_shapes([word])
    assert shape == 4 * case + 2 * digits + other < N_SHAPES
    assert word_shapes(["pad", word, "Pad"])[1] == shape


def test_biaffine_scores_follow_the_formula():
    torch.manual_seed(0)
    layer = Biaffine(3, 4)
    torch.nn.init.normal_(layer.weight)
    left, right = torch.randn(5, 3), torch.randn(5, 3)
    one = torch.ones(1)
    for i in range(5):
        for j in range(5):
            x, y = torch.cat([left[i], one]), torch.cat([right[j], one])
            expected = torch.stack([x @ layer.weight[k] @ y for k in range(4)])
            pair = layer.given_pairs(left[i : i + 1], right[j : j + 1])[0]
            torch.testing.assert_close(pair, expected)
            every = layer.all_pairs(left[None], right[None])[0]
            torch.testing.assert_close(every[i, j], expected[0])


def test_attachment_scores_add_up(ferry):
    wrong = Parse(
        ferry.sentence,
        (3, 3, 4, 0, 7, 7, 3, 9, 4, 3),
        ("det", "amod", "nsubj:pass", "root", "det", "amod", "obj", "case", "obl:tmod", "punct"),
        ferry.upos,
        ("DT", "NN", *ferry.xpos[2:]),
    )
    score = AttachmentScore.of(ferry, wrong)
    assert (score.words, score.correct_heads, score.correct_arcs) == (10, 8, 8)
    assert (score.correct_subtyped_arcs, score.correct_xpos, score.correct_trees) == (6, 9, 0)
    bare = AttachmentScore.of(ferry, wrong, punctuation=False)
    assert (bare.words, bare.correct_heads) == (9, 8)
    both = score + AttachmentScore.of(ferry, ferry)
    assert both.uas == 90
    assert both.exact == 50
    assert AttachmentScore().las == 0
    with pytest.raises(ValueError, match=naming("parse 10 1")):
        AttachmentScore.of(ferry, Parse(Sentence.from_words(["a"]), (0,)))


def test_the_fingerprint_of_a_saved_parser_is_known_without_loading_it(tiny_parser, tmp_path):
    folder = tmp_path / "parser"
    shutil.copytree(tiny_parser, folder)
    options = {"max_words": 400, "decoding": "dependencies"}
    expected = fingerprint_of_saved(folder, **options)
    parser = JointParser.from_pretrained(folder)
    assert parser.fingerprint == fingerprint_of_saved(tiny_parser, **options) == expected
    shorter = JointParser.from_pretrained(folder, max_words=10)
    assert shorter.fingerprint == fingerprint_of_saved(folder, **options | {"max_words": 10})
    jointly = fingerprint_of_saved(folder, **options | {"decoding": "joint"})
    assert len({expected, shorter.fingerprint, jointly}) == 3
    # Parses in another precision may differ; the parser's own was not part of fingerprints before.
    assert JointParser.from_pretrained(folder, precision="float32").fingerprint == expected
    other = JointParser.from_pretrained(folder, precision="bfloat16")
    assert other.fingerprint == fingerprint_of_saved(folder, **options, precision="bfloat16")
    assert other.fingerprint != expected
    rounded = JointParser.from_pretrained(folder, dtype="bfloat16")
    assert rounded.fingerprint not in (expected, other.fingerprint)
    for name in ("config.json", "model.safetensors"):
        (folder / name).write_bytes((folder / name).read_bytes() + b" ")
        assert fingerprint_of_saved(folder, **options) != expected
        expected = fingerprint_of_saved(folder, **options)


def test_a_parser_in_memory_hashes_its_weights(encoder_folders, tiny_parser, tmp_path):
    parser, same = (new_parser(encoder_folders["bert"]) for _ in range(2))
    assert parser.fingerprint == same.fingerprint
    other = new_parser(encoder_folders["bert"])
    with torch.no_grad():
        other.model.upos.bias[0] += 1
    assert other.fingerprint != parser.fingerprint
    # The same holds for a parser whose folder has been removed.
    shutil.copytree(tiny_parser, tmp_path / "parser")
    moved = JointParser.from_pretrained(tmp_path / "parser")
    shutil.rmtree(tmp_path / "parser")
    assert moved.fingerprint.startswith("parser:")
    assert moved.fingerprint != JointParser.from_pretrained(tiny_parser).fingerprint


@pytest.mark.parametrize("kind", ["text", "lines", "words"])
def test_offsets_refer_to_the_file(parser, tmp_path, kind):
    path = tmp_path / "a.txt"
    text = "\ufeffHello there .\r\n\r\nIt rains .\r\nIt   pours .\n"
    path.write_bytes(text.encode())
    found = [item.parse.sentence for item in parse_file(path, parser, kind=kind)]
    assert [form for sentence in found for form in sentence.forms] == text[1:].split()
    for sentence in found:
        for form, start, end in sentence.words:
            assert text[start:end] == form
