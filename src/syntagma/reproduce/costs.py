"""What systems cost: parameters, and training steps a second, taken in turn within one run."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import torch

from syntagma.encoders.precision import autocast, best_device
from syntagma.reproduce.entries import Row
from syntagma.reproduce.kinds import layout
from syntagma.reproduce.plan import Plan, Run
from syntagma.reproduce.result import Measured
from syntagma.tasks import find_task

__all__ = ["measure_costs"]

ROUNDS = {"tiny": 2, "cpu": 7, "paper": 20}
"""Steps of each system that are timed."""
RATIO, SPEED, SIZE = "step_ratio", "steps_per_second", "parameters"


def measure_costs(plan: Plan) -> Measured:
    """Parameters in millions, steps a second, and the length of a step over the first column's.

    Nothing is trained: a step is repeated on the same batch of the first training examples.
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
    return Measured(table.parts, table.cells, differs=machine)


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
