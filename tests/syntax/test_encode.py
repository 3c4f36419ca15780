"""Encoding of texts and sequences: batches, spaces, and pairs of texts."""

from __future__ import annotations

import numpy as np
import pytest

from syntagma.batches import padded_length
from syntagma.parse.columns import ParsedText
from syntagma.parse.sources.controls import ChainSource
from syntagma.syntax.encode import encode_texts
from syntagma.syntax.pieces import COLUMNS
from syntagma.syntax.sequences import Part, SequenceBuilder
from syntagma.syntax.tags import PAD, SPE
from syntagma.text.segmentation.segment import segment
from syntagma.text.sentence import Parse
from tests.conftest import SENTENCES

TEXTS = [" ".join(SENTENCES[:3]), SENTENCES[3], " ".join(SENTENCES[4:]), "…", "Go!"]


def right_branching(text):
    """The head of each word is the word before it; the set of tags differs between texts."""
    parses = [
        Parse(sentence, tuple(range(len(sentence))), xpos=("NN", "DT", "XX")[: len(sentence)]
              + ("VB",) * (len(sentence) - 3))
        for sentence in segment(text)
    ]  # fmt: skip
    return ParsedText.from_parses(parses)


@pytest.mark.parametrize("kind", ["wordpiece", "byte_level", "unigram"])
@pytest.mark.parametrize("mode", ["share", "first_piece", "projection"])
def test_a_batch_equals_single_texts(tokenizers, kind, mode):
    parsed = [right_branching(text) for text in TEXTS]
    together = encode_texts(TEXTS, tokenizers[kind], parsed, mode=mode)
    for text, parse, found in zip(TEXTS, parsed, together, strict=True):
        (alone,) = encode_texts([text], tokenizers[kind], [parse], mode=mode)
        assert (found.span, found.n_words, found.n_sentences) == (
            alone.span, alone.n_words, alone.n_sentences,
        )  # fmt: skip
        for name in ("pieces", "starts", "ends"):
            assert np.array_equal(getattr(found, name), getattr(alone, name))
        has_word = alone.syntax["word"] >= 0
        for name in COLUMNS:
            expected = alone.syntax[name][has_word]
            assert np.array_equal(found.syntax[name][has_word], expected), name
        assert found.syntax["word"].max(initial=-1) < found.n_words


@pytest.mark.parametrize("kind", ["wordpiece", "byte_level", "unigram"])
def test_spaced_text_is_tokenized_as_in_running_text(tokenizers, kind):
    text = TEXTS[0]
    before = "Rain."
    (whole,) = encode_texts([f"{before} {text}"], tokenizers[kind])
    (found,) = encode_texts([text], tokenizers[kind], [right_branching(text)], spaced=True)
    n_before = len(whole) - len(found)
    assert np.array_equal(found.pieces, whole.pieces[n_before:])
    assert np.array_equal(found.ends, whole.ends[n_before:] - len(before) - 1)
    (plain,) = encode_texts([text], tokenizers[kind], [right_branching(text)])
    assert (found.n_words, found.n_sentences) == (plain.n_words, plain.n_sentences)


def test_no_texts(tokenizers):
    assert encode_texts([], tokenizers["wordpiece"], []) == []


@pytest.mark.parametrize("kind", ["wordpiece", "byte_level", "unigram"])
def test_two_texts_in_one_sequence_stay_separate(tokenizers, kind):
    tokenizer = tokenizers[kind]
    texts = encode_texts(TEXTS, tokenizer, [right_branching(text) for text in TEXTS])
    builder = SequenceBuilder(tokenizer, columns=COLUMNS)
    batch = builder.collate(
        [
            [Part(texts[0], 2, 9), Part(texts[1], 0, len(texts[1]))],
            [Part(texts[2], 0, len(texts[2]))],
        ]
    )
    assert set(COLUMNS) <= batch.keys()
    enter, exit_ = batch["enter"], batch["exit"]
    word, sentence = batch["word"], batch["sentence"]
    sees = (enter.unsqueeze(1) <= enter.unsqueeze(2)) & (enter.unsqueeze(2) < exit_.unsqueeze(1))
    n = sees.shape[1]
    for row in range(2):
        for i in range(n):
            assert sees[row, i, i]
            for j in range(n):
                if i != j and sees[row, i, j]:
                    assert word[row, i] >= 0
                    assert word[row, j] >= 0
                    assert sentence[row, i] == sentence[row, j]
    # The special tokens are those that the tokenizer itself adds.
    whole = builder.collate([[Part(texts[3], 0, len(texts[3])), Part(texts[4], 0, len(texts[4]))]])
    expected = tokenizer(TEXTS[3], TEXTS[4], return_token_type_ids=True)
    n_whole = len(expected["input_ids"])
    assert whole["input_ids"][0, :n_whole].tolist() == expected["input_ids"]
    assert whole["token_type_ids"][0, :n_whole].tolist() == expected["token_type_ids"]
    # The rest is padding up to a rounded length.
    assert whole["attention_mask"].sum() == n_whole
    assert whole["input_ids"].shape[1] == padded_length(n_whole)
    n_pieces = len(texts[3]) + len(texts[4])
    assert builder.n_special(2) == len(expected["input_ids"]) - n_pieces
    # Special tokens and padding have separate tag ids.
    tags = batch["tag"]
    mask = batch["attention_mask"].bool()
    assert (tags[~mask] == PAD).all()
    assert tags[0, 0] == SPE


@pytest.mark.parametrize("kind", ["wordpiece", "byte_level", "unigram"])
def test_escapes_among_given_words_are_unescaped(kind, tokenizers):
    given, read = "An oar -LRB- of 1\\/2 ash -RRB- broke", "An oar ( of 1/2 ash ) broke"
    parses = [ChainSource(mode="words").parse_texts([text]) for text in (given, read)]
    parsed = [ParsedText.from_parses(next(found)) for found in parses]
    for spaced in (False, True):
        (found,), (expected,) = (
            encode_texts([text], tokenizers[kind], [parse], spaced=spaced, given_words=True)
            for text, parse in zip((given, read), parsed, strict=True)
        )
        assert np.array_equal(found.pieces, expected.pieces)
        assert np.array_equal(found.syntax.table, expected.syntax.table)
        words = [word for word in found.syntax["word"].tolist() if word >= 0]
        covered = {n: [0, 0] for n in words}
        for word, start, end in zip(found.syntax["word"], found.starts, found.ends, strict=True):
            if word >= 0:
                covered[int(word)] = [min(covered[int(word)][0] or start, start), end]
        parts = given.split()
        assert given[covered[2][0] : covered[2][1]].strip() == parts[2]
        assert given[covered[6][0] : covered[6][1]].strip() == parts[6]
    # In running text, escapes are ordinary characters.
    (raw,) = encode_texts([given], tokenizers[kind])
    assert len(raw) > len(found)
