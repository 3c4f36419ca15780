"""Whether a word of a question still looks like itself in the passage, by the last states.

    python experiments/same_words.py default runs/seprem_pretrain_small \
        --data data/squad/dev-v1.1.json.gz

Readers of passages match words.  For each piece of a question that also occurs in its passage: does
the nearest state of the passage (by cosine) belong to the same piece?  The last column is the
attention that it pays to the same pieces in the passage, as a mean over heads and layers.
"""

from __future__ import annotations

import argparse
import random
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from syntagma import GuidedEncoder, SyntaxTokenizer
from syntagma.encoders.observe import watch_attention
from syntagma.errors import InputError, in_one_line
from syntagma.tasks.spans.task import SpanTask


class Found(NamedTuple):
    """Counts over pieces of questions that also occur in their passage."""

    pieces: int
    nearest: int
    attention: float


def same_words(model: GuidedEncoder, batch: dict[str, Tensor], common: set[int]) -> Found:
    """Count the pieces of one question and its passage, ``[1, n]``."""
    ids, word, domain = (batch[name][0] for name in ("input_ids", "word", "domain"))
    passage = (word >= 0) & (domain == 0)
    question = (word >= 0) & (domain == 1)
    rare = torch.tensor([piece not in common for piece in ids.tolist()])
    same = (ids[:, None] == ids) & passage & (question & rare)[:, None]
    asked = same.any(1)
    with torch.inference_mode(), watch_attention(model.trunk) as layers:
        states = F.normalize(model(**batch).last_hidden_state[0], dim=-1)
    nearest = (states @ states.T).masked_fill(~passage, -2).argmax(1)
    attention = torch.stack(layers).mean((0, 1, 2))
    return Found(
        int(asked.sum()),
        int(same[asked, nearest[asked]].sum()),
        float((attention * same).sum()),
    )


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("models", nargs="+")
    arguments.add_argument("--data", required=True, help="in the format of SQuAD")
    arguments.add_argument("--questions", type=int, default=200)
    arguments.add_argument("--alpha", type=float, help="instead of the learned one")
    options = arguments.parse_args()
    examples = SpanTask.read(options.data)
    examples = random.Random(1).sample(examples, min(options.questions, len(examples)))
    print("| model | pieces | nearest is the same | attention to the same |\n|---|---|---|---|")
    for name in options.models:
        model = GuidedEncoder.from_pretrained(name)
        if options.alpha is not None:
            guide = getattr(model, "tree_distance", None)
            if guide is None:
                raise InputError(f"{name}: has no distance layers; remove --alpha")
            guide.alpha.data.fill_(options.alpha)
        tokenizer = SyntaxTokenizer.for_model(model, parser="default-parser")
        # Function words occur anywhere.
        words = "the of a an in to and is was what who when where how which did for by on ? , . '"
        common = set(tokenizer.tokenizer(words, add_special_tokens=False)["input_ids"])
        found = [
            same_words(
                model, dict(tokenizer([one.passage], [one.question], max_length=384)), common
            )
            for one in examples
        ]
        pieces, nearest, attention = map(sum, zip(*found, strict=True))
        print(f"| {name} | {pieces} | {100 * nearest / pieces:.1f} % | {attention / pieces:.4f} |")


if __name__ == "__main__":
    with in_one_line():
        main()
