"""Costs of systems: parameters and training steps per second, interleaved within one process."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from itertools import islice
from statistics import median
from typing import Any

import torch

from syntagma.encoders.load import load_encoder_config
from syntagma.encoders.precision import autocast, best_device
from syntagma.parse.sources.load import load_source
from syntagma.reproduce.entries import Row
from syntagma.reproduce.measurements import paper_table
from syntagma.reproduce.plan import EntryPlan
from syntagma.reproduce.result import Cell, Measurement, ResultTable
from syntagma.reproduce.runs import Run
from syntagma.tasks import find_task

ROUNDS = {"tiny": 2, "cpu": 7, "paper": 20}
"""Number of steps of each system that are timed."""
SENTENCES = 256
"""Number of sentences in a batch of the parser, as in SG-Net section 7.7."""
UNIT = f"batches of {SENTENCES} sentences per second"
RATIO, SPEED, SIZE = "step_ratio", "steps_per_second", "parameters"
SIZE_WITH_POOLER = "parameters_with_pooler"
UNITS = {SIZE: 1e6, SIZE_WITH_POOLER: 2.0**20}
"""Units of the metrics that count parameters.  POI-Net counts in 2²⁰, and counts the pooling layer
of the encoder, which no model here has: 11.14 = 10.58 + 0.56 for ALBERT-base."""


def measure_costs(plan: EntryPlan) -> Measurement:
    """Measure parameters, steps per second, and step times relative to column 1.

    Nothing is trained: a step is repeated on one batch of the first training examples.  The option
    ``parsing``, the paper's number, adds the parser's speed in batches of 256 sentences per second.

    Args:
        plan: plan of the entry.
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
    # Systems take turns, so that changes in the load of the machine affect all of them alike.
    for number in range(ROUNDS[plan.setting.scale] + 1 if timed else 0):
        for name, (_, step) in systems.items():
            assert step is not None
            start = time.perf_counter()
            step()
            if number:  # The first round is a warm-up.
                seconds[name].append(time.perf_counter() - start)
    row_numbers = {id(row): number for number, row in enumerate(entry.rows)}

    def ours(row: Row, place: int) -> tuple[float, float | None]:
        name = str(plan.cells[row_numbers[id(row)], place][0].folder)
        metric = entry.columns[place].metric
        if metric in UNITS:
            pooled = _pooler_size(plan.cells[row_numbers[id(row)], place][0])
            extra = pooled if metric == SIZE_WITH_POOLER else 0
            return (systems[name][0] + extra) / UNITS[metric], None
        if metric == SPEED:
            return 1 / median(seconds[name]), None
        first = str(plan.cells[row_numbers[id(row)], 0][0].folder)
        return median(seconds[name]) / median(seconds[first]), None

    table = paper_table(plan, ours)
    where = best_device() if timed else ""
    machine = (f"times: medians of {ROUNDS[plan.setting.scale]} steps on {where}",) if timed else ()
    parts, cells = table.parts, table.cells
    if "parsing" in entry.options:
        speed = Cell("parsing", UNIT, _parsing_speed(plan), None, entry.options["parsing"])
        parts += (ResultTable("", [["", UNIT], [plan.setting.parser, speed.shown()]]),)
        cells += (speed,)
    return Measurement(parts, cells, differs=machine)


def _pooler_size(run: Run) -> int:
    """Return the parameters of the pooling layer of an encoder: a square linear map."""
    width = int(load_encoder_config(run.experiment.encoder_ref).hidden_size)
    return width * (width + 1)


def _parsing_speed(plan: EntryPlan) -> float:
    """Measure how many batches of sentences per second the parser parses, on training texts."""
    run = next(iter(plan.cells.values()))[0]
    task_class = find_task(run.experiment.task)
    texts = task_class.texts(task_class.read(run.experiment.data.train[0]))
    parser = load_source(plan.setting.parser, device=best_device())
    sample = list(islice(texts, SENTENCES))
    list(parser.parse_texts(sample[:8]))  # A warm-up.
    seconds, n_sentences = [], 0
    for _ in range(3):
        start = time.perf_counter()
        n_sentences = sum(map(len, parser.parse_texts(sample)))
        seconds.append(time.perf_counter() - start)
    return n_sentences / SENTENCES / median(seconds)


def _system(
    run: Run, batch: int, timed: bool, known: dict[str, list[Any]]
) -> tuple[float, Callable[[], None] | None]:
    """Build a new model and return its number of parameters, and a training step."""
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
            # Kernels run asynchronously: without this, only their launch would be timed.
            torch.cuda.synchronize()

    return size, step
