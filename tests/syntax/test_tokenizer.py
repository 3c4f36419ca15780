import shutil

import pytest
import torch

from syntagma import GuidedEncoder, SyntaxTokenizer
from syntagma.errors import InputError
from syntagma.models.guides import GUIDES
from syntagma.models.pair_model import PairModel
from syntagma.parse.sources.load import load_source
from syntagma.tasks.pairs.task import PairClassifier
from syntagma.text.sentence import Parse, Sentence
from tests.messages import naming

FIRST = ["The ferry left Port Ann at dawn. Nobody waved.", "She sold the old barge."]
SECOND = ["When did the ferry leave?", "Who sold it?"]


def tree(text, *heads):
    return Parse(Sentence.from_words(text.split()), heads)


@pytest.fixture(scope="module")
def tokenizer(tiny_encoder):
    return SyntaxTokenizer.from_pretrained(tiny_encoder, parser="linear")


def test_a_guided_encoder_reads_the_batch(tokenizer, tiny_encoder):
    guides = {name: {} for name in GUIDES}
    model = GuidedEncoder.from_pretrained(tiny_encoder, guides=guides)
    batch = tokenizer(FIRST, SECOND)
    states = model(**batch).last_hidden_state
    assert states.shape == (*batch["input_ids"].shape, model.config.encoder.hidden_size)
    assert batch.to("cpu") is batch
    # Another tree gives other states.
    other = SyntaxTokenizer.from_pretrained(tiny_encoder, parser="linear:right")(FIRST, SECOND)
    assert torch.equal(other["input_ids"], batch["input_ids"])
    assert not torch.allclose(model(**other).last_hidden_state, states)


def test_tensors_equal_those_of_tasks(tokenizer, tiny_encoder):
    model = PairModel.from_pretrained(
        tiny_encoder,
        guides={name: {} for name in GUIDES},
        head={"max_length": 32},
        labels={"labels": ["no", "yes"]},
    )
    classifier = PairClassifier(model, tokenizer.tokenizer, source=load_source("linear"))
    pairs = list(zip(FIRST, SECOND, strict=True))
    expected = classifier.collate(classifier.items(pairs))
    batch = tokenizer(FIRST, SECOND, max_length=32)
    assert {"enter", "depth", "tag", "domain"} <= expected.keys() <= batch.keys()
    for name, tensor in expected.items():
        assert torch.equal(batch[name], tensor), name


def test_one_text_is_a_batch_of_one(tokenizer):
    alone, both = tokenizer(FIRST[0]), tokenizer(FIRST)
    assert alone["input_ids"].shape[0] == 1
    n = int(alone["attention_mask"].sum())
    for name in alone:
        assert torch.equal(alone[name][0, :n], both[name][0, :n]), name
    assert set(alone["domain"][0, :n].tolist()) == {0}


def test_longer_texts_are_truncated(tokenizer):
    batch = tokenizer(FIRST[0], SECOND[0], max_length=12)
    assert int(batch["attention_mask"].sum()) == 12
    assert (batch["input_ids"][0, 11] == batch["input_ids"][0, 6:12]).any()


def test_the_parser_of_a_saved_model_is_used(tiny_encoder, tmp_path):
    guides = {"ancestor_attention": {"pieces": "first_piece"}}
    model = GuidedEncoder.from_pretrained(tiny_encoder, guides=guides, parser="linear:right")
    model.save_pretrained(tmp_path)
    tokenizer = SyntaxTokenizer.from_pretrained(
        tiny_encoder, parser="linear:right", pieces="first_piece"
    )
    tokenizer.tokenizer.save_pretrained(tmp_path)
    found, expected = SyntaxTokenizer.from_pretrained(tmp_path)(FIRST), tokenizer(FIRST)
    for name in expected:
        assert torch.equal(found[name], expected[name]), name


@pytest.mark.parametrize(
    ("texts", "others", "options", "message"),
    [
        (FIRST, SECOND[:1], {}, "second texts 2 1"),
        ([], None, {}, "text none"),
        (None, None, {}, "text list None"),
        (5, None, {}, "text list 5"),
        ({"a": 1}, None, {}, "text list {'a': 1}"),
        ([("a", "b")], None, {}, "next argument [('a', 'b')]"),
        ([["a", "b c"]], None, {}, "words whitespace 'b c'"),
        ([["a", ""]], None, {}, "words whitespace ''"),
        ([["a", 1]], None, {}, "words whitespace 1"),
        (FIRST, None, {"parses": []}, "parses sentences 2 0"),
        (FIRST, None, {"parses": ["a", "b"]}, "parses `parse_text` 'a'"),
        ("a b", None, {"parses": [[tree("a b", 2, 1)]]}, "heads 2, 1 'a b'"),
        ("a b", None, {"parses": [[tree("a b c", 0, 1, 1)]]}, "'a b' 3 5"),
        (
            "a b",
            None,
            {"parses": [[tree("a", 0), tree("b", 0)]]},
            "'a b' 0 1 offsets characters",
        ),
        (
            "a a",
            None,
            {"parses": [[tree("a a", 0, 1), tree("a", 0)]]},
            "'a a' 0 3 offsets characters",
        ),
        (
            "ships float",
            None,
            {"parses": [[tree("Ships wait", 0, 1)]]},
            "parses wait 6 floa offset=6",
        ),
        ("a", "b", {"other_parses": []}, "other_parses sentences 1 0"),
        (FIRST, b"x", {}, "text list b'x'"),
        (FIRST, None, {"max_length": 2}, "max_length 2 160"),
        (FIRST, None, {"max_length": 10**6}, "max_length 2 160 1000000"),
        (FIRST, None, {"max_length": "8"}, "max_length 2 160 '8'"),
    ],
)
def test_invalid_input_is_reported(tokenizer, texts, others, options, message):
    with pytest.raises(InputError, match=naming(message)):
        tokenizer(texts, others, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "x"}, "mode raw words 'x'"),
        ({"pieces": "x"}, "pieces share first_piece projection 'x'"),
        ({"tags": "x"}, "tags penn upos 'x'"),
    ],
)
def test_unknown_choices_are_reported(tokenizer, options, message):
    with pytest.raises(InputError, match=naming(message)):
        SyntaxTokenizer(tokenizer.tokenizer, load_source("linear"), **options)


@pytest.mark.parametrize("name", ["linear", "conllu:none", "default-parser"])
def test_a_source_in_an_unknown_mode_is_reported(name):
    with pytest.raises(InputError, match=naming("mode raw words 'lines'")):
        load_source(name, mode="lines")


def test_the_rule_for_pieces_comes_from_the_guides(tiny_encoder):
    guides = {"ancestor_attention": {"pieces": "first_piece"}}
    model = GuidedEncoder.from_pretrained(tiny_encoder, guides=guides, parser="linear")
    found = SyntaxTokenizer.for_model(model)(FIRST)
    options = {"parser": "linear", "pieces": "first_piece"}
    expected = SyntaxTokenizer.from_pretrained(tiny_encoder, **options)(FIRST)
    other = SyntaxTokenizer.from_pretrained(tiny_encoder, parser="linear")(FIRST)
    assert all(torch.equal(found[name], expected[name]) for name in expected)
    assert not torch.equal(found["exit"], other["exit"])


def test_the_tokenizer_of_a_saved_model_is_used(tiny_encoder, tmp_path):
    """It has an additional word, and the base encoder no longer exists."""
    moved = tmp_path / "encoder"
    shutil.copytree(tiny_encoder, moved)
    model = GuidedEncoder.from_pretrained(str(moved), guides="sg-net", parser="linear")
    tokenizer = SyntaxTokenizer.for_model(model)
    tokenizer.tokenizer.add_tokens(["ferryboat"])
    model.resize_token_embeddings(len(tokenizer.tokenizer))
    model.save_pretrained(tmp_path / "model")
    tokenizer.tokenizer.save_pretrained(tmp_path / "model")
    shutil.rmtree(moved)
    again = GuidedEncoder.from_pretrained(tmp_path / "model")
    found = SyntaxTokenizer.for_model(again)("The ferryboat left.")
    added = tokenizer.tokenizer.convert_tokens_to_ids("ferryboat")
    assert (found["input_ids"] == added).sum() == 1
    assert again(**found).last_hidden_state.isfinite().all()


def test_truncation_and_padding_of_the_tokenizer_are_ignored(tokenizer):
    expected = tokenizer(FIRST)
    own = tokenizer.tokenizer
    own(FIRST, truncation=True, max_length=4)
    own(FIRST, padding="max_length", max_length=40)
    found = tokenizer(FIRST)
    assert all(torch.equal(found[name], expected[name]) for name in expected)


def test_offsets_locate_pieces_in_the_text(tokenizer):
    batch = tokenizer(FIRST, SECOND, return_offsets_mapping=True)
    offsets, domain, ids = batch["offset_mapping"], batch["domain"], batch["input_ids"]
    assert offsets.shape == (*ids.shape, 2)
    own = tokenizer.tokenizer
    for row in range(2):
        for number, text in enumerate((FIRST[row], SECOND[row])):
            found = own(text, add_special_tokens=False, return_offsets_mapping=True)
            pieces = (domain[row] == number) & (offsets[row, :, 1] > 0)
            assert ids[row, pieces].tolist() == found["input_ids"]
            assert offsets[row, pieces].tolist() == [list(pair) for pair in found["offset_mapping"]]
    special = torch.isin(ids, torch.tensor(own.all_special_ids))
    assert not offsets[special].any()


def test_offsets_are_truncated_with_the_text(tokenizer):
    batch = tokenizer(FIRST[0], max_length=8, return_offsets_mapping=True)
    whole = tokenizer(FIRST[0], return_offsets_mapping=True)
    assert batch["offset_mapping"][0, 1:7].equal(whole["offset_mapping"][0, 1:7])
    assert not batch["offset_mapping"][0, 7:].any()


WORDS = [["Do", "n't", "wave", "at", "Fr.", "O'Neil", "(", "or", "his", "dog", ")"], ["Go", "."]]


def test_given_words_are_kept(tiny_encoder):
    """Each piece has the number of its word, and a list of words is one sentence."""
    given = SyntaxTokenizer.from_pretrained(tiny_encoder, parser="linear:right", mode="words")
    batch = given(WORDS, return_offsets_mapping=True)
    for row, words in enumerate(WORDS):
        text, found = " ".join(words), {}
        for word, sentence, (start, end) in zip(
            batch["word"][row], batch["sentence"][row], batch["offset_mapping"][row], strict=True
        ):
            if word >= 0:
                found[int(word)] = found.get(int(word), "") + text[start:end]
                assert sentence == 0
        assert list(found.values()) == words
        # The head of each word is the word after it.
        first = [(batch["word"][row] == word).nonzero()[0, 0] for word in range(len(words))]
        assert batch["depth"][row, first].tolist() == list(range(len(words)))[::-1]
    assert all(torch.equal(batch[name], same) for name, same in given(
        [" ".join(words) for words in WORDS]).items())  # fmt: skip


def test_given_parses_replace_the_source(tokenizer, tiny_encoder):
    right = load_source("linear:right")
    parses, others = (list(right.parse_texts(texts)) for texts in (FIRST, SECOND))
    expected = SyntaxTokenizer.from_pretrained(tiny_encoder, parser="linear:right")(FIRST, SECOND)
    found = tokenizer(FIRST, SECOND, parses=parses, other_parses=others)
    assert all(torch.equal(found[name], expected[name]) for name in expected)
    # Second texts are parsed by the source; equal texts may have different given trees.
    parses += load_source("linear").parse_texts(FIRST[:1])
    found = tokenizer([*FIRST, FIRST[0]], [*SECOND, SECOND[0]], parses=parses)
    plain = tokenizer(FIRST, SECOND)
    first = expected["domain"] == 0
    assert torch.equal(found["depth"][:2][first], expected["depth"][first])
    assert torch.equal(found["depth"][:2][~first], plain["depth"][~first])
    assert torch.equal(found["depth"][2], plain["depth"][0])
