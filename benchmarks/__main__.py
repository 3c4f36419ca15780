"""Run benchmarks, several times each, and print the median and the range of every number.

    python -m benchmarks                          # all that need no other data, three times each
    python -m benchmarks start guides --repeat 1  # some of them
    python -m benchmarks --quick                  # only see that all of them run
    python -m benchmarks parsing -- EWT-DEV.conllu.gz --spacy runs/spacy_peer/model-best

Each run is a process of its own, with the threads of torch as installed.  A number that must keep a
bar is printed beside it.  The tables are saved in `--out`, and
`python experiments/record_results.py --bench runs/bench` puts those that a document names into the
documents.  Nothing else should run meanwhile.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.quick import VARIABLE
from benchmarks.tables import measured_in, merged, save, text_of
from syntagma.files import read_json

NAMES = (
    "masks",
    "precision",
    "linear",
    "parsing",
    "growth",
    "reading",
    "export",
    "training",
    "kept_memory",
    "padding",
    "guides",
    "distances",
    "choice",
    "translation",
    "corpora",
    "retrieval",
    "extraction",
    "start",
    "small",
    "serve",
    "beside",
    "spacy_pipeline",
)
"""Benchmarks that need no data but what the repository has."""
THREADS = ("GOMP_SPINCOUNT", "OMP_NUM_THREADS", "OMP_WAIT_POLICY", "SYNTAGMA_THREADS")
BUSY = 0.3
"""Load of the machine above which others compute beside the benchmarks."""


def run(
    name: str, arguments: Sequence[str], repeat: int, out: Path, *, quick: bool
) -> list[dict[str, Any]]:
    """Run one benchmark several times.

    Returns:
        Its tables, each merged over the runs.

    Raises:
        CalledProcessError: a run failed; its message was printed.
    """
    command = ["-m", f"benchmarks.{name}", *arguments]
    kept = {key: value for key, value in os.environ.items() if quick or key not in THREADS}
    runs = []
    for number in range(1, repeat + 1):
        folder = out / "runs" / name / str(number)
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.glob("*.json"):
            path.unlink()
        print(f"{name}, run {number} of {repeat}", file=sys.stderr, flush=True)
        subprocess.run(
            [sys.executable, *command], check=True, stdout=subprocess.DEVNULL,
            env=kept | {"SYNTAGMA_BENCH": str(folder)} | ({VARIABLE: "1"} if quick else {}),
        )  # fmt: skip
        runs.append({path.name: read_json(path) for path in sorted(folder.glob("*.json"))})
    shown = shown_command(command)
    return [
        merged([tables[file] for tables in runs if file in tables]) | {"command": shown}
        for file in runs[0]
    ]


def shown_command(command: Sequence[str]) -> str:
    """Return the command that makes a table again: data named in the environment come first."""
    data = [
        f"{key}={shlex.quote(Path(value).name)}"
        for key, value in sorted(os.environ.items())
        if key.startswith("SYNTAGMA_BENCH_") and key != VARIABLE
    ]
    return " ".join([*data, shlex.join(["python", *command])])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"of {', '.join(NAMES)}; all by default")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each (default 3)")
    parser.add_argument("--quick", action="store_true", help="only see that they run, once each")
    parser.add_argument("--out", type=Path, default=Path("runs/bench"))
    ours, arguments = sys.argv[1:], list[str]()
    if "--" in ours:
        cut = ours.index("--")
        ours, arguments = ours[:cut], ours[cut + 1 :]
    given = parser.parse_args(ours)
    if arguments and len(given.names) != 1:
        parser.error("arguments after -- are for one benchmark; name it before")
    for name in given.names:
        if not (Path(__file__).parent / f"{name}.py").exists():
            parser.error(f"no benchmark {name}; there are {', '.join(NAMES)}")
    if hasattr(os, "getloadavg") and (load := os.getloadavg()[0]) > BUSY:
        print(
            f"WARNING in the last minute {load:.1f} cores were in use; compare on an idle machine",
            file=sys.stderr,
        )
    failed, broken = [], []
    for name in given.names or NAMES:
        try:
            tables = run(
                name, arguments, 1 if given.quick else given.repeat, given.out, quick=given.quick
            )
        except subprocess.CalledProcessError as error:
            print(f"{name} failed with {error.returncode}", file=sys.stderr)
            failed.append(name)
            continue
        for table in tables:
            save(table, given.out)
            print(f"\n{text_of(table)}\n{table['command']}", flush=True)
            broken += [
                f"{table['title']}: {row}, {column}: {cell}"
                for row, column, cell in measured_in(table)
                if not cell.kept
            ]
    if broken:
        print("\nBars that are not kept:", *broken, sep="\n")
    elif not failed:
        print("\nAll bars are kept.")
    if failed:
        print(f"\nFailed, so nothing is known of their bars: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
