"""Let the encoder of a trained parser decide on doubtful sentence ends.

    python experiments/train_sentence_ends.py PARSER TREEBANK... --out FOLDER

A scorer of sentence ends is trained on the states of the parser's encoder, and added to a copy of
its folder; the parser's other weights stay.  New parsers learn it in their training
(``head.sentence_ends: encoder``).  The parsers that ship were given theirs with

    python experiments/train_sentence_ends.py src/syntagma/weights/default-parser \
        en_ewt-ud-train.conllu.gz en_gum-ud-train.conllu.gz --made 2000 --out runs/default-parser

where the second file is GUM's, whose name must state its language, too.  Documents of GUM under a
non-commercial licence are left out.  The made-up sentences of ``splitter_sentences.py`` are added
to those in English.
"""

from __future__ import annotations

import argparse
import json
import logging
import shutil
from collections.abc import Sequence
from pathlib import Path

from safetensors.torch import load_file, save_file
from splitter_sentences import made_documents
from train_splitter import NOT_FREE

from syntagma.encoders.default import CONFIG, WEIGHTS, sha256
from syntagma.encoders.saved_config import DIGEST
from syntagma.errors import InputError, in_one_line
from syntagma.parse.languages import RESCORED
from syntagma.parse.parser import JointParser
from syntagma.parse.sentence_ends import EndRescorer, EndScorer
from syntagma.tasks.parsing.segmentation.end_training import (
    MAX_PLACES,
    texts_of,
    train_sentence_ends,
)
from syntagma.tasks.parsing.treebanks import language_of_file
from syntagma.text.conllu import read_conllu
from syntagma.text.documents import RawDocument

PREFIX = "sentence_ends."


def _free_texts(path: str) -> list[RawDocument]:
    """Return the texts of a treebank without those whose licence forbids commercial use."""
    texts = texts_of(list(read_conllu(path)))
    return [text for text in texts if not text.name.startswith(NOT_FREE)]


def _write(scorer: EndScorer, codes: list[str], source: Path, out: Path) -> None:
    """Write a copy of a parser's folder with a scorer, in half precision as other heads are."""
    shutil.copytree(source, out)
    kept = {
        name: each for name, each in load_file(out / WEIGHTS).items() if not name.startswith(PREFIX)
    }
    own = {PREFIX + name: each.half() for name, each in scorer.state_dict().items()}
    save_file(kept | own, out / WEIGHTS, metadata={"format": "pt"})
    (out / WEIGHTS).chmod(0o644)
    config = json.loads((out / CONFIG).read_text(encoding="utf-8"))
    config["labels"][RESCORED] = codes
    config["head"]["sentence_ends"] = "encoder"
    config[DIGEST] = sha256(out / WEIGHTS)
    text = json.dumps(config, indent=2) + "\n"
    (out / CONFIG).write_text(text, encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse the flags, train, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("parser", type=Path, help="folder of the parser")
    parser.add_argument("treebanks", nargs="+", help="CoNLL-U files; their names state a language")
    parser.add_argument("--out", required=True, type=Path, help="folder to write")
    parser.add_argument("--made", type=int, default=0, help="number of made-up documents")
    parser.add_argument("--places", type=int, default=MAX_PLACES, help="to learn from, at most")
    parser.add_argument("--seed", type=int, default=1)
    flags = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")

    if flags.out.exists():
        raise InputError(f"{flags.out}: already exists; give a new folder")
    trained = JointParser.from_pretrained(flags.parser)
    documents: dict[str, list[RawDocument]] = {}
    for path in flags.treebanks:
        code = language_of_file(path)
        if code not in trained.languages.segmenters:
            raise InputError(
                f"{path}: expected a treebank in {trained.languages}, which the parser knows, got "
                f"{code or 'a file whose name states no language'}; name the language as Universal "
                f"Dependencies does, as in en_mine-ud-train.conllu"
            )
        documents.setdefault(code, []).extend(_free_texts(path))
    if flags.made and "en" not in trained.languages.segmenters:
        raise InputError(f"--made: adds English texts, and the parser knows {trained.languages}")
    if flags.made:
        documents.setdefault("en", []).extend(made_documents(flags.made, flags.seed))
    codes = sorted(documents)
    scorer = EndScorer(trained.model.config.encoder.hidden_size)
    trained.model.sentence_ends = scorer
    rescorer = EndRescorer(
        scorer, trained.model.encoder, trained.encoder, trained.max_content, trained.precision
    )
    trained.languages = trained.languages.rescored_by(rescorer, codes)
    train_sentence_ends(trained, documents, seed=flags.seed, max_places=flags.places)
    _write(scorer, codes, flags.parser, flags.out)


if __name__ == "__main__":
    with in_one_line():
        main()
