"""Read multiple-choice data sets in their official formats, recognised by the file name.

=====================================  ====================================================
``RACE`` folder, archive or text file  RACE; ``RACE.tar.gz#dev/high`` selects a part
``.json``                              DREAM: dialogues, whose turns become lines
``.jsonl``                             CosmosQA
``.csv``                               CosmosQA or SWAG, by the column names
``.tsv``                               MCTest, with its answers in a ``.ans`` file next to it
=====================================  ====================================================

All files may be gzipped.
"""

from __future__ import annotations

from pathlib import Path

from syntagma.errors import InputError
from syntagma.file_names import is_named
from syntagma.files import STANDARD_INPUT
from syntagma.tasks.choice.csv_formats import lines, table
from syntagma.tasks.choice.dream import dream
from syntagma.tasks.choice.example import Candidates, ChoiceExample
from syntagma.tasks.choice.mctest import mctest
from syntagma.tasks.choice.race import PART, race
from syntagma.tasks.collect import Collected, gather

READERS = {".json": dream, ".jsonl": lines, ".csv": table, ".tsv": mctest}


def read_choices(path: str | Path, *, skip_bad: bool = False) -> Collected[ChoiceExample]:
    """Read the questions of a file.

    Args:
        path: a file or folder in one of the formats above.
        skip_bad: skip invalid questions instead of stopping at the first.

    Raises:
        InputError: the file cannot be read; a question is invalid or repeats an id, and
            ``skip_bad`` is false; or no valid question is left.
    """
    found = ((str(path), candidate) for candidate in _candidates(str(path)))
    return gather(found, skip_bad=skip_bad).require_some(f"{path}: no questions")


def _candidates(path: str) -> Candidates:
    # The name of a folder may itself contain the separator.
    file, _, part = (path, "", "") if Path(path).exists() else path.rpartition(PART)
    if not file:
        file, part = path, ""
    if file == STANDARD_INPUT:
        raise InputError(
            f"{file}: the format is known by the name of the file; save the data to a file that "
            f"ends in {', '.join(READERS)}"
        )
    if not Path(file).exists():
        raise InputError(f"{file}: no such file or folder; give the path of one")
    if Path(file).is_dir() or is_named(file, ".tar", ".tgz", ".txt"):
        return race(file, part)
    if part:
        raise InputError(f"{path}: only a RACE folder or archive has parts ({PART}{part})")
    read = next((READERS[ending] for ending in READERS if is_named(file, ending)), None)
    if read is None:
        raise InputError(
            f"{path}: expected a RACE folder or archive, or a file that ends in "
            f"{', '.join(READERS)} (also with .gz)"
        )
    return read(file)
