"""Read RACE: one file per passage, in folders such as ``dev/high`` and ``train/middle``."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePath, PurePosixPath

from syntagma.errors import InputError
from syntagma.file_names import is_named, without_ending
from syntagma.files import BYTE_ORDER_MARK, MAX_LINE, read_errors, read_text
from syntagma.json_values import parse_json
from syntagma.tasks.choice.example import Candidates, checked, letter
from syntagma.tasks.collect import InvalidRecordError

PART = "#"
SUBSETS = ("middle", "high")
PARTS = ("train", "dev", "test")

File = tuple[str, PurePath, "str | InputError"]
"""The name of a file below the given folder, its longest known path, and its text or the error."""


def race(file: str, part: str) -> Candidates:
    """Read the questions of a folder, an archive or one text file.

    Args:
        file: its path.
        part: read only folders with this path, such as ``dev/high``; all if empty.

    Raises:
        InputError: no text file is found, or the archive cannot be read.
    """
    found = False
    for name, path, text in _files(file, part):
        found = True
        if isinstance(text, InputError):
            yield str(text)
        else:
            subset, stem = _subset_and_name(name, path)
            yield from _passage(f"{file}: {name}", subset, stem, text)
    if not found:
        raise InputError(
            f"{file}: no text files{' in ' + part if part else ''}; expected RACE's folders, as in "
            f"RACE/dev/high/1.txt, and parts as in RACE.tar.gz{PART}dev/high"
        )


def _files(file: str, part: str) -> Iterator[File]:
    path = Path(file)
    if path.is_dir():
        for one in sorted([*path.rglob("*.txt"), *path.rglob("*.txt.gz")]):
            name = one.relative_to(path).as_posix()
            if _inside(name, part):
                yield name, one.resolve(), _text(one)
        return
    with read_errors(path):
        is_archive = tarfile.is_tarfile(path)
    if not is_archive:
        if is_named(path, ".tar", ".tgz"):
            raise InputError(f"{file}: is not a tar archive; download it again")
        yield path.name, path.resolve(), read_text(path)
        return
    with read_errors(path), tarfile.open(path) as archive:
        for member in archive:
            wanted = member.name.endswith(".txt") and _inside(member.name, part)
            if member.isfile() and wanted:
                content = archive.extractfile(member)
                assert content is not None
                if member.size > MAX_LINE:
                    raise InputError(
                        f"{file}: {member.name} has {member.size} bytes; expected one passage of "
                        f"at most {MAX_LINE}"
                    )
                text = _decoded(f"{file}: {member.name}", content.read())
                yield member.name, PurePosixPath(member.name), text


def _inside(name: str, part: str) -> bool:
    return not part or f"/{part.strip('/')}/" in f"/{name}"


def _text(path: Path) -> str | InputError:
    try:
        return read_text(path)
    except InputError as error:
        return error


def _decoded(where: str, content: bytes) -> str | InputError:
    try:
        with read_errors(where):
            return content.decode("utf-8")
    except InputError as error:
        return error


def _subset_and_name(name: str, path: PurePath) -> tuple[str, str]:
    """Return the subset of a file, and a name that does not depend on where the folder is.

    >>> _subset_and_name("1.txt", PurePosixPath("/data/RACE/dev/high/1.txt"))
    ('high', 'dev/high/1')
    >>> _subset_and_name("mine/1.txt", PurePosixPath("/data/mine/1.txt"))
    ('', 'mine/1')
    """
    folders = path.parts[:-1]
    if not folders or folders[-1] not in SUBSETS:
        return "", without_ending(name, ".txt")
    first = len(folders) - (2 if folders[-2:-1] and folders[-2] in PARTS else 1)
    stem = without_ending(path.name, ".txt")
    return folders[-1], "/".join((*folders[first:], stem))


def _passage(where: str, subset: str, stem: str, text: str) -> Candidates:
    try:
        record = parse_json(text.removeprefix(BYTE_ORDER_MARK))
        passage = record["article"]
        questions, options, answers = (
            record.get(key) for key in ("questions", "options", "answers")
        )
        answers = answers or [None] * len(questions)
        counts = len(questions), len(options), len(answers)
        if len({*counts}) > 1:
            raise ValueError("got {} questions, {} lists of options, {} answers".format(*counts))
        rows = list(zip(questions, options, answers, strict=True))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        yield (
            f"{where}: expected an object with article and as many questions, options and answers "
            f"({error})"
        )
        return
    for number, (question, choices, answer) in enumerate(rows):
        at = f"{where}, question {number + 1}"
        try:
            yield checked(
                at,
                key=f"{stem}-{number}",
                passage=passage,
                question=question,
                options=choices,
                answer=letter(answer),
                subset=subset,
            )
        except InvalidRecordError as error:
            yield f"{at}: {error}"
