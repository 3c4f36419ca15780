"""Readers, and small language models on this machine, on the same questions.

    python -m benchmarks.answering examples/questions/everyday-dev.json \
        --reader default-reader --reader accurate-reader --reader deepset/minilm-uncased-squad2 \
        --language-model Qwen/Qwen2.5-0.5B-Instruct

Readers are named models, folders, or extractive models of the Hugging Face hub; language models
are instruction-tuned ones.  Models of the hub are downloaded once.  The prompt asks a language
model to quote the text, or to say that there is no answer.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import torch

from benchmarks.tables import show
from syntagma.tasks.spans.metrics import exact_of, f1_of
from syntagma.tasks.spans.reader import Reader
from syntagma.tasks.spans.squad import SpanExample, read_squad

NO_ANSWER = "no answer"
INSTRUCTION = (
    "Answer the question with the shortest exact quotation from the text. If the text does not "
    f"answer it, write: {NO_ANSWER}."
)
NEW_TOKENS = 40


@dataclass(frozen=True)
class Reply:
    """What a model says to a question.

    Args:
        text: its answer; empty if it says that there is none, or is unsure.
        has_place: whether it says where in the passage the answer is.
        seconds: time that it took.
    """

    text: str
    has_place: bool
    seconds: float


Ask = Callable[[str, str], tuple[str, bool]]
"""Returns the answer to a question about a passage, and whether its place is known."""


def reader_of(name: str) -> tuple[Ask, int]:
    """Return what asks a reader, and its number of weights; unsure answers count as none."""
    reader = Reader.from_pretrained(name)

    def ask(passage: str, question: str) -> tuple[str, bool]:
        answer = reader.answer(passage, question)
        text = answer.text if answer.outcome == "answer" else ""
        return text, answer.start is not None

    return ask, sum(weight.numel() for weight in reader.model.parameters())


def language_model_of(name: str) -> tuple[Ask, int]:
    """Return what asks a language model with a chat template, and its number of weights."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(name)
    model: Any = AutoModelForCausalLM.from_pretrained(name).eval()

    @torch.inference_mode()
    def ask(passage: str, question: str) -> tuple[str, bool]:
        content = f"{INSTRUCTION}\n\nText:\n{passage}\n\nQuestion: {question}"
        message = [{"role": "user", "content": content}]
        batch = tokenizer.apply_chat_template(
            message, add_generation_prompt=True, return_tensors="pt", return_dict=True
        )
        output = model.generate(**batch, max_new_tokens=NEW_TOKENS, do_sample=False)
        written = output[0, batch["input_ids"].shape[1] :]
        return clean(tokenizer.decode(written, skip_special_tokens=True)), False

    return ask, model.num_parameters()


def clean(reply: str) -> str:
    """Return the first line of a reply without quotation marks; empty for "no answer"."""
    lines = reply.strip().splitlines()
    text = lines[0].strip().strip("\"'“”‘’").strip() if lines else ""
    return "" if text.lower().rstrip(".") == NO_ANSWER else text


def replies(ask: Ask, examples: Sequence[SpanExample]) -> Iterator[Reply]:
    """Yield the reply to each question, asked one at a time as a person would."""
    for example in examples:
        start = time.perf_counter()
        text, has_place = ask(example.passage, example.question)
        yield Reply(text, has_place, time.perf_counter() - start)


def row_of(
    name: str, n_weights: int, examples: Sequence[SpanExample], found: Sequence[Reply]
) -> dict[str, object]:
    """Return the row of a model: shares in per cent."""
    pairs = list(zip(examples, found, strict=True))
    yes = [(example, reply) for example, reply in pairs if example.has_answers]
    no = [reply for example, reply in pairs if not example.has_answers]
    given = [(example, reply) for example, reply in pairs if reply.text]

    def share(values: Sequence[float]) -> str:
        return f"{100 * fmean(values):.1f}" if values else ""

    return {
        "": name,
        "million weights": round(n_weights / 1e6),
        "EM": share([exact_of(reply.text, example.answers) for example, reply in yes]),
        "F1": share([f1_of(reply.text, example.answers) for example, reply in yes]),
        "right of answered": share(
            [
                bool(example.answers) and exact_of(reply.text, example.answers)
                for example, reply in given
            ]
        ),
        "none where there is none": share([not reply.text for reply in no]),
        "in the text": share([reply.text in example.passage for example, reply in given]),
        "with its place": share([reply.has_place for _, reply in given]),
        "s a question": f"{fmean(reply.seconds for reply in found):.2f}",
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("questions", help="a file in the SQuAD format")
    parser.add_argument("--reader", action="append", default=[])
    parser.add_argument("--language-model", action="append", default=[])
    parser.add_argument("--limit", type=int, help="ask only the first questions")
    given = parser.parse_args(arguments)
    examples = read_squad(given.questions)[0][: given.limit]
    rows = []
    for load, names in (
        (reader_of, given.reader),
        (language_model_of, given.language_model),
    ):
        for name in names:
            ask, n_weights = load(name)
            list(replies(ask, examples[:2]))  # Warm up.
            rows.append(row_of(name, n_weights, examples, list(replies(ask, examples))))
    if not rows:
        parser.error("name a --reader or a --language-model")
    show("answering", rows)


if __name__ == "__main__":
    main()
