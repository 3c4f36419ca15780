"""What a piece attends to in SG-Net's layer: the ancestor mask, its controls, special tokens."""

from __future__ import annotations

import pytest
import torch
from transformers import AutoModel

from syntagma import SyntaxTokenizer
from syntagma.errors import InputError
from syntagma.models.guide import Syntax
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.models.guides import resolve_guides
from syntagma.models.mention_model import TypingModel
from syntagma.models.pair_model import PairModel
from syntagma.syntax.control_masks import random_mask
from tests.guided import guided, whole_batch
from tests.messages import naming

MASKS = ["ancestors", "self", "all", "random"]


def two_sentences() -> dict[str, torch.Tensor]:
    """Return ``[CLS] a₁ a₂ b c [SEP] d e [SEP] [PAD]``: a over b over c, and e over d."""
    columns = {
        "enter": [-1, 0, 0, 1, 2, -6, 9, 8, -9, -10],
        "exit": [0, 3, 3, 3, 3, -5, 10, 10, -8, -9],
        "word": [-1, 0, 0, 1, 2, -1, 3, 4, -1, -1],
        "sentence": [-1, 0, 0, 0, 0, -1, 1, 1, -1, -1],
        "attention_mask": [1, 1, 1, 1, 1, 1, 1, 1, 1, 0],
    }
    return {name: torch.tensor([values]) for name, values in columns.items()}


def mask_of(columns: dict[str, torch.Tensor], **settings) -> torch.Tensor:
    guide = guided("bert", ancestor_attention=settings).ancestor_attention
    read = {name: columns[name] for name in guide.columns}
    return guide.mask(Syntax(columns["attention_mask"], **read))


def drawn(mask: torch.Tensor) -> list[str]:
    return ["".join(".x"[value] for value in row) for row in mask[0].int().tolist()]


TREES = [
    "x.........",
    ".xx.......",
    ".xx.......",
    ".xxx......",
    ".xxxx.....",
    ".....x....",
    "......xx..",
    ".......x..",
    "........x.",
    ".........x",
]


@pytest.mark.parametrize(
    ("settings", "changed"),
    [
        ({}, {}),
        ({"mask": "self"}, {3: "...x......", 4: "....x.....", 6: "......x..."}),
        ({"mask": "all"}, dict.fromkeys((1, 2, 3, 4, 6, 7), "xxxxxxxxx.")),
        ({"aggregate_special": True}, {}),
        ({"aggregate_special": "released"}, dict.fromkeys((0, 5, 8), "xxxxxxxxx.")),
        (
            {"mask": "all", "aggregate_special": "released"},
            dict.fromkeys(range(9), "xxxxxxxxx."),
        ),
        (
            {"mask": "self", "aggregate_special": "released"},
            {3: "...x......", 4: "....x.....", 6: "......x..."}
            | dict.fromkeys((0, 5, 8), "xxxxxxxxx."),
        ),
    ],
)
def test_masks_of_two_sentences(settings, changed):
    expected = [changed.get(row, TREES[row]) for row in range(10)]
    assert drawn(mask_of(two_sentences(), **settings)) == expected


def test_self_and_all_do_not_depend_on_the_tree():
    columns = {name: two_sentences()[name] for name in ("word", "attention_mask")}
    for name in ("self", "all"):
        assert mask_of(columns, mask=name).any()


@pytest.fixture(scope="module")
def parsed(tiny_encoder):
    texts = [
        "The old ferry crossed the wide river before dawn. Nobody on the pier had expected it.",
        "Her captain, who never slept, counted 14 crates of oranges. A gull cried.",
    ]
    return SyntaxTokenizer.from_pretrained(tiny_encoder, parser="random:3"), texts


@pytest.mark.parametrize("pieces", ["share", "first_piece", "projection"])
def test_random_draws_as_many_pieces_of_the_sentence_as_there_were_ancestors(pieces, tiny_encoder):
    tokenizer = SyntaxTokenizer.from_pretrained(tiny_encoder, parser="random:3", pieces=pieces)
    batch = tokenizer(["The old ferry left. Nobody on the quiet pier waved at it.", "She slept."])
    trees, found = (mask_of(batch, mask=name, pieces=pieces) for name in ("ancestors", "random"))
    assert torch.equal(found.sum(-1), trees.sum(-1))
    assert not torch.equal(found, trees)
    word, sentence = batch["word"], batch["sentence"]
    same_word = word.unsqueeze(2) == word.unsqueeze(1)
    own = same_word & (word >= 0).unsqueeze(2)
    assert torch.equal(found & own, trees & own)
    assert found.diagonal(dim1=1, dim2=2).all()
    leaves = found & (sentence.unsqueeze(2) != sentence.unsqueeze(1))
    assert not leaves.any()


def test_random_masks_are_the_same_in_another_batch_and_in_another_window(parsed):
    tokenizer, texts = parsed
    both, alone = tokenizer(texts), tokenizer(texts[1])
    n = alone["input_ids"].shape[1]
    assert both["input_ids"].shape[1] > n
    expected = mask_of(alone, mask="random")[0]
    assert torch.equal(mask_of(both, mask="random")[1, :n, :n], expected)
    # A window that leaves out the first sentence, but not its numbers.
    window = {name: column[:, alone["sentence"][0] != 0] for name, column in alone.items()}
    kept = alone["sentence"][0] != 0
    assert torch.equal(mask_of(window, mask="random")[0], expected[kept][:, kept])


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
def test_random_masks_are_the_same_on_a_gpu(parsed):
    tokenizer, texts = parsed
    batch = tokenizer(texts)
    on_gpu = {name: column.to("cuda") for name, column in batch.items()}
    expected = mask_of(batch, mask="random", mask_seed=3)
    assert torch.equal(mask_of(on_gpu, mask="random", mask_seed=3).cpu(), expected)


def test_another_seed_draws_another_mask(parsed):
    tokenizer, texts = parsed
    batch = tokenizer(texts)
    masks = [mask_of(batch, mask="random", mask_seed=seed) for seed in (0, 1, 2**32 - 1)]
    assert not torch.equal(masks[0], masks[1])
    assert not torch.equal(masks[0], masks[2])


def test_random_draws_words_evenly():
    """Of 12 words whose rows see 3 others, each sees each of the others about as often."""
    word = torch.arange(12).unsqueeze(0)
    offsets = (word.mT - word) % 12
    mask = (offsets < 4).unsqueeze(0)
    counts = sum(
        random_mask(mask, word.flip(1), word, torch.zeros_like(word), seed=seed)[0].float()
        for seed in range(600)
    )
    assert (counts.diagonal() == 600).all()
    off = counts[~torch.eye(12, dtype=torch.bool)]
    expected = 600 * 3 / 11  # with a deviation of 11
    assert off.min() > expected - 50
    assert off.max() < expected + 50


def test_all_is_the_encoders_last_layer_once_more(encoder_folders):
    """With a copied layer and no aggregation, computed with the encoder's own code."""
    folder = str(encoder_folders["bert"])
    settings = {"mask": "all", "aggregation": "guided_only", "initialise": "last_layer"}
    model = GuidedEncoder.from_encoder(folder, guides={"ancestor_attention": settings})
    plain = AutoModel.from_pretrained(folder).eval()
    columns = two_sentences()
    ids = torch.arange(10, 20).unsqueeze(0)
    inside = columns["attention_mask"]
    with torch.no_grad():
        states = plain(input_ids=ids, attention_mask=inside).last_hidden_state
        again = plain.encoder.layer[-1](states, inside[:, None, None].bool())
        again = again[0] if isinstance(again, tuple) else again
        found = model(ids, inside, word=columns["word"]).last_hidden_state
    words = columns["word"][0] >= 0
    torch.testing.assert_close(found[:, words], again[:, words], atol=1e-5, rtol=1e-5)
    assert torch.equal(found[:, ~words], states[:, ~words])


def test_released_special_tokens_are_those_of_the_last_layer_once_more(encoder_folders):
    folder = str(encoder_folders["bert"])
    settings = {
        "aggregate_special": "released",
        "aggregation": "guided_only",
        "initialise": "last_layer",
    }
    model = GuidedEncoder.from_encoder(folder, guides={"ancestor_attention": settings})
    columns = two_sentences()
    ids = torch.arange(10, 20).unsqueeze(0)
    inside = columns.pop("attention_mask")
    with torch.no_grad():
        states = model.encoder(input_ids=ids, attention_mask=inside).last_hidden_state
        again = model.ancestor_attention.layers[0](states, inside.bool().unsqueeze(1))
        columns.pop("sentence")
        found = model(ids, inside, **columns).last_hidden_state
    torch.testing.assert_close(found[:, [0, 5, 8]], again[:, [0, 5, 8]], atol=1e-5, rtol=1e-5)
    assert not torch.allclose(found[:, 4], again[:, 4], atol=1e-3)


@pytest.mark.parametrize("special", [False, True, "released"])
@pytest.mark.parametrize("mask", MASKS)
def test_padding_changes_nothing_and_gradients_reach_every_parameter(mask, special):
    model = guided("bert", ancestor_attention={"mask": mask, "aggregate_special": special})
    inputs = whole_batch()
    target = torch.randn(3, 9, 32, generator=torch.Generator().manual_seed(2))
    states = model(**inputs).last_hidden_state
    (states - target).square().mean().backward()
    reached = {
        name
        for name, p in model.ancestor_attention.named_parameters()
        if p.grad is not None and p.grad.abs().max() > 1e-9
    }
    names = {name for name, _ in model.ancestor_attention.named_parameters()}
    # A constant added to all scores of a row changes nothing, so the bias of the key never learns.
    without = {name for name in names if name.endswith("key.bias")}
    if mask == "self" and special != "released":
        # Attention to a single piece has nothing to choose from.
        without |= {name for name in names if ".query." in name or ".key." in name}
    assert names - without <= reached
    fills = {"enter": -50, "exit": -49, "word": -1, "sentence": -1, "depth": 0, "tag": 1}
    padded = {
        name: torch.nn.functional.pad(column, (0, 4), value=fills.get(name, 0))
        for name, column in inputs.items()
    }
    for name, step in (("enter", 1), ("exit", 1)):
        padded[name][:, 9:] -= step * torch.arange(4)
    with torch.no_grad():
        found = model(**padded).last_hidden_state
    torch.testing.assert_close(found[:, :9], states, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("mask", MASKS)
def test_a_saved_model_has_its_mask(mask, tiny_encoder, tmp_path, parsed):
    tokenizer, texts = parsed
    seed = {"mask_seed": 5} if mask == "random" else {}
    settings = {"mask": mask, "aggregate_special": "released", **seed}
    model = PairModel.from_encoder(
        str(tiny_encoder),
        task="pairs",
        guides={"ancestor_attention": settings},
        labels={"labels": ["no", "yes"]},
    ).eval()
    model.save_pretrained(tmp_path)
    loaded = PairModel.from_pretrained(tmp_path)
    batch = tokenizer(texts, texts[::-1])
    with torch.no_grad():
        assert torch.equal(model(**batch).logits, loaded.eval()(**batch).logits)
    assert loaded.config.guides["ancestor_attention"].mask == mask
    assert loaded.config.guides["ancestor_attention"].aggregate_special == "released"


def test_released_markers_may_be_special_tokens(tiny_encoder):
    options = {"labels": {"labels": ["no", "yes"]}, "head": {"markers": "special"}}
    guides = {"ancestor_attention": {"aggregate_special": "released"}}
    TypingModel.from_pretrained(tiny_encoder, guides=guides, **options)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mask": "none"}, "guides.ancestor_attention.mask ancestors self all random 'none'"),
        ({"mask_seed": 1}, "guides.ancestor_attention mask_seed ancestors 1 random"),
        ({"mask": "random", "mask_seed": -1}, "guides.ancestor_attention mask_seed 0 -1"),
        (
            {"mask": "all", "aggregation": "vanilla_only"},
            "guides.ancestor_attention mask all vanilla_only dual guided_only",
        ),
        (
            {"aggregate_special": "yes"},
            "guides.ancestor_attention.aggregate_special true false released 'yes'",
        ),
        ({"aggregate_special": 1}, "guides.ancestor_attention.aggregate_special true released 1"),
    ],
)
def test_impossible_masks_are_reported(settings, message):
    with pytest.raises(InputError, match=naming(message)):
        resolve_guides("sg-net", {"ancestor_attention": settings})
