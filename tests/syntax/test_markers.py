"""Markers around mentions, checked against walks from parent to parent."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from syntagma.errors import InputError
from syntagma.parse.columns import ParsedText
from syntagma.syntax.ancestors import ancestor_mask
from syntagma.syntax.distances import tree_distances
from syntagma.syntax.encode import EncodedText, concatenate, encode_texts
from syntagma.syntax.markers import insert_markers, marker_pieces
from syntagma.syntax.pieces import COLUMNS, piece_syntax
from syntagma.syntax.sequences import Part, SequenceBuilder
from syntagma.syntax.tags import SPE
from syntagma.text.alignment import ABSENT
from syntagma.text.segmentation.segment import segment
from syntagma.text.sentence import Parse
from tests.conftest import SENTENCES, build_tokenizer
from tests.messages import naming
from tests.oracles import ancestors_by_walking, forests, parsed

TOKENIZER = build_tokenizer("wordpiece")


@st.composite
def marked_texts(draw, modes=("share", "first_piece", "projection"), min_pieces=0):
    """Trees, the word of each piece, a mode, and one or two mentions as spans of pieces."""
    trees = draw(forests(max_words=5, max_sentences=2))
    words = []
    for word in range(sum(map(len, trees))):
        words += [word] * draw(st.integers(min_pieces, 3))
        words += [ABSENT] * draw(st.integers(0, 1))
    mentions = []
    for _ in range(draw(st.integers(1, 2))):
        bounds = st.integers(0, len(words))
        mentions.append(tuple(sorted((draw(bounds), draw(bounds)))))
    return trees, words, draw(st.sampled_from(modes)), mentions


def encoded(trees, words, mode):
    """A text whose piece ``i`` is its character ``i``."""
    place = np.arange(len(words), dtype=np.int32)
    text = parsed(trees)
    syntax = piece_syntax(text, np.array(words, np.int64), mode=mode)
    return EncodedText(
        100 + place, place, place + 1, syntax, len(words) + len(text) + 1, len(text), len(trees)
    )


def head_word(trees, words, mention):
    """The word of a mention that is closest to the root."""
    above = ancestors_by_walking(trees)
    inside = sorted({word for word in words[slice(*mention)] if word >= 0})
    return min(inside, key=lambda word: len(above[word]), default=ABSENT)


def expected_order(words, mentions):
    """Pieces and markers in order, as pairs (piece, None) or (None, mention)."""
    order = []
    for place in range(len(words) + 1):
        spans = list(enumerate(mentions))
        ends = [m for m in spans if m[1][1] == place and m[1][0] < place]
        # Of two mentions that end here, the one that started later closes first.
        order += [(None, n) for n, _ in sorted(ends, key=lambda m: (-m[1][0], -m[0]))]
        order += [(None, n) for n, span in spans if span == (place, place) for _ in range(2)]
        begins = [m for m in spans if m[1][0] == place and m[1][1] > place]
        order += [(None, n) for n, _ in sorted(begins, key=lambda m: (-m[1][1], m[0]))]
        if place < len(words):
            order.append((place, None))
    return order


def naive_mask(trees, order, words, heads, mode):
    """Pair by pair: a marker acts as another first piece of its mention's head word."""
    above = ancestors_by_walking(trees)
    first = {}
    for piece, word in enumerate(words):
        first.setdefault(word, piece)

    def word_of(item):
        return words[item[0]] if item[1] is None else heads[item[1]]

    def is_first(item):
        return item[1] is not None or first[words[item[0]]] == item[0]

    def sees(i, j):
        if i == j:
            return True
        one, other = word_of(order[i]), word_of(order[j])
        if one < 0 or other < 0:
            return False
        if mode == "share":
            return other in above[one]
        if mode == "first_piece":
            return is_first(order[j]) and other in above[one]
        below = [word for word, up in enumerate(above) if other in up]
        return is_first(order[j]) and min(below) <= one <= max(below)

    return [[sees(i, j) for j in range(len(order))] for i in range(len(order))]


def collated(text):
    """The columns of a text without special tokens and padding."""
    batch = SequenceBuilder(TOKENIZER, columns=COLUMNS).collate([[Part(text, 0, len(text))]])
    return {name: tensor[:, 1 : 1 + len(text)] for name, tensor in batch.items()}


@given(marked_texts())
@settings(max_examples=300, deadline=None)
def test_markers_attend_like_their_head_word(case):
    trees, words, mode, mentions = case
    text = encoded(trees, words, mode)
    marked, places = insert_markers(text, mentions, [900, 901])
    order = expected_order(words, mentions)
    expected = [100 + piece if n is None else 900 + n for piece, n in order]
    assert marked.pieces.tolist() == expected
    for number, (opening, closing) in enumerate(places):
        assert [i for i, item in enumerate(order) if item[1] == number] == [opening, closing]
    heads = [head_word(trees, words, mention) for mention in mentions]
    columns = collated(marked)
    mask = ancestor_mask(columns["enter"], columns["exit"], columns["point"])[0]
    assert mask.tolist() == naive_mask(trees, order, words, heads, mode)
    above = ancestors_by_walking(trees)
    for i, (piece, number) in enumerate(order):
        word = columns["word"][0, i]
        if number is None:
            assert word == max(words[piece], -1)
        elif heads[number] < 0:
            assert word == -1
        else:
            # A new word with the depth of the head word's first piece.
            assert text.n_words <= word < marked.n_words
            assert columns["depth"][0, i] == len(above[heads[number]]) - 1
    own = columns["word"][0][columns["word"][0] >= text.n_words]
    assert len(set(own.tolist())) == len(own)
    assert marked.span == text.span > int(max(columns["exit"].max(), columns["point"].max()))


def naive_distances(trees, order, words, heads, direction):
    """Distances between pieces and markers, found by walking from parent to parent."""
    parent, offset = {}, 0
    for tree in trees:
        for place, head in enumerate(tree):
            parent[offset + place] = offset + head - 1 if head else None
        offset += len(tree)

    def above(word):
        found, steps = {}, 0
        while word is not None:
            found[word] = steps
            word, steps = parent[word], steps + 1
        return found

    word_of = [words[piece] if n is None else heads[n] for piece, n in order]
    met, is_first = set(), []
    for (piece, number), word in zip(order, word_of, strict=True):
        is_first.append(number is not None or word not in met)
        if number is None and piece is not None:
            met.add(word)
    result = torch.zeros(len(order), len(order))
    for i, one in enumerate(word_of):
        for j, other in enumerate(word_of):
            if one < 0 or other < 0 or one == other:
                continue
            up, down = above(one), above(other)
            if direction in ("down", "both") and one in down and is_first[i]:
                result[i, j] = down[one]
            if direction in ("up", "both") and other in up and is_first[j]:
                result[i, j] = up[other]
            if direction == "undirected" and (is_first[i] or is_first[j]):
                result[i, j] = min((up[word] + down[word] for word in up if word in down),
                                   default=0)  # fmt: skip
    return result


@pytest.mark.parametrize("direction", ["down", "up", "both", "undirected"])
# Common ancestors without pieces are invisible to the model, so every word has a piece here.
@given(marked_texts(modes=("share",), min_pieces=1))
@settings(max_examples=150, deadline=None)
def test_distances_of_markers_are_those_of_the_head_word(direction, case):
    trees, words, mode, mentions = case
    marked, _ = insert_markers(encoded(trees, words, mode), mentions, [900, 901])
    columns = collated(marked)
    found = tree_distances(
        *(columns[name] for name in ("enter", "exit", "depth", "word")), direction=direction
    )
    heads = [head_word(trees, words, mention) for mention in mentions]
    expected = naive_distances(trees, expected_order(words, mentions), words, heads, direction)
    assert torch.equal(found[0].float(), expected)


@given(marked_texts())
@settings(max_examples=100, deadline=None)
def test_special_markers_are_isolated(case):
    trees, words, mode, mentions = case
    text = encoded(trees, words, mode)
    marked, places = insert_markers(text, mentions, [900, 901], place="special")
    columns = collated(marked)
    mask = ancestor_mask(columns["enter"], columns["exit"], columns["point"])[0]
    markers = sorted(place for pair in places for place in pair)
    others = [i for i in range(len(marked)) if i not in markers]
    for place in markers:
        assert mask[place].nonzero().flatten().tolist() == [place]
        assert mask[:, place].nonzero().flatten().tolist() == [place]
        assert columns["word"][0, place] == -1
        assert columns["tag"][0, place] == SPE
    plain = collated(text)
    before = ancestor_mask(plain["enter"], plain["exit"], plain["point"])[0]
    assert torch.equal(mask[others][:, others], before)


def test_markers_in_a_text_without_syntax():
    text = EncodedText(*(np.arange(5, dtype=np.int32) + shift for shift in (100, 0, 1)))
    marked, places = insert_markers(text, [(3, 4), (0, 2)], [900, 901])
    assert marked.pieces.tolist() == [901, 100, 101, 901, 102, 900, 103, 900, 104]
    assert places == ((5, 7), (0, 3))
    assert marked.syntax is None
    assert (marked.starts == marked.ends).nonzero()[0].tolist() == [0, 3, 5, 7]


@pytest.mark.parametrize(
    ("mentions", "expected"),
    [
        ([(0, 2), (2, 3)], "@ab@#c#d"),
        ([(2, 3), (0, 2)], "#ab#@c@d"),
        ([(0, 3), (1, 2)], "@a#b#c@d"),
        ([(0, 3), (0, 1)], "@#a#bc@d"),
        ([(1, 2), (1, 2)], "a@#b#@cd"),
        ([(0, 3), (2, 4)], "@ab#c@d#"),
        ([(2, 2), (1, 3)], "a#b@@c#d"),
        ([(4, 4), (0, 0)], "##abcd@@"),
    ],
)
def test_markers_at_one_position_nest(mentions, expected):
    text = EncodedText(*(np.arange(4, dtype=np.int32) + shift for shift in (0, 0, 1)))
    marked = insert_markers(text, mentions, [4, 5]).text
    assert "".join("abcd@#"[piece] for piece in marked.pieces) == expected


def chain(text):
    """The head of each word is the word before it."""
    parses = [
        Parse(words, tuple(range(len(words))), xpos=("NN",) * len(words)) for words in segment(text)
    ]
    return ParsedText.from_parses(parses)


@pytest.mark.parametrize("kind", ["wordpiece", "byte_level", "unigram"])
def test_mentions_are_located_by_characters(tokenizers, kind):
    tokenizer = tokenizers[kind]
    text = SENTENCES[0]
    (plain,) = encode_texts([text], tokenizer, [chain(text)])
    at, hash_ = marker_pieces(tokenizer, "@#")
    start = text.index("old ferry")
    marked, ((opening, closing),) = insert_markers(plain, [(start, start + 9)], [at])
    assert marked.pieces[[opening, closing]].tolist() == [at, at]
    inside = marked.take(np.arange(opening + 1, closing))
    assert text[inside.starts[0] : inside.ends[-1]].strip() == "old ferry"
    # The head of a chain is its first word: number 1 of the sentence, one arc below the root.
    assert marked.syntax["depth"][[opening, closing]].tolist() == [1, 1]
    assert hash_ >= 0
    # Concatenated with another text, words and markers keep distinct numbers.
    both = concatenate([marked, marked])
    assert both.n_words == 2 * marked.n_words
    words = both.syntax["word"]
    assert not set(words[: len(marked)]) & set(words[len(marked) :]) - {-1}


def test_a_marker_inside_a_word_does_not_split_the_word():
    """*un|break|able* with a mention of the middle piece: only *un* is the word's first piece."""
    text = encoded([(0, 1)], [0, 0, 0, 1], "share")
    marked, _ = insert_markers(text, [(1, 2)], [900])
    columns = collated(marked)
    distances = tree_distances(*(columns[name] for name in ("enter", "exit", "depth", "word")))[0]
    #                     un @ break @ able other
    assert distances[:, 5].tolist() == [1, 1, 0, 1, 0, 0]


def test_invalid_arguments_are_rejected(tokenizers):
    text = encoded([(0,)], [0], "share")
    with pytest.raises(InputError, match=naming("markers head special tail")):
        insert_markers(text, [(0, 1)], [900], place="tail")
    with pytest.raises(InputError, match=naming("marker ''")):
        marker_pieces(tokenizers["wordpiece"], [""])
