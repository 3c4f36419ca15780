"""Multiple-choice reading comprehension in the formats of its authors, by the names of the files.

=====================================  =============================================
``RACE`` folder, archive or text file  RACE; ``RACE.tar.gz#dev/high`` is a part of it
``.json``                              DREAM: dialogues, one line a turn
``.jsonl``                             CosmosQA
``.csv``                               CosmosQA or SWAG, by the names of the columns
``.tsv``                               MCTest, with its answers in ``.ans`` beside it
=====================================  =============================================

All may be gzipped.
"""

from __future__ import annotations

from pathlib import Path

from syntagma.errors import InputError, first_wrong
from syntagma.tasks.choice.csv_formats import lines, table
from syntagma.tasks.choice.dream import dream
from syntagma.tasks.choice.example import Candidates, ChoiceExample
from syntagma.tasks.choice.mctest import mctest
from syntagma.tasks.choice.race import PART, race
from syntagma.tasks.collect import gather

__all__ = ["ChoiceExample", "read_choices"]

READERS = {".json": dream, ".jsonl": lines, ".csv": table, ".tsv": mctest}


def read_choices(
    path: str | Path, *, skip_bad: bool = False
) -> tuple[list[ChoiceExample], list[str]]:
    """The examples of a file.

    Args:
        path: see the module.
        skip_bad: leave out what is not as its format says or repeats an id, instead of stopping.

    Returns:
        The examples, and what was wrong with those left out.

    Raises:
        InputError: the file cannot be read; an example is not as its format says or has the id
            of another, and ``skip_bad`` is false; or no question is left.
    """
    found = ((str(path), candidate) for candidate in _candidates(str(path)))
    examples, wrong = gather(found, skip_bad=skip_bad)
    if not examples:
        raise InputError(f"{path}: no questions{first_wrong(wrong)}")
    return examples, wrong


def _candidates(path: str) -> Candidates:
    # A folder may have the sign of a part in its own name.
    file, _, part = (path, "", "") if Path(path).exists() else path.rpartition(PART)
    if not file:
        file, part = path, ""
    if not Path(file).exists():
        raise InputError(f"{file}: no such file or folder; give the path of one")
    name = file.removesuffix(".gz")
    if Path(file).is_dir() or name.endswith((".tar", ".tgz", ".txt")):
        return race(file, part)
    if part:
        raise InputError(f"{path}: only a RACE folder or archive has parts ({PART}{part})")
    suffix = Path(name).suffix
    if suffix not in READERS:
        raise InputError(
            f"{path}: expected a RACE folder or archive, or a file that ends in "
            f"{', '.join(READERS)} (also with .gz)"
        )
    return READERS[suffix](file)
