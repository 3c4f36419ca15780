"""Processes that tests may kill, forked from one that has already imported the training code.

A new interpreter would import torch and Transformers each time, which takes longer than a tiny
training run.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from tests.ports import free_port

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(
    [
        "syntagma.training.run",
        "syntagma.training.stream_loader",
        "syntagma.tasks.pretraining.task",
        "syntagma.tasks.parsing.task",
        "syntagma.tasks.spans.task",
        "syntagma.parse.corpora.runner",
        "transformers.models.bert.modeling_bert",
        # Found only if tests run from the root of the repository; otherwise each process imports
        # it itself.
        "tests.builders",
    ]
)


RUNNING: list[Child] = []
"""Processes that the current test has started."""


class Child:
    """A process that runs a function; its output goes to files.

    Args:
        function: importable by its name.
        folder: where its output goes.
        environment: variables in addition to those of the test.
        has_children: whether it starts processes itself. It is then not a daemon, and may outlive
            the tests.
    """

    def __init__(
        self,
        function: Callable[..., object],
        *arguments: object,
        folder: Path,
        environment: dict[str, str] | None = None,
        has_children: bool = False,
    ) -> None:
        number = sum(1 for _ in folder.glob("*.stderr"))
        self.out, self.err = (folder / f"{number}.{name}" for name in ("stdout", "stderr"))
        self.err.touch()
        names = (str(self.out), str(self.err))
        variables = {**os.environ, **(environment or {})}
        self.process = CONTEXT.Process(
            target=_run, args=(function, arguments, names, variables), daemon=not has_children
        )
        self.process.start()
        RUNNING.append(self)

    @property
    def is_running(self) -> bool:
        """Whether it has not ended yet."""
        return self.process.is_alive()

    def send(self, number: int) -> None:
        """Send it a signal."""
        assert self.process.pid is not None
        os.kill(self.process.pid, number)

    def kill(self) -> None:
        """Kill it and wait until it has ended."""
        self.process.kill()
        self.process.join()

    def join(self, timeout: float = 240) -> int | None:
        """Wait until it ends, and return its exit code."""
        self.process.join(timeout)
        return self.process.exitcode

    def require_success(self, timeout: float = 240) -> None:
        """Wait until it ends, and check that its exit code is 0."""
        assert self.join(timeout) == 0, self.err.read_text()[-3000:]


def ranks(
    function: Callable[..., object], *arguments: object, folder: Path, world: int = 2
) -> list[Child]:
    """Processes that train together, with the environment that ``torchrun`` gives them."""
    shared = {
        "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": str(world),
    }  # fmt: skip
    return [
        Child(
            function, *arguments, folder=folder,
            environment=shared | {"RANK": str(rank), "LOCAL_RANK": str(rank)},
        )
        for rank in range(world)
    ]  # fmt: skip


def _run(
    function: Callable[..., object],
    arguments: tuple[object, ...],
    names: tuple[str, str],
    environment: dict[str, str],
) -> None:
    import torch

    torch.set_num_threads(1)
    # As in a new interpreter. Otherwise it would start its own processes from the fork server too.
    multiprocessing.set_start_method(multiprocessing.get_all_start_methods()[0], force=True)
    # The fork server still has the variables of the test that started it.
    os.environ.clear()
    os.environ.update(environment)
    for stream, name in zip((sys.stdout, sys.stderr), names, strict=True):
        with open(name, "w") as file:
            os.dup2(file.fileno(), stream.fileno())
    try:
        function(*arguments)
    except Exception:
        traceback.print_exc()
        # A process that waits for others in its exit handlers would not end.
        sys.stderr.flush()
        os._exit(1)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
