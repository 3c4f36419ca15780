"""The passages that an export is compared with its model on, unless the user names a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

FILES = ("everyday-dev.json", "everyday-test.json")
"""Made-up everyday documents with questions, in the format of SQuAD 2.0."""


class Passage(NamedTuple):
    """A passage with questions about it.

    Args:
        text: the passage.
        questions: the questions.
    """

    text: str
    questions: tuple[str, ...]


def passages() -> list[Passage]:
    """Read the passages that come with the package."""
    return [
        Passage(paragraph["context"], tuple(each["question"] for each in paragraph["qas"]))
        for name in FILES
        for article in json.loads((_folder() / name).read_text(encoding="utf-8"))["data"]
        for paragraph in article["paragraphs"]
    ]


def _folder() -> Path:
    """Return the folder of the files: in the package, or in the folder of its source."""
    inside = Path(__file__).with_name("questions")
    return inside if inside.is_dir() else Path(__file__).parents[3] / "examples" / "questions"
