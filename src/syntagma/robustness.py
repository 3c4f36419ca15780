"""What worse or other parses do to models that read them.

SG-Net (journal version) section 7.6 replaces 0 to 100 % of the heads, POI-Net Table 6 some of the
tags.  A model that does not read them is a level line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev

from syntagma.encoders.model import read_config
from syntagma.errors import InputError
from syntagma.evaluation import open_model
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.report.plotting import panels
from syntagma.report.runs import RunScores, System, read_systems
from syntagma.report.series import draw_lines
from syntagma.report.tables import aligned, markdown
from syntagma.tasks.task import distinct, names_of

__all__ = [
    "OWN",
    "SHARES",
    "NoiseCurve",
    "ParserTable",
    "noise_curve",
    "parser_table",
    "training_noise_curve",
    "write_noise_curves",
]

SHARES = {"heads": (0.0, 0.2, 0.4, 0.6, 0.8, 1.0), "tags": (0.0, 0.05, 0.1, 0.2)}
"""Of the papers, by what is replaced."""

SOURCES = {"heads": "noisy", "tags": "noisy_tags"}
COLUMNS = {"heads": {"enter", "exit", "depth"}, "tags": {"tag"}}
"""What of the syntax that a model reads comes from them."""
NOISY = re.compile(r"(noisy|noisy_tags):([0-9.]+)(?:,[0-9]+)?:(.+)")
OWN = "own"
"""The name of the parses that a model was trained with."""


@dataclass(frozen=True, slots=True)
class NoiseCurve:
    """Scores of systems by the share of their syntax that is noise.

    Args:
        kind: what is replaced: ``heads`` or ``tags``.
        shares: how many, 0 to 1, ``[n_shares]``.
        score: what is shown, in per cent.
        systems: by name the scores, means over seeds and draws of noise, ``[n_shares]``.
        deviations: by name the standard deviations over seeds and draws, ``[n_shares]``; 0 for a
            single one.
        n_examples: that are scored.
        draws: how often noise was drawn for each share and seed.
        when: ``evaluation`` or ``training``.
    """

    kind: str
    shares: tuple[float, ...]
    score: str
    systems: dict[str, tuple[float, ...]]
    deviations: dict[str, tuple[float, ...]]
    n_examples: int
    draws: int
    when: str

    def rows(self) -> list[list[str]]:
        """The cells of a table, its head first."""
        head = [self.score, *(f"{share:.0%}" for share in self.shares)]
        return [head, *_rows(self.systems, self.deviations)]

    def summary(self) -> str:
        """What was done, in a line."""
        drawn = f", drawn {self.draws} times" if self.draws > 1 else ""
        return f"{self.kind} replaced in {self.when}{drawn}, n = {self.n_examples:,}"

    def table(self) -> str:
        """A table for a terminal."""
        return f"{aligned(self.rows())}\n{self.summary()}"

    def markdown(self) -> str:
        """The table in Markdown."""
        return markdown(self.rows())


@dataclass(frozen=True, slots=True)
class ParserTable:
    """Scores of systems by where their parses come from.

    Args:
        parsers: names of parse sources, ``[n_parsers]``.
        score: what is shown, in per cent.
        systems: by name the scores, means over seeds, ``[n_parsers]``.
        deviations: by name the standard deviations over seeds, ``[n_parsers]``; 0 for a single one.
        n_examples: that are scored.
    """

    parsers: tuple[str, ...]
    score: str
    systems: dict[str, tuple[float, ...]]
    deviations: dict[str, tuple[float, ...]]
    n_examples: int

    def rows(self) -> list[list[str]]:
        """The cells of a table, its head first."""
        return [[self.score, *self.parsers], *_rows(self.systems, self.deviations)]

    def table(self) -> str:
        """A table for a terminal."""
        return f"{aligned(self.rows())}\nn = {self.n_examples:,}"

    def markdown(self) -> str:
        """The table in Markdown."""
        return markdown(self.rows())


def _rows(
    systems: dict[str, tuple[float, ...]], deviations: dict[str, tuple[float, ...]]
) -> list[list[str]]:
    return [
        [
            name,
            *(
                f"{score:.2f}" + (f" ± {spread:.2f}" if spread else "")
                for score, spread in zip(scores, deviations[name], strict=True)
            ),
        ]
        for name, scores in systems.items()
    ]


def noise_curve(
    folders: Sequence[str | Path],
    data: Sequence[str | Path] = (),
    *,
    kind: str = "heads",
    shares: Sequence[float] = (),
    draws: int = 1,
    metric: str = "",
    device: str = "cpu",
) -> NoiseCurve:
    """Score models again while more and more of the syntax that they read is replaced at random.

    Args:
        folders: finished runs over the same data; those that differ in the seed alone are one
            system.
        data: files to score on; the dev examples of the runs if not given.
        kind: ``heads`` or ``tags``.
        shares: of the words, each 0 to 1; those of the papers if not given.
        draws: how often noise is drawn anew for each share.
        metric: to show; the one that comparisons of the task test, if not given.
        device: where to compute.

    Raises:
        InputError: runs or data cannot be used, or there is no such kind or metric.
    """
    _check_kind(kind)
    if draws < 1:
        raise InputError(f"noise must be drawn at least once, got {draws}")
    systems = read_systems(folders)
    metric = metric or systems[0].plan.metric
    shares = tuple(shares) or SHARES[kind]

    def parsers(own: str) -> list[list[str]]:
        # Without noise all draws are the same.
        return [
            [f"{SOURCES[kind]}:{share},{draw}:{own}" for draw in range(draws)] if share else [""]
            for share in shares
        ]

    columns = COLUMNS[kind]
    means, spreads, n_examples = _score_all(systems, data, parsers, columns, metric, device)
    return NoiseCurve(kind, shares, metric, means, spreads, n_examples, draws, "evaluation")


def training_noise_curve(
    folders: Sequence[str | Path], *, kind: str = "heads", metric: str = ""
) -> NoiseCurve:
    """The scores of models that were trained on more and more noise, as their runs tell them.

    Args:
        folders: finished runs over the same data whose ``parser`` is ``noisy:SHARE:SOURCE`` (or
            ``noisy_tags:…``), or one without noise; those that differ in nothing but seed and share
            are one line, those without guides a level one.
        kind: ``heads`` or ``tags``.
        metric: to show; the one that comparisons of the task test, if not given.

    Raises:
        InputError: runs cannot be used, or a line has no run with a share that another has.
    """
    _check_kind(kind)
    lines: dict[str, dict[float, System]] = {}
    names: dict[str, str] = {}
    systems = read_systems(folders)
    for system in systems:
        share, rest = _training_share(system.runs[0], kind)
        key = repr((rest, system.runs[0].without("parser")))
        names.setdefault(key, system.name)
        if not share:
            names[key] = system.name
        lines.setdefault(key, {})[share] = system
    shares = sorted({share for line in lines.values() for share in line})
    if shares == [0.0]:
        raise InputError(
            f"none of the runs was trained with {kind} replaced; train some with "
            f"--set parser={SOURCES[kind]}:SHARE:SOURCE, such as {SOURCES[kind]}:0.4:default-parser"
        )
    metric = metric or systems[0].plan.metric
    means, spreads = {}, {}
    for key, line in lines.items():
        level = not _reads(next(iter(line.values())).runs[0].path, COLUMNS[kind])
        if not level and (missing := [share for share in shares if share not in line]):
            raise InputError(
                f"{names[key]}: no run was trained with {missing[0]:.0%} of the {kind} replaced; "
                f"train it with --set parser={SOURCES[kind]}:{missing[0]}:SOURCE"
            )
        points = [line[share] if not level else next(iter(line.values())) for share in shares]
        scores = [[_metric(run.metrics, metric, run) for run in point.runs] for point in points]
        means[names[key]] = tuple(map(mean, scores))
        spreads[names[key]] = tuple(map(_spread, scores))
    n_examples = len(systems[0].runs[0].rows)
    return NoiseCurve(kind, tuple(shares), metric, means, spreads, n_examples, 1, "training")


def parser_table(
    folders: Sequence[str | Path],
    parsers: Sequence[str],
    data: Sequence[str | Path] = (),
    *,
    metric: str = "",
    device: str = "cpu",
) -> ParserTable:
    """Score models again with parses of other sources, side by side.

    Args:
        folders: finished runs over the same data; those that differ in the seed alone are one
            system.
        parsers: names of sources (:func:`syntagma.parse.load.load_source`), or ``own``.
        data: files to score on; the dev examples of the runs if not given.
        metric: to show; the one that comparisons of the task test, if not given.
        device: where to compute.

    Raises:
        InputError: runs, data or sources cannot be used, or there is no such metric.
    """
    systems = read_systems(folders)
    metric = metric or systems[0].plan.metric
    names = [["" if parser == OWN else parser] for parser in parsers]
    columns = set().union(*COLUMNS.values())
    means, spreads, n_examples = _score_all(systems, data, lambda _: names, columns, metric, device)
    return ParserTable(tuple(parsers), metric, means, spreads, n_examples)


Points = dict[str, tuple[float, ...]]


def _score_all(
    systems: Sequence[System],
    data: Sequence[str | Path],
    parsers: Callable[[str], Sequence[Sequence[str]]],
    columns: set[str],
    metric: str,
    device: str,
) -> tuple[Points, Points, int]:
    """Means and deviations of each system at some points, and the number of examples.

    Args:
        systems: that are scored.
        data: files; the dev examples of the runs where there are none.
        parsers: for a run's own parser the parsers of each point; empty for its own.
        columns: what of the syntax comes from them; a model that reads none is scored once.
        metric: of the points.
        device: where to compute.
    """
    means: Points = {}
    spreads: Points = {}
    n_examples = 0
    for system in systems:
        found: dict[int, list[float]] = {}
        for run in system.runs:
            examples = _examples(run, data)
            n_examples = len(examples)
            reads = _reads(run.path, columns)
            known: dict[str, float] = {}
            for point, names in enumerate(parsers(read_config(run.path).parser)):
                for name in names if reads else [""]:
                    if name not in known:
                        known[name] = _score(run, examples, name, metric, device)
                    found.setdefault(point, []).append(known[name])
        means[system.name] = tuple(map(mean, found.values()))
        spreads[system.name] = tuple(map(_spread, found.values()))
    return means, spreads, n_examples


def _check_kind(kind: str) -> None:
    if kind not in SOURCES:
        raise InputError(f"noise is put on {' or '.join(SOURCES)}, got {kind!r}")


def _spread(scores: Sequence[float]) -> float:
    return stdev(scores) if len(scores) > 1 else 0.0


def _training_share(run: RunScores, kind: str) -> tuple[float, str]:
    """How much of the syntax that a run was trained on is noise, and the parser behind it."""
    parser = str(run.settings.get("parser", ""))
    found = NOISY.fullmatch(parser)
    if found is None or found[1] != SOURCES[kind]:
        return 0.0, parser
    return float(found[2]), found[3]


def _examples(run: RunScores, data: Sequence[str | Path]) -> list[object]:
    """The examples of files, or those on which a run was scored."""
    if not data:
        return run.examples()
    task = open_model(run.path)
    paths = [str(path) for path in data]
    parts = {name: task.read(path) for name, path in zip(names_of(paths), paths, strict=True)}
    return [example for part in distinct(parts).values() for example in part]


def _score(
    run: RunScores, examples: Sequence[object], parser: str, metric: str, device: str
) -> float:
    task = open_model(run.path, parser=parser, device=device)
    return _metric(task.evaluate(examples), metric, run)


def _metric(metrics: dict[str, float], metric: str, run: RunScores) -> float:
    if metric not in metrics:
        raise InputError(f"{run.path}: has no metric {metric!r}; it has {', '.join(metrics)}")
    return metrics[metric]


def _reads(folder: Path, columns: set[str]) -> bool:
    """Whether a model reads what is replaced."""
    model = open_model(folder).model
    return isinstance(model, GuidedEncoder) and not columns.isdisjoint(model.syntax_columns)


def write_noise_curves(curves: Sequence[NoiseCurve], out: str | Path) -> None:
    """Draw curves, a panel each.

    Args:
        curves: of the same systems.
        out: the picture; its ending says which kind.

    Raises:
        InputError: the picture cannot be written.
        MissingExtraError: ``matplotlib`` is not installed.
    """
    with panels(len(curves), out, width=4.2, height=3.0) as axes:
        for axis, curve in zip(axes, curves, strict=True):
            per_cent = [100 * share for share in curve.shares]
            draw_lines(axis, per_cent, curve.systems, curve.deviations)
            axis.set_xlabel(f"{curve.kind} replaced in {curve.when}, %")
            axis.set_ylabel(f"{curve.score}, %")
