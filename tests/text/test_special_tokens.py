"""Texts that contain the strings of special tokens, with every kind of tokenizer."""

from __future__ import annotations

import pytest
from tokenizers import AddedToken, Regex, Tokenizer, models, pre_tokenizers
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from syntagma.encoders.load import load_tokenizer
from syntagma.tasks.translation.vocabulary import learn_vocabulary
from syntagma.text.alignment import cut
from syntagma.text.special_tokens import target_pieces
from tests.conftest import ENCODERS, SENTENCES, SPECIAL, build_tokenizer

KINDS = sorted(SPECIAL)


def read(tokenizer, text):
    """Return ids and covered characters of the pieces of a text, read alone and in a batch."""
    alone, in_batch = cut(tokenizer, [text])[0], cut(tokenizer, ["One more.", text])[1]
    assert alone.ids.tolist() == in_batch.ids.tolist()
    assert alone.offsets.tolist() == in_batch.offsets.tolist()
    return alone.ids.tolist(), [text[start:end] for start, end in alone.offsets]


def spelled(parts):
    """Join the parts without spaces; a unigram vocabulary gives the first character two pieces."""
    if len(parts) > 1 and parts[0] == parts[1][:1]:
        parts = parts[1:]
    return "".join("".join(parts).split())


def with_pieces(kind, *pieces):
    """Return a tokenizer whose vocabulary also has some added tokens that are not special."""
    tokenizer = build_tokenizer(kind)
    tokenizer.add_tokens([AddedToken(piece, special=False, normalized=False) for piece in pieces])
    return tokenizer


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("pattern", ["Send {} home.", "A{}b{}", "{}", "{} {}"])
def test_special_tokens_in_a_text_become_ordinary_pieces(kind, pattern):
    tokenizer = build_tokenizer(kind)
    for token in tokenizer.all_special_tokens:
        text = pattern.replace("{}", token)
        ids, parts = read(tokenizer, text)
        assert not {*ids} & {*tokenizer.all_special_ids} - {tokenizer.unk_token_id}
        assert token not in parts
        assert spelled(parts) == "".join(text.split())


@pytest.mark.parametrize("kind", KINDS)
def test_characters_around_a_special_token_keep_their_pieces(kind):
    tokenizer = build_tokenizer(kind)
    token = SPECIAL[kind][1]
    ids, _ = read(tokenizer, f"the ferry {token} left dawn")
    before, after = (found.ids.tolist() for found in cut(tokenizer, ["the ferry", "left dawn"]))
    assert ids[: len(before)] == before
    assert ids[1 - len(after) :] == after[1:]


@pytest.mark.parametrize("kind", KINDS)
def test_added_tokens_that_are_not_special_become_ordinary_pieces_too(kind):
    tokenizer = with_pieces(kind, "[unused7]", "<|pause|>")
    added = {*tokenizer.convert_tokens_to_ids(["[unused7]", "<|pause|>"])}
    ids, parts = read(tokenizer, "Go [unused7] and <|pause|>")
    assert not {*ids} & added
    assert spelled(parts) == "Go[unused7]and<|pause|>"


def test_added_words_and_spaces_are_still_found():
    # Some vocabularies have tokens for runs of spaces; others were extended with domain terms.
    tokenizer = with_pieces("byte_level", "    ", "kombu")
    added = tokenizer.convert_tokens_to_ids(["    ", "kombu"])
    ids, _ = read(tokenizer, "if    kombu")
    assert ids[-2:] == added


@pytest.mark.parametrize("kind", KINDS)
def test_ordinary_texts_get_the_pieces_of_the_tokenizer(kind):
    tokenizer = build_tokenizer(kind)
    for text in (*SENTENCES, "", " ", "☃ <3 [a] <b> 🎈", "(s) < s > [ SEP ]"):
        plain = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        (found,) = cut(tokenizer, [text])
        assert found.ids.tolist() == plain["input_ids"]
        assert list(map(tuple, found.offsets.tolist())) == plain["offset_mapping"]


def test_text_that_is_normalised_to_a_special_token_becomes_ordinary_pieces():
    tokenizer = build_tokenizer("unigram")
    ids, parts = read(tokenizer, "to \uff3bSEP\uff3d")
    assert tokenizer.sep_token_id not in ids
    assert "".join(parts[-5:]) == "\uff3bSEP\uff3d"


def test_a_word_vocabulary_reads_a_special_token_as_unknown_words():
    tokenizer = learn_vocabulary(SENTENCES, kind="words", size=90)
    ids, parts = read(tokenizer, "the </s> ferry")
    # The words of running text are those of mteval-13a, which divides it.
    assert "".join(parts[1:-1]) == "</s>"
    assert {*ids[1:-1]} == {tokenizer.unk_token_id}
    assert tokenizer.eos_token_id not in ids


def test_an_added_token_that_strips_the_space_before_it_becomes_ordinary_pieces():
    backend = Tokenizer(models.WordLevel({"[U]": 0, "at": 1, "[": 2, "x": 3, "]": 4}, "[U]"))
    backend.pre_tokenizer = pre_tokenizers.Split(Regex(r"\w+|\s|\W"), "isolated")
    backend.add_tokens([AddedToken("[x]", special=False, lstrip=True, normalized=False)])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="[U]")
    ids, parts = read(tokenizer, "at  [x]")
    assert (ids[-3:], parts[-3:]) == ([2, 3, 4], ["[", "x", "]"])


@pytest.mark.parametrize("model_type", sorted(ENCODERS))
def test_reloaded_tokenizers_read_special_tokens_as_ordinary_pieces_too(
    model_type, encoder_folders, tmp_path
):
    tokenizer = load_tokenizer(str(encoder_folders[model_type]))
    tokenizer.save_pretrained(tmp_path)
    for again in (load_tokenizer(str(tmp_path)), AutoTokenizer.from_pretrained(tmp_path)):
        ids, _ = read(again, f"no {again.sep_token} here {again.mask_token}")
        assert not {*ids} & {again.sep_token_id, again.mask_token_id}
        # The template around a text still adds special tokens.
        assert again("no")["input_ids"][-1] == again.sep_token_id


@pytest.mark.parametrize("kind", ["bpe", "words"])
def test_target_texts_have_no_special_token_but_the_final_one(kind):
    tokenizer = learn_vocabulary(SENTENCES, kind=kind, size=320)
    ids, plain, empty = target_pieces(tokenizer, ["the </s> ferry <pad>", SENTENCES[0], ""])
    assert ids.count(tokenizer.eos_token_id) == 1
    assert ids[-1] == tokenizer.eos_token_id
    assert tokenizer.pad_token_id not in ids
    assert plain == tokenizer(text_target=SENTENCES[0])["input_ids"]
    assert empty == [tokenizer.eos_token_id]


def test_special_tokens_added_later_become_ordinary_pieces():
    tokenizer = build_tokenizer("unigram")
    read(tokenizer, "so <sep9>")
    tokenizer.add_special_tokens({"additional_special_tokens": ["<sep9>"]})
    ids, _ = read(tokenizer, "so <sep9>")
    assert tokenizer.convert_tokens_to_ids("<sep9>") not in ids
