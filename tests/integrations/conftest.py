"""A tiny parser with phrases, and spaCy pipelines with the component."""

from __future__ import annotations

import pytest
import torch

from syntagma.encoders.load import load_tokenizer
from syntagma.parse.scorer import ParserModel


@pytest.fixture(scope="session")
def phrase_parser(tmp_path_factory, tiny_encoder) -> str:
    """The folder of an untrained parser that finds phrases."""
    folder = tmp_path_factory.mktemp("phrases")
    torch.manual_seed(5)
    model = ParserModel.from_encoder(
        tiny_encoder,
        task="parsing",
        head={"arc_width": 16, "relation_width": 8, "span_width": 8, "views": "both"},
        labels={
            "relations": ["dep", "root", "obj"],
            "upos": ["NOUN", "X"],
            "xpos": ["NN", "VB"],
            "constituents": ["NP", "S", "S+VP"],
        },
    )
    model.save_pretrained(folder)
    load_tokenizer(tiny_encoder).save_pretrained(folder)
    return str(folder)


@pytest.fixture
def nlp(phrase_parser):
    """A pipeline of the component alone, with the tiny parser."""
    spacy = pytest.importorskip("spacy")
    import syntagma.integrations.spacy  # noqa: F401  As the entry point does.

    pipeline = spacy.blank("en")
    pipeline.add_pipe("syntagma", config={"parser": phrase_parser})
    return pipeline
