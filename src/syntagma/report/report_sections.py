"""Report sections built from saved results: scores, settings, groups, training, parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from statistics import mean, stdev
from typing import Any, NamedTuple

import yaml

from syntagma.analysis.answer_tags import tags_of_systems
from syntagma.analysis.breakdown import Breakdown, break_down_systems, write_breakdowns
from syntagma.analysis.compare import compare_systems
from syntagma.analysis.comparison import Comparison
from syntagma.analysis.curves import TRAINING_LOSS, read_curve, write_curves
from syntagma.analysis.groups import CUTS
from syntagma.analysis.interval_plot import write_intervals
from syntagma.analysis.parameters import ModelNumbers, read_numbers
from syntagma.analysis.parse_properties import measure_parses
from syntagma.analysis.systems import System
from syntagma.drawing.svg import escape
from syntagma.drawing.tables import html_table, spread
from syntagma.encoders.default import DEFAULT_PARSER
from syntagma.errors import InputError
from syntagma.parse.sources.load import load_source
from syntagma.report.report_page import Section, commands, details, plot, plots
from syntagma.runs.log import Speed, is_cut, read_speed
from syntagma.settings import flatten, to_dict
from syntagma.tasks import find_task

INTERVALS = "Differences with 95 % intervals"
MAX_GROUPS = 60
"""Maximum number of groups that fit into a plot."""


class SectionResult(NamedTuple):
    """A section of the page with its values.

    Args:
        section: the section.
        values: the same results as plain values, for ``report.json``.
        notices: what was skipped, and why.
    """

    section: Section
    values: Any
    notices: list[str]


def results_section(systems: Sequence[System], out: Path) -> SectionResult:
    """Show scores, intervals of the differences, all metrics, and the settings that differ.

    Args:
        systems: the systems.
        out: folder to write the plot of the intervals to.
    """
    notices: list[str] = []
    body, values = "", None
    if len(systems) > 1 and find_task(systems[0].runs[0].task).comparisons:
        try:
            comparison = compare_systems(systems)
            body = html_table(comparison.rows())
            body += (
                '<p class="hint">Δ and p compare each line with the first; + and − count the '
                "examples that improved and got worse.</p>"
            )
            body += html_table(comparison.interval_rows(), caption=INTERVALS)
            body += _interval_plot(comparison, out, notices)
            body += "".join(f'<p class="hint">{_sentence(line)}</p>' for line in comparison.lines())
            values = comparison.to_dict()
        except InputError as error:
            notices.append(f"the comparison: {error}")
    metrics = _metrics(systems)
    rows = [["metric", *(system.name for system in systems)]]
    rows += [[name, *map(metric_shown, found.values())] for name, found in metrics.items()]
    shown = html_table(rows)
    body += details("All metrics", shown) if body else shown
    body += _settings(systems)
    return SectionResult(
        Section("Results", body), {"comparison": values, "metrics": metrics}, notices
    )


def _sentence(line: str) -> str:
    return escape(line.replace("`", "")) + "."


def _interval_plot(comparison: Comparison, out: Path, notices: list[str]) -> str:
    """Plot the intervals; without Matplotlib, add a notice instead."""
    path = out / "intervals.svg"
    try:
        write_intervals(comparison, path)
    except InputError as error:
        notices.append(f"the plot of the intervals: {error}")
        return ""
    return plots([plot(path, f"{INTERVALS}; ticks: detectable differences", wide=True)])


def _metrics(systems: Sequence[System]) -> dict[str, dict[str, list[float]]]:
    """Return the values of each metric over the seeds of each system."""
    return {
        name: {
            system.name: [float(run.metrics[name]) for run in system.runs if name in run.metrics]
            for system in systems
        }
        for name in systems[0].runs[0].metrics
    }


def metric_shown(values: Sequence[float]) -> str:
    """Format a metric; the same whole number for all seeds is taken to be a count."""
    is_count = len({*values}) == 1 and values[0].is_integer()
    return _format_mean(values[:1], 0) if is_count else _format_mean(values)


def _format_mean(values: Sequence[float], places: int = 2) -> str:
    """Format a mean over seeds, with the standard deviation unless all values are equal."""
    if not values:
        return "–"
    return spread(mean(values), stdev(values) if len({*values}) > 1 else None, places)


def _settings(systems: Sequence[System]) -> str:
    """Show the settings in which systems differ, and all settings of each system."""
    # Runs of a system differ only in their seed, so the first run represents it.
    flat = [flatten(to_dict(system.runs[0].experiment)) for system in systems]
    keys = dict.fromkeys(key for settings in flat for key in settings)
    rows = [["setting", *(system.name for system in systems)]]
    for key in keys:
        found = [str(settings.get(key, "–")) for settings in flat]
        if len(set(found)) > 1 and key != "training.seed":
            rows.append([key, *found])
    body = ""
    if len(rows) > 1:
        body = f"<h3>Settings that differ</h3>{html_table(rows)}"
    for system in systems:
        text = yaml.safe_dump(
            to_dict(system.runs[0].experiment), sort_keys=False, allow_unicode=True
        )
        body += details(f"All settings of {system.name}", commands([text.rstrip()]))
    return body


def groups_section(
    systems: Sequence[System], out: Path, *, parser: str = DEFAULT_PARSER
) -> SectionResult:
    """Break scores down by properties of the examples and of their parses.

    Numeric properties are binned into groups of equal size and into groups of equal range.

    Args:
        systems: systems evaluated on the same data.
        out: folder to write plots to.
        parser: the parse source, see :func:`syntagma.parse.sources.load.load_source`.
    """
    name = "Groups of examples"
    try:
        examples = systems[0].runs[0].examples()
    except InputError as error:
        return SectionResult(Section(name, ""), {}, [f"groups of examples: {error}"])
    notices: list[str] = []
    figures, tables, values = [], [], {}
    measured: dict[str, dict[str, float]] = {}
    # Whatever cannot be computed is skipped with a notice; the rest of the report is still useful.
    try:
        measured = measure_parses(examples, source=load_source(parser))
    except InputError as error:
        notices.append(f"groups by properties of parses: {error}")
    groupings = find_task(systems[0].runs[0].task).groupings
    for property in [*groupings, *measured] if examples else ():
        number = property in measured or groupings[property].is_number
        # Numbers are binned in both ways, other values into one group each.
        try:
            found = [
                break_down_systems(
                    systems, examples, property, cut=cut, values=measured.get(property)
                )
                for cut in (CUTS[::-1] if number else CUTS[:1])
            ]
        except InputError as error:
            notices.append(f"groups by {property}: {error}")
            continue
        # One group shows nothing; too many cannot be read.
        if not 1 < len(found[0].grouping.groups) <= MAX_GROUPS:
            continue
        values[property] = [each.to_dict() for each in found]
        body = "".join(html_table(each.rows(), caption=each.caption) for each in found)
        tables.append(details(f"By {property.replace('_', ' ')}", body))
        try:
            figures.append(_group_plot(found, out))
        except InputError as error:
            notices.append(f"plots: {error}")
    if not values:
        return SectionResult(Section(name, ""), {}, notices)
    hint = (
        '<p class="hint">Numeric properties are binned into at most 20 groups of equal size and of '
        "equal range (properties with fewer values have one group per value). Their trend line is "
        "a least-squares fit through the group means, weighted by the number of examples.</p>"
    )
    return SectionResult(Section(name, hint + plots(figures) + "".join(tables)), values, notices)


def tags_section(systems: Sequence[System], *, parser: str = DEFAULT_PARSER) -> SectionResult:
    """Count part-of-speech tags at the boundaries of answers, for readers.

    Args:
        systems: the systems.
        parser: the parse source that provides the tags.
    """
    name = "Answer boundaries"
    if systems[0].runs[0].task != "spans":
        return SectionResult(Section(name, ""), {}, [])
    try:
        found = tags_of_systems(systems, parser=parser)
    except InputError as error:
        return SectionResult(Section(name, ""), {}, [f"tags at answer boundaries: {error}"])
    hint = (
        '<p class="hint">How often each Penn tag occurs at the first or last word of the gold '
        "answer and of the answers of each system; and, by the tag of the gold word, how often a "
        "system answers wrongly and its boundary word has a different tag than the nearest gold "
        "answer. "
        f"Based on {found.n_questions:,} questions with an answer.</p>"
    )
    body = html_table(found.rows())
    body += "".join(f"<p>{escape(line)}</p>" for line in found.lines())
    return SectionResult(Section(name, hint + body), asdict(found), [])


def _group_plot(found: Sequence[Breakdown], out: Path) -> str:
    """Plot a breakdown, with a panel for each way of binning."""
    property = found[0].grouping.property
    path = out / f"by_{property}.svg"
    write_breakdowns([replace(each, title=each.grouping.described()) for each in found], path)
    caption = f"{found[0].score} by {property.replace('_', ' ')}"
    return plot(path, caption, wide=len(found) > 1)


def training_section(systems: Sequence[System], out: Path) -> SectionResult:
    """Show training curves and training speed.

    Args:
        systems: the systems.
        out: folder to write plots to.
    """
    runs = [(system.name, run.path) for system in systems for run in system.runs]
    notices: list[str] = []
    body, values = "", {}
    try:
        own = find_task(systems[0].runs[0].task).curves
        primary = "" if own else _evaluated(systems)
        metrics = {
            "training loss": (TRAINING_LOSS, ""),
            **(own or {f"dev {primary}": (primary, "")}),
        }
        path = out / "curves.svg"
        folders = [run for _, run in runs]
        write_curves(folders, metrics, path, names=[name for name, _ in runs])
        shown = primary or "metrics"
        body = plot(
            path, f"loss on the training data, and {shown} on the dev files", wide=bool(own)
        )
    except InputError as error:
        notices.append(f"training curves: {error}")
    try:
        for _, run in runs:
            # The last line of a killed run may be incomplete; its other records are still valid.
            if is_cut(run):
                notices.append(f"training: {run}: the incomplete last line of metrics.jsonl")
        speeds = {system.name: [read_speed(run.path) for run in system.runs] for system in systems}
        body += html_table(speed_rows(speeds))
        body += (
            '<p class="hint">Speed is measured by the trainer and includes evaluations; for a '
            "resumed run it covers the time since the last start. Only the first run that needs a "
            "text parses it; later runs read the parse from the cache. Speeds are comparable only "
            "between runs on the same, otherwise idle machine. Thresholds are fitted on the dev "
            "files after training, that is, after the last point of the curve.</p>"
        )
        values = {name: [speed.to_dict() for speed in found] for name, found in speeds.items()}
    except InputError as error:
        notices.append(f"training speed: {error}")
    return SectionResult(Section("Training", body), values, notices)


def _evaluated(systems: Sequence[System]) -> str:
    """Return the metric whose curve is drawn: the task's primary one if logged, else the tested."""
    runs = [run for system in systems for run in system.runs]
    for own in find_task(runs[0].task).primaries(runs[0].experiment):
        if any(read_curve(run.path, own) for run in runs):
            return own
    return systems[0].compared.metric


def speed_rows(speeds: dict[str, list[Speed]]) -> list[list[str]]:
    """Build the table of speeds, without columns that no run has."""
    columns = {
        "steps": ("steps", 0),
        "examples/s": ("examples_per_second", 1),
        "steps/s": ("steps_per_second", 2),
        "tokens/s": ("pieces_per_second", 0),
        "hours": ("hours", 2),
        "seconds per evaluation": ("evaluation_seconds", 1),
        "parsed words/s": ("parsed_words_per_second", 0),
    }
    found = {
        title: [[getattr(speed, name) for speed in group] for group in speeds.values()]
        for title, (name, _) in columns.items()
    }
    shown = [
        title
        for title, groups in found.items()
        if any(value is not None for group in groups for value in group)
    ]
    rows = [["", *shown]]
    for place, system in enumerate(speeds):
        cells = ([v for v in found[title][place] if v is not None] for title in shown)
        digits = (columns[title][1] for title in shown)
        rows.append([system, *map(_format_mean, cells, digits)])
    return rows


def models_section(systems: Sequence[System]) -> SectionResult:
    """Show numbers of parameters, and learned values of the guides, of the saved models."""
    notices: list[str] = []
    numbers: dict[str, list[ModelNumbers]] = {}
    for system in systems:
        for run in system.runs:
            try:
                found = read_numbers(run.path)
            except InputError as error:
                notices.append(f"parameters: {error}")
                continue
            if found is None:
                notices.append(
                    f"{run.path}: parameters and attention, since model.safetensors does not exist"
                )
            else:
                numbers.setdefault(system.name, []).append(found)
    if not numbers:
        return SectionResult(Section("Models", ""), {}, notices)
    body = html_table(_parameter_rows(numbers))
    every = [each for group in numbers.values() for each in group]
    names = dict.fromkeys(name for each in every for name in each.learned)
    if names:
        rows = [["", *numbers]]
        for name in names:
            values = (
                [n.learned[name] for n in group if name in n.learned] for group in numbers.values()
            )
            rows.append([name, *(_format_mean(found, 4) for found in values)])
        body += html_table(rows, caption="Learned or fixed values of the guides")
    plain = {
        name: [{"parameters": n.parameters, "learned": n.learned} for n in group]
        for name, group in numbers.items()
    }
    return SectionResult(Section("Models", body), plain, notices)


def _parameter_rows(numbers: dict[str, list[ModelNumbers]]) -> list[list[str]]:
    """Build the table of parameters; the seeds of a system have the same, so one run is enough."""
    first = {name: group[0] for name, group in numbers.items()}
    modules = dict.fromkeys(name for found in first.values() for name in found.parameters)
    rows = [["parameters", *first]]
    for module in modules:
        counts = (found.parameters.get(module, 0) for found in first.values())
        rows.append([module, *(f"{count:,}" for count in counts)])
    base = next(iter(first.values())).total
    totals = [found.total for found in first.values()]
    rows.append(["total", *(f"{total:,}" for total in totals)])
    if len(totals) > 1:
        rows.append(["vs. the first", *(f"{total / base - 1:+.1%}" for total in totals)])
    return rows
