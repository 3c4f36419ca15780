"""A comparison of systems: its values, and its tables for a terminal, a page and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from syntagma.analysis.intervals import LEVEL, Interval
from syntagma.drawing.svg import escape
from syntagma.drawing.tables import aligned, html_table, markdown, signed, spread
from syntagma.reprs import brief, counted, quoted

SEEDS, EXAMPLES, BOTH = "seeds", "examples", "both"

OVER = (SEEDS, EXAMPLES, BOTH)
"""What an interval is over: what varies, and would be different another time."""

SEEDS_TESTS = {"paired t": "paired t-test", "welch": "Welch's t-test"}
"""The tests over seeds, in words."""

ON_BOTH = "both: other seeds and other examples"
"""The explanation of intervals over both."""


def interval_notes(tests: Iterable[str], bootstrap: str, *, both: bool = False) -> Iterator[str]:
    """Yield the explanations of a table of intervals, a line for each kind that it has.

    Args:
        tests: the tests over seeds, keys of :data:`SEEDS_TESTS`; empty ones do not count.
        bootstrap: :attr:`Comparison.bootstrap`; empty without intervals over examples.
        both: whether there are intervals over both.
    """
    if known := sorted({*tests} - {""}):
        named = " or ".join(SEEDS_TESTS[test] for test in known)
        yield f"seeds: {named}, for these examples"
    if bootstrap:
        yield f"examples: {bootstrap}, for these runs"
    if both:
        yield ON_BOTH


@dataclass(frozen=True, slots=True, repr=False)
class ComparedSystem:
    """A line of a comparison: the runs of one experiment with different seeds.

    Args:
        name: name of the run folder, without the seed if there are several runs.
        runs: paths of the run folders.
        seeds: seeds of the runs.
        metrics: means over the runs, by name.
        deviations: sample standard deviations over the runs; empty for a single run.
        sources: name, version and digest of the encoder and the parser of the first run.
        difference: difference of the tested metric from the baseline, mean over the compared runs.
        gained: number of examples with a higher score than the baseline's.
        lost: number of examples with a lower score.
        p_value: p-value of the paper's test; ``None`` for the baseline.
        p_holm: ``p_value`` corrected for the number of comparisons.
        p_resampled: p-value of the permutation test, or of the paired bootstrap if the metric is
            not a mean over examples; not corrected.
        paired: whether the runs are paired with those of the baseline by their seed.
        pairing: why they are, or why not, and which runs are not used.
        shared_seeds: the seeds of the pairs.
        intervals: intervals of the difference, by what they are over, of :data:`OVER`; those that
            are undefined are missing.
        corrected: p-value of each interval, corrected for the number of comparisons.
    """

    name: str
    runs: tuple[str, ...]
    seeds: tuple[int, ...]
    metrics: dict[str, float]
    deviations: dict[str, float]
    sources: dict[str, dict[str, str]] = field(default_factory=dict)
    difference: float = 0.0
    gained: int = 0
    lost: int = 0
    p_value: float | None = None
    p_holm: float | None = None
    p_resampled: float | None = None
    paired: bool = False
    pairing: str = ""
    shared_seeds: tuple[int, ...] = ()
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    corrected: Mapping[str, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        difference = "baseline" if self.p_value is None else f"Δ {signed(self.difference)}"
        return brief(self, quoted(self.name), counted(len(self.runs), "run"), difference)

    @property
    def p_seeds(self) -> float | None:
        """p-value over seeds: of the paired t-test if paired, else of Welch's; not corrected."""
        over = self.intervals.get("seeds")
        return over.p_value if over else None

    @property
    def seeds_test(self) -> str:
        """The test over seeds: ``paired t``, ``welch``, or empty if there is none."""
        return ("paired t" if self.paired else "welch") if "seeds" in self.intervals else ""

    def interval_cells(self, over: str) -> list[str]:
        """Return the cells of an interval: its ends, p, p (Holm), and what it would have shown.

        Args:
            over: what the interval is over; the cells are dashes if it is undefined.
        """
        interval = self.intervals.get(over)
        if interval is None:
            return ["–"] * 4
        found = interval.detectable
        return [
            f"{signed(interval.low)} … {signed(interval.high)}",
            show_p(interval.p_value),
            show_p(self.corrected.get(over)),
            "–" if found is None else f"{found:.2f}",
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; those of an interval are in keys such as ``seeds_low``."""
        values = asdict(self)
        del values["intervals"], values["corrected"]
        values["seeds_test"] = self.seeds_test
        for over in OVER:
            interval = self.intervals.get(over)
            values[f"{over}_low"] = interval.low if interval else None
            values[f"{over}_high"] = interval.high if interval else None
            values[f"p_{over}"] = interval.p_value if interval else None
            values[f"p_{over}_holm"] = self.corrected.get(over)
            values[f"{over}_detectable"] = interval.detectable if interval else None
        return values


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """A comparison of systems on the same examples, tested if there is more than one.

    Args:
        task: name of the task.
        columns: names of the metrics to show.
        metric: name of the metric that is tested.
        test: description of ``p_value``, ``p_resampled`` and ``p_seeds``, or why there is no test.
        n_examples: number of examples.
        systems: the systems in the given order, the baseline first.
        cluster: kind of the clusters that were resampled; empty if there is no test.
        n_clusters: number of clusters.
        n_resamples: number of resamples.
        clusters: description of the clusters.
        notes: what else is to be known about the data.
    """

    task: str
    columns: tuple[str, ...]
    metric: str
    test: str
    n_examples: int
    systems: tuple[ComparedSystem, ...]
    cluster: str = ""
    n_clusters: int = 0
    n_resamples: int = 0
    clusters: str = ""
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        systems = ", ".join(system.name for system in self.systems)
        examples = counted(self.n_examples, "example")
        return brief(self, quoted(systems), f"{self.metric} of {self.task}", examples)

    def _repr_html_(self) -> str:
        tables = "".join(html_table(rows) for rows in (self.rows(), self.interval_rows()) if rows)
        notes = "".join(f"<p>{escape(line)}</p>" for line in self.lines())
        return f'<div class="syntagma-comparison">{tables}{notes}</div>'

    @property
    def others(self) -> tuple[ComparedSystem, ...]:
        """The systems that are compared with the baseline."""
        return self.systems[1:]

    @property
    def bootstrap(self) -> str:
        """What the intervals over examples are computed by."""
        return f"bootstrap over {self.clusters}, {self.n_resamples:,} resamples"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        values = {key: getattr(self, key) for key in self.__slots__ if key != "systems"}
        return values | {"systems": [system.to_dict() for system in self.systems]}

    def to_json(self) -> str:
        """Return :meth:`to_dict` as one line of JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def rows(self) -> list[list[str]]:
        """Return the cells of the table of scores, header first.

        The paper's test and the resampled p-value are only for runs that are not paired.
        """
        several = any(len(system.runs) > 1 for system in self.systems)
        tested, corrected = len(self.systems) > 1, len(self.systems) > 2
        unpaired = any(not system.paired for system in self.others)
        head = ["", *(["seeds"] if several else []), *self.columns]
        if tested:
            head += [f"Δ {self.metric}", "+", "−"]
        if tested and unpaired:
            head += ["p", *(["p (Holm)"] if corrected else []), "p (resampled)"]
        rows = [head]
        for system in self.systems:
            row = [system.name, *([str(len(system.runs))] if several else [])]
            for column in self.columns:
                mean_score = system.metrics.get(column, float("nan"))
                row.append(spread(mean_score, system.deviations.get(column)))
            if system.p_value is None:
                row += ["baseline"] if tested else []
            else:
                row += [signed(system.difference), str(system.gained), str(system.lost)]
            if system.p_value is not None and not system.paired:
                shown = [system.p_value, *([system.p_holm] if corrected else [])]
                row += map(show_p, [*shown, system.p_resampled])
            rows.append(row + [""] * (len(head) - len(row)))
        return rows

    def interval_rows(self) -> list[list[str]]:
        """Return the cells of the table of intervals, header first; none without comparisons."""
        corrected = len(self.others) > 1
        several = any(len(system.runs) > 1 for system in self.systems)
        head = ["over", f"Δ {self.metric}", "95 %", "p", *(["p (Holm)"] if corrected else [])]
        rows = [["", *head, "detectable"]]
        for system in self.others:
            for place, over in enumerate(OVER if several else ("examples",)):
                start = ["" if place else system.name, over, signed(system.difference)]
                ends, p_value, p_holm, detectable = system.interval_cells(over)
                shown = [ends, p_value, *([p_holm] if corrected else []), detectable]
                rows.append([*start, *shown])
        return rows if self.others else []

    def lines(self) -> Iterator[str]:
        """Yield the explanations of the tables: which test, why, and what it would have shown."""
        if not self.others:
            yield f"{self.test}, n = {self.n_examples:,}"
            return
        if any(not system.paired for system in self.others):
            yield f"{self.test}, n = {self.n_examples:,}"
        reasons: dict[tuple[bool, str], list[str]] = {}
        for system in self.others:
            reasons.setdefault((system.paired, system.pairing), []).append(system.name)
        for (paired, reason), names in reasons.items():
            kind = "paired by seed," if paired else "not paired, since"
            yield f"{', '.join(names)}: {kind} {reason}"
        tests = {system.seeds_test for system in self.others}
        yield from interval_notes(tests, self.bootstrap)
        if any(tests):
            yield f"{ON_BOTH}; needs three shared seeds, or runs of each"
        yield "detectable: the smallest difference that is found with 80 % power at 5 %"
        yield from self.notes
        if len(self.others) > 1:
            yield (
                f"Holm: corrected for the {len(self.others)} comparisons with "
                f"{self.systems[0].name}; other p-values are not corrected"
            )
        yield from self._without_finding()

    def _without_finding(self) -> Iterator[str]:
        """Yield a line for each system whose difference is not shown, with what it may still be."""
        for system in self.others:
            missed = [
                f"{over} (would have shown {interval.detectable:.2f})"
                for over, interval in system.intervals.items()
                if system.corrected.get(over, interval.p_value) >= LEVEL and interval.detectable
            ]
            if missed:
                yield f"{system.name}: no finding over {', '.join(missed)}"

    def table(self) -> str:
        """Format as tables for a terminal."""
        tables = [aligned(rows) for rows in (self.rows(), self.interval_rows()) if rows]
        gap = "\n\n" if len(tables) > 1 else "\n"
        return gap.join([*tables, "\n".join(self.lines())])

    def markdown(self) -> str:
        """Format as a Markdown table of the scores, and one of the intervals."""
        tables = [self.rows(), self.interval_rows()]
        return "\n\n".join(markdown(rows) for rows in tables if rows)


def show_p(p_value: float | None) -> str:
    """Format a p-value with four decimals, and very small ones as a bound; a dash for ``None``.

    >>> show_p(0.03125), show_p(1e-9), show_p(None)
    ('0.0312', '<0.0001', '–')
    """
    if p_value is None:
        return "–"
    return "<0.0001" if p_value < 0.00005 else f"{p_value:.4f}"
