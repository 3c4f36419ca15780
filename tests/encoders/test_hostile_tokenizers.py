"""Damaged and hostile tokenizers in model folders get an error of one line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from syntagma.encoders.load import load_tokenizer
from syntagma.encoders.patterns import may_take_forever
from syntagma.encoders.tokenizer_probe import without_panics
from syntagma.errors import InputError
from tests.conftest import save_encoder
from tests.messages import naming
from tests.saved_folders import change

TOKENIZER = "tokenizer.json"


def put(name: str, value: object):
    return lambda values: values.update({name: value})


def assert_rejected(folder: Path, words: str) -> None:
    with pytest.raises(InputError, match=naming(words)) as found:
        load_tokenizer(folder)
    assert "\n" not in str(found.value)


def of_model(**changes):
    return lambda values: values["model"].update(changes)


def numbered(code):
    def edit(values):
        pieces = values["model"]["vocab"]
        values["model"]["vocab"] = {piece: code(number) for piece, number in pieces.items()}

    return edit


def split_by(pattern: str):
    return put(
        "pre_tokenizer",
        {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False},
    )


def deep(values):
    inner: dict = {"type": "Lowercase"}
    for _ in range(400):
        inner = {"type": "Sequence", "normalizers": [inner]}
    values["normalizer"] = inner


def replaced(pattern: str, content: str):
    return put("normalizer", {"type": "Replace", "pattern": {"Regex": pattern}, "content": content})


def joined_by(number: int):
    return {"type": "BertProcessing", "sep": ["[SEP]", number], "cls": ["[CLS]", number]}


def typed(number: int):
    return [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": number}}]


TEMPLATE = {"type": "TemplateProcessing", "single": typed(0)[:1], "special_tokens": {}}


def added(token: str):
    about = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": 5000, "content": token, "special": token.startswith("["), **about}


LONGER = {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 1000}


@pytest.mark.parametrize(
    "edit",
    [
        lambda values: [values["version"]],
        put("model", None),
        of_model(vocab={}),
        of_model(vocab=["a", "b"]),
        of_model(type="Unknown"),
        of_model(max_input_chars_per_word=10**9),
        numbered(lambda number: -number - 1),
        numbered(lambda number: number + 2_000_000_000),
        numbered(str),
        numbered(lambda number: 0),
        put("added_tokens", 5),
        deep,
        split_by("(a+)+$"),
        split_by("(a|aa)+b"),
        split_by("(x{2,}){3,}y"),
        split_by("("),
        put("normalizer", {"type": "Sequence", "normalizers": [LONGER] * 3}),
    ],
)
def test_a_damaged_tokenizer_is_rejected(folder, edit):
    change(folder / TOKENIZER, edit)
    assert_rejected(folder, "")


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", "[" * 100_000])
@pytest.mark.parametrize("name", [TOKENIZER, "tokenizer_config.json"])
def test_a_tokenizer_file_of_another_structure_is_rejected(folder, name, text):
    if name != TOKENIZER and text == "{}":
        return
    (folder / name).write_text(text)
    assert_rejected(folder, name)


class TestTrialReading:
    """Faults that no field shows; the tokenizer is tried on a text."""

    @pytest.mark.parametrize(
        ("edit", "words"),
        [
            (of_model(unk_token="nowhere"), "UNK"),
            (put("model", {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "b"}), "UNK"),
            (
                put("model", {"type": "Unigram", "vocab": [["a", -1.0]], "unk_id": None}),
                "unk_id",
            ),
            (replaced("[a-zA-Z]", ""), "text 'a'"),
            (replaced(r"[\s\S]", ""), "no piece"),
            (
                put("pre_tokenizer", {"type": "FixedLength", "length": 0}),
                "non-zero",
            ),
            (put("post_processor", joined_by(10**9)), "id 1000000000"),
            (put("post_processor", {**TEMPLATE, "pair": typed(900)}), "token type 900"),
        ],
    )
    def test_a_tokenizer_that_cannot_read_is_rejected(self, folder, capfd, edit, words):
        change(folder / TOKENIZER, edit)
        assert_rejected(folder, f"{folder} tokenizer {words}")
        # Rust prints its crashes itself, with a backtrace.
        assert capfd.readouterr().err == ""

    @pytest.mark.parametrize(
        "edit",
        [
            put("normalizer", {"type": "Precompiled", "precompiled_charsmap": "AAAA"}),
            put("model", {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": [["a", "b"]]}),
        ],
    )
    def test_a_crash_while_it_is_loaded_is_rejected(self, folder, capfd, edit):
        change(folder / TOKENIZER, edit)
        assert_rejected(folder, f"{folder}")
        assert capfd.readouterr().err == ""

    def test_padding_without_an_embedding_is_rejected(self, folder):
        change(folder / "tokenizer_config.json", put("pad_token", "[NEW]"))
        assert_rejected(folder, f"{folder} id 195 0 to 194")

    @pytest.mark.parametrize(
        "edit", [numbered(lambda number: number + 50), numbered(lambda number: number + 10**6)]
    )
    def test_an_encoder_with_ids_beyond_its_embeddings_is_rejected(self, tmp_path, edit):
        encoder = save_encoder(tmp_path / "encoder", "bert")
        change(encoder / TOKENIZER, edit)
        assert_rejected(encoder, f"{encoder} tokenizer id embeddings")

    def test_special_tokens_that_are_never_used_are_accepted(self, tmp_path):
        """Published encoders have some; no text contains them."""
        encoder = save_encoder(tmp_path / "encoder", "bert")
        change(encoder / TOKENIZER, lambda values: values["added_tokens"].append(added("[more]")))
        assert load_tokenizer(encoder)("Gulls cried.")["input_ids"]
        change(encoder / TOKENIZER, lambda values: values["added_tokens"].append(added("gulls")))
        assert_rejected(encoder, f"{encoder} tokenizer id embeddings")

    def test_what_others_print_meanwhile_is_kept(self, capfd):
        with without_panics():
            print("loading", file=sys.stderr)
            sys.stderr.flush()
        assert capfd.readouterr().err == "loading\n"


def test_very_many_steps_are_rejected(folder):
    steps = [{"type": "Whitespace"}] * 2000
    change(folder / TOKENIZER, put("pre_tokenizer", {"type": "Sequence", "pretokenizers": steps}))
    assert_rejected(folder, "tokenizer.json 1000 2002")


@pytest.mark.parametrize(
    "pattern",
    [
        # Of GPT-2, Llama 3, tiktoken, GPT-4o, Exaone, DeepSeek, Bloom; a set with sets.
        r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        r"(?i:'s|'t)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s]+[\r\n]*|\s*[\r\n]+",
        r"[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s",
        r"[^\r\n\p{L}]?[\p{Lu}\p{M}]*[\p{Ll}\p{M}]+(?i:'s|'t|'re)?|\p{N}{1,3}|\s+(?!\S)",
        r"(?:\r?\n)+(?!\r?\n)",
        r"\d{1,3}(?=(?:\d{3})*\b)",
        r" ?[^(\s|[.,!?…。，、।۔،])]+",
        r"[a[+*]&&[^]b]]+(?:x|y)?",
        r"\((a)+\)+",
        # Alternatives with different beginnings exclude each other.
        r"(?:\r\n|\n)+x",
        # At the end, nothing can fail any more.
        r"(a+)+",
        r"a{2}{3}|{,}b{",
        r"\w+\w+",
    ],
)
def test_safe_patterns_are_accepted(pattern):
    assert not may_take_forever(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?:ab+)*c",
        r"((a|aa))+c",
        r"(?:a|A)+x",
        r"(?:\r\n|\r|\n)+x",
        r"(?<name>a*){2,}b",
        r"((a+)b)+$",
        r"(?i)(\w+\s?)*$",
        r"x|(?=(a+)+b)c",
        r"\w+\w+!",
        r"(.*)(.*)\1\2!",
        r"(a+a+){16}y",
        r"((a{1,16}){1,16}){1,16}y",
        "a?" * 40 + "a" * 40,
        r"(?<x>a\g<x>?b)c",
        r")(a+)+$",
        "(" * 1000,
        "a" * 20_000,
    ],
)
def test_patterns_that_may_take_forever_are_recognised(pattern):
    assert may_take_forever(pattern)
