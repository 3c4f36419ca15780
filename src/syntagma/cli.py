"""The command line: parse flags, call one public function, print one table.

Nothing heavy is imported before a command runs, so that ``--help`` answers at once.
"""

from __future__ import annotations

import logging
import os
import sys
import traceback
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from syntagma import __version__, report_commands
from syntagma.errors import InputError

__all__ = ["app", "main"]

OK, OURS, YOURS, INTERRUPTED = 0, 1, 2, 130
KEPT = "interrupted; what was finished is kept"

app = typer.Typer(
    name="syntagma",
    help="Make any pretrained Transformer encoder read with syntax.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

Device = Annotated[str, typer.Option(help="Where to compute: cpu, cuda, cuda:1, mps.")]
ModelTask = Annotated[
    str, typer.Option(help="Not the model's own task: open_qa, of a reader of single passages.")
]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Leave out bad examples and count them.")]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"syntagma {__version__}")
        raise typer.Exit


@app.callback()
def _global(
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    logging.basicConfig(format="%(levelname)s %(message)s", level=logging.WARNING)


def _table(values: dict[str, Any]) -> None:
    width = max(map(len, values), default=0)
    for name, value in values.items():
        shown = f"{value:.2f}" if isinstance(value, float) and value % 1 else f"{value:g}"
        typer.echo(f"{name:<{width}}  {shown:>10}")


def _write_json(path: Path | None, values: dict[str, Any]) -> None:
    if path is not None:
        from syntagma.files import write_json

        write_json(path, values)


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
    parser: Annotated[str, typer.Option(help="A parser's folder.")] = "default-parser",
    max_words: Annotated[int, typer.Option(help="Longer sentences are parsed in parts.")] = 4000,
    precision: Annotated[
        str, typer.Option(help="float32, or auto: bfloat16 where that is faster.")
    ] = "float32",
    device: Device = "cpu",
) -> None:
    """Parse text to CoNLL-U, JSON or a picture on standard output."""
    if source == "parquet":
        from syntagma.annotation import write_corpora

        write_corpora(files or [], to=to, out=sys.stdout)
        return
    from syntagma.parse.source import load_parser
    from syntagma.report.printing import write_parses

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
    parser: Annotated[str, typer.Option(help="A parse source.")] = "default-parser",
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
    from syntagma import annotation
    from syntagma.parse.corpora.annotator import AnnotationSettings

    if check:
        typer.echo(f"{annotation.check_corpora(check)} sentences are whole")
        return
    if not inputs or out is None:
        raise InputError("expected INPUT… and --out DIR, or --check DIR")
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
    manifest = annotation.annotate_files(
        inputs, out, settings, workers=workers, device=device, resume=resume, **where
    )
    _table(asdict(manifest.counts))
    typer.echo(f"→ {out}")


@app.command()
def train(
    config: Annotated[Path, typer.Argument(help="An experiment, as in experiments/*.yaml.")],
    out: Annotated[Path | None, typer.Option(help="Run folder; runs/NAME if not given.")] = None,
    overrides: Annotated[
        list[str] | None, typer.Option("--set", help="Change a setting: training.epochs=3.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where a run stopped.")] = False,
) -> None:
    """Train a model and leave it, its metrics and its predictions in a run folder."""
    from syntagma.tasks.experiment import load_experiment
    from syntagma.training.run import train as run

    experiment = load_experiment(config, overrides)
    folder = out or Path("runs") / config.stem
    _table(run(experiment, folder, resume=resume))
    typer.echo(f"→ {folder}")


@app.command()
def evaluate(
    model: Annotated[str, typer.Argument(help="A model folder, default-parser, default-reader.")],
    data: Annotated[list[str], typer.Argument(help="Files in a format of the model's task.")],
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Also write the metrics as one flat object.")
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            help="Also score groups; of a parser: relation, length; of open_qa: evidence."
        ),
    ] = None,
    task: ModelTask = "",
    skip_bad: SkipBad = False,
    device: Device = "cpu",
) -> None:
    """Score a model with the official metrics of its task."""
    from syntagma.evaluation import evaluate as run

    metrics = run(model, data, task=task, by=by or (), device=device, skip_bad=skip_bad)
    _write_json(json_file, metrics)
    _table(metrics)


@app.command()
def predict(
    model: Annotated[str, typer.Argument(help="A model folder, default-parser, default-reader.")],
    data: Annotated[list[str], typer.Argument(help="Files in a format of the model's task.")],
    out: Annotated[Path, typer.Option(help="The file to write.")],
    task: ModelTask = "",
    skip_bad: SkipBad = False,
    device: Device = "cpu",
) -> None:
    """Write predictions in the task's official format."""
    from syntagma.evaluation import predict as run

    count = run(model, data, out, task=task, device=device, skip_bad=skip_bad)
    typer.echo(f"{count} predictions → {out}")


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
    ] = "default-reader",
    html: Annotated[Path | None, typer.Option(help="Also write a page with pictures.")] = None,
    top: Annotated[int, typer.Option(help="Answers to print a question.")] = 1,
    threshold: Annotated[
        float | None, typer.Option(help="Abstain above these odds; the fitted ones if not given.")
    ] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Also write JSON.")] = None,
    device: Device = "cpu",
) -> None:
    """Answer questions about a text, or say that it holds no answer."""
    from syntagma.reading import choose, read_and_answer, read_questions

    asked = [*(questions or []), *(read_questions(questions_file) if questions_file else [])]
    if options:
        chosen = choose(passage, asked, options, model=model, device=device)
        for line in chosen.lines():
            typer.echo(line)
        _write_json(json_file, chosen.as_json())
        return
    result = read_and_answer(passage, asked, model=model, threshold=threshold, device=device)
    for item in result.answers:
        typer.echo(result.line(item))
        for span in item.spans[:top] if top > 1 else ():
            typer.echo(f"    {span.probability:6.1%}  {span.text}")
    _write_json(json_file, result.as_json())
    if html is not None:
        result.write_page(html)
        typer.echo(f"→ {html}")


@app.command()
def compare(
    runs: Annotated[list[Path], typer.Argument(help="Run folders over the same dev data.")],
    json_file: Annotated[Path | None, typer.Option("--json", help="Also write JSON.")] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(help="Also by groups of examples: question_length, question_word, ..."),
    ] = None,
    cut: Annotated[
        str, typer.Option(help="Numbers in groups of equal `size` or equal `range`.")
    ] = "size",
    plot: Annotated[Path | None, typer.Option(help="Draw the groups: .svg, .pdf, .png.")] = None,
) -> None:
    """Set runs side by side, the first as the baseline, with the paper's significance test.

    Runs whose settings differ in the seed alone are one system.
    """
    from syntagma.report.breakdown import break_down, write_breakdowns
    from syntagma.report.compare import compare_runs

    comparison = compare_runs(runs)
    breakdowns = [break_down(runs, name, cut=cut) for name in by or ()]
    values = comparison.as_json() | {"groups": {b.grouping.property: b.rows() for b in breakdowns}}
    _write_json(json_file, values)
    if plot is not None:
        write_breakdowns(breakdowns, plot)
    typer.echo(comparison.table())
    for breakdown in breakdowns:
        typer.echo(f"\n{breakdown.table()}")


app.command()(report_commands.report)
app.command()(report_commands.attention)


@app.command()
def pack(
    run: Annotated[Path, typer.Argument(help="A model or run folder.")],
    out: Annotated[Path, typer.Option(help="The folder to write.")],
    bits: Annotated[int, typer.Option(help="4 or 8 bits for each weight that moved.")] = 4,
) -> None:
    """Write a small copy of a model: only what differs from its published encoder."""
    from syntagma.evaluation import pack as run_pack

    size = run_pack(run, out, bits=bits)
    typer.echo(f"{size / 1e6:.1f} MB → {out}")


@app.command()
def doctor() -> None:
    """Print versions, devices, the default models, and what is missing."""
    from syntagma.doctor import report

    for line in report():
        typer.echo(line)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in arguments
    # Batches have many shapes, and oneDNN keeps the compiled code for 1024 of them: gigabytes that
    # are hardly ever used again.  Read by torch when it is first imported.
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")
    try:
        code = app(args=arguments, standalone_mode=False) or OK
        if code == INTERRUPTED:  # Typer turns the user's Ctrl-C into this code.
            typer.echo(f"syntagma: {KEPT}", err=True)
    except BrokenPipeError:
        # The reader of our output has left (`| head`): nobody to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = OK
    except InputError as error:
        code = _complain(error, debug, str(error), YOURS)
    except (Exception, KeyboardInterrupt) as error:
        # Typer raises Click's errors from a copy of Click of its own: known by what they offer.
        if isinstance(error, KeyboardInterrupt) or type(error).__name__ == "Abort":
            code = _complain(error, debug, KEPT, INTERRUPTED)
        elif hasattr(error, "format_message"):
            code = _complain(error, debug, error.format_message(), YOURS)
        else:
            message = f"internal error: {type(error).__name__}: {error} (--debug shows where)"
            code = _complain(error, debug, message, OURS)
    sys.exit(code)


def _complain(error: BaseException, debug: bool, message: str, code: int) -> int:
    if debug:
        traceback.print_exception(error)
    typer.echo(f"syntagma: {' '.join(message.split())}", err=True)
    return code
