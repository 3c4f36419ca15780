"""Sentences beyond the limit are parsed in parts, with every format of input and output."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from syntagma.errors import InputError
from syntagma.parse.columns import ParsedText
from syntagma.parse.encode import SentenceEncoder
from syntagma.parse.parser import JointParser
from syntagma.parse.sources.cache import CachedSource, ParseCache
from syntagma.parse.sources.stream import parse_file
from syntagma.parse.trees import are_trees
from syntagma.syntax.tokenizer import SyntaxTokenizer
from syntagma.text.conllu import parse_conllu
from syntagma.text.json_format import format_json
from syntagma.text.limits import MAX_CHARACTERS, MAX_WORDS, READ_CHARACTERS
from syntagma.text.sentence import Parse, Sentence
from tests.messages import naming

WORDS = ["the", "old", "boat", "lies", "near"] * (MAX_WORDS * 2 // 5) + ["mill"]
PARTS = (0, 267, 534)
BLOB = "a/b," * MAX_CHARACTERS + "z"


@pytest.fixture(scope="module")
def parser(tiny_parser):
    return JointParser.from_pretrained(tiny_parser)


@pytest.mark.parametrize("kind", ["text", "lines", "words", "conllu"])
def test_long_sentences_of_every_input_format_are_split_and_marked(kind, parser, tmp_path):
    path = tmp_path / "long"
    short = "We saw it."
    if kind == "conllu":
        sentences = [WORDS, ["We", "saw", "it", "."]]
        rows = [
            "".join(f"{n}\t{form}" + "\t_" * 8 + "\n" for n, form in enumerate(forms, start=1))
            for forms in sentences
        ]
        path.write_text("\n".join(rows) + "\n")
    else:
        path.write_text(" ".join(WORDS) + f"\n\n{short}\n")
    long, other = parse_file(path, parser, kind=kind)
    assert long.parse.parts == PARTS
    assert other.parse.parts == ()
    assert are_trees(np.array(long.parse.heads), np.array([0, len(WORDS)])).all()
    assert long.parse.relations.count("parataxis") >= len(PARTS) - 1
    (read,) = parse_conllu(long.conllu().split("\n"))
    assert read.comment("parts") == "1-267 268-534 535-801"
    assert read.parse().heads == long.parse.heads
    assert "parts" not in other.conllu()
    starts, text = long.parse.sentence.starts, " ".join(WORDS)
    assert all(text[start:].startswith(form) for start, form in zip(starts, WORDS, strict=True))


def test_parts_are_parsed_independently(parser):
    sentence = Sentence.from_words(WORDS)
    (whole,) = parser.parse([sentence])
    bounds = [*PARTS, len(WORDS)]
    alone = [
        parser.parse([Sentence.from_words(WORDS[a:b])])[0]
        for a, b in zip(bounds, bounds[1:], strict=False)
    ]
    assert whole.upos == tuple(tag for part in alone for tag in part.upos)
    for start, part in zip(PARTS, alone, strict=True):
        own = whole.heads[start : start + len(part)]
        inside = [head - start for head, kept in zip(own, part.heads, strict=True) if kept]
        assert inside == [head for head in part.heads if head]


def test_json_has_parts_and_long_words(parser):
    (parse,) = parser.parse([Sentence.from_words([*WORDS, BLOB])])
    line = json.loads(format_json(parse))
    assert line["parts"] == [
        {"first": 1, "last": 267}, {"first": 268, "last": 534}, {"first": 535, "last": 802},
    ]  # fmt: skip
    assert [word["form"] for word in line["words"] if word.get("long")] == [BLOB]
    (short,) = parser.parse([Sentence.from_words(["We", "saw"])])
    assert "parts" not in json.loads(format_json(short))


def test_columns_and_cache_keep_the_parts(parser, tmp_path):
    text = " ".join(WORDS) + "\n\nWe saw it."
    parses = parser.parse_text(text)
    assert [parse.parts for parse in parses] == [PARTS, ()]
    columns = ParsedText.from_parses(parses)
    assert [parse.parts for parse in columns.parses(text)] == [PARTS, ()]
    for _ in range(2):  # parsed, then read from disk
        cached = CachedSource(ParseCache(parser, tmp_path))
        (found,) = cached.parse_texts([text])
        assert [parse.parts for parse in found] == [PARTS, ()]


def test_shards_keep_the_parts(tmp_path):
    pytest.importorskip("pyarrow")
    from syntagma.parse.corpora.corpus import _sentences
    from syntagma.parse.corpora.shards import Shard, ShardWriter

    text = "We saw it"
    parses = [
        Parse(Sentence.from_words(text.split()), (2, 0, 2), parts=parts) for parts in ((), (0, 2))
    ]
    writer = ShardWriter({})
    writer.add(0, 1, text, parses)
    writer.write(tmp_path / "some.parquet", {})
    shard = Shard(tmp_path / "some.parquet")
    assert shard.texts is not None
    assert [found.parse.parts for found in _sentences(shard, shard.texts)] == [(), (0, 2)]


def test_sentences_that_continue_are_marked(parser, tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("and so it went on " * 1500 + ".")
    first, last = parse_file(path, parser)
    assert "# continues = Yes\n" in first.conllu()
    assert json.loads(format_json(first.parse))["continues"] is True
    (read,) = parse_conllu(first.conllu().split("\n"))
    assert read.comment("continues") == "Yes"
    assert "continues" not in last.conllu() + format_json(last.parse)


def test_text_with_a_nul_is_no_text(parser, tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes("It went on.\nIt did.".encode("utf-16-le"))
    with pytest.raises(InputError, match=naming("text.txt NUL line 1 iconv -f utf-16")):
        list(parse_file(path, parser))


def test_shards_keep_what_continues(tmp_path):
    pytest.importorskip("pyarrow")
    from syntagma.parse.corpora.corpus import _sentences
    from syntagma.parse.corpora.shards import Shard, ShardWriter

    one = Sentence.from_words(["We", "saw", "it"])
    for marks in ((True, False), (False, False)):
        writer = ShardWriter({})
        parses = [Parse(replace(one, continues=mark), (2, 0, 2)) for mark in marks]
        writer.add(0, 1, "We saw it", parses)
        writer.write(tmp_path / "some.parquet", {})
        shard = Shard(tmp_path / "some.parquet")
        assert shard.texts is not None
        assert [each.parse for each in _sentences(shard, shard.texts)] == parses
        # As shards were before: a column only where it is needed.
        assert (shard.continues is None) is not any(marks)


def test_the_parser_reads_the_start_of_a_long_word(parser, tokenizers):
    for tokenizer in tokenizers.values():
        encoder = SentenceEncoder(tokenizer)
        long, short = encoder.encode(
            [Sentence.from_words(["a", BLOB, "b"]), Sentence.from_words(["a", BLOB[:100], "b"])]
        )
        assert len(long) <= 4 * READ_CHARACTERS
        assert np.array_equal(long.pieces, short.pieces)
        assert np.array_equal(long.word_of_piece, short.word_of_piece)
    (parse,) = parser.parse([Sentence.from_words(["a", BLOB, "b"])])
    assert parse.sentence.forms[1] == BLOB


def test_the_tokenizer_reads_the_start_of_a_long_word(parser, tokenizers):
    text = f"We saw {BLOB} near the mill."
    for tokenizer in tokenizers.values():
        tokenize = SyntaxTokenizer(tokenizer, parser)
        batch = tokenize(text, return_offsets_mapping=True)
        n_pieces = batch["input_ids"].shape[1]
        assert n_pieces < 512
        words = batch["word"][0].tolist()
        offsets = batch["offset_mapping"][0].tolist()
        spans = [pair for word, pair in zip(words, offsets, strict=True) if word == 2]
        assert spans[-1][1] == text.index(" near")
        assert max(words) == 6
