"""Make data files for experiments: questions and passages, probing sets, corpora, splits.

    python experiments/make_data.py unanswerable data/squad/train-v1.1.json.gz --out runs/made.json
    python experiments/make_data.py probing FILE.txt.gz FILE.conllu FILE.ptb --out runs/probing
    python experiments/make_data.py corpora FILE.txt.gz FILE.txt.gz --out runs/corpora
    python experiments/make_data.py split-squad FILE.json.gz --out runs/fit.json runs/held.json
    python experiments/make_data.py split-squad FILE.json.gz --first 7 --out fit.json test.json
    python experiments/make_data.py sample-squad FILE.json.gz --count 5000 --out runs/5000.json
    python experiments/make_data.py rename-relations FILE.conllu.gz nmod:tmod=nmod:unmarked --out F
    python experiments/make_data.py unpunctuated FILE.conllu --share 0.2 --lower --out FILE
    python experiments/make_data.py split-treebank FILE.conllu --out A.conllu B.conllu
    python experiments/make_data.py split-treebank FILE.conllu --first 400 --out A.conllu B.conllu
    python experiments/make_data.py sample-lines FILE.txt.gz --count 15000 --out FILE
    python experiments/make_data.py questions data/squad/train-v1.1.json.gz --count 20000 --out FILE
    python experiments/make_data.py cloze TEXT.txt.gz --count 8000 --out runs/made-cloze.json
    python experiments/make_data.py teach FILE.json runs/teacher.nbest.json --out FILE.json
    python experiments/make_data.py typed-questions FILE.json.gz --count 20000 --out FILE
    python experiments/make_data.py passage-layouts FILE.json.gz --kinds mail noise --out FILE
    python experiments/make_data.py split-relations FILE.TXT.gz --out runs/train.txt runs/dev.txt

`syntagma reproduce` makes the files of its tables itself, with the same functions.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from itertools import groupby, islice
from pathlib import Path

import numpy as np

from syntagma.datasets import passage_layouts as layouts
from syntagma.datasets import typed_questions as typed
from syntagma.datasets.cloze import make_cloze
from syntagma.datasets.squad_format import squad_data
from syntagma.datasets.unanswerable import make_unanswerable
from syntagma.datasets.unpunctuated import without_punctuation
from syntagma.encoders.default import DEFAULT_PARSER
from syntagma.errors import InputError, in_one_line
from syntagma.files import read_json, read_lines
from syntagma.outputs import write_json, write_text
from syntagma.parse.parser import JointParser
from syntagma.reproduce.recipes import make_corpora, make_probing_sets, split_articles
from syntagma.tasks.parsing.treebanks import read_treebank
from syntagma.tasks.relations.data import read_relations
from syntagma.tasks.spans.squad import read_squad
from syntagma.tasks.spans.teacher import add_teacher
from syntagma.text.conllu import TreebankSentence, format_conllu, read_conllu


def unanswerable(given: argparse.Namespace) -> None:
    """Write questions that their passage does not answer, in SQuAD 2.0's format."""
    examples, _ = read_squad(given.squad)
    data, counts = make_unanswerable(
        examples, count=given.count, parser=given.parser, seed=given.seed
    )
    print(counts)
    write_json(given.out, data, indent=None)


def typed_questions(given: argparse.Namespace) -> None:
    """Write questions of a SQuAD file as people type them."""
    examples, _ = read_squad(given.squad)
    kinds = given.kinds or typed.KINDS + typed.COMBINATIONS
    data, counts = typed.make_typed(examples, count=given.count, kinds=kinds, seed=given.seed)
    print(counts)
    write_json(given.out, data, indent=None)


def passage_layouts(given: argparse.Namespace) -> None:
    """Write passages of a SQuAD file as other documents lay them out."""
    examples, _ = read_squad(given.squad)
    kinds = given.kinds or layouts.KINDS
    data, counts = layouts.make_layouts(examples, count=given.count, kinds=kinds, seed=given.seed)
    print(counts)
    write_json(given.out, data, indent=None)


def probing(given: argparse.Namespace) -> None:
    """Write a file per property, in SentEval's format."""
    counts = make_probing_sets(
        given.files,
        given.out,
        given.parser,
        size=given.size,
        n_sentences=given.sentences,
        seed=given.seed,
    )
    for name, count in counts.items():
        print(f"{name}: {count:,} examples" if count else f"{name}: no example in these files")


def corpora(given: argparse.Namespace) -> None:
    """Annotate text for pre-training, and split off a dev corpus."""
    make_corpora(given.files, given.out, workers=given.workers)
    for name in ("train", "dev"):
        print(given.out / name)


def split_squad(given: argparse.Namespace) -> None:
    """Put every second article, or the first by title, into one file, the others into another."""
    if given.first is None:
        split_articles(given.squad, given.out)
        return
    content = read_json(given.squad)
    articles = sorted(content["data"], key=lambda article: article["title"])
    parts = articles[: given.first], articles[given.first :]
    for path, part in zip(given.out, parts, strict=True):
        write_json(path, content | {"data": part}, indent=None)


def cloze(given: argparse.Namespace) -> None:
    """Blank phrases that recur in a paragraph, and ask for them, in SQuAD 2.0's format."""
    lines = (line for line in read_lines(given.text) if line.strip())
    parser = JointParser.from_pretrained(given.parser)
    data, counts = make_cloze(lines, parser, count=given.count, seed=given.seed)
    print(counts)
    write_json(given.out, data, indent=None)


def teach(given: argparse.Namespace) -> None:
    """Add a reader's probabilities to the questions of a SQuAD file, for distillation.

    `syntagma predict READER FILE.json --out runs/teacher.json` writes them beside its answers.
    """
    write_json(given.out, add_teacher(given.squad, given.nbest), indent=None)


def split_relations(given: argparse.Namespace) -> None:
    """Split a file in SemEval's format at random."""
    read_relations(given.relations)  # Raises if the file is not in this format.
    groups = groupby(read_lines(given.relations), key=lambda line: bool(line.strip()))
    blocks = ["\n".join(lines) + "\n\n" for full, lines in groups if full]
    if not 0 < given.dev < len(blocks):
        raise InputError(
            f"--dev {given.dev}: {given.relations} has {len(blocks)} sentences; give a number from "
            f"1 to {len(blocks) - 1}"
        )
    chosen = np.zeros(len(blocks), bool)
    chosen[np.random.default_rng(given.seed).permutation(len(blocks))[: given.dev]] = True
    for path, wanted in zip(given.out, (False, True), strict=True):
        write_text(path, "".join(b for b, dev in zip(blocks, chosen, strict=True) if dev == wanted))


def rename_relations(given: argparse.Namespace) -> None:
    """Rename dependency relations of a treebank, where an older version named them otherwise."""
    new_names = dict(name.split("=", 1) for name in given.names)
    sentences = []
    for sentence in islice(read_conllu(given.treebank), given.sentences):
        parse = sentence.parse()
        relations = tuple(new_names.get(name, name) for name in parse.relations)
        renamed = sentence.with_parse(replace(parse, relations=relations))
        # The tree is the same, so the comment with its phrases holds.
        sentences.append(format_conllu(replace(renamed, comments=sentence.comments)))
    write_text(given.out, "".join(sentences))


def unpunctuated(given: argparse.Namespace) -> None:
    """Write a share of the sentences of a treebank without punctuation."""
    random = np.random.default_rng(given.seed)
    sentences = []
    for example in read_treebank(given.treebank):
        if random.random() < given.share:
            parse = without_punctuation(example.gold, lower=given.lower)
            text = " ".join(parse.sentence.forms)
            sentences.append(format_conllu(TreebankSentence.from_parse(parse, text=text)))
    write_text(given.out, "".join(sentences))


def split_treebank(given: argparse.Namespace) -> None:
    """Split a treebank in two: its first sentences and the others, or alternately."""
    sentences = [format_conllu(sentence) for sentence in read_conllu(given.treebank)]
    if given.first is None:
        parts = sentences[::2], sentences[1::2]
    elif 0 < given.first < len(sentences):
        parts = sentences[: given.first], sentences[given.first :]
    else:
        raise InputError(
            f"--first {given.first}: {given.treebank} has {len(sentences):,} sentences; give a "
            f"number from 1 to {len(sentences) - 1}"
        )
    for path, part in zip(given.out, parts, strict=True):
        write_text(path, "".join(part))


def sample_lines(given: argparse.Namespace) -> None:
    """Write some lines of a text, in their order."""
    _write_sample([line for line in read_lines(given.text) if line.strip()], given)


def sample_squad(given: argparse.Namespace) -> None:
    """Write questions of a SQuAD file, drawn at random, the same number into each file."""
    examples, _ = read_squad(given.squad)
    if given.title:
        titles = sorted({example.title for example in examples})
        if given.title not in titles:
            raise InputError(f"--title: {given.squad} has no {given.title!r}; it has {titles}")
        examples = [example for example in examples if example.title == given.title]
    if given.count is None:
        given.count = len(examples) // len(given.out)
    needed = given.count * len(given.out)
    if needed > len(examples):
        of = f" of {given.title}" if given.title else ""
        raise InputError(
            f"--count {given.count}: {given.squad} has {len(examples):,} questions{of}, too few "
            f"for {len(given.out)} files; give at most {len(examples) // len(given.out):,}"
        )
    order = np.random.default_rng(given.seed).permutation(len(examples))[:needed]
    for path, part in zip(given.out, np.split(order, len(given.out)), strict=True):
        write_json(path, squad_data([examples[index] for index in np.sort(part)]), indent=None)


def questions(given: argparse.Namespace) -> None:
    """Write some questions of a SQuAD file, one a line."""
    examples, _ = read_squad(given.squad)
    found = dict.fromkeys(" ".join(example.question.split()) for example in examples)
    _write_sample(list(found), given)


def _write_sample(lines: list[str], given: argparse.Namespace) -> None:
    order = np.random.default_rng(given.seed).permutation(len(lines))[: given.count]
    write_text(given.out, "".join(f"{lines[index]}\n" for index in np.sort(order)))


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    kinds = top.add_subparsers(required=True, metavar="WHAT")

    def command(make: Callable[[argparse.Namespace], None]) -> argparse.ArgumentParser:
        name = make.__name__.replace("_", "-")
        made = kinds.add_parser(name, help=make.__doc__, description=make.__doc__)
        made.set_defaults(make=make)
        return made

    made = command(unanswerable)
    made.add_argument("squad", help="a SQuAD 1.1 file")
    made.add_argument("--out", type=Path, required=True)
    made.add_argument("--count", type=int, default=30_000)
    made.add_argument("--parser", default=DEFAULT_PARSER)
    made.add_argument("--seed", type=int, default=1)

    for make, known in ((typed_questions, typed.KINDS), (passage_layouts, layouts.KINDS)):
        made = command(make)
        made.add_argument("squad", help="a SQuAD 1.1 or 2.0 file")
        made.add_argument("--out", type=Path, required=True)
        made.add_argument("--count", type=int, default=20_000)
        made.add_argument("--kinds", nargs="+", help=f"some of {', '.join(known)}")
        made.add_argument("--seed", type=int, default=1)

    made = command(probing)
    made.add_argument("files", nargs="+", help="texts or treebanks, read in turn")
    made.add_argument("--out", type=Path, required=True, help="folder")
    made.add_argument("--parser", default=DEFAULT_PARSER, help="parses the texts")
    made.add_argument("--size", type=int, default=12_000, help="examples per property")
    made.add_argument("--sentences", type=int, default=120_000)
    made.add_argument("--seed", type=int, default=1)

    made = command(corpora)
    made.add_argument("files", nargs="+", help="texts with a paragraph per line")
    made.add_argument("--out", type=Path, required=True, help="folder")
    made.add_argument("--workers", type=int)

    made = command(rename_relations)
    made.add_argument("treebank", help="a CoNLL-U file")
    made.add_argument("--sentences", type=int, help="write only the first sentences")
    made.add_argument("names", nargs="+", metavar="OLD=NEW", help="such as nmod:tmod=nmod:unmarked")
    made.add_argument("--out", type=Path, required=True)

    made = command(unpunctuated)
    made.add_argument("treebank", help="CoNLL-U, brackets, or A.conllu+A.ptb")
    made.add_argument("--share", type=float, default=1.0, help="of the sentences, at random")
    made.add_argument("--lower", action="store_true", help="in lower case too")
    made.add_argument("--seed", type=int, default=1)
    made.add_argument("--out", type=Path, required=True)

    made = command(split_treebank)
    made.add_argument("treebank", help="a CoNLL-U file")
    made.add_argument("--first", type=int, help="put this many sentences into the first file")
    made.add_argument("--out", type=Path, nargs=2, required=True, help="the two files")

    for make, name in ((sample_lines, "text"), (questions, "squad")):
        made = command(make)
        made.add_argument(name, help="a file, plain or .gz")
        made.add_argument("--count", type=int, required=True)
        made.add_argument("--seed", type=int, default=1)
        made.add_argument("--out", type=Path, required=True)

    made = command(cloze)
    made.add_argument("text", help="a paragraph per line, plain or .gz")
    made.add_argument("--out", type=Path, required=True)
    made.add_argument("--count", type=int, default=8000)
    made.add_argument("--parser", default=DEFAULT_PARSER, help="one that finds phrases")
    made.add_argument("--seed", type=int, default=1)

    made = command(teach)
    made.add_argument("squad", help="a SQuAD file")
    made.add_argument("nbest", help="the reader's candidates for it")
    made.add_argument("--out", type=Path, required=True)

    made = command(sample_squad)
    made.add_argument("squad", help="a SQuAD file")
    made.add_argument("--count", type=int, help="questions in each file; all by default")
    made.add_argument("--title", help="only questions of this article")
    made.add_argument("--seed", type=int, default=1)
    made.add_argument("--out", type=Path, nargs="+", required=True, help="one or more files")

    made = command(split_squad)
    made.add_argument("squad", help="a SQuAD file")
    made.add_argument("--out", type=Path, nargs=2, required=True, help="the two files")
    made.add_argument("--first", type=int, help="put this many articles, by title, into the first")

    made = command(split_relations)
    made.add_argument("relations", help="a file in SemEval's format")
    made.add_argument("--out", type=Path, nargs=2, required=True, help="train and dev")
    made.add_argument("--dev", type=int, default=1000, help="sentences of the second file")
    made.add_argument("--seed", type=int, default=1)
    return top


def main() -> None:
    given = parser().parse_args()
    given.make(given)


if __name__ == "__main__":
    with in_one_line():
        main()
