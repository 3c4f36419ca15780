"""The mask of SG-Net: intervals and one comparison on the device, against an n×n array a passage.

The other side does what the authors' released script does for each example, written naively from
its description: walk every word's head chain, write the ancestors of every piece into an n×n float
array of the padded length, and put the arrays of a batch together.
"""

from __future__ import annotations

import numpy as np
import torch

from benchmarks.text import example_texts
from benchmarks.timing import rounds, show
from syntagma.encoders.load import load_tokenizer
from syntagma.parse.columns import Labels, ParsedText
from syntagma.parse.source import load_parser
from syntagma.syntax.ancestors import ancestor_mask
from syntagma.syntax.encode import encode_texts
from syntagma.syntax.windows import SequenceBuilder, collate
from syntagma.text.pieces import ABSENT, align


def naive_mask(parsed: ParsedText, words: list[int], length: int) -> np.ndarray:
    """The padded n×n mask of one passage, pair by pair."""
    first = {}
    for index, sentence in enumerate(parsed.sentences.tolist()):
        first.setdefault(sentence, index)
    above = []
    for word in range(len(parsed)):
        chain = {word}
        head = int(parsed.heads[word])
        offset = first[int(parsed.sentences[word])]
        while head:
            chain.add(offset + head - 1)
            head = int(parsed.heads[offset + head - 1])
        above.append(chain)
    mask = np.zeros((length, length), np.float32)
    for i, word in enumerate(words):
        mask[i, i] = 1
        if word < 0:
            continue
        for j, other in enumerate(words):
            if other in above[word]:
                mask[i, j] = 1
    return mask


def main() -> None:
    parser = load_parser("default-parser")
    tokenizer = load_tokenizer("default")
    texts = example_texts(copies=64)
    labels = Labels()
    parsed = [
        ParsedText.from_parses(parses, xpos_labels=labels) for parses in parser.parse_texts(texts)
    ]
    builder = SequenceBuilder(tokenizer, columns=("enter", "exit", "word"))

    def tokenise() -> dict[str, torch.Tensor]:
        encoded = encode_texts(texts, tokenizer)
        return plain_batch(encoded)

    def plain_batch(encoded: list) -> dict[str, torch.Tensor]:
        plain = SequenceBuilder(tokenizer, columns=())
        return collate([plain.build([(e, 0, len(e))]) for e in encoded], pad_id=0)

    def intervals() -> dict[str, torch.Tensor]:
        encoded = encode_texts(texts, tokenizer, parsed)
        return collate([builder.build([(e, 0, len(e))]) for e in encoded], pad_id=0)

    def arrays() -> torch.Tensor:
        encoded = encode_texts(texts, tokenizer)
        length = plain_batch(encoded)["input_ids"].shape[1]
        masks = []
        for parse, pieces in zip(parsed, encoded, strict=True):
            words = align(parse.starts, parse.ends, pieces.starts, pieces.ends)
            masks.append(naive_mask(parse, [ABSENT, *words.tolist(), ABSENT], length))
        return torch.from_numpy(np.stack(masks))

    batch = intervals()

    def device() -> torch.Tensor:
        return ancestor_mask(batch["enter"], batch["exit"])

    inside = batch["attention_mask"].bool()
    assert (device() == arrays().bool())[inside.unsqueeze(2) & inside.unsqueeze(1)].all()
    seconds = rounds(
        {"tokenise": tokenise, "n×n": arrays, "intervals": intervals, "mask": device}, repeat=9
    )
    n, length = batch["input_ids"].shape
    theirs = seconds["n×n"] - seconds["tokenise"]
    ours = seconds["intervals"] - seconds["tokenise"]
    rows = [
        {
            "beyond tokenising": name,
            "host µs a passage": 1e6 * value / n,
            "times faster": theirs / value,
            "host bytes a passage": size,
            "times smaller": 4 * length * length / size,
        }
        for name, value, size in (
            ("an n×n float array each", theirs, 4 * length * length),
            ("intervals (enter, exit, word)", ours, 3 * 4 * length),
        )
    ]
    show(f"Masks of {n} passages of at most {length} pieces", rows)
    print(
        f"tokenising: {1e6 * seconds['tokenise'] / n:.0f} µs a passage; the mask of the batch on "
        f"the device: {1e6 * seconds['mask'] / n:.0f} µs a passage"
    )


if __name__ == "__main__":
    main()
