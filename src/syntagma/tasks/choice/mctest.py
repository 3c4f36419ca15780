"""Read MCTest: each line has a story and its four questions; a second file has the answers."""

from __future__ import annotations

from pathlib import Path

from syntagma.errors import InputError
from syntagma.file_names import without_ending
from syntagma.files import read_lines
from syntagma.tasks.choice.example import Candidates, checked, letter
from syntagma.tasks.collect import InvalidRecordError

KINDS = ("one", "multiple")
"""Whether a question can be answered from one sentence or needs several."""


def mctest(file: str) -> Candidates:
    """Read questions about stories; without the file of answers they are unlabelled.

    Raises:
        InputError: a file cannot be read, or the numbers of stories and of lines with answers
            differ.
    """
    stories = [line for line in read_lines(file) if line.strip()]
    answer_file, answers = _answers(file)
    if answers is not None and len(answers) != len(stories):
        raise InputError(
            f"{answer_file}: expected a line of answers for each of the {len(stories)} stories, "
            f"got {len(answers)}"
        )
    for number, line in enumerate(stories):
        where = f"{file}, line {number + 1}"
        cells = line.split("\t")
        if len(cells) < 8 or (len(cells) - 3) % 5:
            yield f"{where}: expected id, properties, story, then a question and four answers each"
            continue
        key, _, story, *rest = cells
        passage = story.replace("\\newline", "\n").replace("\\tab", "\t")
        n_questions = len(rest) // 5
        letters = answers[number].split("\t") if answers else []
        if answers and len(letters) != n_questions:
            yield (
                f"{answer_file}, line {number + 1}: expected an answer for each of {n_questions} "
                f"questions, got {len(letters)}"
            )
            continue
        for which in range(n_questions):
            question, *options = rest[5 * which : 5 * which + 5]
            kind, _, text = question.partition(": ")
            if kind not in KINDS:
                yield f"{where}: expected `one: ` or `multiple: ` before {question!r:.40}"
                continue
            try:
                answer = letter(letters[which].strip() if letters else None)
            except InvalidRecordError as error:
                yield f"{answer_file}, line {number + 1}: {error}"
                continue
            yield checked(
                f"{where}, question {which + 1}",
                key=f"{key}-{which}",
                passage=passage,
                question=text,
                options=options,
                answer=answer,
                subset=kind,
            )


def _answers(file: str) -> tuple[Path, list[str] | None]:
    """Return the path of the answers, gzipped or not, and their lines if the file exists."""
    answer_file = Path(without_ending(file, ".tsv") + ".ans")
    for path in (answer_file, answer_file.with_name(f"{answer_file.name}.gz")):
        if path.is_file():
            return path, [line for line in read_lines(path) if line.strip()]
    return answer_file, None
