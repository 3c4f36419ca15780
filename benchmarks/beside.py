"""The time of one text beside another process that trains, for each setting of the threads.

Each setting is a process of its own, started as the command line starts (``SYNTAGMA_THREADS``), and
one more is torch as installed.  They take turns: first on an idle machine, then beside a process
that trains with all cores.  That process has a session of its own, as one of another user does:
Linux shares the cores between sessions first.

    python -m benchmarks.beside     # needs an idle machine; results without one are worthless
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from statistics import median

from benchmarks.quick import size

PIECES = 160
ROUNDS = size(5, 1)
SECONDS = size(0.5, 0.01)
"""Duration of a turn; a turn has at least three calls."""
VARIABLES = ("GOMP_SPINCOUNT", "OMP_NUM_THREADS", "OMP_WAIT_POLICY", "SYNTAGMA_THREADS")
DEFAULT = "shared (the default)"
SETTINGS: dict[str, dict[str, str]] = {
    "torch as installed": {},
    DEFAULT: {"SYNTAGMA_THREADS": "shared"},
    "throughput": {"SYNTAGMA_THREADS": "throughput"},
    "one thread": {"SYNTAGMA_THREADS": "shared", "OMP_NUM_THREADS": "1"},
}
BESIDE_BAR, IDLE_BAR = 4.0, 1.1
"""How long one text may take beside a training and on an idle machine, by the default setting."""
KINDS = {"text": "one text", "batch": "16 texts", "training": "training step"}


def compute() -> None:
    """Answer each line of standard input, the name of a call, with its median time in ms."""
    if "SYNTAGMA_THREADS" in os.environ:
        from syntagma.cpu_threads import choose_threads

        choose_threads()
    import torch

    from syntagma.models.guided_encoder import GuidedEncoder

    model = GuidedEncoder.from_encoder("default", attention_dropout=0.0)
    one, many = torch.full((1, PIECES), 1000), torch.full((16, 128), 1000)

    def infer(pieces: torch.Tensor) -> None:
        with torch.inference_mode():
            model.eval()(input_ids=pieces, attention_mask=torch.ones_like(pieces))

    def train() -> None:
        output = model.train()(input_ids=many[:8], attention_mask=torch.ones_like(many[:8]))
        output.last_hidden_state.pow(2).mean().backward()
        model.zero_grad()

    calls = {"text": lambda: infer(one), "batch": lambda: infer(many), "training": train}
    for call in calls.values():
        call()
    print("ready", flush=True)
    for line in sys.stdin:
        call = calls[line.strip()]
        times: list[float] = []
        end = time.perf_counter() + SECONDS
        while len(times) < 3 or time.perf_counter() < end:
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
        print(median(times) * 1000, flush=True)


class Process:
    """A process that computes when asked.

    Args:
        variables: environment variables that set its threads; those of this process are not used.
        apart: whether it gets a session of its own.
    """

    def __init__(self, variables: dict[str, str], *, apart: bool = False) -> None:
        others = {name: value for name, value in os.environ.items() if name not in VARIABLES}
        self.process = subprocess.Popen(
            [sys.executable, "-c", "from benchmarks.beside import compute; compute()"],
            env=others | variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=apart,
        )

    def wait_until_ready(self) -> None:
        """Wait until the model is loaded."""
        self._read()

    def _read(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("a process of the benchmark ended; see its message above")
        return line

    def ask(self, kind: str, times: int = 1) -> None:
        """Let it compute; :meth:`milliseconds` waits for the answer."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{kind}\n" * times)
        self.process.stdin.flush()

    def milliseconds(self, kind: str) -> float:
        """Return the median time of a call."""
        self.ask(kind)
        return float(self._read())

    def end(self) -> None:
        """End it, also in the middle of a call."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def main() -> None:
    from benchmarks.tables import Measured, show

    processes = {name: Process(variables) for name, variables in SETTINGS.items()}
    other = Process({}, apart=True)
    try:
        for process in (*processes.values(), other):
            process.wait_until_ready()
        idle = {kind: _rounds(processes, kind, ROUNDS) for kind in KINDS}
        other.ask("training", times=1000)
        beside = _rounds(processes, "text", ROUNDS)
    finally:
        for process in (*processes.values(), other):
            process.end()
    installed = {kind: median(idle[kind]["torch as installed"]) for kind in KINDS}
    rows = []
    for name in processes:
        alone, loaded = median(idle["text"][name]), median(beside[name])
        row: dict[str, object] = {"": name, "idle, ms": alone}
        for kind, title in KINDS.items():
            bar = IDLE_BAR if name == DEFAULT else None
            row[f"{title}, idle / as installed"] = Measured(
                median(idle[kind][name]) / installed[kind], at_most=bar
            )
        bar = BESIDE_BAR if name == DEFAULT else None
        row |= {
            "beside a training, ms": loaded,
            "beside / idle": Measured(loaded / alone, at_most=bar),
        }
        row["range, ms"] = f"{min(beside[name]):.0f} to {max(beside[name]):.0f}"
        rows.append(row)
    show(f"One text of {PIECES} pieces, idle and beside a training", rows)


def _rounds(processes: dict[str, Process], kind: str, rounds: int) -> dict[str, list[float]]:
    """Return the times of a call in all processes, which take turns, in ms."""
    times: dict[str, list[float]] = {name: [] for name in processes}
    for _ in range(rounds):
        for name, process in processes.items():
            times[name].append(process.milliseconds(kind))
    return times


if __name__ == "__main__":
    main()
