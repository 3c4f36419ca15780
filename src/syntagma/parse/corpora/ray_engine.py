"""Run an annotation on a Ray cluster with Ray Data; the shards are the same as on one machine.

Groups of files are read in parallel.  Each chunk is sent to one of the workers, each of which holds
a parser and writes its shards to the output folder itself.  So all machines need access to the
input and to the output folder.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from syntagma.errors import InputError, MissingExtraError
from syntagma.files import STANDARD_INPUT
from syntagma.parse.corpora.annotator import AnnotationSettings, Annotator
from syntagma.parse.corpora.plan import AnnotationPlan, FinishedChunks
from syntagma.parse.corpora.records import Reader, Record


class _Worker:
    """A Ray actor with a parser; one per core or device."""

    def __init__(self, settings: AnnotationSettings, folder: Path, device: str) -> None:
        import torch

        torch.set_num_threads(1)
        self.annotator = Annotator(settings, folder, device)

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        # Rows hold Arrow types, so chunks are pickled.  Errors travel as strings, because Ray would
        # wrap the exception and its message in those of its own.
        planned = pickle.loads(row["planned"])
        if not isinstance(planned, str):
            chunk, entry = planned
            try:
                entry = entry or self.annotator.write_shard(chunk)
            except InputError as error:
                planned = str(error)
            else:
                # The parent needs the counts of the records only.
                chunk.records = []
                planned = chunk, entry
        return {"finished": pickle.dumps(planned)}


def _records(path: str, *, reader: Reader, names: dict[str, str]) -> Iterator[Record]:
    """Read a file; messages name it as the user does, so that shards are those of one machine."""
    for record in reader(path):
        if record.bad.startswith(path):
            record = record._replace(bad=names[path] + record.bad.removeprefix(path))
        yield record


def run_on_ray(plan: AnnotationPlan, devices: list[str]) -> FinishedChunks:
    """Annotate on the cluster at ``RAY_ADDRESS``, or on a local one that is started here.

    Args:
        plan: the plan of the run.
        devices: one device for each worker; only its type and their number matter.

    Raises:
        InputError: a record is invalid, or a disk is full.
        MissingExtraError: Ray is not installed.
    """
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise MissingExtraError("annotation on a cluster", "cluster") from error
    if STANDARD_INPUT in plan.paths:
        raise InputError("--engine ray cannot read standard input; give files on a shared disk")
    # Workers have other working directories.
    paths = [str(Path(path).resolve()) for path in plan.paths]
    reader = partial(_records, reader=plan.reader, names=dict(zip(paths, plan.paths, strict=True)))
    plan = AnnotationPlan(paths, reader, plan.settings, plan.folder.resolve(), plan.finished)
    if not ray.is_initialized():
        ray.init(log_to_driver=False, include_dashboard=False, logging_level="error")
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    # A chunk is minutes of work: never put two of them into one Ray block (the limit is in bytes).
    context.target_max_block_size = 1
    on_gpu = devices[0].startswith("cuda")

    def read(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
        try:
            for planned in plan.chunks(row["group"], row["numbers"]):
                yield {"planned": pickle.dumps(planned)}
        except InputError as error:
            yield {"planned": pickle.dumps(str(error))}

    groups = [{"group": group, "numbers": numbers} for group, numbers in enumerate(plan.groups())]
    finished = (
        ray.data.from_items(groups, override_num_blocks=max(1, len(groups)))
        # Reading must not reserve a core: if the workers hold all cores, it would never start.
        .flat_map(read, num_cpus=0, concurrency=len(devices))
        .map(
            _Worker,
            fn_constructor_args=(plan.settings, plan.folder, "cuda" if on_gpu else "cpu"),
            compute=ray.data.ActorPoolStrategy(size=len(devices)),
            num_cpus=1,
            num_gpus=1 if on_gpu else 0,
        )
    )
    for row in finished.iter_rows():
        result = pickle.loads(row["finished"])
        if isinstance(result, str):
            raise InputError(result)
        yield result
