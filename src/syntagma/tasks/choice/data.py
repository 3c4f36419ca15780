"""Multiple-choice reading comprehension in the formats of its authors, by the names of the files.

=====================================  =============================================
``RACE`` folder, archive or text file  RACE; ``RACE.tar.gz#dev/high`` is a part of it
``.json``                              DREAM: dialogues, one line a turn
``.jsonl``                             CosmosQA
``.csv``                               CosmosQA or SWAG, by the names of the columns
``.tsv``                               MCTest, with its answers in ``.ans`` beside it
=====================================  =============================================

All but the archive may be gzipped.
"""

from __future__ import annotations

import csv
import json
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from syntagma.errors import InputError
from syntagma.files import open_text, read_json, read_lines, read_text

__all__ = ["ChoiceExample", "read_choices"]

LETTERS = "ABCDEFGHIJ"
PART = "#"


@dataclass(frozen=True, slots=True)
class ChoiceExample:
    """A question with its options.

    Args:
        id: unique in its file.
        passage: examples about the same passage share one string object.
        question: may be empty.
        options: any number, at least two.
        answer: position of the right option, or ``None`` where it is not told.
        subset: part of the data that is scored by itself, or empty.
    """

    id: str
    passage: str
    question: str
    options: tuple[str, ...]
    answer: int | None
    subset: str = ""


class _BadExample(Exception):
    """What is wrong with an example."""


def read_choices(
    path: str | Path, *, skip_bad: bool = False
) -> tuple[list[ChoiceExample], list[str]]:
    """The examples of a file.

    Args:
        path: see the module.
        skip_bad: leave out what is not as its format says, instead of stopping.

    Returns:
        The examples, and what was wrong with those left out.

    Raises:
        InputError: the file cannot be read, an example is not as its format says and ``skip_bad``
            is false, or two examples have the same id.
    """
    examples: list[ChoiceExample] = []
    wrong: list[str] = []
    seen: set[str] = set()
    for found in _candidates(str(path)):
        if isinstance(found, str):
            if not skip_bad:
                raise InputError(found)
            wrong.append(found)
            continue
        if found.id in seen:
            raise InputError(f"{path}: two questions have the id {found.id!r}")
        seen.add(found.id)
        examples.append(found)
    if not examples:
        raise InputError(f"{path}: no questions")
    return examples, wrong


Candidates = Iterator["ChoiceExample | str"]


def _candidates(path: str) -> Candidates:
    file, _, part = path.partition(PART)
    name = file.removesuffix(".gz")
    if Path(file).is_dir() or name.endswith((".tar", ".tgz", ".txt")):
        return _race(file, part)
    if part:
        raise InputError(f"{path}: only a RACE folder or archive has parts ({PART}{part})")
    readers = {".json": _dream, ".jsonl": _cosmos_lines, ".csv": _table, ".tsv": _mctest}
    suffix = Path(name).suffix
    if suffix not in readers:
        raise InputError(
            f"{path}: expected a RACE folder or archive, or a file that ends in "
            f"{', '.join(readers)} (also with .gz)"
        )
    return readers[suffix](file)


def _checked(
    place: str,
    *,
    key: str,
    passage: Any,
    question: Any,
    options: Any,
    answer: int | None,
    subset: str = "",
) -> ChoiceExample | str:
    """An example, or what is wrong with it."""
    if not isinstance(passage, str) or not passage.strip():
        return f"{place}: expected a passage, got {passage!r:.40}"
    if not isinstance(question, str):
        return f"{place}: expected a question, got {question!r:.40}"
    if not isinstance(options, list) or len(options) < 2:
        return f"{place}: expected at least two options, got {options!r:.60}"
    if not all(isinstance(option, str) for option in options):
        return f"{place}: expected options in words, got {options!r:.60}"
    if answer is not None and not 0 <= answer < len(options):
        return f"{place}: answer {answer} is none of its {len(options)} options"
    return ChoiceExample(key, passage, question, tuple(options), answer, subset)


def _race(file: str, part: str) -> Candidates:
    found = False
    for name, text in _race_files(file, part):
        found = True
        yield from _race_passage(f"{file}: {name}", name, text)
    if not found:
        raise InputError(
            f"{file}: no text files{' in ' + part if part else ''}; expected RACE's folders, as in "
            f"RACE/dev/high/1.txt, and parts as in RACE.tar.gz{PART}dev/high"
        )


def _race_files(file: str, part: str) -> Iterator[tuple[str, str]]:
    """Names below the folder that holds the parts, and texts."""
    if Path(file).is_file() and not tarfile.is_tarfile(file):
        yield Path(file).name, read_text(file)
        return
    if Path(file).is_dir():
        root = Path(file)
        for path in sorted(root.rglob("*.txt")):
            name = path.relative_to(root).as_posix()
            if _inside(name, part):
                yield name, read_text(path)
        return
    with tarfile.open(file) as archive:
        for member in archive:
            wanted = member.name.endswith(".txt") and _inside(member.name, part)
            if member.isfile() and wanted:
                content = archive.extractfile(member)
                assert content is not None
                yield member.name, content.read().decode("utf-8")


def _inside(name: str, part: str) -> bool:
    return not part or f"/{part.strip('/')}/" in f"/{name}"


def _race_passage(place: str, name: str, text: str) -> Candidates:
    try:
        record = json.loads(text)
        passage = record["article"]
        questions, options, answers = (
            record.get(key) for key in ("questions", "options", "answers")
        )
        answers = answers or [None] * len(questions)
        counts = len(questions), len(options), len(answers)
        if len({*counts}) > 1:
            raise ValueError("got {} questions, {} lists of options, {} answers".format(*counts))
        rows = list(zip(questions, options, answers, strict=True))
    except (json.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
        yield (
            f"{place}: expected an object with article and as many questions, options and answers "
            f"({error})"
        )
        return
    folders = PurePosixPath(name).parts[:-1]
    subset = folders[-1] if folders and folders[-1] in ("middle", "high") else ""
    stem = PurePosixPath(name).with_suffix("").as_posix()
    for number, (question, choices, letter) in enumerate(rows):
        try:
            answer = _letter(letter)
        except _BadExample as error:
            yield f"{place}, question {number + 1}: {error}"
            continue
        yield _checked(
            f"{place}, question {number + 1}",
            key=f"{stem}-{number}",
            passage=passage,
            question=question,
            options=choices,
            answer=answer,
            subset=subset,
        )


def _letter(letter: Any) -> int | None:
    if letter is None or letter == "":
        return None
    if not isinstance(letter, str) or len(letter) != 1 or letter not in LETTERS:
        raise _BadExample(f"expected an answer A, B, C …, got {letter!r:.20}")
    return LETTERS.index(letter)


def _dream(file: str) -> Candidates:
    records = read_json(file)
    if not isinstance(records, list):
        raise InputError(
            f"{file}: expected DREAM's list of dialogues, got {type(records).__name__}"
        )
    for place, record in ((f"{file}, dialogue {n + 1}", r) for n, r in enumerate(records)):
        try:
            turns, questions, key = record
            passage = "\n".join(turns)
            rows = [(row["question"], row["choice"], row.get("answer")) for row in questions]
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            yield f"{place}: expected [turns, [{{question, choice, answer}}, …], id] ({error})"
            continue
        for number, (question, choices, answer) in enumerate(rows):
            if answer is not None and answer not in choices:
                yield f"{place}, question {number + 1}: answer {answer!r:.40} is not a choice"
                continue
            yield _checked(
                f"{place}, question {number + 1}",
                key=f"{key}-{number}",
                passage=passage,
                question=question,
                options=choices,
                answer=None if answer is None else choices.index(answer),
            )


def _cosmos_lines(file: str) -> Candidates:
    passages: dict[str, str] = {}
    for number, line in enumerate(read_lines(file), start=1):
        if not line.strip():
            continue
        place = f"{file}, line {number}"
        try:
            row = json.loads(line)
            yield _cosmos(place, row, str(number), passages)
        except json.JSONDecodeError as error:
            yield f"{place}: broken JSON ({error})"
        except _BadExample as error:
            yield f"{place}: {error}"


def _table(file: str) -> Candidates:
    passages: dict[str, str] = {}
    with open_text(file) as lines:
        reader = csv.DictReader(lines)
        names = set(reader.fieldnames or ())
        cosmos = {"context", "question", "answer0"} <= names
        if not cosmos and not {"sent1", "sent2", "ending0"} <= names:
            raise InputError(
                f"{file}: expected the columns of CosmosQA (context, question, answer0 …) or of "
                f"SWAG (sent1, sent2, ending0 …), got {', '.join(reader.fieldnames or ())}"
            )
        convert = _cosmos if cosmos else _swag
        for number, row in enumerate(reader, start=1):
            try:
                yield convert(f"{file}, row {number}", row, str(number), passages)
            except _BadExample as error:
                yield f"{file}, row {number}: {error}"


def _cosmos(
    place: str, row: Mapping[str, Any], number: str, passages: dict[str, str]
) -> ChoiceExample | str:
    passage = row.get("context")
    return _checked(
        place,
        key=str(row.get("id") or number),
        passage=passages.setdefault(passage, passage) if isinstance(passage, str) else passage,
        question=row.get("question"),
        options=_numbered(row, "answer"),
        answer=_number(row.get("label")),
    )


def _swag(
    place: str, row: Mapping[str, Any], number: str, passages: dict[str, str]
) -> ChoiceExample | str:
    return _checked(
        place,
        key=number,
        passage=row.get("sent1"),
        question=row.get("sent2"),
        options=_numbered(row, "ending"),
        answer=_number(row.get("label")),
    )


def _numbered(row: Mapping[str, Any], name: str) -> list[Any]:
    """The columns ``name0``, ``name1``, …"""
    found: list[Any] = []
    while f"{name}{len(found)}" in row:
        found.append(row[f"{name}{len(found)}"])
    return found


def _number(label: Any) -> int | None:
    if label is None or label == "":
        return None
    try:
        return int(label)
    except (TypeError, ValueError) as error:
        raise _BadExample(f"expected a label 0, 1, 2 …, got {label!r:.20}") from error


def _mctest(file: str) -> Candidates:
    name = file.removesuffix(".gz")
    beside = Path(name.removesuffix(".tsv") + ".ans")
    answers = list(read_lines(beside)) if beside.is_file() else None
    for number, line in enumerate(line for line in read_lines(file) if line.strip()):
        place = f"{file}, line {number + 1}"
        cells = line.split("\t")
        if len(cells) < 8 or (len(cells) - 3) % 5:
            yield f"{place}: expected id, properties, story, then a question and four answers each"
            continue
        key, _, story, *rest = cells
        passage = story.replace("\\newline", "\n").replace("\\tab", "\t")
        letters = answers[number].split("\t") if answers and number < len(answers) else []
        for which in range(len(rest) // 5):
            question, *options = rest[5 * which : 5 * which + 5]
            kind, colon, asked = question.partition(": ")
            try:
                answer = _letter(letters[which].strip() if which < len(letters) else None)
            except _BadExample as error:
                yield f"{beside}, line {number + 1}: {error}"
                continue
            yield _checked(
                f"{place}, question {which + 1}",
                key=f"{key}-{which}",
                passage=passage,
                question=asked if colon and kind in ("one", "multiple") else question,
                options=options,
                answer=answer,
                subset=kind if colon and kind in ("one", "multiple") else "",
            )
