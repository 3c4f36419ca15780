"""Time to answer a question, relative to running the encoder on the same windows.

    python -m benchmarks.reading
    python -m benchmarks.reading --reader runs/mine --parser accurate-parser

A new passage is cut into pieces and, for a reader with guides, parsed; for the next question about
it neither is done again.  No reader that ships has guides, so SG-Net is measured on the default
encoder as it is before training, which takes as long.  Each passage of `examples/questions` is
measured several times, of which the shortest counts; medians are over the passages.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import NamedTuple

import torch

from benchmarks.quick import size
from benchmarks.tables import Measured, show
from syntagma.encoders.default import find_download
from syntagma.encoders.load import load_tokenizer
from syntagma.encoders.named_models import NAMED_MODELS, names_of
from syntagma.encoders.precision import autocast
from syntagma.models.span_model import SpanHead, SpanModel
from syntagma.parse.sources.cache import ParseCache
from syntagma.parse.sources.load import load_source
from syntagma.parse.sources.source import ParseSource
from syntagma.tasks.spans.reader import Reader
from syntagma.tasks.spans.squad import read_squad

QUESTIONS = Path(__file__).parents[1] / "examples" / "questions" / "everyday-dev.json"
PLAIN_BAR, NEXT_BAR = 1.2, 1.25
NEW_BARS = {"fast-parser": 1.8, "default-parser": 2.3}
"""The longest time of a reader without guides; of one with guides for the next question; and for a
new passage, by its parser.  Each is relative to the encoder alone."""


class Times(NamedTuple):
    """Seconds that one passage took.

    Args:
        encoder: the encoder alone, on the windows of the first question.
        encoder_next: the encoder alone, on those of the second.
        model: the whole model on those of the first, guides and head included.
        parse: parsing the passage; 0 without guides.
        pieces: cutting it into pieces.
        new: the answer to the first question.
        next: the answer to the second.
    """

    encoder: float
    encoder_next: float
    model: float
    parse: float
    pieces: float
    new: float
    next: float


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def fresh(reader: Reader, source: ParseSource | None) -> Reader:
    """Return a reader with the same model that has seen no text."""
    cache = None if source is None else ParseCache(source)
    return Reader(reader.model, reader.tokenizer, cache=cache, precision=reader.precision)


@torch.inference_mode()
def measure(
    reader: Reader, source: ParseSource | None, passage: str, questions: Sequence[str]
) -> Times:
    """Measure one passage with two questions."""
    first, second = questions
    unread = fresh(reader, source)
    batches = [unread.batch(unread.windows([(passage, question)])) for question in questions]
    inputs = [{name: batch[name] for name in ("input_ids", "attention_mask")} for batch in batches]

    def run(model: Callable[..., object], tensors: dict[str, torch.Tensor]) -> None:
        with autocast(reader.model.device, reader.precision):
            model(**tensors)

    for tensors in inputs:  # torch prepares its kernels for each new length.
        run(reader.model.encoder, tensors)
    other, third = fresh(reader, source), fresh(reader, source)
    parsing = partial(other.texts.cache.parsed, [passage]) if other.texts.cache else None
    parse = seconds(parsing) if parsing else 0.0
    pieces = seconds(partial(other.texts.encode, [passage]))
    return Times(
        encoder=seconds(partial(run, reader.model.encoder, inputs[0])),
        encoder_next=seconds(partial(run, reader.model.encoder, inputs[1])),
        model=seconds(partial(run, reader.model, batches[0])),
        parse=parse,
        pieces=pieces,
        new=seconds(partial(third.answer, passage, first)),
        next=seconds(partial(third.answer, passage, second)),
    )


def passages() -> list[tuple[str, list[str]]]:
    """Return the passages with two questions each."""
    found: dict[str, list[str]] = {}
    for example in read_squad(QUESTIONS)[0]:
        found.setdefault(example.passage, []).append(example.question)
    asked = [(passage, questions[:2]) for passage, questions in found.items() if questions[1:]]
    return size(asked, asked[:2])


def guided_reader() -> Reader:
    """Return a reader with SG-Net's layer on the default encoder, without training."""
    model = SpanModel.from_encoder("default", guides="sg-net", task="spans", head=SpanHead())
    return Reader(model, load_tokenizer("default"), source=load_source("linear"))


def measured_row(name: str, reader: Reader, parser: str, *, repeat: int) -> dict[str, object]:
    """Measure a reader on all passages, and return its row.

    Args:
        name: of the row.
        reader: to measure.
        parser: name of its parser, if it reads syntax.
        repeat: measurements of each passage.
    """
    guided = reader.model.reads_syntax
    source = load_source(parser) if guided else None
    texts = passages()
    measure(reader, source, *texts[0])  # Warm up.
    rounds = [[measure(reader, source, *text) for text in texts] for _ in range(repeat)]
    best = [Times(*map(min, zip(*passage, strict=True))) for passage in zip(*rounds, strict=True)]
    bars = (NEW_BARS.get(parser), NEXT_BAR) if guided else (PLAIN_BAR, PLAIN_BAR)
    return row_of(name, best, *bars)


def row_of(
    name: str, times: Sequence[Times], new_bar: float | None, next_bar: float
) -> dict[str, object]:
    """Return the row of a reader: medians in milliseconds, and ratios beside their bars."""

    def ms(part: str) -> float:
        return 1000 * median(getattr(each, part) for each in times)

    def ratio(part: str, encoder: str, bar: float | None) -> Measured:
        found = (getattr(each, part) / getattr(each, encoder) for each in times)
        return Measured(median(found), at_most=bar)

    return {
        "": name,
        "encoder, ms": ms("encoder"),
        "guides and head": ms("model") - ms("encoder"),
        "parse": ms("parse"),
        "pieces": ms("pieces"),
        "new passage": ms("new"),
        "new ÷ encoder": ratio("new", "encoder", new_bar),
        "next question": ms("next"),
        "next ÷ encoder": ratio("next", "encoder_next", next_bar),
    }


def main(arguments: Sequence[str] | None = ()) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reader", action="append", default=[], help="by default all that ship")
    parser.add_argument("--parser", help="instead of the one that a reader was trained with")
    parser.add_argument("--repeat", type=int, default=size(5, 1))
    given = parser.parse_args(arguments)
    ready = [name for name in names_of("reader") if find_download(NAMED_MODELS[name].encoder)]
    rows = []
    for name in given.reader or size(ready, ready[:1]):
        options = {"parser": given.parser} if given.parser else {}
        reader = Reader.from_pretrained(name, **options)
        parser_name = given.parser or reader.model.config.parser
        rows.append(measured_row(name, reader, parser_name, repeat=given.repeat))
    if not given.reader:
        guided = guided_reader()
        for parser_name in size(["default-parser", "fast-parser"], ["default-parser"]):
            name = f"SG-Net with {parser_name}"
            rows.append(measured_row(name, guided, parser_name, repeat=given.repeat))
    show("reading", rows)


if __name__ == "__main__":
    main(None)
