"""Files that are made from others, where a paper's own cannot be had."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from syntagma.errors import InputError
from syntagma.files import open_text, read_json, read_lines
from syntagma.outputs import write_json, write_text
from syntagma.progress import progress_bar

if TYPE_CHECKING:
    from syntagma.text.sentence import Parse

__all__ = [
    "RECIPES",
    "Recipe",
    "make_corpora",
    "make_probing_sets",
]

EVERY = 50
"""Of so many paragraphs one is kept apart from the others."""
SMALL = 400
"""Lines or questions that are enough for a try."""
PROBES = (
    "tree_depth",
    "top_constituents",
    "bigram_shift",
    "past_present",
    "subj_number",
    "obj_number",
    "odd_man_out",
    "coordination_inversion",
)
TREEBANK = re.compile(r"\.(conllu|conllx|conll|ptb|mrg|brackets)(\.gz)?$")


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a file is made.

    Args:
        needs: the files that it is made from, under the data folder.
        make: from these, into a folder, with a parser; the last argument asks for little.
    """

    needs: tuple[str, ...]
    make: Callable[[list[Path], Path, str, bool], None]


def _questions(sources: Sequence[Path], made: Path, parser: str, small: bool) -> None:
    """``unanswerable.json``: 30,000 questions without an answer from a file of SQuAD 1.1."""
    from syntagma.datasets.unanswerable import make_unanswerable
    from syntagma.tasks.spans.squad import read_squad

    examples, _ = read_squad(sources[0])
    used = examples[:SMALL] if small else examples
    count = SMALL // 4 if small else 30_000
    data, _ = make_unanswerable(used, count=count, parser=parser)
    write_json(made / "unanswerable.json", data, indent=None)


def _halves(sources: Sequence[Path], made: Path, parser: str, small: bool) -> None:
    """``v2_fit.json`` and ``v2_held.json``: every second article, and the others."""
    content = read_json(sources[0])
    for first, name in enumerate(("v2_fit.json", "v2_held.json")):
        part = content | {"data": content["data"][first::2]}
        write_json(made / name, part, indent=None)


def make_corpora(
    sources: Sequence[Path | str],
    out: Path,
    parser: str = "default-parser",
    small: bool = False,
    *,
    workers: int | None = None,
) -> None:
    """Folders ``train`` and ``dev`` of annotated text, every fiftieth paragraph in the latter.

    Goes on where it was stopped.
    """
    from syntagma.parse.corpora.annotator import AnnotationSettings
    from syntagma.tasks.annotation import annotate_files

    parts: dict[str, list[str]] = {"train": [], "dev": []}
    for path in sources:
        for number, line in enumerate(islice(read_lines(path), SMALL if small else None)):
            if line.strip():
                parts["dev" if number % EVERY == 0 else "train"].append(line.strip())
    for name, lines in parts.items():
        source, folder = out / f"{name}.txt", out / name
        text = "\n".join(lines) + "\n"
        if not source.is_file() or open_text(source).read() != text:
            write_text(source, text)
        # Sequences are mixed among a few shards at a time: smaller ones come from more places.
        settings = AnnotationSettings(parser=parser, shard_characters=500_000)
        annotate_files(
            [str(source)],
            folder,
            settings,
            workers=1 if small else workers,
            resume=folder.exists(),
        )


def make_probing_sets(
    sources: Sequence[Path | str],
    out: Path,
    parser: str = "default-parser",
    small: bool = False,
    *,
    size: int = 12_000,
    n_sentences: int = 120_000,
    seed: int = 1,
) -> dict[str, int]:
    """A file a property in SentEval's style.

    Args:
        sources: texts, a sentence or paragraph a line; or treebanks, whose own trees are taken
            (``.conllu``, ``.ptb``, or a pair ``A.conllu+A.ptb``). Sentences are taken from the
            files in turn.
        out: the folder to write to.
        parser: of the texts.
        small: whether a few are enough.
        size: examples of a property wanted.
        n_sentences: that are looked at.
        seed: of all choices.

    Returns:
        The number of examples of each property.

    Raises:
        InputError: a file cannot be read, or no property is found in any sentence.
    """
    from syntagma.datasets.probing import make_set
    from syntagma.tasks.probing.data import write_probe

    limit = 10 * SMALL if small else n_sentences
    parses = islice(_parses(sources, parser), limit)
    found = list(progress_bar(iterable=parses, total=limit, desc="reading", unit="sentence"))
    counts = {}
    for name in PROBES:
        examples = make_set(name, found, size=SMALL if small else size, seed=seed)
        counts[name] = len(examples)
        if examples:
            out.mkdir(parents=True, exist_ok=True)
            write_probe(out / f"{name}.txt", examples)
    if not any(counts.values()):
        raise InputError(
            f"{', '.join(map(str, sources))}: no property is found in any of {len(found)} sentences"
        )
    return counts


def _parses(sources: Sequence[Path | str], parser: str) -> Iterator[Parse]:
    from syntagma.parse.sources.load import load_parser
    from syntagma.tasks.parsing.treebanks import read_treebank

    trees = [path for path in sources if TREEBANK.search(str(path))]
    texts = [path for path in sources if path not in trees]
    files: list[Iterator[Parse]] = [
        (example.gold for example in read_treebank(path)) for path in trees
    ]
    if texts:
        own = load_parser(parser, decoding="separate")
        for path in texts:
            lines = (line for line in read_lines(path) if line.strip())
            files.append(chain.from_iterable(own.parse_texts(lines)))
    while files:
        for file in list(files):
            if (parse := next(file, None)) is None:
                files.remove(file)
            else:
                yield parse


def _corpora(sources: Sequence[Path], made: Path, parser: str, small: bool) -> None:
    make_corpora(sources, made / "corpora", parser, small)


def _probing(sources: Sequence[Path], made: Path, parser: str, small: bool) -> None:
    make_probing_sets(sources, made / "probing", parser, small)


WIKIPEDIA, NEWS, NOVELS = (
    f"lm/{name}.txt" for name in ("wikipedia_paragraphs", "nltk_abc_news", "english_novels")
)

RECIPES: dict[str, Recipe] = {
    "unanswerable.json": Recipe(("squad/train-v1.1.json",), _questions),
    "v2_fit.json": Recipe(("squad/v2.0-part.json",), _halves),
    "v2_held.json": Recipe(("squad/v2.0-part.json",), _halves),
    "corpora/train": Recipe((WIKIPEDIA, NEWS), _corpora),
    "corpora/dev": Recipe((WIKIPEDIA, NEWS), _corpora),
    **{f"probing/{name}.txt": Recipe((WIKIPEDIA, NEWS, NOVELS), _probing) for name in PROBES},
}
"""By what each makes, under the folder of made files."""
