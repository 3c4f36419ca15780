"""Train spaCy's small pipeline on treebanks, as a peer of our parsers, and score it as they are.

    python experiments/spacy_peer.py --train EWT-TRAIN.conllu.gz GUM-TRAIN.conllu.gz \
        --exclude 'GUM_fiction_*' --dev EWT-DEV.conllu.gz GUM-DEV.conllu.gz --out runs/spacy_peer

The recipe is that of `spacy init config --pipeline tagger,parser --optimize efficiency`: an
encoder of four convolutional layers on hashed word shapes, a tagger, and a transition-based parser.
It is trained and scored on the words and sentences of the treebanks.  Its predictions are written
to OUT/NAME.conllu, so that `syntagma evaluate parsing NAME.conllu.gz --predictions OUT/NAME.conllu`
gives the same numbers.  It predicts no universal tags.

Training stops when the score has not improved for 1,600 steps, or after `--steps`.  The same
command continues a training that was stopped, from its last checkpoint (every 200 steps) with new
optimizer state; `--steps 0` only scores.  The model with the best LAS is in OUT/model-best.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import spacy
from spacy.cli.init_config import init_config
from spacy.tokens import Doc, DocBin
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.vocab import Vocab

from syntagma.errors import InputError, in_one_line
from syntagma.files import read_json
from syntagma.outputs import write_json, write_text
from syntagma.parse.sources.adapters import SpacySource, document_of
from syntagma.tasks.document_filter import DocumentFilter
from syntagma.tasks.parsing.conll_measures import predicted_rows
from syntagma.tasks.parsing.tree_scores import score_trees
from syntagma.tasks.parsing.treebanks import TreeExample, read_treebank
from syntagma.text.conllu import format_conllu
from syntagma.text.sentence import Parse

PIPELINE = ("tok2vec", "tagger", "parser")
SHOWN = ("uas", "las", "las_with_subtypes", "xpos")


def annotated(vocab: Vocab, gold: Parse) -> Doc:
    """A sentence with its gold tree and tags; in spaCy a root is its own head."""
    return document_of(
        vocab,
        gold.sentence,
        tags=list(gold.xpos),
        heads=[head - 1 if head else index for index, head in enumerate(gold.heads)],
        deps=["ROOT" if relation == "root" else relation for relation in gold.relations],
    )


def write_documents(path: Path, examples: Sequence[TreeExample]) -> None:
    """Write gold sentences in spaCy's format, one document each."""
    vocab = spacy.blank("en").vocab
    DocBin(docs=[annotated(vocab, example.gold) for example in examples]).to_disk(path)


def legs_of(out: Path) -> list[Path]:
    """Folders of the trainings so far, in their order."""
    return [leg for leg in sorted(out.glob("leg-*")) if (leg / "model-last").is_dir()]


def las(leg: Path) -> float:
    """The best LAS of a training on the dev files, as spaCy counts it."""
    best = leg / "model-best" / "meta.json"
    return float(read_json(best)["performance"]["dep_las"]) if best.is_file() else 0.0


def train_leg(out: Path, steps: int) -> None:
    """Train from the last checkpoint, or from new weights."""
    config = init_config(lang="en", pipeline=list(PIPELINE[1:]), optimize="efficiency", gpu=False)
    config["paths"] |= {"train": str(out / "train.spacy"), "dev": str(out / "dev.spacy")}
    config["training"]["max_steps"] = steps
    done = legs_of(out)
    if done:
        config["components"] = {name: {"source": str(done[-1] / "model-last")} for name in PIPELINE}
        config["training"]["batcher"]["size"]["start"] = 1000
    leg = out / f"leg-{len(done) + 1:03}"
    leg.mkdir(parents=True, exist_ok=True)
    train(init_nlp(config), leg, stdout=sys.stdout, stderr=sys.stderr)


def main() -> None:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("--train", nargs="+", required=True, help="CoNLL-U files")
    arguments.add_argument("--dev", nargs="+", required=True, help="CoNLL-U files, scored one each")
    arguments.add_argument("--exclude", nargs="+", default=[], help="documents not to learn from")
    arguments.add_argument("--out", type=Path, default=Path("runs/spacy_peer"))
    arguments.add_argument("--steps", type=int, default=20_000, help="at most, in this call")
    options = arguments.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    dev = {path: read_treebank(path) for path in options.dev}
    if options.steps:
        examples = [example for path in options.train for example in read_treebank(path)]
        chosen = DocumentFilter(exclude=tuple(options.exclude))
        kept = chosen.select(examples, lambda example: example.document) if chosen else examples
        print(f"{len(kept)} of {len(examples)} sentences to train on")
        write_documents(options.out / "train.spacy", kept)
        write_documents(
            options.out / "dev.spacy", [each for found in dev.values() for each in found]
        )
        train_leg(options.out, options.steps)
    best = max(legs_of(options.out), key=las, default=None)
    if best is None:
        raise InputError(f"{options.out}: no trained model; omit --steps 0")
    model = options.out / "model-best"
    shutil.copytree(best / "model-best", model, dirs_exist_ok=True)
    source = SpacySource.load(str(model))
    scores = {}
    for path, examples in dev.items():
        parses = source.parse_sentences([example.gold.sentence for example in examples])
        name = Path(path).name.removesuffix(".gz").removesuffix(".conllu")
        rows = [
            format_conllu(predicted_rows(example.source, parse))
            for example, parse in zip(examples, parses, strict=True)
            if example.source is not None
        ]
        write_text(options.out / f"{name}.conllu", "".join(rows))
        scores[name] = score_trees(examples, parses)
        print(f"{name}: " + ", ".join(f"{key} {scores[name][key]:.2f}" for key in SHOWN))
    write_json(options.out / "scores.json", scores)


if __name__ == "__main__":
    with in_one_line():
        main()
