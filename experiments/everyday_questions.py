"""Turn our questions about everyday texts into SQuAD's format.

A file of ``experiments/everyday`` holds texts with their questions:

    === kind of text | title
    the text, with its line breaks
    ---
    ? a question
    = its answer | another answer that is as right
    ! a question that the text does not answer

An answer is copied from the text; a line break counts as a space. ``@2`` after it means its second
occurrence. Without ``--out`` the files are only checked; every problem is one line.

    python experiments/everyday_questions.py experiments/everyday --out data/everyday.json
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HEADING = re.compile(r"=== (?P<kind>[^|]+) \| (?P<title>.+)")
OCCURRENCE = re.compile(r"(?P<text>.+?) @(?P<number>[1-9])")
END_OF_TEXT = "---"
LENGTHS = range(40, 451)


@dataclass
class Question:
    """A question, its answers with their offsets, and whether there was a line of answers."""

    text: str
    line: int
    answerable: bool
    answers: list[tuple[str, int]] = field(default_factory=list)
    has_line: bool = False


@dataclass
class Text:
    """A text that starts at a line of a file, and the questions about it."""

    title: str
    kind: str
    line: int
    lines: list[str] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)

    @property
    def context(self) -> str:
        return "\n".join(self.lines).strip()


def find(answer: str, context: str) -> tuple[str, int]:
    """Return an answer as it stands in the text, and its offset in characters.

    Raises:
        ValueError: if the text does not contain it, or less often than ``@`` says.
    """
    numbered = OCCURRENCE.fullmatch(answer)
    number = int(numbered["number"]) if numbered else 1
    words = (numbered["text"] if numbered else answer).split()
    pattern = r"\s+".join(map(re.escape, words))
    found = list(re.finditer(rf"(?<!\w){pattern}(?!\w)", context)) or list(
        re.finditer(pattern, context)
    )
    if len(found) < number:
        raise ValueError(f"{' '.join(words)!r} is in the text {len(found)} times, not {number}")
    return found[number - 1].group(), found[number - 1].start()


def read_texts(path: Path, mistakes: list[str]) -> Iterator[Text]:
    """Read a file of texts and questions.

    Args:
        path: of the file.
        mistakes: gets a line for each line that is not of the format, and for each answer that is
            not in its text.
    """
    text: Text | None = None
    in_text = False
    for number, raw in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        line = raw.rstrip()
        heading = HEADING.fullmatch(line)
        try:
            if heading:
                if text is not None:
                    yield text
                text, in_text = Text(heading["title"], heading["kind"], number), True
            elif text is None:
                if line:
                    raise ValueError(f"expected '=== kind | title', got {line[:40]!r}")
            elif in_text:
                if line == END_OF_TEXT:
                    in_text = False
                else:
                    text.lines.append(line)
            elif line:
                add_line(text, line, number)
        except ValueError as error:
            mistakes.append(f"{path}:{number}: {error}")
    if text is not None:
        yield text


def add_line(text: Text, line: str, number: int) -> None:
    """Add a question, or answers to the last one.

    Raises:
        ValueError: the line is neither, or an answer is not in the text.
    """
    sign, _, rest = line.partition(" ")
    if sign in {"?", "!"} and rest:
        text.questions.append(Question(rest, number, answerable=sign == "?"))
    elif sign == "=" and text.questions and text.questions[-1].answerable:
        question = text.questions[-1]
        question.has_line = True
        question.answers += [find(answer, text.context) for answer in rest.split(" | ")]
    else:
        raise ValueError(f"expected a line with '?', '=' or '!', got {line[:40]!r}")


def check(text: Text) -> Iterator[str]:
    """Yield what is wrong with a text as a whole, each with the number of its line."""
    n_words = len(text.context.split())
    if n_words not in LENGTHS:
        yield f"{text.line}: {n_words} words, expected {LENGTHS[0]} to {LENGTHS[-1]}"
    if not text.questions:
        yield f"{text.line}: no questions"
    asked = set()
    for question in text.questions:
        if question.answerable and not question.has_line:
            yield f"{question.line}: a question without an answer; '!' if the text has none"
        if question.text.lower() in asked:
            yield f"{question.line}: this text has the question already"
        asked.add(question.text.lower())


def as_article(text: Text, prefix: str) -> dict[str, Any]:
    """Return a text and its questions as an article in the format of SQuAD 2.0."""
    questions = [
        {
            "id": f"{prefix}-{number}",
            "question": question.text,
            "answers": [{"text": answer, "answer_start": at} for answer, at in question.answers],
            "is_impossible": not question.answerable,
        }
        for number, question in enumerate(text.questions)
    ]
    return {"title": text.title, "paragraphs": [{"context": text.context, "qas": questions}]}


def main(arguments: list[str] | None = None) -> None:
    """Check the files, and write them as one; without ``--out`` only check."""
    given = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    given.add_argument("source", type=Path, help="a file of texts, or a folder of such files")
    given.add_argument("--out", type=Path, help="file to write")
    options = given.parse_args(arguments)
    files = sorted(options.source.glob("*.txt")) if options.source.is_dir() else [options.source]
    articles: list[dict[str, Any]] = []
    mistakes: list[str] = []
    n_questions = n_without = 0
    for path in files:
        for number, text in enumerate(read_texts(path, mistakes)):
            mistakes += [f"{path}:{problem}" for problem in check(text)]
            articles.append(as_article(text, f"{path.stem}-{number}"))
            n_questions += len(text.questions)
            n_without += sum(not question.answerable for question in text.questions)
    if mistakes:
        sys.exit("\n".join(mistakes))
    print(f"{len(articles)} texts, {n_questions} questions, {n_without} of them without an answer")
    if options.out:
        data = {"version": "everyday", "data": articles}
        options.out.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    main()
