"""The result of a study: means, differences from the controls, and what was chosen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from syntagma.analysis.compare import correct
from syntagma.analysis.comparison import (
    BOTH,
    EXAMPLES,
    OVER,
    ComparedSystem,
    Comparison,
    interval_notes,
)
from syntagma.analysis.interval_plot import draw_comparisons
from syntagma.drawing.tables import aligned, signed, spread
from syntagma.reprs import brief, counted, quoted
from syntagma.studies.settings import Study


@dataclass(frozen=True, slots=True)
class ChosenValues:
    """The values that were chosen for a system.

    Args:
        settings: ``key=value``, those of the system that it is ``like`` first.
        metric: by which they were chosen.
        tried: every combination, and its score on the data that choose.
    """

    settings: tuple[str, ...] = ()
    metric: str = ""
    tried: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class StudyPair:
    """A system and its control.

    Args:
        system: name of the system.
        control: name of the control.
        control_values: means of the control over the shared seeds.
        compared: means of the system, and its differences from the control.
    """

    system: str
    control: str
    control_values: ComparedSystem
    compared: ComparedSystem

    @property
    def name(self) -> str:
        """Name of the comparison; ``sg-net − all`` is short for ``sg-net − sg-net-all``."""
        return f"{self.system} − {self.control.removeprefix(f'{self.system}-')}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        # Names of folders, so that the file says nothing about the machine.
        runs = [Path(run).name for run in self.compared.runs]
        names = {"system": self.system, "control": self.control}
        return names | self.compared.to_dict() | {"runs": runs}


@dataclass(frozen=True, slots=True, repr=False)
class StudyResult:
    """The result of a study.

    Args:
        name: name of the study.
        asks: its question.
        metric: the metric that is compared.
        columns: the metrics to show.
        pairs: the comparisons that have runs.
        chosen: what was chosen for each system.
        seeds: number of seeds that the study wants.
        n_comparisons: number of comparisons that it wants, for which p-values are corrected.
        described: what the intervals are over.
    """

    name: str
    asks: str
    metric: str
    columns: tuple[str, ...]
    pairs: tuple[StudyPair, ...]
    chosen: Mapping[str, ChosenValues]
    seeds: int
    n_comparisons: int
    described: str

    def __repr__(self) -> str:
        return brief(self, quoted(self.name), counted(len(self.pairs), "comparison"))

    @classmethod
    def of(
        cls,
        study: Study,
        compared: Sequence[tuple[str, str, Comparison]],
        chosen: Mapping[str, ChosenValues],
    ) -> StudyResult:
        """Build the result from the comparison of each pair.

        Args:
            study: the study.
            compared: system, control, and their comparison, the control first in it.
            chosen: what was chosen for each system.
        """
        found = [comparison.others[0] for _, _, comparison in compared]
        corrected = correct(found, n_absent=len(study.compare) - len(found))
        pairs = [
            StudyPair(system, control, comparison.systems[0], other)
            for (system, control, comparison), other in zip(compared, corrected, strict=True)
        ]
        first = compared[0][2] if compared else None
        return cls(
            study.name,
            study.asks,
            first.metric if first else study.metric,
            first.columns if first else (),
            tuple(pairs),
            chosen,
            study.seeds,
            len(study.compare),
            first.bootstrap if first else "",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "name": self.name,
            "asks": self.asks,
            "metric": self.metric,
            "seeds": self.seeds,
            "examples": self.described,
            "systems": {name: of.metrics for name, of in self._systems().items()},
            "deviations": {name: of.deviations for name, of in self._systems().items()},
            "chosen": {name: asdict(values) for name, values in self.chosen.items()},
            "comparisons": [pair.to_dict() for pair in self.pairs],
        }

    def _systems(self) -> dict[str, ComparedSystem]:
        """The means of each system, over as many seeds as one of its comparisons has."""
        found: dict[str, ComparedSystem] = {}
        for pair in self.pairs:
            for name, of in ((pair.control, pair.control_values), (pair.system, pair.compared)):
                if name not in found or len(of.runs) > len(found[name].runs):
                    found[name] = of
        return found

    def table(self) -> str:
        """Format as tables for a terminal."""
        if not self.pairs:
            return f"{self.name}: no two systems with finished runs yet"
        means = [["", "seeds", *self.columns, "chosen"]]
        for name, of in self._systems().items():
            values = self.chosen.get(name, ChosenValues()).settings
            means.append([
                name,
                str(len(of.runs)),
                *(spread(of.metrics.get(c, float("nan")), of.deviations.get(c))
                  for c in self.columns),
                ", ".join(values),
            ])  # fmt: skip
        rows = [["", "seeds", f"Δ {self.metric}", "over", "95 %", "p", "p (Holm)", "detectable"]]
        for pair in self.pairs:
            rows += _rows(pair)
        return "\n\n".join(
            [f"{self.name}: {self.asks}", aligned(means), aligned(rows), "\n".join(self._notes())]
        )

    def _notes(self) -> Iterator[str]:
        found = {over for pair in self.pairs for over in pair.compared.intervals}
        yield from interval_notes(
            {pair.compared.seeds_test for pair in self.pairs},
            self.described if EXAMPLES in found else "",
            both=BOTH in found,
        )
        for pair in self.pairs:
            if not pair.compared.paired:
                yield f"{pair.name}: not paired, since {pair.compared.pairing}"
        if self.n_comparisons > 1:
            yield f"Holm: corrected for the {self.n_comparisons} comparisons of the study"
        if absent := self.n_comparisons - len(self.pairs):
            yield f"not finished: {counted(absent, 'comparison')} without runs"
        fewest = min(len(pair.compared.runs) for pair in self.pairs)
        if fewest < self.seeds:
            yield f"not finished: {fewest} of {self.seeds} seeds in some comparison"


def write_plot(results: Sequence[StudyResult], path: Path) -> None:
    """Plot the intervals of all comparisons; of several studies, a panel each.

    Args:
        results: of studies with the same metric.
        path: of the figure; its suffix gives the format.

    Raises:
        InputError: a study has no comparisons with runs, or the figure cannot be written.
        MissingExtraError: ``matplotlib`` is not installed.
    """
    panels = [
        (found.name if len(results) > 1 else "", [(of.name, of.compared) for of in found.pairs])
        for found in results
    ]
    draw_comparisons(panels, f"Δ {results[0].metric}", path)


def _rows(pair: StudyPair) -> Iterator[list[str]]:
    """Yield the rows of a comparison, one for each kind of interval."""
    of = pair.compared
    head = [pair.name, str(len(of.runs)), signed(of.difference)]
    if not of.intervals:
        yield [*head, "–", "–", "–", "–", "–"]
    for place, over in enumerate(over for over in OVER if over in of.intervals):
        yield [*(["", "", ""] if place else head), over, *of.interval_cells(over)]
