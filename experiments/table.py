"""Train systems on one base with several seeds and print them side by side, the first as baseline.

    python experiments/table.py squad1 plain sg-net poi-net --seeds 1 2 3 --out runs/table

Bases and systems are those of `syntagma reproduce`; an unknown name lists all.  This is for
comparisons that no table of a paper has.  Interrupted runs are resumed; several processes that are
started at the same time share the runs.  The tests are those of `syntagma compare`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from syntagma.analysis.compare import compare_runs
from syntagma.errors import in_one_line
from syntagma.reproduce.own_runs import find_run
from syntagma.reproduce.plan import in_order
from syntagma.reproduce.runs import Setting
from syntagma.reproduce.work import make_files, train_runs


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("base", help="a dataset with its training settings")
    arguments.add_argument("systems", nargs="+")
    arguments.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    arguments.add_argument("--data", type=Path, default=Path("data"))
    arguments.add_argument("--out", type=Path, required=True)
    arguments.add_argument("--scale", default="cpu")
    arguments.add_argument("--set", action="append", default=[], dest="overrides")
    options = arguments.parse_args()
    setting = Setting(options.data, options.out, options.scale, overrides=tuple(options.overrides))
    # All systems with each seed: an interrupted table is complete for the first seeds.
    runs = {
        (system, seed): find_run(options.base, system, setting, seed=seed)
        for seed in options.seeds
        for system in options.systems
    }
    ordered = in_order(runs.values())
    make_files(ordered, setting, print)
    train_runs(ordered, print)
    if len(options.systems) > 1:
        folders = [
            runs[system, seed].folder for system in options.systems for seed in options.seeds
        ]
        found = compare_runs(folders)
        print(f"\n{found.markdown()}\n\n{found.test}, n = {found.n_examples:,}")


if __name__ == "__main__":
    with in_one_line():
        main()
