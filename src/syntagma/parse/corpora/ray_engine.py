"""Annotate a corpus on a Ray cluster with Ray Data: the same shards, made on many machines.

Units of files are read side by side; every block goes to one of the workers, which hold a parser
each and write their shards into the folder themselves.  So input and folder must lie where all
machines see them.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from syntagma.errors import InputError, MissingExtraError
from syntagma.parse.corpora.annotator import AnnotationSettings, Annotator
from syntagma.parse.corpora.plan import Done, Work

__all__ = ["run_on_ray"]


class _Worker:
    """Holds a parser; Ray makes one a core or device."""

    def __init__(self, settings: AnnotationSettings, folder: Path, device: str) -> None:
        import torch

        torch.set_num_threads(1)
        self.annotator = Annotator(settings, folder, device)

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        found = pickle.loads(row["work"])
        if not isinstance(found, str):
            block, entry = found
            try:
                entry = entry or self.annotator.shard(block)
            except InputError as error:
                found = str(error)
            else:
                block.records = []
                found = block, entry
        return {"done": pickle.dumps(found)}


def run_on_ray(work: Work, devices: list[str]) -> Done:
    """Work on the cluster that ``RAY_ADDRESS`` names, else on one that is started here.

    Args:
        work: what is to be done.
        devices: as many as there are to be workers.

    Raises:
        InputError: a record cannot be used, or a disk is full.
        MissingExtraError: Ray is not installed.
    """
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise MissingExtraError("annotation on a cluster", "cluster") from error
    if "-" in work.paths:
        raise InputError("--engine ray reads files on other machines; standard input is not there")
    paths = [str(Path(path).resolve()) for path in work.paths]
    work = Work(paths, work.reader, work.settings, work.folder.resolve(), work.done)
    if not ray.is_initialized():
        ray.init(log_to_driver=False, include_dashboard=False, logging_level="error")
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    # A block is minutes of work: each goes to a worker by itself.
    context.target_max_block_size = 1
    on_gpu = devices[0].startswith("cuda")

    def read(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
        try:
            for found in work.blocks(row["unit"], row["numbers"]):
                yield {"work": pickle.dumps(found)}
        except InputError as error:
            yield {"work": pickle.dumps(str(error))}

    units = [{"unit": unit, "numbers": numbers} for unit, numbers in enumerate(work.units())]
    found = (
        ray.data.from_items(units, override_num_blocks=max(1, len(units)))
        # Reading asks for no core of its own: workers may hold every core there is.
        .flat_map(read, num_cpus=0, concurrency=len(devices))
        .map(
            _Worker,
            fn_constructor_args=(work.settings, work.folder, "cuda" if on_gpu else "cpu"),
            compute=ray.data.ActorPoolStrategy(size=len(devices)),
            num_cpus=1,
            num_gpus=1 if on_gpu else 0,
        )
    )
    for row in found.iter_rows():
        result = pickle.loads(row["done"])
        if isinstance(result, str):
            raise InputError(result)
        yield result
