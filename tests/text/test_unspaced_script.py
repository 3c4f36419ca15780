"""Words of a script without spaces: a small treebank, and an encoder that knows more words."""

from __future__ import annotations

import random
from collections import Counter
from types import SimpleNamespace

import pytest
from tokenizers import Tokenizer
from tokenizers.models import Unigram

from syntagma.tasks.parsing.segmentation.learn import learn_segmenter
from syntagma.text.conllu import TreebankSentence, parse_conllu
from syntagma.text.segmentation.learned.pieces import pieces_of
from syntagma.text.segmentation.saved import SavedSegmenter
from syntagma.text.segmentation.segment import segment
from tests.lossless import check_lossless
from tests.made_french import conllu, made_treebank

CHARACTERS = [chr(code) for code in range(0x4E00, 0x4E00 + 300)]
SEEN, UNSEEN = CHARACTERS[:150], CHARACTERS[150:]


def made_words(characters: list[str]) -> list[str]:
    """Words of one, two and three of the characters, each character in one word."""
    words, place = [], 0
    for length in (1, 2, 3) * len(characters):
        words.append("".join(characters[place : place + length]))
        place += length
        if place >= len(characters):
            break
    return words


WORDS, NEW_WORDS = made_words(SEEN), made_words(UNSEEN)


def made_sentences(words: list[str], n_sentences: int) -> list[TreebankSentence]:
    draw = random.Random(1)
    rows = "".join(
        conllu([(word, False) for word in draw.choices(words, k=8)] + [("。", False)])
        for _ in range(n_sentences)
    )
    return list(parse_conllu(rows.splitlines(), name="made"))


@pytest.fixture(scope="module")
def pieces():
    vocabulary = [("?", -20.0), *((character, -9.0) for character in CHARACTERS), ("。", -3.0)]
    vocabulary += [(word, -5.0) for word in (*WORDS, *NEW_WORDS) if len(word) > 1]
    tokenizer = Tokenizer(Unigram(vocabulary, unk_id=0, byte_fallback=False))
    return pieces_of(SimpleNamespace(backend_tokenizer=tokenizer))


@pytest.fixture(scope="module")
def saved(pieces) -> SavedSegmenter:
    return learn_segmenter(made_sentences(WORDS, 200), pieces)


def share_found(saved: SavedSegmenter, pieces) -> float:
    """Of new sentences of unseen words, the share that is cut right."""
    sentences = made_sentences(NEW_WORDS, 60)
    segmenter = saved.segmenter(pieces)
    found = [segment(each.text, mode="lines", segmenter=segmenter) for each in sentences]
    right = [
        [form for part in parts for form in part.forms] == list(gold.sentence().forms)
        for parts, gold in zip(found, sentences, strict=True)
    ]
    return sum(right) / len(right)


def spans(sentences) -> set[tuple[int, int]]:
    return {span for each in sentences for span in zip(each.starts, each.ends, strict=True)}


def test_words_of_characters_that_training_never_saw_are_found_by_pieces(saved, pieces):
    assert saved.reads_pieces
    assert share_found(saved, pieces) > 0.95
    assert share_found(learn_segmenter(made_sentences(WORDS, 200)), None) < 0.1


def test_words_that_occur_once_are_known():
    def characters(runs):
        return [list(range(1, len(run) + 1)) for run in runs]

    draw = random.Random(1)
    words = ["".join(draw.choices(CHARACTERS, k=length)) for length in (1, 2, 3) * 100]
    sentences = made_sentences(words, 100)
    counts = Counter(form for each in sentences for form in each.sentence().forms)
    rare = [word for word, count in counts.items() if count == 1]
    segmenter = learn_segmenter(sentences, characters).segmenter(characters)
    n_found = n_right = 0
    for gold in made_sentences(rare, 60):
        found = segment(gold.text, mode="lines", segmenter=segmenter)
        n_found += sum(map(len, found))
        n_right += len(spans(found) & spans([gold.sentence()]))
    assert n_right / n_found > 0.7


def test_a_script_with_spaces_needs_no_pieces(pieces):
    with_pieces = learn_segmenter(made_treebank(100, 1), pieces)
    assert not with_pieces.reads_pieces
    assert with_pieces.to_bytes() == learn_segmenter(made_treebank(100, 1)).to_bytes()


def test_a_file_says_that_it_needs_pieces(saved, pieces, tmp_path):
    path = tmp_path / "segmentation.safetensors"
    path.write_bytes(saved.to_bytes())
    read = SavedSegmenter.read(path)
    assert read.to_bytes() == saved.to_bytes()
    assert share_found(read, pieces) > 0.95
    with pytest.raises(ValueError, match="reads the pieces of an encoder"):
        read.segmenter()


def test_ends_of_pieces_are_counted_in_characters(pieces):
    long = next(word for word in NEW_WORDS if len(word) == 3)
    assert pieces([long + "。", "𠀀" + long]) == [[3, 4], [1, 4]]


def test_half_of_a_surrogate_pair_is_cut_too(saved, pieces):
    text = f"{WORDS[0]} \ud83d {WORDS[1]}\udc00。"
    check_lossless(text, segment(text, segmenter=saved.segmenter(pieces)), gaps=set())
