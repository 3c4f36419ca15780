"""Open any saved model, score it, let it predict."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

import yaml

from syntagma.checks import require_number
from syntagma.encoders.config import read_config
from syntagma.encoders.hub_options import HubKeywords, take_hub_options
from syntagma.encoders.precision import Precision
from syntagma.encoders.reference import ModelName, find_model
from syntagma.errors import InputError, how_to_skip
from syntagma.outputs import disk_errors, hold_folder, require_apart, write_folder, write_text
from syntagma.parse.sources.load import AnyParser
from syntagma.progress import predicting
from syntagma.runs.folder import RunFolder, read_experiment
from syntagma.runs.names import METRICS, SCORED, require_finished
from syntagma.runs.scores import write_scores
from syntagma.settings import to_dict
from syntagma.tasks import TASKS, find_task
from syntagma.tasks.comparison.comparisons import check_metric
from syntagma.tasks.examples import fingerprint
from syntagma.tasks.experiment import Experiment
from syntagma.tasks.task import Task

if TYPE_CHECKING:
    from syntagma.tasks.spans.calibrate_reader import CalibratedReader

log = logging.getLogger(__name__)


def open_model(
    name: ModelName,
    *,
    task: str = "",
    parser: AnyParser = "",
    device: str = "cpu",
    precision: Precision | None = None,
    threshold: float | None = None,
    **options: Unpack[HubKeywords],
) -> Task[Any, Any]:
    """The task around a saved model.

    Args:
        name: ``default-parser``, ``default-reader``, the folder of a model or run, or a hub name.
        task: another one than the model was made for: a model for ``spans`` can do ``open_qa``.
        parser: where parses come from (:func:`syntagma.parse.sources.load.as_source`), if not from
            the source used in training: to see what other or worse trees do.
        device: where to compute.
        precision: of the computation: ``training.precision`` of a run gives its own scores again;
            if not given float32 for parsers, ``auto`` for other models.
        threshold: of predictions, instead of the fitted one: with infinity a reader never abstains.
        options: how it is loaded from the hub, see
            :class:`syntagma.encoders.hub_options.HubOptions`.

    Raises:
        InputError: there is no such model, it cannot do the task, it reads no parses, or its task
            has no threshold.
    """
    ref = find_model(name, take_hub_options(dict(options)))
    task_class = find_task(task or read_config(ref).task)
    setting = task_class.threshold
    if threshold is not None:
        require_number(threshold, "threshold")
        if not setting:
            raise InputError(
                f"threshold {threshold:g}: models of the task {task_class.name} have no threshold; "
                f"omit it"
            )
    log.info("loading %s", ref.name)
    opened = task_class.from_pretrained(ref, device=device, parser=parser, precision=precision)
    if threshold is not None:
        opened.model.set_head(**{setting: threshold})
    return opened


def _read_parts(
    task: Task[Any, Any] | type[Task[Any, Any]], data: Sequence[str | Path], skip_bad: bool
) -> list[list[Any]]:
    with how_to_skip("--skip-bad"):
        return list(task.read_parts(list(map(str, data)), skip_bad=skip_bad).values())


def _read(
    task: Task[Any, Any] | type[Task[Any, Any]], data: Sequence[str | Path], skip_bad: bool
) -> list[Any]:
    return [example for part in _read_parts(task, data, skip_bad) for example in part]


def _require_raw(task: type[Task[Any, Any]]) -> None:
    """Check that a task scores what models make of raw text.

    Raises:
        InputError: it does not.
    """
    if not hasattr(task, "evaluate_raw"):
        raise InputError(f"--raw is for parsers, not for models of the task {task.name}; omit it")


def evaluate(
    name: ModelName,
    data: Sequence[str | Path],
    *,
    task: str = "",
    parser: AnyParser = "",
    by: Sequence[str] = (),
    raw: bool = False,
    lang: str = "",
    device: str = "cpu",
    precision: Precision | None = None,
    threshold: float | None = None,
    skip_bad: bool = False,
) -> dict[str, Any]:
    """The official metrics of a model's task on some files, numbers by their names.

    Metrics are in per cent, from 0 to 100; counts, losses and correlations are as they are.
    Where tools differ in how they compute a metric, ``signature`` says how this one was. ``model``
    and ``parser``, with ``_version`` and ``_digest``, say what the numbers were measured with.

    Args:
        name: of the model, see :func:`open_model`.
        data: files in a format of the task.
        task: another one than the model's own, see :func:`open_model`.
        parser: another one than in training, see :func:`open_model`.
        by: also score groups, see :meth:`syntagma.tasks.task.Task.evaluate`.
        raw: for parsers: score what they make of the raw text, with the measures of the CoNLL 2018
            shared task (:mod:`syntagma.parse.conll_scores`); otherwise words are given.
        lang: with ``raw``, the language of the text, such as ``fr``, for a parser of several.
            Default: that with which the name of a file begins; otherwise it is detected.
        device: where to compute.
        precision: of the computation, see :func:`open_model`.
        threshold: another one than the fitted one, see :func:`open_model`.
        skip_bad: skip bad examples and count them.

    Raises:
        InputError: model or data cannot be used.
    """
    if lang and not raw:
        raise InputError(f"lang={lang!r}: has an effect only on raw text; add raw=True")
    ref = find_model(name)
    opened = open_model(
        ref, task=task, parser=parser, device=device, precision=precision, threshold=threshold
    )
    values: dict[str, Any] = {}
    if raw:
        _require_raw(type(opened))
        values |= cast(Any, opened).evaluate_raw(_read_parts(opened, data, skip_bad), lang=lang)
    else:
        examples = _read(opened, data, skip_bad)
        log.info("scoring %d examples", len(examples))
        values |= opened.evaluate(examples, by=by)
    if opened.signature:
        values["signature"] = opened.signature
    return values | _identities(model=ref.identity(), parser=opened.parser_used(parser))


def calibrate_reader(
    name: ModelName, data: Sequence[str | Path], *, fit_threshold: bool = False, **options: Any
) -> CalibratedReader:
    """Fit a reader's two numbers to labelled questions, and store them in its settings.

    The names of the files say whether a question has one passage or several paragraphs
    (:func:`syntagma.tasks.open_qa.data.is_open_qa_file`); each kind has numbers of its own.

    Args:
        name: the reader.
        data: files in the SQuAD format, or in a format of the task ``open_qa``.
        fit_threshold: set the threshold of abstention too; only with the SQuAD format.
        options: others of :func:`syntagma.tasks.spans.calibrate_reader.calibrate_reader`.

    Raises:
        InputError: there are files of both kinds, or the reader cannot be calibrated on them.
    """
    from syntagma.tasks.open_qa.calibrate_reader import calibrate_on_paragraphs
    from syntagma.tasks.open_qa.data import is_open_qa_file
    from syntagma.tasks.spans.calibrate_reader import calibrate_reader as calibrate_on_passages

    kinds = {is_open_qa_file(path): path for path in data}
    if len(kinds) > 1:
        raise InputError(
            f"{kinds[False]} has questions about passages, and {kinds[True]} questions with "
            f"several paragraphs each; calibrate on one kind, then on the other"
        )
    if True not in kinds:
        return calibrate_on_passages(name, data, fit_threshold=fit_threshold, **options)
    if fit_threshold:
        raise InputError(
            f"--fit-threshold: {kinds[True]} has several paragraphs for each question; the "
            f"threshold is fitted to questions about single passages"
        )
    return calibrate_on_paragraphs(name, data, **options)


def score_predictions(
    name: str,
    data: Sequence[str | Path],
    predictions: str | Path,
    *,
    null_odds: str | Path | None = None,
    raw: bool = False,
    skip_bad: bool = False,
) -> dict[str, float]:
    """The official metrics of a file of predictions, made here or by any other system.

    Args:
        name: a task, or a model of this task, which is not loaded.
        data: files in a format of the task.
        predictions: the file, in the task's official format.
        null_odds: for readers: file of the score of no answer minus that of the best span.
        raw: for parsers: the file was made from raw text, see :func:`evaluate`.
        skip_bad: skip bad examples and count them.

    Raises:
        InputError: files of the task cannot be scored, or the file does not have one prediction for
            each example.
    """
    task_class: Any = find_task(name if name in TASKS else read_config(find_model(name)).task)
    if not hasattr(task_class, "score_file"):
        raise InputError(f"--predictions: files of the task {task_class.name} cannot be scored")
    examples = _read(task_class, data, skip_bad)
    task_class.require_labels(examples, "data")
    if raw:
        _require_raw(task_class)
        return dict(task_class.score_raw_file(examples, Path(predictions)))
    if null_odds is None:
        return dict(task_class.score_file(examples, Path(predictions)))
    if task_class.name != "spans":
        raise InputError(f"--null-odds: the task {task_class.name} has none; omit it")
    return dict(task_class.score_file(examples, Path(predictions), Path(null_odds)))


def _identities(**parts: dict[str, str] | None) -> dict[str, str]:
    """Name, version and digest of each part as flat entries; what is not known is not listed.

    >>> _identities(model={"name": "default-parser", "version": "1", "digest": ""}, parser=None)
    {'model': 'default-parser', 'model_version': '1'}
    """
    return {
        part if key == "name" else f"{part}_{key}": value
        for part, identity in parts.items()
        for key, value in (identity or {}).items()
        if value
    }


def predict(
    name: ModelName,
    data: Sequence[str | Path],
    out: Path,
    *,
    task: str = "",
    parser: AnyParser = "",
    device: str = "cpu",
    precision: Precision | None = None,
    threshold: float | None = None,
    skip_bad: bool = False,
    abstain: bool = False,
) -> int:
    """Write a model's predictions in the task's official format.

    Args:
        name: of the model, see :func:`open_model`.
        data: files in a format of the task.
        out: the file to write.
        task: another one than the model's own, see :func:`open_model`.
        parser: another one than in training, see :func:`open_model`.
        device: where to compute.
        precision: of the computation, see :func:`open_model`.
        threshold: another one than the fitted one, see :func:`open_model`.
        skip_bad: skip bad examples and count them.
        abstain: for readers: write no answer where the reader abstains, instead of the best spans
            and ``null_odds``.

    Returns:
        How many examples there were.

    Raises:
        InputError: model or data cannot be used, or the file cannot be written.
    """
    require_apart(out, data)
    opened = open_model(
        name, task=task, parser=parser, device=device, precision=precision, threshold=threshold
    )
    examples = _read(opened, data, skip_bad)
    write = opened.write_abstaining if abstain else opened.write_predictions
    log.info("predicting %d examples", len(examples))
    with predicting(len(examples)):
        predictions = opened.predict(examples)
    write(examples, predictions, out)
    return len(examples)


def score_runs(
    folders: Sequence[str | Path],
    data: Sequence[str | Path],
    *,
    metric: str = "",
    device: str = "cpu",
) -> list[Path]:
    """Score finished runs on other files than their dev files: on a test part.

    Args:
        folders: of runs.
        data: files in a format of their task; bad examples are skipped if the run's
            ``data.skip_bad`` says so.
        metric: by which they will be compared, if not that of their task's paper.
        device: where to compute, in the precision of the training.

    Returns:
        For each run a folder inside its own that :func:`syntagma.analysis.compare.compare_runs` and
        everything else that shows scores read like a run folder.  It is kept: a run is not scored
        twice on the same examples.

    Raises:
        InputError: a folder is not a finished run or not writable, or its task has no scores
            on such files, or no test of the metric.
    """
    files = list(map(str, data))
    known: dict[tuple[str, bool], dict[str, list[Any]]] = {}
    found = []
    runs = [RunFolder(Path(folder)) for folder in folders]
    experiments = []
    for run in runs:
        require_finished(run.path)
        experiments.append(read_experiment(run.path))
        check_metric(find_task(experiments[-1].task).comparisons, metric)
    for run, experiment in zip(runs, experiments, strict=True):
        name, skip_bad = experiment.task, experiment.data.skip_bad
        task_class = find_task(name)
        if task_class.streams:
            raise InputError(
                f"{run.path}: runs of the task {name} are only scored in training, on data.dev; "
                f"omit the files"
            )
        if (name, skip_bad) not in known:
            known[name, skip_bad] = task_class.read_parts(files, skip_bad=skip_bad)
        parts = known[name, skip_bad]
        for path, part in zip(files, parts.values(), strict=True):
            task_class.require_labels(part, path)
        key = fingerprint((name, fingerprint(part)) for name, part in parts.items())
        place = run.path / SCORED / key
        with disk_errors(place):
            place.parent.mkdir(exist_ok=True)
            with hold_folder(place, when_busy=_wait):
                if not (place / METRICS).is_file():
                    _score_run(run, experiment, parts, place, device)
                # The same examples may be in other files today.
                data_now = replace(experiment.data, dev=tuple(files), dev_limit=None)
                settings = to_dict(replace(experiment, data=data_now))
                text = yaml.safe_dump(settings, allow_unicode=True)
                write_text(place / run.experiment.name, text)
        found.append(place)
    return found


def _wait() -> None:
    log.warning("another process is scoring this run; waiting for it to finish")


def _score_run(
    run: RunFolder,
    experiment: Experiment,
    parts: dict[str, list[Any]],
    place: Path,
    device: str,
) -> None:
    task = open_model(run.path, device=device, precision=experiment.training.precision)
    examples = [example for part in parts.values() for example in part]
    log.info("%s: scoring %d examples", run.path, len(examples))
    with predicting(len(examples), f"scoring {run.path.name}"):
        predictions = task.predict(examples)
    with write_folder(place) as draft:
        write_scores(task, parts, predictions, draft)
