"""How the parser reads words that are not spelled as in running text."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from syntagma.encoders.default import find_default
from syntagma.parse.encode import SentenceEncoder
from syntagma.parse.sources.load import load_parser
from syntagma.parse.sources.stream import parse_file
from syntagma.parse.spaced_words import join_parts, split_at_spaces
from syntagma.parse.trees import are_trees
from syntagma.text.sentence import Constituent, Parse, Sentence
from tests.conftest import SPECIAL, build_tokenizer

needs_default = pytest.mark.skipif(
    find_default() is None, reason="no default encoder: `syntagma download default`"
)


def encoded(kind, *texts):
    encoder = SentenceEncoder(build_tokenizer(kind))
    return encoder.encode([Sentence.from_words(text.split()) for text in texts])


@pytest.mark.parametrize("kind", sorted(SPECIAL))
@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("An oar -LRB- of ash -RRB- broke", "An oar ( of ash ) broke"),
        ("-lsb- 3\\/4 -rsb- `` Row ''", '[ 3/4 ] " Row "'),
        ("-LCB- \\* -RCB- ` Row", "{ * } ' Row"),
        ("Put [SEP] and <mask> here", "Put SEP and mask here"),
        ("</s> [unused3] <|end|>", "s unused3 end"),
        ("(a) < b > [] <3", "(a) < b > [] <3"),
    ],
)
def test_the_encoder_reads_escapes_and_special_tokens_as_ordinary_text(kind, given, read):
    # Other sentences of the batch keep their pieces.
    one, other = encoded(kind, given, "The ferry left"), encoded(kind, read, "The ferry left")
    for found, expected in zip(one, other, strict=True):
        assert np.array_equal(found.pieces, expected.pieces)
        assert np.array_equal(found.word_of_piece, expected.word_of_piece)
        assert np.array_equal(found.shapes, expected.shapes)


@pytest.mark.parametrize("kind", ["wordpiece", "unigram"])
def test_emoji_that_the_vocabulary_lacks_are_read_as_an_emoticon(kind, monkeypatch):
    # The small vocabularies of tests lack the pieces of an emoticon as well.
    monkeypatch.setattr("syntagma.parse.encode.EMOTICON", "boat")
    given, read, unknown = encoded(
        kind, "Nice boat 👏🏽 ❤️ !", "Nice boat boat boat !", "Nice boat 舟 舟 !"
    )
    assert np.array_equal(given.pieces, read.pieces)
    assert not np.array_equal(unknown.pieces, read.pieces)


def test_emoji_in_the_vocabulary_are_not_replaced():
    given, other = encoded("byte_level", "Nice boat 👏", "Nice boat 🎈")
    assert not np.array_equal(given.pieces, other.pieces)


def test_words_are_split_at_spaces_and_joined_again():
    sentence = Sentence(
        ("Port Ann", "in", "New\u00a0South Wales", "grew"), (0, 9, 12, 28), (8, 11, 27, 32)
    )
    split = split_at_spaces(sentence)
    assert split.forms == ("Port", "Ann", "in", "New", "South", "Wales", "grew")
    parse = Parse(
        split,
        (2, 7, 6, 6, 6, 2, 0),
        ("compound", "nsubj", "case", "amod", "compound", "nmod", "root"),
        ("PROPN", "PROPN", "ADP", "ADJ", "PROPN", "PROPN", "VERB"),
        ("NNP", "NNP", "IN", "JJ", "NNP", "NNPS", "VBD"),
        (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7),
        tuple(Constituent(*phrase) for phrase in [
            ("S", 0, 7), ("NP", 0, 6), ("NP", 0, 2), ("PP", 2, 6), ("NP", 3, 6), ("X", 3, 5),
            ("VP", 6, 7),
        ]),
    )  # fmt: skip
    joined = join_parts(sentence, parse)
    assert joined == Parse(
        sentence,
        (4, 3, 1, 0),
        ("nsubj", "case", "nmod", "root"),
        ("PROPN", "ADP", "PROPN", "VERB"),
        ("NNP", "IN", "NNPS", "VBD"),
        (0.2, 0.3, 0.6, 0.7),
        tuple(Constituent(*phrase) for phrase in [
            ("S", 0, 4), ("NP", 0, 3), ("NP", 0, 1), ("PP", 1, 3), ("NP", 2, 3), ("VP", 3, 4),
        ]),
    )  # fmt: skip
    plain = Sentence.from_words(["No", "spaces"])
    assert split_at_spaces(plain) is plain


def test_joined_words_form_a_tree_whatever_the_tree_of_their_parts():
    generator = np.random.default_rng(5)
    for _ in range(200):
        n_parts = int(generator.integers(2, 12))
        order = generator.permutation(n_parts)
        heads = np.zeros(n_parts, int)
        for place in range(1, n_parts):
            heads[order[place]] = order[generator.integers(place)] + 1
        cuts = np.flatnonzero(generator.random(n_parts - 1) < 0.4) + 1
        words = [" ".join("x" * len(part)) for part in np.split(np.arange(n_parts), cuts)]
        sentence = Sentence.from_words(words)
        joined = join_parts(sentence, Parse(split_at_spaces(sentence), tuple(heads.tolist())))
        assert are_trees(np.array(joined.heads), np.array([0, len(words)])).all()


@pytest.fixture(scope="module")
def parser():
    return load_parser("default-parser")


@needs_default
class TestTheShippedParser:
    def parsed(self, parser, *words):
        (parse,) = parser.parse([Sentence.from_words(words)])
        assert parse.sentence.forms == words
        return replace(parse, sentence=Sentence.from_words(["x"] * len(words)))

    def test_escapes_are_parsed_like_the_unescaped_words(self, parser):
        given = self.parsed(parser, *"`` Row -LSB- on -RSB- , '' said Bo -LRB- 9 -RRB- .".split())
        plain = self.parsed(parser, *'" Row [ on ] , " said Bo ( 9 ) .'.split())
        # Lemmas are made of the words as they are written.
        assert replace(given, morphology=None) == replace(plain, morphology=None)
        assert given.feats == plain.feats
        tags = [given.xpos[n] for n in (0, 2, 4, 6, 9, 11)]
        assert tags == ["``", "-LRB-", "-RRB-", "''", "-LRB-", "-RRB-"]
        assert {given.upos[n] for n in (0, 2, 4, 6, 9, 11)} == {"PUNCT"}

    def test_special_tokens_are_parsed_as_names(self, parser):
        given = self.parsed(parser, *"The [SEP] ends each line .".split())
        plain = self.parsed(parser, *"The SEP ends each line .".split())
        assert replace(given, morphology=None) == replace(plain, morphology=None)
        assert given.upos[1] in ("NOUN", "PROPN")
        assert given.relations[:2] == ("det", "nsubj")

    @pytest.mark.parametrize("emoji", ["🎈", "⛵", "🙏🏽", "🚤"])
    def test_emoji_are_symbols(self, parser, emoji):
        given = self.parsed(parser, "What", "a", "lovely", "boat", emoji)
        assert (given.upos[4], given.xpos[4]) == ("SYM", "NFP")

    def test_a_name_with_a_space_is_tagged_as_a_name(self, parser, tmp_path):
        file = tmp_path / "names.conllu"
        words = ("San Diego", "has", "a", "harbour", ".")
        rows = ["\t".join([str(n), word, *"________"]) for n, word in enumerate(words, start=1)]
        file.write_text("\n".join([*rows, "", ""]))
        (found,) = parse_file(file, parser, kind="conllu")
        assert found.parse.upos[0] == "PROPN"
        assert found.conllu().splitlines()[0].split("\t")[:8] == [
            *("1", "San Diego", "San Diego", "PROPN", "NNP", "Number=Sing", "2", "nsubj")
        ]
