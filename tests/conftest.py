"""Tiny models built from configurations, and sentences that we wrote."""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

# Several test processes share the cores. Threads that busy-wait for one another would make each
# process many times slower.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Haystack reports how it is used to its makers, unless this is set before it is imported.
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "false"

import hypothesis
import pytest
import torch
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import CONFIG_MAPPING, AutoConfig, AutoModel, PreTrainedTokenizerFast

from syntagma.encoders.load import load_tokenizer
from syntagma.encoders.sites import SITES
from syntagma.parse.scorer import ParserModel
from syntagma.tasks import sample
from syntagma.text.sentence import Parse, Sentence
from tests.processes import RUNNING

torch.set_num_threads(1)
collect_ignore = ["typed"]  # It is checked by a type checker, and never run.
# The time that an example takes depends on what else is running on the machine.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")

pytest_plugins = ["tests.page_fixtures"]

SENTENCES = [*sample.SENTENCES]

SPECIAL = {
    "wordpiece": ("[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]"),
    "byte_level": ("<s>", "</s>", "<pad>", "<unk>", "<mask>"),
    "unigram": ("[CLS]", "[SEP]", "<pad>", "<unk>", "[MASK]"),
}


def half_words(prefix: str) -> list[str]:
    """A fixed vocabulary, unlike a trained one: characters, and the two halves of each word.

    Args:
        prefix: what pieces inside a word begin with.
    """
    words = sorted({word for text in SENTENCES for word in re.findall(r"\w+", text.lower())})
    characters = sorted({character for text in SENTENCES for character in text if character != " "})
    characters += sorted({c.lower() for c in characters} - {*characters})
    pieces = [*characters, *(prefix + character for character in characters)]
    for word in words:
        cut = (len(word) + 1) // 2
        pieces += [word[:cut], prefix + word[cut:]] if cut < len(word) else [word]
    return list(dict.fromkeys(pieces))


def build_tokenizer(kind: str) -> PreTrainedTokenizerFast:
    cls, sep, pad, unk, mask = SPECIAL[kind]
    # In RoBERTa's order. MPNet's padding is always piece 1, whatever its settings.
    special = [cls, pad, sep, unk, mask]
    if kind == "wordpiece":
        vocabulary = [*special, *half_words("##")]
        tokenizer = Tokenizer(
            models.WordPiece({piece: n for n, piece in enumerate(vocabulary)}, unk_token=unk)
        )
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        template = (f"{cls} $A {sep}", f"{cls} $A {sep} $B:1 {sep}:1")
    elif kind == "byte_level":
        tokenizer = Tokenizer(models.BPE(unk_token=unk))
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(
            vocab_size=340, special_tokens=special, initial_alphabet=alphabet
        )
        template = (f"{cls} $A {sep}", f"{cls} $A {sep} {sep} $B {sep}")
    else:
        # Longer pieces are more probable than their characters.
        scores = [(piece, 0.0) for piece in special]
        scores += [(piece, -2.0 if len(piece) > 1 else -9.0) for piece in ("▁", *half_words(""))]
        tokenizer = Tokenizer(models.Unigram(scores, unk_id=special.index(unk)))
        tokenizer.normalizer = normalizers.NFKC()
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        template = (f"{cls} $A {sep}", f"{cls} $A {sep} $B:1 {sep}:1")
    if kind == "byte_level":
        tokenizer.train_from_iterator(SENTENCES, trainer)
    ids = [(token, tokenizer.token_to_id(token)) for token in (cls, sep)]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=template[0], pair=template[1], special_tokens=ids
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        cls_token=cls,
        sep_token=sep,
        pad_token=pad,
        unk_token=unk,
        mask_token=mask,
        bos_token=cls,
        eos_token=sep,
    )


ENCODERS = {
    "albert": ({"embedding_size": 16}, "unigram"),
    "bert": ({}, "wordpiece"),
    "deberta-v2": (
        {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_biased_input": True},
        "unigram",
    ),
    "distilbert": ({}, "wordpiece"),
    "electra": ({"embedding_size": 16}, "wordpiece"),
    "modernbert": ({"local_attention": 16, "global_attn_every_n_layers": 2}, "byte_level"),
    "mpnet": ({}, "wordpiece"),
    "roberta": ({}, "byte_level"),
    "xlm-roberta": ({}, "unigram"),
}


def crossed(cases: Iterable[object], encoders: Iterable[str] = ENCODERS) -> Iterator[Any]:
    """All pairs of a case and an encoder, as parameters; most of them are marked slow.

    The default tier runs each case with at least one encoder, and each encoder with at least one
    case.

    Args:
        cases: values, or tuples of the values of several parameters.
        encoders: the values of the last parameter.
    """
    cases, encoders = [*cases], [*encoders]
    fewer = min(len(cases), len(encoders))
    for number, case in enumerate(cases):
        values = case if isinstance(case, tuple) else (case,)
        for place, encoder in enumerate(encoders):
            marks = () if number % fewer == place % fewer else pytest.mark.slow
            yield pytest.param(*values, encoder, marks=marks)


# Encoders in the table of sites that the installed version of Transformers knows.
SUPPORTED = sorted(name for name in SITES if name in CONFIG_MAPPING)


def tiny_config(model_type: str, vocab_size: int = 400, **changes):
    settings = {
        "vocab_size": vocab_size,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 48,
        "max_position_embeddings": 160,
        "pad_token_id": 1,
    }
    if model_type == "distilbert":
        settings = {
            "vocab_size": vocab_size,
            "dim": 32,
            "n_layers": 2,
            "n_heads": 4,
            "hidden_dim": 48,
            "max_position_embeddings": 160,
            "pad_token_id": 1,
        }
    if model_type in ("bart", "m2m_100", "marian", "mbart", "mvp", "pegasus", "plbart"):
        for side in ("encoder", "decoder"):
            sizes = {"layers": 2, "attention_heads": 4, "ffn_dim": 48}
            settings |= {f"{side}_{key}": value for key, value in sizes.items()}
    if model_type in ("modernbert", "eurobert"):
        settings |= {"bos_token_id": 0, "eos_token_id": 2, "cls_token_id": 0, "sep_token_id": 2}
    if model_type == "big_bird":
        settings |= {"block_size": 4, "num_random_blocks": 1}
    if model_type == "longformer":
        settings |= {"attention_window": 16}
    if model_type == "luke":
        settings |= {"entity_vocab_size": 10, "entity_emb_size": 16}
    if model_type == "mobilebert":
        settings |= {"embedding_size": 32, "trigram_input": False, "intra_bottleneck_size": 16}
    extra = ENCODERS.get(model_type, ({}, ""))[0]
    return AutoConfig.for_model(model_type, **(settings | extra | changes))


def save_encoder(folder: Path, model_type: str, **changes) -> Path:
    kind = ENCODERS.get(model_type, ({}, "wordpiece"))[1]
    tokenizer = build_tokenizer(kind)
    torch.manual_seed(0)
    config = tiny_config(model_type, len(tokenizer), **changes)
    AutoModel.from_config(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def pytest_collection_finish() -> None:
    """Keep imported modules out of garbage collection, which every training run triggers."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def tokenizers() -> dict[str, PreTrainedTokenizerFast]:
    return {kind: build_tokenizer(kind) for kind in SPECIAL}


@pytest.fixture(scope="session")
def encoder_folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("encoders")
    return {name: save_encoder(root / name, name) for name in ENCODERS}


@pytest.fixture(scope="session")
def tiny_encoder(encoder_folders: dict[str, Path]) -> str:
    return str(encoder_folders["bert"])


@pytest.fixture(scope="session")
def tiny_parser(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: str) -> str:
    """The folder of an untrained parser."""
    folder = tmp_path_factory.mktemp("parser")
    torch.manual_seed(3)
    model = ParserModel.from_encoder(
        tiny_encoder,
        task="parsing",
        head={"arc_width": 16, "relation_width": 8},
        labels={"relations": ["dep", "root"], "upos": ["NOUN", "X"], "xpos": ["NN", "VB"]},
    )
    model.save_pretrained(folder)
    load_tokenizer(tiny_encoder).save_pretrained(folder)
    return str(folder)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYNTAGMA_CACHE", str(tmp_path / "cache"))


@pytest.fixture(autouse=True)
def _kill_remaining_processes() -> Iterator[None]:
    yield
    while RUNNING:
        RUNNING.pop().kill()


@pytest.fixture
def ferry() -> Parse:
    """A sentence parsed by hand."""
    forms = ["The", "old", "ferry", "crossed", "the", "wide", "river", "before", "dawn", "."]
    return Parse(
        Sentence.from_words(forms),
        heads=(3, 3, 4, 0, 7, 7, 4, 9, 4, 4),
        relations=("det", "amod", "nsubj", "root", "det", "amod", "obj", "case", "obl", "punct"),
        upos=("DET", "ADJ", "NOUN", "VERB", "DET", "ADJ", "NOUN", "ADP", "NOUN", "PUNCT"),
        xpos=("DT", "JJ", "NN", "VBD", "DT", "JJ", "NN", "IN", "NN", "."),
    )
