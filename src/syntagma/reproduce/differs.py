"""List how a reproduction differs from the paper, as far as settings and data show it.

Every setting that differs is named, every setting that the paper leaves open, the sizes of the
encoders, and what a model was trained on before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from syntagma.reproduce.entries import read_papers
from syntagma.reproduce.plan import EntryPlan, in_order
from syntagma.reproduce.runs import Run
from syntagma.reproduce.scores import part_scored
from syntagma.reproduce.shapes import shape_of
from syntagma.reproduce.stated import (
    EPOCHS,
    STEPS,
    chosen_lines,
    has_cost,
    in_paper,
    shown,
    values_of,
)

ANCESTORS = "ancestor_attention"
FIRST_PIECE = ("first", "pooler")
TIMED = ("steps_per_second", "step_ratio")
"""Metrics of a cost that are measured with a clock."""


def differences(plan: EntryPlan) -> Iterator[str]:
    """Yield a line for each difference from the paper; the same before and after training.

    Args:
        plan: plan of the entry.
    """
    paper, setting = read_papers()[plan.entry.paper], plan.setting
    for name, encoder in plan.encoders.items():
        theirs = paper.encoders.get(name)
        if theirs and theirs != encoder:
            yield f"encoder: {_with_shape(encoder)}; the paper's is {_with_shape(theirs)}"
    skipped = {
        row.encoder for row in plan.entry.rows if row.system and row.encoder not in plan.encoders
    }
    if skipped:
        yield (
            f"rows on {' and '.join(sorted(skipped))} are skipped; use --scale paper to run all, "
            f"or --encoder {min(skipped)} to run these"
        )
    # Bases on the same dataset have the same message.
    yield from dict.fromkeys(plan.missing.values())
    yield from _of_bases(plan)
    if plan.entry.trains:
        yield from _chains(plan)
        yield from _initialisation(plan)
        yield from _parsers(plan)
        yield from _unreached(plan)
    else:
        yield _not_trained(plan)
    yield from chosen_lines(_paper_runs(plan), paper.stated, trains=plan.entry.trains)
    if plan.entry.trains:
        if setting.seeds != paper.seeds:
            yield f"seeds: {setting.seeds}; the paper uses {paper.seeds}"
        yield from _untested(plan)
    yield f"parser: {setting.parser}; the paper's: {paper.parser}"
    yield from paper.readings
    yield from plan.entry.notes


def _with_shape(encoder: str) -> str:
    """Name an encoder with its sizes, where they are known."""
    shape = shape_of(encoder)
    return f"{encoder} ({shape})" if shape else encoder


def _paper_runs(plan: EntryPlan) -> list[Run]:
    """Return a run of each system at the paper's scale, and those that it needs there."""
    asked = {(runs[0].asked, runs[0].folder): runs[0] for runs in plan.cells.values()}
    return in_order(in_paper(run, plan.setting) for run in asked.values())


def _parsers(plan: EntryPlan) -> Iterator[str]:
    """Name the parsers of systems that have one of their own."""
    for system, parser in {run.system: run.experiment.parser for run in plan.runs()}.items():
        if parser != plan.setting.parser:
            yield f"parser of {system}: {parser}"


def _untested(plan: EntryPlan) -> Iterator[str]:
    """Say which columns show dev scores in place of test scores, and which are not measured."""
    on_dev: dict[str, None] = {}
    empty: dict[tuple[str, str], dict[str, None]] = {}
    for (_, place), runs in plan.cells.items():
        run, column = runs[0], plan.columns[place]
        part = part_scored(run, column)
        if column.part != "dev" and part == "dev":
            on_dev[run.base] = None
        if not part:
            limited = run.experiment.data.dev_limit is not None
            why = "not scored because data.dev_limit is set" if limited else "missing"
            empty.setdefault((run.base, why), {})[column.name] = None
    if on_dev:
        yield f"the paper's numbers are on the test set, ours on dev ({', '.join(on_dev)})"
    for (base, why), names in empty.items():
        yield f"not measured: {', '.join(names)} (the test set of {base} is {why})"


def _of_bases(plan: EntryPlan) -> Iterator[str]:
    """Yield differences in data and settings, with one line for bases with the same difference."""
    bases_of: dict[tuple[str, str], list[str]] = {}
    for runs in _runs_of_bases(plan):
        base = runs[0].base
        # Of the data, costs need the first examples only.
        for text in _data(runs[0]) if plan.entry.trains else filter(None, [runs[0].files.differs]):
            bases_of.setdefault(("data", text), []).append(base)
        if own := plan.setting.encoder_of(base):
            bases_of.setdefault(("encoder", own), []).append(base)
        for text in _settings(runs, plan):
            bases_of.setdefault(("settings", text), []).append(base)
    for (what, text), bases in bases_of.items():
        note = "; values of --scale paper in parentheses" if what == "settings" else ""
        yield f"{what} ({', '.join(bases)}{note}): {text}"


def _runs_of_bases(plan: EntryPlan) -> list[list[Run]]:
    """Group one run of each system by base."""
    by_base: dict[str, dict[str, Run]] = {}
    for run in plan.runs():
        by_base.setdefault(run.base, {}).setdefault(run.system, run)
    return [[*runs.values()] for runs in by_base.values()]


def _data(run: Run) -> Iterator[str]:
    """Say how the data of a run differ from the full data of the paper."""
    data, files = run.experiment.data, run.files
    if files.differs:
        yield files.differs
    if data.limit is not None and (files.n_train is None or data.limit < files.n_train):
        share = (
            f" of {files.n_train:,} ({100 * data.limit / files.n_train:.2g} %)"
            if files.n_train
            else ""
        )
        yield f"{data.limit:,} training examples{share}"
    if data.dev_limit is not None:
        each = " of each file" if len(data.dev) > 1 else ""
        yield f"scored on {data.dev_limit:,} of the dev examples{each}"


def _settings(runs: Sequence[Run], plan: EntryPlan) -> Iterator[str]:
    """Compare the settings of the runs on a base with those of the paper, in one line."""
    setting = plan.setting
    if setting.scale == "paper" and not setting.overrides:
        return
    changed: dict[str, None] = {}
    for run in runs:
        theirs, ours = values_of(in_paper(run, setting)), values_of(run)
        changed |= {
            f"{key} {shown(key, ours.get(key))} ({shown(key, theirs.get(key))})": None
            for key in dict.fromkeys((*ours, *theirs))
            if ours.get(key) != theirs.get(key)
            and not _has_no_effect(key, ours, theirs)
            and (plan.entry.trains or has_cost(key))
        }
    if changed:
        yield ", ".join(changed)


def _has_no_effect(key: str, *settings: dict[str, Any]) -> bool:
    """Whether a setting is ignored: epochs, if the number of steps is set."""
    return key == EPOCHS and all(each.get(STEPS) is not None for each in settings)


def _chains(plan: EntryPlan) -> Iterator[str]:
    """Say what each model was trained on in turn, if that is more than the base itself."""
    systems: dict[tuple[str, str, str], list[str]] = {}
    # One run of each system on each base; several columns may show the same one.
    shown = {(runs[0].base, runs[0].system): runs[0] for runs in plan.cells.values()}
    for (base, system), run in shown.items():
        if ours := _chain(run):
            theirs = ours
            if plan.setting.scale != "paper":
                theirs = _chain(in_paper(run, plan.setting))
            systems.setdefault((base, ours, theirs), []).append(system)
    bases: dict[tuple[str, str, str], list[str]] = {}
    for (base, ours, theirs), names in systems.items():
        bases.setdefault((", ".join(names), ours, theirs), []).append(base)
    for (those, ours, theirs), where in bases.items():
        other = "" if ours == theirs else f"; in the paper {theirs or 'the encoder itself'}"
        yield f"starts from ({', '.join(where)}: {those}): {ours}{other}"


def _initialisation(plan: EntryPlan) -> Iterator[str]:
    """Say how new guides start, which no paper states."""
    systems: dict[tuple[str, str], dict[str, None]] = {}
    for run in plan.runs():
        if run.start is None:
            for key, value in values_of(run).items():
                if key.startswith("guides.") and key.endswith(".initialise"):
                    systems.setdefault((key.split(".")[1], value), {})[run.system] = None
    values = Counter(guide for guide, _ in systems)
    for (guide, value), names in systems.items():
        whose = f" ({', '.join(names)})" if values[guide] > 1 else ""
        yield f"initialisation of {guide}{whose}: {value}; the paper does not state its own"


def _unreached(plan: EntryPlan) -> Iterator[str]:
    """Name the systems whose scores no tree can change: the first piece reads all pieces."""
    systems: dict[tuple[str, str], dict[str, None]] = {}
    for run in plan.runs():
        values = values_of(run)
        verifies = values.get("head.objective") == "answerability"
        pooling = "head.answerability_pooling" if verifies else "head.pooling"
        guides = {key.split(".")[1] for key in values if key.startswith("guides.")}
        if (
            values.get(pooling) in FIRST_PIECE
            and guides == {ANCESTORS}
            and values.get(f"guides.{ANCESTORS}.num_layers") == 1
            and values.get(f"guides.{ANCESTORS}.aggregate_special") == "released"
        ):
            systems.setdefault((run.base, pooling), {})[run.system] = None
    for (base, pooling), names in systems.items():
        yield (
            f"no tree reaches the scores ({base}: {', '.join(names)}), as in the authors' script: "
            f"the first piece, which is pooled, attends to every piece in the only guided layer; "
            f"other masks and parsers give the same scores, and --set {pooling}=mean lets the "
            f"trees reach them"
        )


def _not_trained(plan: EntryPlan) -> str:
    """Say what is measured on new models."""
    if not any(column.metric in TIMED for column in plan.entry.columns):
        return "nothing is trained: the parameters of new models are counted"
    return (
        f"nothing is trained: a step on one batch, the first {plan.entry.options.get('batch', 8)} "
        f"training examples, is repeated with AdamW"
    )


def _chain(run: Run) -> str:
    """Name the runs that a run starts from, the first one first; empty if it is the encoder."""
    names: list[str] = []
    before = run.start
    while before is not None:
        same = before.system == run.system
        names.insert(0, before.base if same else f"{before.base}/{before.system}")
        before = before.start
    text = f"a model trained on {', then on '.join(names)}" if names else ""
    beside = [f"{need.base}/{need.system}" for need in run.needs if need is not run.start]
    if beside:
        text += f"{'; ' if text else ''}with {' and '.join(beside)}"
    return text
