"""Our questions about everyday texts, from files that people write."""

from __future__ import annotations

import json
from pathlib import Path

import everyday_questions
import pytest

WORDS = " ".join(["Leave the key with the porter."] * 8)
TEXT = f"""=== note | For the plumber
The tap of the kitchen drips on
Tuesday and on Friday.
{WORDS}
---
? when does it drip
= on Tuesday | Friday
? who has the key
= the porter @2
! What does the tap cost?
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "notes.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_answers_are_found_across_lines_and_by_occurrence(tmp_path: Path) -> None:
    out = tmp_path / "all.json"
    everyday_questions.main([str(write(tmp_path, TEXT)), "--out", str(out)])
    (article,) = json.loads(out.read_text(encoding="utf-8"))["data"]
    (paragraph,) = article["paragraphs"]
    first, second, third = paragraph["qas"]
    for question in (first, second):
        for answer in question["answers"]:
            start = answer["answer_start"]
            assert paragraph["context"][start : start + len(answer["text"])] == answer["text"]
    assert [answer["text"] for answer in first["answers"]] == ["on\nTuesday", "Friday"]
    assert paragraph["context"][: second["answers"][0]["answer_start"]].count("the porter") == 1
    assert third["is_impossible"]
    assert not third["answers"]
    assert len({question["id"] for question in paragraph["qas"]}) == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("= on Tuesday", "= on Monday"), r"notes.txt:7: 'on Monday' is in the text 0 times"),
        (("porter @2", "porter @9"), "is in the text 8 times, not 9"),
        (("= the porter @2\n", ""), "notes.txt:8: a question without an answer"),
        (("! What", "% What"), "expected a line with"),
        (("=== note", "= note"), "expected '=== kind"),
        ((WORDS, "Ask the porter, the porter."), "16 words, expected 40 to 450"),
        (("who has the key", "When does it drip"), "has the question already"),
    ],
)
def test_a_mistake_names_its_line(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    with pytest.raises(SystemExit, match=message):
        everyday_questions.main([str(write(tmp_path, TEXT.replace(*change)))])
