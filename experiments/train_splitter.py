"""Train the sentence splitter: python experiments/train_splitter.py EWT-TRAIN GUM-TRAIN --out FILE.

The shipped ``src/syntagma/text/segmentation/splitter.safetensors`` was made from the train files
of UD English-EWT and GUM with the default settings, in 75 seconds on one core:

    python experiments/train_splitter.py en_ewt-ud-train.conllu.gz gum-train.conllu.gz \
        --out src/syntagma/text/segmentation/splitter.safetensors

Each file is read with its paragraph breaks, without them (a file without paragraph marks counts
once), and with new line breaks; documents of GUM under a non-commercial licence are left out.  The
made-up sentences of ``splitter_sentences.py`` are added.  The same files and seed give the same
weights.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from safetensors.numpy import save_file
from splitter_layouts import laid_out
from splitter_sentences import made_documents
from torch import Tensor, nn

from syntagma.errors import in_one_line
from syntagma.text.documents import RawDocument, read_documents
from syntagma.text.segmentation.assemble import line_breaks
from syntagma.text.segmentation.gaps import (
    CONTEXT_SIZES,
    N_SUFFIXES,
    UNKNOWN_ROW,
    WINDOW,
    fingerprint,
    gap_features,
)
from syntagma.text.segmentation.layout import PARAGRAPH_BREAK
from syntagma.text.segmentation.runs import Runs, read_words
from syntagma.text.segmentation.shapes import Shape

BATCH_SIZE = 256
PEAK_LEARNING_RATE = 5e-3
# Genres of GUM whose texts are licensed for non-commercial use only.
NOT_FREE = tuple(f"GUM_{genre}_" for genre in ("essay", "fiction", "letter", "podcast", "whow"))
# Share of known words that are trained as unknown ones.
UNKNOWN_SHARE = 0.1


class GapClassifier(nn.Module):
    """The network of :class:`syntagma.text.segmentation.splitter.Splitter` in trainable form."""

    def __init__(self, *, n_words: int, width: int, hidden_width: int, dropout_prob: float) -> None:
        super().__init__()
        self.words = nn.Embedding(n_words, width)
        self.shapes = nn.Embedding(len(Shape), width)
        self.suffixes = nn.Embedding(N_SUFFIXES + 1, width)
        self.spaces = nn.Embedding(2, width)
        contexts = [nn.Embedding(size, hidden_width) for size in CONTEXT_SIZES]
        self.contexts = nn.ModuleList(contexts)
        self.hidden = nn.Linear(2 * WINDOW * width, hidden_width)
        self.output = nn.Linear(hidden_width, 1)
        self.dropout = nn.Dropout(dropout_prob)
        # Rare words start near zero, so that what is hardly trained has little effect.
        for table, scale in (
            (self.words, 0.05),
            (self.suffixes, 0.05),
            (self.shapes, 0.3),
            (self.spaces, 0.3),
            *((table, 0.1) for table in contexts),
        ):
            nn.init.normal_(table.weight, std=scale)

    def forward(self, windows: Tensor, contexts: Tensor) -> Tensor:
        """Return the scores of gaps.

        Args:
            windows: word, shape, suffix and space of the surrounding words, ``[n, 2 * WINDOW, 4]``.
            contexts: ``[n, 7]``.
        """
        words, shapes, suffixes, spaces = windows.unbind(-1)
        if self.training:
            words = torch.where(torch.rand(words.shape) < UNKNOWN_SHARE, UNKNOWN_ROW, words)
        vectors = (
            self.words(words) + self.shapes(shapes) + self.suffixes(suffixes) + self.spaces(spaces)
        )
        hidden = self.hidden(self.dropout(vectors.flatten(1)))
        for column, table in enumerate(self.contexts):
            hidden = hidden + table(contexts[:, column])
        return self.output(self.dropout(torch.relu(hidden))).squeeze(-1)

    def weights(self, vocabulary: list[int]) -> dict[str, np.ndarray]:
        """Weights for :class:`syntagma.text.segmentation.splitter.Splitter`, in half precision."""
        tensors: dict[str, Any] = {
            "words": self.words.weight,
            "shapes": self.shapes.weight,
            "suffixes": self.suffixes.weight,
            "spaces": self.spaces.weight,
            "hidden": self.hidden.weight.T,
            "hidden_bias": self.hidden.bias,
            "output": self.output.weight[0],
            "output_bias": self.output.bias,
            **{f"context_{number}": table.weight for number, table in enumerate(self.contexts)},
        }
        arrays = {
            name: np.ascontiguousarray(tensor.detach().numpy().astype(np.float16))
            for name, tensor in tensors.items()
        }
        return {**arrays, "vocabulary": np.array(vocabulary, dtype=np.uint32)}


def read_gaps(
    documents: Iterable[RawDocument], runs: Runs
) -> tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray]]:
    """Windows, contexts and labels of the candidate gaps of documents."""
    windows, contexts, labels = [], [], []
    for document in documents:
        text = document.text
        words = read_words(text, 0, len(text), runs)
        cuts = [0, *(match.end() for match in PARAGRAPH_BREAK.finditer(text)), len(text)]
        bounds = list(pairwise(cuts))
        first_words = np.unique(np.searchsorted(words.starts, cuts[:-1]))
        first_words = first_words[first_words < len(words.forms)]
        _, breaks = line_breaks(text, bounds, words)
        features = gap_features(words.packed, words.first_of_run, first_words, breaks)
        around = features.windows
        columns = (features.words, features.shapes, features.suffixes, features.spaces)
        windows.append(np.stack([column[around] for column in columns], axis=-1))
        contexts.append(features.contexts)
        ends = [end for _, end in document.sentences]
        labels.append(np.isin(words.ends[features.gaps], ends))
    return windows, contexts, labels


def known_words(documents: Iterable[RawDocument], min_count: int) -> list[int]:
    """Fingerprints of the words that occur at least ``min_count`` times, in a fixed order."""
    counts: Counter[int] = Counter()
    runs = Runs({})
    for document in documents:
        words = read_words(document.text, 0, len(document.text), runs)
        counts.update(map(fingerprint, words.forms))
    return sorted(number for number, count in counts.items() if count >= min_count)


def train(
    model: GapClassifier, windows: Tensor, contexts: Tensor, labels: Tensor, epochs: int
) -> None:
    """Minimise cross-entropy with AdamW under a one-cycle schedule."""
    n_batches = len(labels) // BATCH_SIZE
    optimizer = torch.optim.AdamW(model.parameters(), lr=PEAK_LEARNING_RATE, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, PEAK_LEARNING_RATE, total_steps=epochs * n_batches + 1, pct_start=0.1
    )
    for epoch in range(epochs):
        total = 0.0
        order = torch.randperm(len(labels))
        for rows in order[: n_batches * BATCH_SIZE].split(BATCH_SIZE):
            scores = model(windows[rows], contexts[rows])
            loss = nn.functional.binary_cross_entropy_with_logits(scores, labels[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item()
        print(f"epoch {epoch + 1}: loss {total / n_batches:.4f}", flush=True)


def _free(documents: Iterable[RawDocument]) -> list[RawDocument]:
    """Leave out documents whose licence forbids commercial use."""
    return [document for document in documents if not document.name.startswith(NOT_FREE)]


def main() -> None:
    """Parse the flags, train, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("treebanks", nargs="+", help="CoNLL-U files to train on")
    parser.add_argument("--out", required=True, help="file of the weights (.safetensors)")
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--width", type=int, default=24, help="of a word vector")
    parser.add_argument("--hidden-width", type=int, default=128)
    parser.add_argument("--dropout-prob", type=float, default=0.3)
    parser.add_argument("--min-count", type=int, default=20, help="rarer words are unknown")
    parser.add_argument("--made", type=int, default=8000, help="number of made-up documents")
    flags = parser.parse_args()

    torch.manual_seed(flags.seed)
    torch.use_deterministic_algorithms(True)
    # One thread: the matrices are small, and the weights then depend on no number of cores.
    torch.set_num_threads(1)
    documents: list[RawDocument] = []
    plain: list[RawDocument] = []
    for path in flags.treebanks:
        marked = _free(read_documents(path))
        joined = _free(read_documents(path, paragraphs=False))
        plain += marked
        documents += marked
        if any("\n" in document.text for document in marked):
            documents += joined
        documents += [laid_out(document, seed) for seed, document in enumerate(joined)]
    made = made_documents(flags.made, flags.seed)
    documents += made
    vocabulary = known_words(plain + made, flags.min_count)
    runs = Runs({number: row for row, number in enumerate(vocabulary, UNKNOWN_ROW + 1)})
    parts = [np.concatenate(part) for part in read_gaps(documents, runs)]
    windows, contexts, labels = map(torch.from_numpy, parts)
    print(f"{len(vocabulary)} known words, {len(labels)} gaps, {int(labels.sum())} of them ends")
    model = GapClassifier(
        n_words=len(vocabulary) + UNKNOWN_ROW + 1,
        width=flags.width,
        hidden_width=flags.hidden_width,
        dropout_prob=flags.dropout_prob,
    )
    train(model, windows, contexts, labels.float(), flags.epochs)
    settings = {k: v for k, v in vars(flags).items() if k not in ("treebanks", "out")}
    card = {
        "task": "sentence splitting for syntagma.text.segmentation.segment",
        "data": "train parts of UD English-EWT (CC BY-SA 4.0) and GUM (annotations CC BY 4.0; "
        "without the genres essay, fiction, letter, podcast, whow); made-up sentences",
        "licence": "CC BY-SA 4.0",
        "settings": settings,
        "made_by": "experiments/train_splitter.py",
        "scores": "benchmarks/segmentation.py",
    }
    # A single entry, because safetensors writes several in no fixed order.
    save_file(model.weights(vocabulary), flags.out, metadata={"card": json.dumps(card)})


if __name__ == "__main__":
    with in_one_line():
        main()
