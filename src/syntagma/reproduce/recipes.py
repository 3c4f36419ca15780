"""Generate substitutes for data that are not available."""

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

DEV_EVERY = 50
"""One paragraph in this many goes to the dev corpus."""
SMALL = 400
"""Number of lines or questions for ``--scale tiny``."""
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
    """How to generate a file.

    Args:
        needs: source files, relative to the data folder.
        make: generates the file.  Its arguments are the paths of the sources, the output folder,
            the parser, and whether a small file is enough.
    """

    needs: tuple[str, ...]
    make: Callable[[list[Path], Path, str, bool], None]


def _unanswerable(sources: Sequence[Path], made: Path, parser: str, small: bool) -> None:
    """Generate ``unanswerable.json``: 30,000 unanswerable questions from SQuAD 1.1."""
    # Imported on demand, as below: listing the index must not load torch.
    from syntagma.datasets.unanswerable import make_unanswerable
    from syntagma.tasks.spans.squad import read_squad

    examples, _ = read_squad(sources[0])
    used = examples[:SMALL] if small else examples
    count = SMALL // 4 if small else 30_000
    data, _ = make_unanswerable(used, count=count, parser=parser)
    write_json(made / "unanswerable.json", data, indent=None)


def split_articles(source: Path | str, paths: Sequence[Path]) -> None:
    """Deal the articles of a SQuAD file out to other files, in turn.

    Args:
        source: a SQuAD file.
        paths: the files to write.
    """
    content = read_json(source)
    for first, path in enumerate(paths):
        part = content | {"data": content["data"][first :: len(paths)]}
        write_json(path, part, indent=None)


def _halves(sources: Sequence[Path], made: Path, parser: str, small: bool) -> None:
    """Generate ``v2_fit.json`` and ``v2_held.json``, with every other article in each."""
    split_articles(sources[0], [made / "v2_fit.json", made / "v2_held.json"])


def make_corpora(
    sources: Sequence[Path | str],
    out: Path,
    parser: str = "default-parser",
    small: bool = False,
    *,
    workers: int | None = None,
) -> None:
    """Annotate text as the corpora ``train`` and ``dev``, which gets every fiftieth paragraph.

    An interrupted call is resumed.

    Args:
        sources: text files with a paragraph per line.
        out: output folder.
        parser: a parse source.
        small: whether a few paragraphs are enough.
        workers: number of processes; one for each core by default.
    """
    from syntagma.parse.corpora.annotator import AnnotationSettings
    from syntagma.tasks.annotation import annotate_files

    parts: dict[str, list[str]] = {"train": [], "dev": []}
    for path in sources:
        for number, line in enumerate(islice(read_lines(path), SMALL if small else None)):
            if line.strip():
                parts["dev" if number % DEV_EVERY == 0 else "train"].append(line.strip())
    for name, lines in parts.items():
        source, folder = out / f"{name}.txt", out / name
        text = "\n".join(lines) + "\n"
        if not source.is_file() or open_text(source).read() != text:
            write_text(source, text)
        # Training shuffles within a few shards at a time, so smaller shards mix the text better.
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
    """Generate SentEval-style probing sets, with one file for each property.

    Args:
        sources: texts with a sentence or paragraph per line, or treebanks (``.conllu``, ``.ptb``,
            or a pair ``A.conllu+A.ptb``), whose gold trees are used.  Sentences are taken from the
            files in turn.
        out: output folder.
        parser: parser for the texts.
        small: whether a few sentences are enough.
        size: number of examples for each property.
        n_sentences: number of sentences to read.
        seed: random seed.

    Returns:
        The number of examples for each property.

    Raises:
        InputError: a file cannot be read, or no sentence has any of the properties.
    """
    from syntagma.datasets.probing import make_set
    from syntagma.tasks.probing.data import write_probe

    limit = 10 * SMALL if small else n_sentences
    parses = islice(_parses(sources, parser), limit)
    sentences = list(progress_bar(iterable=parses, total=limit, desc="reading", unit="sentence"))
    counts = {}
    for name in PROBES:
        examples = make_set(name, sentences, size=SMALL if small else size, seed=seed)
        counts[name] = len(examples)
        if examples:
            out.mkdir(parents=True, exist_ok=True)
            write_probe(out / f"{name}.txt", examples)
    if not any(counts.values()):
        raise InputError(
            f"{', '.join(map(str, sources))}: none of {len(sentences)} sentences has any of the "
            f"properties; give more text"
        )
    return counts


def _parses(sources: Sequence[Path | str], parser: str) -> Iterator[Parse]:
    """Yield parses from all files in turn, until all files are read."""
    from syntagma.parse.sources.load import load_parser
    from syntagma.tasks.parsing.treebanks import read_treebank

    treebanks = [path for path in sources if TREEBANK.search(str(path))]
    texts = [path for path in sources if path not in treebanks]
    files: list[Iterator[Parse]] = [
        (example.gold for example in read_treebank(path)) for path in treebanks
    ]
    if texts:
        text_parser = load_parser(parser, decoding="separate")
        for path in texts:
            lines = (line for line in read_lines(path) if line.strip())
            files.append(chain.from_iterable(text_parser.parse_texts(lines)))
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
    "unanswerable.json": Recipe(("squad/train-v1.1.json",), _unanswerable),
    "v2_fit.json": Recipe(("squad/v2.0-part.json",), _halves),
    "v2_held.json": Recipe(("squad/v2.0-part.json",), _halves),
    "corpora/train": Recipe((WIKIPEDIA, NEWS), _corpora),
    "corpora/dev": Recipe((WIKIPEDIA, NEWS), _corpora),
    **{f"probing/{name}.txt": Recipe((WIKIPEDIA, NEWS, NOVELS), _probing) for name in PROBES},
}
"""The recipe of each generated file, by its path in the folder of generated files."""
