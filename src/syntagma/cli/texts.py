"""Commands on text: parse, annotate, answer, attention."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from syntagma.checks import require_number
from syntagma.cli.app import (
    Device,
    JsonFile,
    SkipBad,
    app,
    file_place,
    show_metrics,
    write_json_file,
)
from syntagma.encoders.default import DEFAULT_PARSER, DEFAULT_READER, require_encoder
from syntagma.errors import InputError
from syntagma.files import require_once

MOST_WORDS = 4000


def _number(threshold: float | None) -> float | None:
    if threshold is not None:
        require_number(threshold, "--threshold")
    return threshold


def _refuse(flags: dict[str, bool], why: str) -> None:
    for flag, is_given in flags.items():
        if is_given:
            raise InputError(f"{flag} {why}")


@app.command()
def parse(
    files: Annotated[list[str] | None, typer.Argument(help="Files; - or none: stdin.")] = None,
    source: Annotated[
        str,
        typer.Option("--from", help="text, lines, words (pretokenised), conllu, or parquet."),
    ] = "text",
    to: Annotated[str, typer.Option(help="conllu, json, brackets, or svg.")] = "conllu",
    decoding: Annotated[
        str | None,
        typer.Option(help="dependencies, separate (phrases too), or joint: both as one tree."),
    ] = None,
    pretokenized: Annotated[
        bool, typer.Option("--pretokenized", help="The same as --from words.")
    ] = False,
    parser: Annotated[str, typer.Option(help="A parser's folder.")] = DEFAULT_PARSER,
    max_words: Annotated[
        int, typer.Option(help="Longer sentences are parsed in parts.")
    ] = MOST_WORDS,
    precision: Annotated[
        str, typer.Option(help="float32, or auto: bfloat16 where that is faster.")
    ] = "float32",
    device: Device = "cpu",
) -> None:
    """Parse text to CoNLL-U, JSON or a picture on standard output."""
    require_once(files or ())
    if pretokenized and source not in ("text", "words"):
        raise InputError(f"--pretokenized is --from words, and --from {source} was given too; "
                         f"leave out one of the two")  # fmt: skip
    if source == "parquet":
        if not files:
            raise InputError("--from parquet: expected the folders of annotated corpora, got none")
        given = {
            "--parser": parser != DEFAULT_PARSER,
            "--decoding": decoding is not None,
            "--max-words": max_words != MOST_WORDS,
            "--precision": precision != "float32",
        }
        _refuse(given, "is for parsing, and --from parquet prints what was parsed; leave it out")
        from syntagma.cli.annotation import write_corpora

        write_corpora(files or [], to=to, out=sys.stdout)
        return
    require_encoder(parser)
    from syntagma.cli.printing import write_parses
    from syntagma.parse.sources.load import load_parser

    how = decoding or ("separate" if to == "brackets" else "dependencies")
    options: dict[str, Any] = {"max_words": max_words, "precision": precision, "decoding": how}
    write_parses(
        files or ["-"],
        load_parser(parser, device=device, **options),
        kind="words" if pretokenized else source,
        to=to,
        out=sys.stdout,
    )


@app.command()
def annotate(
    inputs: Annotated[
        list[str] | None, typer.Argument(help="Files, .gz of files, patterns, or -.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The folder to write.")] = None,
    source: Annotated[
        str,
        typer.Option(
            "--from",
            help="text (a document a line), lines (a sentence a line), words, jsonl, conllu, or a "
            "task; by the files' names if not given.",
        ),
    ] = "",
    field: Annotated[str, typer.Option(help="Of JSON objects, where their text is.")] = "text",
    parser: Annotated[str, typer.Option(help="A parse source.")] = DEFAULT_PARSER,
    precision: Annotated[
        str, typer.Option(help="float32, or auto: bfloat16 where that is faster.")
    ] = "float32",
    workers: Annotated[int | None, typer.Option(help="Processes; one a core or device.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where a run stopped.")] = False,
    text: Annotated[bool, typer.Option(help="Keep the sentences' text.")] = True,
    confidence: Annotated[bool, typer.Option(help="Keep arc probabilities.")] = False,
    shard_characters: Annotated[int, typer.Option(help="Characters of text a shard.")] = 2_000_000,
    engine: Annotated[str, typer.Option(help="local, or ray: a Ray cluster.")] = "local",
    check: Annotated[
        list[Path] | None, typer.Option(help="Compare a finished folder with its manifest.")
    ] = None,
    skip_bad: SkipBad = False,
    device: Device = "cpu",
) -> None:
    """Parse a corpus into Parquet shards, or check one."""
    if check:
        from syntagma.cli.annotation import check_corpora

        typer.echo(f"{check_corpora(check)} sentences verified")
        return
    require_encoder(parser)
    from syntagma.parse.corpora.annotator import AnnotationSettings
    from syntagma.tasks.annotation import annotate_files

    if not inputs or out is None:
        raise InputError("expected INPUT… and --out DIR, or --check DIR")
    require_once(inputs)
    choices: dict[str, Any] = {"precision": precision}
    settings = AnnotationSettings(
        kind=source,
        field=field,
        parser=parser,
        text=text,
        confidence=confidence,
        shard_characters=shard_characters,
        skip_bad=skip_bad,
        **choices,
    )
    where: dict[str, Any] = {"engine": engine}
    manifest = annotate_files(
        inputs, out, settings, workers=workers, device=device, resume=resume, **where
    )
    show_metrics(asdict(manifest.counts))
    typer.echo(f"→ {out}")


@app.command()
def answer(
    passage: Annotated[str, typer.Argument(help="A text file, or -.")],
    questions: Annotated[
        list[str] | None, typer.Argument(help="Questions about it.", show_default=False)
    ] = None,
    questions_file: Annotated[
        str | None, typer.Option("--questions", help="A file with a question a line, or -.")
    ] = None,
    options: Annotated[
        list[str] | None,
        typer.Option(help="Choose among these: A | B | C, or the option several times."),
    ] = None,
    model: Annotated[
        str, typer.Option(help="A reader's folder; with --options, a chooser's.")
    ] = DEFAULT_READER,
    html: Annotated[
        Path | None, typer.Option(callback=file_place, help="Also write a page with pictures.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Answers to print a question.")] = 1,
    threshold: Annotated[
        float | None,
        typer.Option(
            callback=_number, help="Abstain above these odds; the fitted ones if not given."
        ),
    ] = None,
    json_file: JsonFile = None,
    device: Device = "cpu",
) -> None:
    """Answer questions about a text, or say that it holds no answer."""
    require_encoder(model)
    from syntagma.outputs import require_apart
    from syntagma.report.answers import choose, read_and_answer, read_questions

    read = [passage, questions_file or ""]
    require_once(read)
    for written in (json_file, html):
        require_apart(written, read)
    asked = [*(questions or []), *(read_questions(questions_file) if questions_file else [])]
    if options:
        given = {
            "--html": html is not None,
            "--threshold": threshold is not None,
            "--top": top != 1,
        }
        _refuse(given, "is for answers in the text; leave it out with --options")
        chosen = choose(passage, asked, options, model=model, device=device)
        for line in chosen.lines():
            typer.echo(line)
        write_json_file(json_file, chosen.as_json())
        return
    result = read_and_answer(passage, asked, model=model, threshold=threshold, device=device)
    for item in result.answers:
        typer.echo(result.line(item))
        for span in item.spans[:top] if top > 1 else ():
            typer.echo(f"    {span.probability:6.1%}  {span.text}")
    write_json_file(json_file, result.as_json())
    if html is not None:
        result.write_page(html)
        typer.echo(f"→ {html}")


@app.command()
def attention(
    model: Annotated[str, typer.Argument(help="A model folder, or default-reader.")],
    passage: Annotated[str, typer.Option(help="A text file, or -; of pairs the first text.")],
    question: Annotated[str, typer.Option(help="About it; of pairs the second text.")],
    out: Annotated[Path, typer.Option(callback=file_place, help="The picture to write, .svg.")],
    beside: Annotated[str | None, typer.Option(help="Another model, drawn beside.")] = None,
    options: Annotated[
        list[str] | None, typer.Option(help="Of a model for choice: A | B | C.")
    ] = None,
    layer: Annotated[
        str, typer.Option(help="A number from 1, or guided; each model's last if not given.")
    ] = "",
    head: Annotated[
        int | None, typer.Option(help="From 1; the mean over all if not given.")
    ] = None,
    show: Annotated[
        str,
        typer.Option(
            help="Words on the axes: question, answer (its sentence), both, all, a sentence N."
        ),
    ] = "question",
    turns: Annotated[
        bool, typer.Option("--turns", help="Draw the scores of co-attention in each turn instead.")
    ] = False,
    device: Device = "cpu",
) -> None:
    """Draw what a model attends to, word by word, as a vector picture."""
    models = [model, *([beside] if beside else [])]
    for name in models:
        require_encoder(name)
    from syntagma.analysis.attention.draw import draw_attention, draw_turns

    given: dict[str, Any] = {"out": out, "options": options or (), "device": device}
    if turns:
        if layer or head is not None or show != "question":
            raise InputError("--turns draws scores without layers and heads, of all words: leave "
                             "out --layer, --head and --show")  # fmt: skip
        titles = draw_turns(models, passage, question, **given)
    else:
        given |= {"layer": layer, "head": head, "show": show}
        titles = draw_attention(models, passage, question, **given)
    for title in titles:
        typer.echo(title)
    typer.echo(f"→ {out}")
