"""The command that answers questions from texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar, cast

import typer

from syntagma.checks import require_number
from syntagma.cli.app import (
    Device,
    Imports,
    JsonFile,
    app,
    choices,
    examples,
    file_place,
    print_utf8,
    refuse,
    require_no_file,
    write_json_file,
)
from syntagma.cli.console import note, show, warn
from syntagma.encoders.default import DEFAULT_READER, require_encoder
from syntagma.encoders.named_models import names_of
from syntagma.errors import InputError
from syntagma.files import require_once

if TYPE_CHECKING:
    from syntagma.report.answers import Choosing, Reading
    from syntagma.report.document_answers import DocumentReading
    from syntagma.tasks.spans.answers import Mode

MODES = ("strict", "balanced", "lenient")
WITH_JSON_LINES = {"--mode", "--threshold"}
"""Flags that have an effect with --jsonl."""
WITH_OPTIONS = {"a question", "--file", "--questions", "--options", "--json"}
"""Flags that have an effect with --options."""
Item = TypeVar("Item", bound="Reading | DocumentReading | Choosing")


def _check_number(threshold: float | None) -> float | None:
    if threshold is not None:
        require_number(threshold, "--threshold")
    return threshold


def _check_mode(mode: str | None) -> str | None:
    if mode is not None and mode not in MODES:
        raise InputError(f"--mode: expected one of {', '.join(MODES)}, got {mode!r}")
    return mode


Model = Annotated[
    str,
    typer.Option(
        help="Folder of a reader, or the hub name of a question-answering model; with "
        "--options, folder of a model for the task choice.",
        autocompletion=choices(*names_of("reader")),
    ),
]
ModeOption = Annotated[
    str | None,
    typer.Option(
        callback=_check_mode,
        help="How sure the reader must be to answer: strict, balanced, or lenient. Default: "
        "balanced.",
        autocompletion=choices(*MODES),
    ),
]
ThresholdOption = Annotated[
    float | None,
    typer.Option(
        callback=_check_number,
        help="Instead of a mode: give no answer if its score exceeds that of the best span by "
        "more than this (a difference of logits; inf: always answer).",
    ),
]
Options = Annotated[
    list[str] | None,
    typer.Option(help="Choose one of these: 'A | B | C'; or repeat the flag for each."),
]
FurtherFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--file", "-f", help="Another source, to answer the questions from it too; repeatable."
    ),
]
QuestionsFile = Annotated[
    str | None,
    typer.Option("--questions", help="File with one question per line, or - for standard input."),
]
Page = Annotated[
    Path | None,
    typer.Option(
        callback=file_place,
        help="Also write a page with the answers in the text, and trees; - for stdout.",
    ),
]
JsonLines = Annotated[
    bool,
    typer.Option(
        "--jsonl",
        help="Read questions from SOURCE, one a line: {'passage': …, 'question': …, 'id': …}; "
        "print an answer a line as JSON.",
    ),
]


Read = Annotated[
    int | None,
    typer.Option("--read", min=1, help="Passages that are read for a question about documents."),
]
Exhaustive = Annotated[
    bool,
    typer.Option(
        "--exhaustive",
        help="Read all of a long text for every question, not only what seems to bear on it.",
    ),
]


@app.command(
    epilog=examples(
        "syntagma answer ferry.txt 'Who fitted a coal barge with an engine?' --html page.html",
        "syntagma answer ferry.txt --questions questions.txt --json answers.json",
        "syntagma answer a.txt -f b.txt -f c.txt 'Who left at noon?'",
        "syntagma answer a.txt 'What did she buy?' --options 'a barge | a cart' --model runs/NAME",
        "syntagma answer report.pdf 'What does it cost?'",
        "syntagma answer FOLDER 'Who chairs the committee?' --html page.html",
        "syntagma answer ferry.txt 'Who left at noon?' --model deepset/roberta-base-squad2",
        "syntagma answer asked.jsonl --jsonl > answered.jsonl",
    )
)
def answer(
    source: Annotated[
        str,
        typer.Argument(
            help="What to answer from: a text file, - for standard input, a document (pdf, docx, "
            "HTML, Markdown), a folder of documents, an index of them, or retriever:NAME; with "
            "--jsonl, the questions."
        ),
    ],
    questions: Annotated[
        list[str] | None,
        typer.Argument(help="Questions about the text.", show_default=False),
    ] = None,
    further: FurtherFiles = None,
    questions_file: QuestionsFile = None,
    options: Options = None,
    model: Model = DEFAULT_READER,
    html: Page = None,
    top: Annotated[int, typer.Option(min=1, help="Number of candidates to print.")] = 1,
    mode: ModeOption = None,
    threshold: ThresholdOption = None,
    json_file: JsonFile = None,
    json_lines: JsonLines = False,
    read: Read = None,
    exhaustive: Exhaustive = False,
    device: Device = "cpu",
    imports: Imports = None,
) -> None:
    """Answer questions from a text or from documents.

    An answer that the reader is unsure of is marked by a question mark, and it says so if there is
    none.

    The index of a folder is kept in the cache and brought up to date by each call. With several
    sources (-f), each question is answered from each of them.
    """
    require_encoder(model)
    from syntagma.report.answers import as_json, choose, read_and_answer, read_questions

    print_utf8(even_to_terminal=json_lines)
    refuse({"--mode": mode is not None and threshold is not None}, "has no effect with --threshold")
    given = {
        "a question": bool(questions),
        "--file": bool(further),
        "--questions": questions_file is not None,
        "--options": options is not None,
        "--html": html is not None,
        "--mode": mode is not None,
        "--threshold": threshold is not None,
        "--top": top != 1,
        "--json": json_file is not None,
        "--read": read is not None,
        "--exhaustive": exhaustive,
    }
    if json_lines:
        reason = "has no effect with --jsonl, which reads passages and questions from SOURCE"
        refuse({flag: given[flag] for flag in given.keys() - WITH_JSON_LINES}, reason)
        _answer_lines(source, model, cast("Mode | None", mode), threshold, device)
        return
    sources = [source, *(further or [])]
    require_once([*sources, questions_file or ""])
    _require_texts(questions or [], options or [])
    asked = [*(questions or []), *(read_questions(questions_file) if questions_file else [])]
    if options:
        wrong = {flag: given[flag] for flag in given.keys() - WITH_OPTIONS}
        refuse(wrong, "has no effect with --options; omit one of the two")
        chosen = choose(sources, asked, options, model=model, device=device)
        _show(chosen, lambda item: show("\n".join(item.lines())))
        write_json_file(json_file, as_json(chosen))
        return
    if html is not None and len(sources) > 1:
        raise InputError(f"--html shows one text, got {len(sources)}; call it once for each text")
    readings = read_and_answer(
        sources,
        asked,
        model=model,
        mode=cast("Mode | None", mode),
        threshold=threshold,
        read=read,
        exhaustive=exhaustive,
        device=device,
        on_problem=warn,
        progress=True,
    )
    _show(readings, lambda reading: _show_answers(reading, top))
    write_json_file(json_file, as_json(readings))
    if html is not None:
        _write_page(readings[0], html)


def _answer_lines(
    source: str, model: str, mode: Mode | None, threshold: float | None, device: str
) -> None:
    """Print an answer for each line of questions as soon as its batch is done."""
    from syntagma.tasks.spans.question_lines import answer_lines, read_question_lines
    from syntagma.tasks.spans.reader import Reader

    lines = read_question_lines(source)
    first = next(lines)  # A missing or wrong file is reported before the model is loaded.
    reader = Reader.from_pretrained(model, device=device)
    for line in answer_lines(chain([first], lines), reader, mode=mode, threshold=threshold):
        typer.echo(line)


def _write_page(reading: Reading | DocumentReading, path: Path) -> None:
    reading.write_page(path)
    note(f"→ {path}")


def _require_texts(questions: Sequence[str], options: Sequence[str]) -> None:
    """Check that questions and options are not names of files.

    Raises:
        InputError: one is.
    """
    remedy = "give further texts as -f FILE, a file of questions as --questions FILE"
    for question in questions:
        require_no_file(question, "a question", remedy)
    for option in options:
        require_no_file(option, "an option", "write the options themselves, as in 'A | B'")


def _show(items: Sequence[Item], show_item: Callable[[Item], None]) -> None:
    """Print what was found in each text, under the name of the text if there are several."""
    for number, item in enumerate(items):
        if len(items) > 1:
            show(f"{'' if number == 0 else chr(10)}== {item.name}")
        show_item(item)


def _show_answers(reading: Reading | DocumentReading, top: int) -> None:
    from syntagma.tasks.spans.tidy import readable

    for item in reading.answers:
        show(reading.line(item))  # type: ignore[arg-type]
        for span in item.candidates[:top] if top > 1 else ():
            show(f"    {span.probability:6.1%}  {readable(span.text)}")
