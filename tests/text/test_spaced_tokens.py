"""Words with spaces inside, from raw text: numbers in French, and words of several syllables."""

from __future__ import annotations

import random

import pytest

from syntagma.errors import InputError
from syntagma.tasks.parsing.segmentation.join_training import learn_joins
from syntagma.tasks.parsing.segmentation.learn import learn_segmenter
from syntagma.tasks.parsing.segmentation.tokens import tokens_of
from syntagma.text.conllu import TreebankSentence, parse_conllu
from syntagma.text.segmentation import saved as saved_module
from syntagma.text.segmentation.learned.joins import Joiner
from syntagma.text.segmentation.saved import SavedSegmenter
from syntagma.text.segmentation.segment import segment, segment_stream
from syntagma.text.sentence import Sentence
from tests.lossless import INVISIBLE, check_lossless
from tests.made_french import conllu, made_treebank

SYLLABLES = ("an", "bo", "chi", "dem", "em", "ga", "hoa", "khi", "lam", "mua", "nha", "quy")


def words(draw: random.Random, n_words: int) -> list[str]:
    """Half of the words have two syllables: those that begin with *ga*, *hoa* or *khi*."""
    seconds = [*SYLLABLES[:5], *SYLLABLES[8:]]
    return [
        f"{first} {draw.choice(seconds)}" if first in ("ga", "hoa", "khi") else first
        for first in draw.choices(SYLLABLES, [1, 1, 1, 1, 1, 3, 3, 3, 1, 1, 1, 1], k=n_words)
    ]


def made_sentences(n_sentences: int, seed: int) -> list[TreebankSentence]:
    draw = random.Random(seed)
    rows = [
        conllu(
            [*((word, True) for word in words(draw, 6)), (words(draw, 1)[0], False), (".", True)]
        )
        for _ in range(n_sentences)
    ]
    return list(parse_conllu("".join(rows).splitlines(), name="made"))


@pytest.fixture(scope="module")
def saved() -> SavedSegmenter:
    return learn_segmenter(made_sentences(150, 1))


def test_words_of_several_syllables_are_found_in_new_sentences(saved):
    sentences = made_sentences(50, 2)
    text = " ".join(each.text for each in sentences)
    found = segment(text, segmenter=saved.segmenter())
    assert [one.forms for one in found] == [each.sentence().forms for each in sentences]
    check_lossless(text, found, gaps=set(), spaced=True)


def test_offsets_are_those_of_the_text_and_a_form_has_plain_spaces(saved):
    text = "Bo  ga\u00a0dem, an.\n\nEm ga\nlam dem."
    first, second = segment(text, segmenter=saved.segmenter())
    assert first.forms == ("Bo", "ga dem", ",", "an", ".")
    assert text[first.starts[1] : first.ends[1]] == "ga\u00a0dem"
    assert second.forms == ("Em", "ga lam", "dem", ".")
    assert text[second.starts[1] : second.ends[1]] == "ga\nlam"


def test_words_are_joined_across_one_space_only_and_within_a_sentence(saved):
    segmenter = saved.segmenter()
    (found,) = segment("an ga  dem an.", segmenter=segmenter)
    assert found.forms == ("an", "ga", "dem", "an", ".")
    forms = [one.forms for one in segment("an ga\n\ndem an.", segmenter=segmenter)]
    assert forms == [("an", "ga"), ("dem", "an", ".")]
    given = segment("an ga dem", mode="words", segmenter=segmenter)
    assert given[0].forms == ("an", "ga", "dem")


def test_a_stream_and_lines_give_the_same_words(saved):
    segmenter = saved.segmenter()
    text = "an ga dem em.\n\nkhi an dem."
    whole = segment(text, segmenter=segmenter)
    stream = segment_stream([text[:5], text[5:9], text[9:]], segmenter=segmenter)
    assert [one.forms for _, group in stream for one in group] == [one.forms for one in whole]
    lines = segment(text, mode="lines", segmenter=segmenter)
    assert [one.forms for one in lines] == [one.forms for one in whole]


def test_numbers_are_joined_and_nothing_else():
    draw = random.Random(3)
    numbers = [
        conllu([("Il", True), ("a", True), (f"{draw.randint(1, 99)} 000", True), ("livres", False),
                (".", True)])
        + conllu([("En", True), (str(draw.randint(1900, 2020)), True), (",", True),
                  (str(draw.randint(20, 99)), True), ("livres", False), (".", True)])
        for _ in range(40)
    ]  # fmt: skip
    sentences = parse_conllu("".join(numbers).splitlines(), name="made")
    joiner = Joiner(learn_joins(list(tokens_of([*sentences, *made_treebank(100, 1)]))))
    forms = ["Il", "a", "27", "000", "livres", "en", "1995", ",", "12", "du", "port", "."]
    (found,) = joiner.join([Sentence.from_words(forms)])
    assert found.forms == ("Il", "a", "27 000", *forms[4:])
    assert found.starts[2:4] == (5, 12)


def test_a_treebank_with_hardly_any_such_word_teaches_none():
    few = conllu([("ga dem", True), ("an", False), (".", True)])
    sentences = [*made_treebank(60, 1), *parse_conllu(few.splitlines(), name="made")]
    assert learn_joins(list(tokens_of(sentences))) == {}


def test_the_file_keeps_it_and_says_that_earlier_versions_cannot_read_it(
    saved, tmp_path, monkeypatch
):
    path = tmp_path / "segmentation.safetensors"
    saved.segmenter().write(path)
    read = SavedSegmenter.read(path)
    assert read.to_bytes() == saved.to_bytes()
    (found,) = segment("an ga dem.", segmenter=read.segmenter())
    assert found.forms == ("an", "ga dem", ".")
    monkeypatch.setattr(saved_module, "FORMAT", 2)
    with pytest.raises(InputError, match="format 3"):
        SavedSegmenter.read(path)


def test_odd_text_is_cut_without_a_loss(saved):
    draw = random.Random(5)
    marks = [*SYLLABLES, " ", " ", "\u00a0", "\u200b", "\n", "\n\n", ".", "7 000", "ก", "港", "☂"]
    for _ in range(200):
        text = "".join(draw.choices(marks, k=12))
        found = segment(text, segmenter=saved.segmenter())
        check_lossless(text, found, gaps=INVISIBLE, spaced=True)
