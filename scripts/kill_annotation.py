"""Kill `syntagma annotate` at random moments, and check that nothing is lost and nothing left.

    python scripts/kill_annotation.py --kills 100

Each run is started with two workers and --resume, killed with SIGKILL at a random moment, and
started again. Three seconds after a kill none of its processes may live. The finished corpus must
equal that of a run that was not killed. Needs Linux: processes are looked up in /proc.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

GRACE_SECONDS = 3.0
NOUNS = "ferry mill lamp rope gate crate clerk goat".split()
VERBS = "left fell broke moved stood".split()


def write_text(path: Path, n_lines: int) -> str:
    """Write lines of made-up sentences; the path as text."""
    draw = random.Random(3)
    lines = [
        " ".join(
            f"The {draw.choice(NOUNS)} {draw.choice(VERBS)} at {number}." for number in range(2, 6)
        )
        for _ in range(n_lines)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def annotate(path: str, out: Path, workers: int) -> None:
    """Start or resume an annotation of random trees, in small shards."""
    from syntagma.parse.corpora import runner
    from syntagma.parse.corpora.annotator import AnnotationSettings

    settings = AnnotationSettings(parser="random:3", shard_characters=2000)
    runner.annotate([path], out, settings, workers=workers, resume=True)


def start(path: str, out: Path, log: Path) -> int:
    """Annotate in a new process with its own session, by whose number its children are found."""
    process = os.fork()
    if process:
        return process
    os.setsid()
    status = 1
    with open(log, "w") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
        try:
            annotate(path, out, workers=2)
            status = 0
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
        finally:
            os._exit(status)


def living(session: int) -> list[str]:
    """Command lines of the living processes of a session."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, of = stat.read_text().rpartition(")")[2].split()[:4]
            if int(of) == session and state != "Z":
                found.append(stat.with_name("cmdline").read_text().replace("\0", " ")[:200])
        except (OSError, ValueError):  # It has ended meanwhile.
            continue
    return found


def n_shards(folder: Path) -> int:
    """Number of written shards."""
    return len(list(folder.glob("0*.parquet")))


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a folder, by name."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def run(n_kills: int, *, seed: int = 1, n_lines: int = 600, finish_every: int = 10) -> list[str]:
    """Kill and resume; return what went wrong, one line each.

    Args:
        n_kills: number of kills.
        seed: of the moments.
        n_lines: length of the corpus.
        finish_every: after so many kills a run is not killed, and its corpus is compared.
    """
    draw = random.Random(seed)
    problems = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = write_text(folder / "a.txt", n_lines)
        annotate(path, folder / "whole", workers=1)
        whole, out = contents(folder / "whole"), folder / "out"
        begin = time.monotonic()
        os.waitpid(start(path, folder / "measured", folder / "log"), 0)
        longest = time.monotonic() - begin
        done, finishes = 0, False
        while done < n_kills or finishes:
            process = start(path, out, folder / "log")
            moment = time.monotonic() + (3600 if finishes else draw.uniform(0, longest))
            # Most of a short run is its start: half of the kills wait for the next shard.
            before = 10**9 if finishes or draw.random() < 0.5 else n_shards(out)
            ended = 0
            while not ended and time.monotonic() < moment:
                ended, status = os.waitpid(process, os.WNOHANG)
                if n_shards(out) > before:
                    before, moment = 10**9, time.monotonic() + draw.uniform(0, 0.5)
                elif before < 10**9:
                    moment = time.monotonic() + 1
                time.sleep(0.005)
            if ended:
                if status:
                    problems.append(f"a resumed run failed:\n{(folder / 'log').read_text()}")
                elif contents(out) != whole:
                    problems.append(f"the corpus differs: {sorted(os.listdir(out))}")
                else:
                    print(f"{done} kills: finished, the same corpus", flush=True)
                shutil.rmtree(out, ignore_errors=True)
                finishes = False
                continue
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            done += 1
            finishes = done % finish_every == 0
            killed = time.monotonic()
            while (left := living(process)) and time.monotonic() < killed + GRACE_SECONDS:
                time.sleep(0.02)
            lasted = time.monotonic() - killed
            print(f"{done}: {n_shards(out)} shards, no process after {lasted:.2f} s", flush=True)
            if left:
                problems.append(f"alive {GRACE_SECONDS} s after a kill: {'; '.join(left)}")
                print(problems[-1], flush=True)
        shutil.rmtree(out, ignore_errors=True)
    return problems


def main() -> None:
    """Parse the command line and print what went wrong."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    problems = run(asked.kills, seed=asked.seed)
    print("\n".join(problems) or f"{asked.kills} kills: all resumed, no process left")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
