"""What systems cost: parameters, and training steps a second, taken in turn within one run."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from itertools import islice
from statistics import median
from typing import Any

import torch

from syntagma.encoders.precision import autocast, best_device
from syntagma.parse.sources.load import load_source
from syntagma.reproduce.entries import Row
from syntagma.reproduce.measurements import layout
from syntagma.reproduce.plan import Plan
from syntagma.reproduce.result import Cell, Measured, Part
from syntagma.reproduce.runs import Run
from syntagma.tasks import find_task

__all__ = ["measure_costs"]

ROUNDS = {"tiny": 2, "cpu": 7, "paper": 20}
"""Steps of each system that are timed."""
SENTENCES = 256
"""In a batch of the parser."""
UNIT = f"batches of {SENTENCES} sentences a second"
RATIO, SPEED, SIZE = "step_ratio", "steps_per_second", "parameters"


def measure_costs(plan: Plan) -> Measured:
    """Parameters in millions, steps a second, and the length of a step over the first column's.

    Nothing is trained: a step is repeated on the same batch of the first training examples.  With
    the option ``parsing``, the paper's number, batches of 256 sentences that are parsed a second.
    """
    entry = plan.entry
    timed = any(column.metric in (SPEED, RATIO) for column in entry.columns)
    systems: dict[str, tuple[float, Callable[[], None] | None]] = {}
    examples: dict[str, list[Any]] = {}
    for cell in plan.cells.values():
        run = cell[0]
        if str(run.folder) not in systems:
            systems[str(run.folder)] = _system(run, entry.options.get("batch", 8), timed, examples)
            gc.collect()
    seconds: dict[str, list[float]] = {name: [] for name in systems}
    for number in range(ROUNDS[plan.setting.scale] + 1 if timed else 0):
        for name, (_, step) in systems.items():
            assert step is not None
            begin = time.perf_counter()
            step()
            if number:  # The first round warms up.
                seconds[name].append(time.perf_counter() - begin)
    at = {id(row): number for number, row in enumerate(entry.rows)}

    def ours(row: Row, place: int) -> tuple[float, float | None]:
        name = str(plan.cells[at[id(row)], place][0].folder)
        metric = entry.columns[place].metric
        if metric == SIZE:
            return systems[name][0] / 1e6, None
        if metric == SPEED:
            return 1 / median(seconds[name]), None
        first = str(plan.cells[at[id(row)], 0][0].folder)
        return median(seconds[name]) / median(seconds[first]), None

    table = layout(plan, ours)
    where = best_device() if timed else ""
    machine = (f"times: medians of {ROUNDS[plan.setting.scale]} steps on {where}",) if timed else ()
    parts, cells = table.parts, table.cells
    if "parsing" in entry.options:
        speed = Cell("parsing", UNIT, _parsing_speed(plan), None, entry.options["parsing"])
        parts += (Part("", [["", UNIT], [plan.setting.parser, speed.shown()]]),)
        cells += (speed,)
    return Measured(parts, cells, differs=machine)


def _parsing_speed(plan: Plan) -> float:
    """Batches of sentences that the parser reads in a second, of training texts."""
    run = next(iter(plan.cells.values()))[0]
    task_class = find_task(run.experiment.task)
    texts = task_class.texts(task_class.read(run.experiment.data.train[0]))
    parser = load_source(plan.setting.parser, device=best_device())
    some = list(islice(texts, SENTENCES))
    list(parser.parse_texts(some[:8]))  # Warms up.
    seconds, n_sentences = [], 0
    for _ in range(3):
        begin = time.perf_counter()
        n_sentences = sum(map(len, parser.parse_texts(some)))
        seconds.append(time.perf_counter() - begin)
    return n_sentences / SENTENCES / median(seconds)


def _system(
    run: Run, batch: int, timed: bool, known: dict[str, list[Any]]
) -> tuple[float, Callable[[], None] | None]:
    """The parameters of a fresh model, and a training step of it."""
    experiment = run.experiment
    task_class = find_task(experiment.task)
    if run.base not in known:
        known[run.base] = task_class.read(experiment.data.train[0])[: 4 * batch]
    task = task_class.new(experiment, known[run.base])
    model: Any = task.model
    size = float(sum(parameter.numel() for parameter in model.parameters()))
    if not timed:
        return size, None
    device = torch.device(best_device())
    model.to(device).train()
    features = task.features(known[run.base][:batch])
    inputs = {name: t.to(device) for name, t in task.collate(features.items[:batch]).items()}
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6)

    def step() -> None:
        with autocast(device, experiment.training.precision):
            loss = model(**inputs).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if device.type == "cuda":
            torch.cuda.synchronize()

    return size, step
