"""Tiny question-answering models with random weights, saved by Transformers as on the hub."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from transformers import AutoModelForQuestionAnswering

from tests.conftest import ENCODERS, build_tokenizer, tiny_config


def save_qa_model(folder: Path, model_type: str, **changes) -> Path:
    """Save a model and its tokenizer.

    Args:
        folder: to write.
        model_type: type of the encoder.
        changes: settings of the encoder that differ from :func:`tests.conftest.tiny_config`.
    """
    tokenizer = build_tokenizer(ENCODERS.get(model_type, ({}, "wordpiece"))[1])
    torch.manual_seed(0)
    config = tiny_config(model_type, len(tokenizer), **changes)
    model = AutoModelForQuestionAnswering.from_config(config)
    # As initialised, all scores are nearly equal.
    torch.nn.init.normal_(model.qa_outputs.weight, std=0.5)
    torch.nn.init.normal_(model.qa_outputs.bias)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def change_config(folder: Path, **values) -> None:
    """Change values in a folder's ``config.json``; ``None`` removes one."""
    path = folder / "config.json"
    settings = json.loads(path.read_text()) | values
    path.write_text(json.dumps({key: each for key, each in settings.items() if each is not None}))
