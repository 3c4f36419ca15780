"""Compare the scores of models with parses of several sources."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from syntagma.analysis.cluster_bootstrap import MEAN, resample_clusters
from syntagma.analysis.clusters import Clusters, check_kind, clusters_of_examples
from syntagma.analysis.comparison import BOTH, EXAMPLES, SEEDS
from syntagma.analysis.differences import paired_intervals, sums_of
from syntagma.analysis.intervals import Interval, paired_seeds
from syntagma.analysis.robustness.rescoring import (
    Rescored,
    Scores,
    check_metric,
    level_note,
    level_systems,
    means_and_spreads,
    read_examples,
    rows_of,
    score_system,
    scores_of,
)
from syntagma.analysis.systems import System, read_systems, require_same_numbers, with_classes
from syntagma.drawing.tables import aligned, signed
from syntagma.errors import MissingExtraError
from syntagma.parse.sources.load import load_source
from syntagma.tasks import find_task
from syntagma.tasks.comparison.comparisons import ComparedMetric

log = logging.getLogger(__name__)

OWN = "own"
"""Name for the parse source that a model was trained with."""
PARSES = "heads or tags"
"""What changes with the parse source."""
PREFERRED = (BOTH, EXAMPLES, SEEDS)
"""Which interval is shown: the first that is defined."""


@dataclass(frozen=True, slots=True)
class ParserTable:
    """Scores of systems by parse source.

    Args:
        parsers: names of the parse sources, ``[n_parsers]``.
        score: name of the score, which is in per cent.
        systems: scores of each system, means over seeds, ``[n_parsers]``.
        deviations: standard deviations over seeds, ``[n_parsers]``; 0 for a single score.
        level: names of the systems that do not read parses, whose scores are all equal.
        n_examples: number of examples.
        intervals: of systems that read parses, the intervals of the difference from the first parse
            source by what they are over, of :data:`syntagma.analysis.comparison.OVER`,
            ``[n_parsers - 1]``; those that are undefined are missing.  Without scipy there are
            none.
        clusters: what was resampled for the intervals over examples, in words.
    """

    parsers: tuple[str, ...]
    score: str
    systems: dict[str, tuple[float, ...]]
    deviations: dict[str, tuple[float, ...]]
    level: tuple[str, ...]
    n_examples: int
    intervals: dict[str, tuple[dict[str, Interval], ...]] = field(default_factory=dict)
    clusters: str = ""

    @property
    def over(self) -> str:
        """What the intervals that are shown are over, of :data:`PREFERRED`; empty without any."""
        defined = {over for of in self.intervals.values() for each in of for over in each}
        return next((over for over in PREFERRED if over in defined), "")

    def interval(self, name: str, place: int) -> Interval | None:
        """Return the interval that is shown; ``None`` if it is undefined.

        Args:
            name: name of the system.
            place: place of the parse source, from 1; 0 is the one that it is compared with.
        """
        return self.intervals[name][place - 1].get(self.over)

    def rows(self) -> list[list[str]]:
        """Return the cells of a table, header first."""
        return [[self.score, *self.parsers], *rows_of(self.systems, self.deviations)]

    def summary(self) -> str:
        """Describe the measurement in a line."""
        n_examples = f"n = {self.n_examples:,}"
        return f"{n_examples}{self._intervals_in_words()}{level_note(self.level, PARSES)}"

    def _intervals_in_words(self) -> str:
        over = {
            "": "",
            SEEDS: "seeds, paired t",
            EXAMPLES: f"{self.clusters}, of these runs",
            BOTH: f"seeds and {self.clusters}",
        }[self.over]
        return over and f"; intervals over {over}"

    def table(self) -> str:
        """Format as a table for a terminal."""
        parts = [aligned(self.rows())]
        if self.over:
            parts.append(aligned(self.difference_rows()))
        return "\n\n".join([*parts, self.summary()])

    def difference_rows(self) -> list[list[str]]:
        """Return the cells of the table of differences from the first parse source."""
        rows = [
            [f"Δ {self.score}, 95 %", *(f"{name} − {self.parsers[0]}" for name in self.parsers[1:])]
        ]
        for name in self.intervals:
            first, *others = self.systems[name]
            found = [self.interval(name, place) for place in range(1, len(self.parsers))]
            cells = [
                signed(score - first) + (f" ({signed(of.low)} … {signed(of.high)})" if of else "")
                for score, of in zip(others, found, strict=True)
            ]
            rows.append([name, *cells])
        return rows


def parser_table(
    folders: Sequence[str | Path],
    parsers: Sequence[str],
    data: Sequence[str | Path] = (),
    *,
    metric: str = "",
    cluster: str = "",
    device: str = "cpu",
) -> ParserTable:
    """Score models again with parses of other sources.

    Args:
        folders: finished runs on the same data; runs that differ only in their seed form one
            system.
        parsers: names of parse sources (:func:`syntagma.parse.sources.load.load_source`), or
            ``own``; duplicates are removed.
        data: files to evaluate on; defaults to the dev examples of the runs.
        metric: metric to show; defaults to the one that comparisons of the task test.
        cluster: kind of the clusters of examples that are resampled, see
            :func:`syntagma.analysis.compare.compare_runs`.
        device: device to run the models on.

    Raises:
        InputError: runs, data or sources cannot be used, ``metric`` is unknown, or no model reads
            parses.
    """
    parsers = tuple(dict.fromkeys(parsers))
    check_kind(cluster)
    check_sources(parsers)
    systems = read_systems(folders)
    require_same_numbers(systems)
    metric = check_metric(metric, systems, data)
    names = [["" if parser == OWN else parser] for parser in parsers]
    level = level_systems({system.name: system.runs[0].path for system in systems}, PARSES)
    tested = _tested(systems[0], metric)
    examples = read_examples(systems, data)
    clusters = _clusters(systems[0], examples, cluster)
    scores: Scores = {}
    intervals: dict[str, tuple[dict[str, Interval], ...]] = {}
    for system in systems:
        is_level = system.name in level
        points = score_system(system, examples, lambda _: names, is_level, metric, device)
        scores[system.name] = scores_of(points)
        if is_level or len(points) < 2:
            continue
        try:
            intervals[system.name] = _from_the_first(points, tested, clusters)
        except MissingExtraError as error:
            # The scores have taken long, and say much without intervals.
            log.warning("differences without intervals: %s", error)
    means, spreads = means_and_spreads(scores)
    described = clusters.described() if intervals and tested else ""
    return ParserTable(parsers, metric, means, spreads, level, len(examples), intervals, described)


def _clusters(system: System, examples: Sequence[object], kind: str) -> Clusters:
    task = find_task(system.runs[0].task)
    by_id = {task.row_id(example, place): example for place, example in enumerate(examples)}
    return clusters_of_examples(task, by_id, kind)


def _tested(system: System, metric: str) -> ComparedMetric | None:
    """Return how the metric follows from scores of examples; ``None`` if that is not known."""
    comparisons = find_task(system.runs[0].task).comparisons
    return next((each for each in comparisons if each.metric == metric), None)


def _from_the_first(
    points: Sequence[Sequence[Rescored]], metric: ComparedMetric | None, clusters: Clusters
) -> tuple[dict[str, Interval], ...]:
    """Compute the intervals of the differences from the first point.

    Args:
        points: the runs at each point, ``[n_points][n_runs]``.
        metric: how the score follows from those of the examples; without it there are intervals
            over seeds only.
        clusters: the clusters of the examples.

    Returns:
        The intervals by what they are over, ``[n_points - 1]``.
    """
    first, *others = (np.array(scores) for scores in scores_of(points))
    differences = [(other - first).tolist() for other in others]
    if metric is None:
        seeds = map(paired_seeds, differences)
        return tuple({SEEDS: found} if found else {} for found in seeds)
    runs = [run for of in points for run in of]
    metric = with_classes(metric, (row for run in runs for row in run.rows.values()))
    resampled = resample_clusters(
        [sums_of(run.rows, metric, clusters) for run in runs], metric.sums or MEAN
    ).reshape(len(points), len(first), -1)
    return tuple(
        paired_intervals(of, draws - resampled[0], clusters.number)
        for of, draws in zip(differences, resampled[1:], strict=True)
    )


def check_sources(parsers: Sequence[str]) -> None:
    """Check that parse sources exist and can be used.

    Args:
        parsers: names of parse sources, see :func:`parser_table`.

    Raises:
        InputError: a source is unknown or cannot be used.
    """
    for parser in parsers:
        if parser != OWN:
            load_source(parser)
