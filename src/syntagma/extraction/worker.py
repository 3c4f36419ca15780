"""Extract documents in another process, which a hostile or broken file may kill or stall."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict
from types import TracebackType
from typing import Any

from syntagma.errors import DiskError, InputError, MachineError
from syntagma.extraction.document import Document
from syntagma.extraction.extract import memory_message, require_packages
from syntagma.extraction.limits import DEFAULT_LIMITS, ExtractionLimits
from syntagma.extraction.source import display_name
from syntagma.files import require_path

AnyPath = str | os.PathLike[str]

_GRACE_SECONDS = 5.0
"""How much longer than the limit this process waits: the other one should end itself."""
_START = (
    "import sys; sys.path[:] = sys.argv[1:]; from syntagma.extraction.child import main; main()"
)
"""What the other process runs.  Not a child of :mod:`multiprocessing`, which would import the main
program again, with all that it imports."""
_SIGALRM = getattr(signal, "SIGALRM", None)
_SIGKILL = getattr(signal, "SIGKILL", 9)


class Extractor:
    """Extracts documents in a process of its own, with limits of memory and time.

    The process starts with the first document, takes some 30 MB, imports neither torch nor
    Transformers, prints nothing, and ends with this one.  If a document kills it, another one is
    started for the next.  An extractor must not be used by two threads at once.

    Args:
        limits: what it may take to read one document.

    >>> with Extractor() as extractor:
    ...     extractor.extract("no_such_file.txt")
    Traceback (most recent call last):
        ...
    syntagma.errors.DiskError: no_such_file.txt: no such file; give the path of an existing file
    """

    def __init__(self, *, limits: ExtractionLimits = DEFAULT_LIMITS) -> None:
        self.limits = limits
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Extractor:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def process_id(self) -> int | None:
        """Id of the process; ``None`` if none is running."""
        return None if self._process is None else self._process.pid

    def close(self) -> None:
        """End the process; the next document would start another one."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            _close(process)

    def extract(self, path: AnyPath) -> Document:
        """Extract the text of a file, with its structure.

        Args:
            path: a file with one of :data:`syntagma.extraction.extract.SUFFIXES`.

        Raises:
            MissingExtraError: the packages that read it are not installed.
            InputError: it cannot be read, as for :func:`syntagma.extraction.extract.extract`, or
                reading it took too much memory or time.
        """
        require_path(path, "a document")
        require_packages(path)
        name = display_name(path)
        if self._process is not None and self._process.poll() is not None:
            # It has ended since the last document, by no fault of this one.
            self.close()
        process = self._process or self._start()
        try:
            # The working folder of the other process is the one in which it was started.
            return self._ask(process, {"path": os.path.abspath(path), "name": name}, name)
        except BaseException as error:
            # If it still runs, its next answer would belong to this file.
            if not isinstance(error, InputError) or process.poll() is not None:
                self.close()
            raise

    def stream(self, paths: Iterable[AnyPath]) -> Iterator[tuple[AnyPath, Document | InputError]]:
        """Extract several files; one that cannot be read does not stop the others.

        Args:
            paths: files, read as they are needed.

        Yields:
            Each path, and its document or what is wrong with it.
        """
        for path in paths:
            try:
                yield path, self.extract(path)
            except InputError as error:
                yield path, error

    def _start(self) -> subprocess.Popen[bytes]:
        # Isolated (-I), so that a file in the working folder or a variable of the environment
        # cannot replace a module.  Then it searches where this process does.
        command = [sys.executable, "-I", "-c", _START, *sys.path]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._process = process
        _send(process, {"parent": os.getpid(), "limits": asdict(self.limits)})
        return process

    def _ask(self, process: subprocess.Popen[bytes], request: Any, name: str) -> Document:
        timed_out = threading.Event()

        def stop() -> None:
            timed_out.set()
            process.kill()

        timer = threading.Timer(self.limits.seconds + _GRACE_SECONDS, stop)
        timer.daemon = True
        timer.start()
        try:
            _send(process, request)
            assert process.stdout is not None
            line = process.stdout.readline()
        finally:
            timer.cancel()
        if not line.endswith(b"\n"):
            status = process.wait()
            why = self._why_it_ended(status, timed_out.is_set(), name)
            # A process that was killed before its time lacked memory, which another day may have.
            is_killed = status == -_SIGKILL and not timed_out.is_set()
            raise MachineError(why) if is_killed else InputError(why)
        if b'"memory"' in line[:16]:
            self.close()
        return _document(line, name)

    def _why_it_ended(self, status: int, timed_out: bool, name: str) -> str:
        if timed_out or (_SIGALRM is not None and status == -_SIGALRM):
            return (
                f"{name}: was not read within {self.limits.seconds:g} seconds; split it, or raise "
                f"seconds of ExtractionLimits"
            )
        if status == -_SIGKILL:
            return memory_message(name, self.limits)
        how = f"signal {-status}" if status < 0 else f"exit code {status}"
        return (
            f"{name}: ended the process that read it ({how}), because it is damaged or needs more "
            f"memory; open it in the program that made it and save it again, or raise memory_bytes "
            f"of ExtractionLimits"
        )


def _document(line: bytes, name: str) -> Document:
    """Return the document of an answer, or raise its error."""
    from syntagma.extraction.child import unpack

    try:
        answer = json.loads(line)
        if "text" in answer:
            return unpack(answer)
        error, message = (
            (DiskError if "disk" in answer else InputError),
            next(iter(answer.values())),
        )
    except (ValueError, TypeError, KeyError, AttributeError, StopIteration, RecursionError):
        raise InputError(
            f"{name}: confused the process that read it; open it in the program that made it, and "
            f"save it again"
        ) from None
    raise error(message)


def _send(process: subprocess.Popen[bytes], values: Any) -> None:
    assert process.stdin is not None
    # If it has ended, reading its answer will show it.
    with suppress(BrokenPipeError):
        process.stdin.write(json.dumps(values).encode("ascii") + b"\n")
        process.stdin.flush()


def _close(process: subprocess.Popen[bytes]) -> None:
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(BrokenPipeError):
                pipe.close()
