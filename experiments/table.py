"""Train experiments with several seeds and print them side by side, the first as the baseline.

    python experiments/table.py dream_plain dream_poi-net --seeds 1 2 3 --out runs/dream

Goes on where it was stopped; started several times at once, it shares out the runs.  The tests are
those of `syntagma compare`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from syntagma.analysis.compare import compare_runs
from syntagma.errors import in_one_line
from syntagma.tasks.experiment import load_experiment
from syntagma.training.job_queue import Job, train_all

HERE = Path(__file__).parent


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("experiments", nargs="+")
    arguments.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    arguments.add_argument("--out", type=Path, required=True)
    arguments.add_argument("--set", action="append", default=[], dest="overrides")
    options = arguments.parse_args()
    names, seeds, out = options.experiments, options.seeds, options.out
    jobs = []
    # A whole row of systems with each seed: what is there after a while is already a table.
    for seed in seeds:
        for name in names:
            changes = [f"training.seed={seed}", *options.overrides]
            jobs.append(
                Job(load_experiment(HERE / f"{name}.yaml", changes), out / f"{name}-{seed}")
            )
    train_all(jobs, say=print)
    if len(names) > 1:
        found = compare_runs([out / f"{name}-{seed}" for name in names for seed in seeds])
        print(f"\n{found.markdown()}\n\n{found.test}, n = {found.n_examples:,}")


if __name__ == "__main__":
    with in_one_line():
        main()
