"""Annotate corpora and the files of tasks; check and print what was annotated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO

from syntagma.errors import InputError, how_to_skip
from syntagma.parse.corpora.annotator import AnnotationSettings
from syntagma.parse.corpora.corpus import AnnotatedCorpus
from syntagma.parse.corpora.documents import KINDS, Record, expand, kind_of
from syntagma.parse.corpora.ledger import Manifest
from syntagma.parse.corpora.runner import Engine, annotate
from syntagma.parse.stream import ParsedSentence
from syntagma.report.printing import FORMATS
from syntagma.tasks import TASKS, find_task
from syntagma.text.conllu import TreebankSentence

__all__ = ["annotate_files", "check_corpora", "write_corpora"]


def annotate_files(
    inputs: Sequence[str],
    out: str | Path,
    settings: AnnotationSettings,
    *,
    workers: int | None = None,
    device: str = "cpu",
    resume: bool = False,
    engine: Engine = "local",
) -> Manifest:
    """Annotate text, JSON lines, treebanks or the files of a task.

    Args:
        inputs: files or patterns.
        out: the folder to write.
        settings: with the kind of the input, which may be the name of a task; by the names of the
            files if it is empty.
        workers: processes.
        device: where to compute.
        resume: go on where a run was stopped.
        engine: ``local`` or ``ray``.

    Raises:
        InputError: as :func:`syntagma.parse.corpora.runner.annotate`.
    """
    kind = settings.kind or _kind(expand(list(inputs)))
    is_task, skip = kind in TASKS, settings.skip_bad
    reader = partial(_task_records, task=kind, skip_bad=skip) if is_task else None
    if reader is None and kind not in KINDS:
        raise InputError(f"--from must be one of {', '.join((*KINDS, *TASKS))}; got {kind!r}")
    return annotate(
        inputs,
        out,
        replace(settings, kind=kind),
        reader=reader,
        workers=workers,
        device=device,
        resume=resume,
        engine=engine,
    )


def _kind(paths: list[str]) -> str:
    kinds = {kind_of(path) for path in paths}
    if len(kinds) > 1:
        raise InputError(
            f"the names of the input files speak of several kinds ({', '.join(sorted(kinds))}); "
            f"annotate each by itself, or say what they are with --from"
        )
    return kinds.pop()


def _task_records(path: str, task: str, *, skip_bad: bool) -> Iterator[Record]:
    """The texts of a task's file; its reader counts what is bad in a warning, or stops there."""
    task_class = find_task(task)
    with how_to_skip("--skip-bad"):
        examples = task_class.read(path, skip_bad=skip_bad)
    for number, text in enumerate(task_class.texts(examples), start=1):
        yield Record(number, text if text.strip() else "")


def check_corpora(folders: Sequence[str | Path]) -> int:
    """Compare corpora with their manifests.

    Returns:
        Sentences that were found whole.

    Raises:
        InputError: something is wrong; the first problem is named and the others counted.
    """
    total = 0
    for folder in folders:
        corpus = AnnotatedCorpus(folder)
        if problems := corpus.check():
            more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
            raise InputError(
                f"{folder}: {problems[0]}{more}; annotate again with --resume to make what is "
                f"missing or damaged anew"
            )
        total += len(corpus)
    return total


def write_corpora(folders: Sequence[str | Path], *, to: str, out: IO[str]) -> None:
    """Print annotated corpora.

    Args:
        folders: of corpora with text.
        to: ``conllu`` or ``json``.
        out: where to.

    Raises:
        InputError: a folder holds no corpus with text, or ``to`` is another format.
    """
    if to not in ("conllu", "json"):
        raise InputError(f"--from parquet can be printed --to conllu or json; got {to!r}")
    for folder in folders:
        for found in AnnotatedCorpus(folder).sentences():
            sentence = found.parse.sentence
            local = replace(found.parse, sentence=sentence.shift(-sentence.start))
            rows = TreebankSentence.from_parse(local, text=found.text)
            out.write(FORMATS[to](ParsedSentence(found.parse, rows)))
