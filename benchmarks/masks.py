"""SG-Net's mask: intervals and one comparison on the device, against an n×n array per passage.

The baseline does the same as the authors' released script, written naively from its description:
for each example, follow the heads of every word up to the root, write the ancestors of every piece
to an n×n float array of the padded length, and stack the arrays of a batch.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.quick import size
from benchmarks.tables import show
from benchmarks.text import example_questions, example_texts
from benchmarks.timing import rounds
from syntagma.encoders.load import load_tokenizer
from syntagma.parse.columns import Labels, ParsedText
from syntagma.parse.sources.load import load_parser
from syntagma.syntax.ancestors import ancestor_mask
from syntagma.syntax.encode import EncodedText, encode_texts
from syntagma.syntax.sequences import Part, SequenceBuilder
from syntagma.text.alignment import align, cut

FloatArray: TypeAlias = NDArray[np.float32]


class CachedTokenizer:
    """A tokenizer that returns encodings computed beforehand, and is else the given one."""

    def __init__(self, tokenizer: Any, texts: list[str]) -> None:
        self.tokenizer = tokenizer
        self.backend_tokenizer = CachedBackend(tokenizer.backend_tokenizer, cut(tokenizer, texts))

    def __len__(self) -> int:
        return len(self.tokenizer)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.tokenizer, name)


class CachedBackend:
    """The part of a tokenizer that encodes."""

    def __init__(self, backend: Any, encodings: list[Any]) -> None:
        self.backend, self.encodings = backend, encodings

    def encode_batch(self, texts: list[str], add_special_tokens: bool) -> list[Any]:
        """Return the encodings computed beforehand."""
        return self.encodings

    def __getattr__(self, name: str) -> Any:
        return getattr(self.backend, name)


def naive_mask(parsed: ParsedText, words: list[int], length: int) -> FloatArray:
    """Build the padded n×n mask of one passage, pair by pair."""
    first: dict[int, int] = {}
    for index, sentence in enumerate(parsed.sentences.tolist()):
        first.setdefault(sentence, index)
    ancestors = []
    for word in range(len(parsed)):
        chain = {word}
        head = int(parsed.heads[word])
        offset = first[int(parsed.sentences[word])]
        while head:
            chain.add(offset + head - 1)
            head = int(parsed.heads[offset + head - 1])
        ancestors.append(chain)
    mask = np.zeros((length, length), np.float32)
    for i, word in enumerate(words):
        mask[i, i] = 1
        if word < 0:
            continue
        for j, other in enumerate(words):
            if other in ancestors[word]:
                mask[i, j] = 1
    return mask


def main() -> None:
    parser = load_parser("default-parser")
    tokenizer = load_tokenizer("default")
    passages = list(dict.fromkeys(example_texts(copies=size(64, 4))))
    questions = example_questions()
    pairs = [(passage, question) for passage in passages for question in questions]
    texts = [*passages, *questions]
    labels = Labels()
    parsed = {
        text: ParsedText.from_parses(parses, xpos_labels=labels)
        for text, parses in zip(texts, parser.parse_texts(texts), strict=True)
    }
    # Tokenizing takes the same time in both cases and is done beforehand.
    ready = CachedTokenizer(tokenizer, texts)
    plain = SequenceBuilder(tokenizer, columns=())
    guided = SequenceBuilder(tokenizer, columns=("enter", "exit", "word"))

    def sequences(encoded: list[EncodedText]) -> list[list[Part]]:
        by_text = dict(zip(texts, encoded, strict=True))
        return [[Part(by_text[text], 0, len(by_text[text])) for text in pair] for pair in pairs]

    def nothing() -> dict[str, torch.Tensor]:
        return plain.collate(sequences(encode_texts(texts, ready)))

    def intervals() -> dict[str, torch.Tensor]:
        return guided.collate(sequences(encode_texts(texts, ready, list(parsed.values()))))

    def arrays() -> torch.Tensor:
        rows = sequences(encode_texts(texts, ready))
        length = plain.collate(rows)["input_ids"].shape[1]
        masks = []
        for pair, parts in zip(pairs, rows, strict=True):
            mask = np.zeros((length, length), np.float32)
            begin = 1
            for text, part in zip(pair, parts, strict=True):
                pieces, parse = part.text, parsed[text]
                words = align(parse.starts, parse.ends, pieces.starts, pieces.ends).tolist()
                end = begin + len(words)
                mask[begin:end, begin:end] = naive_mask(parse, words, len(words))
                begin = end + 1
            np.fill_diagonal(mask, 1)
            masks.append(mask)
        return torch.from_numpy(np.stack(masks))

    batch = intervals()

    def device() -> torch.Tensor:
        return ancestor_mask(batch["enter"], batch["exit"])

    inside = batch["attention_mask"].bool()
    assert (device() == arrays().bool())[inside.unsqueeze(2) & inside.unsqueeze(1)].all()
    seconds = rounds(
        {"nothing": nothing, "n×n": arrays, "intervals": intervals, "mask": device}, repeat=9
    )
    n, length = batch["input_ids"].shape
    # What remains without any mask is tokenizing and padding.
    theirs = seconds["n×n"] - seconds["nothing"]
    ours = seconds["intervals"] - seconds["nothing"]
    rows = [
        {
            "in addition to tokenizing": name,
            "host µs per example": 1e6 * value / n,
            "times faster": theirs / value,
            "host bytes per example": size,
            "times smaller": 4 * length * length / size,
        }
        for name, value, size in (
            ("one n×n float array per example", theirs, 4 * length * length),
            ("intervals (enter, exit, word)", ours, 3 * 4 * length),
        )
    ]
    show(f"Masks of {n} examples, {len(questions)} questions per passage, {length} pieces", rows)
    print(f"the mask of the batch on the device: {1e6 * seconds['mask'] / n:.0f} µs per example")


if __name__ == "__main__":
    main()
