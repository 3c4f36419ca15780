"""Transformers' Trainer trains and evaluates the models that its Auto classes name."""

from __future__ import annotations

import math

import torch
from transformers import Trainer, TrainingArguments

from syntagma import SyntaxTokenizer
from syntagma.models.choice_model import ChoiceModel
from syntagma.models.span_model import SpanModel

PASSAGES = ["The ferry left at dawn.", "Gulls cried over the harbour."]
QUESTIONS = ["When did it leave?", "Who cried?"]


def trained(model, collate, folder, **settings) -> dict[str, float]:
    """Train for two epochs on four rows; return the metrics of the evaluation."""
    rows = [0, 1, 0, 1]
    arguments = TrainingArguments(
        str(folder),
        num_train_epochs=2,
        per_device_train_batch_size=2,
        gradient_accumulation_steps=2,
        remove_unused_columns=False,
        report_to="none",
        disable_tqdm=True,
        use_cpu=True,
        **settings,
    )
    trainer = Trainer(
        model, arguments, train_dataset=rows, eval_dataset=rows, data_collator=collate
    )
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    trainer.train()
    assert any(not torch.equal(weight, before[name]) for name, weight in model.state_dict().items())
    found = trainer.predict(rows)
    return {name: float(value) for name, value in found.metrics.items()} | {
        "n_outputs": len(found.predictions) if isinstance(found.predictions, tuple) else 1
    }


def test_a_reader(tiny_encoder, tmp_path):
    model = SpanModel.from_pretrained(tiny_encoder, guides={"tree_distance": {}}, parser="linear")
    tokenizer = SyntaxTokenizer.for_model(model)

    def collate(rows: list[int]) -> dict[str, torch.Tensor]:
        batch = tokenizer([PASSAGES[row] for row in rows], [QUESTIONS[row] for row in rows])
        places = torch.tensor([1 + row for row in rows])
        return {**batch, "start_positions": places, "end_positions": places}

    found = trained(model, collate, tmp_path, label_names=["start_positions", "end_positions"])
    assert math.isfinite(found["test_loss"])
    assert found["n_outputs"] == 2


def test_a_chooser(tiny_encoder, tmp_path):
    model = ChoiceModel.from_pretrained(tiny_encoder, guides={"tree_distance": {}}, parser="linear")
    tokenizer = SyntaxTokenizer.for_model(model)

    def collate(rows: list[int]) -> dict[str, torch.Tensor]:
        texts = [PASSAGES[row] for row in rows for _ in range(2)]
        options = [option for _ in rows for option in ("the ferry", "gulls")]
        batch = {
            name: part.unflatten(0, (len(rows), 2))
            for name, part in tokenizer(texts, options).items()
        }
        return {**batch, "labels": torch.tensor(rows)}

    assert math.isfinite(trained(model, collate, tmp_path)["test_loss"])
