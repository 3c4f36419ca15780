"""Parsing speed on pretokenized sentences, compared with the bare encoder and with spaCy.

The spaCy pipeline (tok2vec, tagger, parser) is created with untrained weights, because its speed
does not depend on them.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from benchmarks.text import treebank_sentences
from benchmarks.timing import rounds, show
from syntagma.batches import token_budget_batches
from syntagma.encoders.precision import Precision, autocast
from syntagma.parse.parser import JointParser
from syntagma.parse.sources.load import load_parser
from syntagma.text.sentence import Sentence


def spacy_pipeline(sentences: list[Sentence]) -> Callable[[], object] | None:
    """Return a function that tags and parses with spaCy; ``None`` if spaCy is not installed."""
    try:
        import spacy
        from spacy.tokens import Doc
        from spacy.training import Example
    except ImportError:
        return None
    language = spacy.blank("en")
    for name in ("tagger", "parser"):
        language.add_pipe(name)
    draw = random.Random(0)
    examples = []
    for sentence in sentences[:200]:
        n = len(sentence)
        reference = Doc(
            language.vocab,
            words=list(sentence.forms),
            heads=[max(0, k - 1) for k in range(n)],
            deps=["ROOT"] + [draw.choice(["nsubj", "obj", "det"]) for _ in range(n - 1)],
            tags=[draw.choice(["NN", "VB", "DT"]) for _ in range(n)],
        )
        examples.append(Example(Doc(language.vocab, words=list(sentence.forms)), reference))
    language.initialize(lambda: examples)

    def parse() -> None:
        documents = (Doc(language.vocab, words=list(s.forms)) for s in sentences)
        for _ in language.pipe(documents, batch_size=256):
            pass

    return parse


@torch.inference_mode()
def encode(parser: JointParser, batches: list[dict[str, Tensor]], precision: Precision) -> None:
    """Run the parser's encoder without the layers on top of it."""
    with autocast(parser.model.device, precision):
        for batch in batches:
            parser.model.encoder(
                input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]
            )


def main() -> None:
    sentences = [sentence for sentence in treebank_sentences() if len(sentence)]
    n_words = sum(map(len, sentences))
    rows = []
    precisions: tuple[Precision, ...] = ("auto", "float32")
    for precision in precisions:
        parser = load_parser("default-parser", precision=precision)
        encoded = parser.encoder.encode(sentences)
        batches = [
            parser.encoder.collate([encoded[index] for index in batch])
            for batch in token_budget_batches([len(e) + 2 for e in encoded], parser.budget)
        ]
        callables: dict[str, Callable[[], object]] = {
            f"encoder alone, {precision}": partial(encode, parser, batches, precision),
            f"default-parser, {precision}": partial(parser.parse, sentences),
        }
        for decoding in ("separate", "joint"):
            other = load_parser("default-parser", precision=precision, decoding=decoding)
            name = f"… with phrases, {decoding}, {precision}"
            callables[name] = partial(other.parse, sentences)
        if precision == "auto" and (spacy := spacy_pipeline(sentences)) is not None:
            callables["spaCy tok2vec, tagger, parser"] = spacy
        seconds = rounds(callables, repeat=3)
        base = seconds[f"encoder alone, {precision}"]
        rows += [
            {
                "": name,
                "words/s": n_words / value,
                "sentences/s": len(sentences) / value,
                "time relative to encoder": value / base,
            }
            for name, value in seconds.items()
        ]
    show(f"Parsing {len(sentences)} sentences", rows)


if __name__ == "__main__":
    main()
