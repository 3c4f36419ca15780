"""MCTest: a story a line with its four questions, and the answers in a file beside it."""

from __future__ import annotations

from pathlib import Path

from syntagma.errors import InputError
from syntagma.files import read_lines
from syntagma.tasks.choice.example import Candidates, checked, letter
from syntagma.tasks.collect import InvalidRecordError

KINDS = ("one", "multiple")
"""From how many sentences a question can be answered."""


def mctest(file: str) -> Candidates:
    """Questions about stories; without the file of answers they are unlabelled.

    Raises:
        InputError: a file cannot be read, or there are not as many lines of answers as stories.
    """
    stories = [line for line in read_lines(file) if line.strip()]
    beside, answers = _answers(file)
    if answers is not None and len(answers) != len(stories):
        raise InputError(
            f"{beside}: expected a line of answers for each of the {len(stories)} stories, got "
            f"{len(answers)}"
        )
    for number, line in enumerate(stories):
        place = f"{file}, line {number + 1}"
        cells = line.split("\t")
        if len(cells) < 8 or (len(cells) - 3) % 5:
            yield f"{place}: expected id, properties, story, then a question and four answers each"
            continue
        key, _, story, *rest = cells
        passage = story.replace("\\newline", "\n").replace("\\tab", "\t")
        n_questions = len(rest) // 5
        letters = answers[number].split("\t") if answers else []
        if answers and len(letters) != n_questions:
            yield (
                f"{beside}, line {number + 1}: expected an answer for each of {n_questions} "
                f"questions, got {len(letters)}"
            )
            continue
        for which in range(n_questions):
            question, *options = rest[5 * which : 5 * which + 5]
            kind, _, asked = question.partition(": ")
            if kind not in KINDS:
                yield f"{place}: expected `one: ` or `multiple: ` before {question!r:.40}"
                continue
            try:
                answer = letter(letters[which].strip() if letters else None)
            except InvalidRecordError as error:
                yield f"{beside}, line {number + 1}: {error}"
                continue
            yield checked(
                f"{place}, question {which + 1}",
                key=f"{key}-{which}",
                passage=passage,
                question=asked,
                options=options,
                answer=answer,
                subset=kind,
            )


def _answers(file: str) -> tuple[Path, list[str] | None]:
    """Where the answers lie, gzipped or not, and their lines where they are there."""
    beside = Path(file.removesuffix(".gz").removesuffix(".tsv") + ".ans")
    for path in (beside, beside.with_name(f"{beside.name}.gz")):
        if path.is_file():
            return path, [line for line in read_lines(path) if line.strip()]
    return beside, None
