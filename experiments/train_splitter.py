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
from collections.abc import Iterable

import numpy as np
import torch
from safetensors.numpy import save_file
from splitter_sentences import made_documents

from syntagma.errors import in_one_line
from syntagma.tasks.parsing.segmentation.gap_training import (
    GapClassifier,
    known_words,
    read_gaps,
    train,
)
from syntagma.tasks.parsing.segmentation.layouts import laid_out
from syntagma.text.documents import RawDocument, read_documents
from syntagma.text.segmentation.gaps import UNKNOWN_ROW
from syntagma.text.segmentation.runs import EnglishRuns

# Genres of GUM whose texts are licensed for non-commercial use only.
NOT_FREE = tuple(f"GUM_{genre}_" for genre in ("essay", "fiction", "letter", "podcast", "whow"))


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
    vocabulary = known_words(plain + made, EnglishRuns({}), flags.min_count)
    runs = EnglishRuns({number: row for row, number in enumerate(vocabulary, UNKNOWN_ROW + 1)})
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
