"""Train experiments with several seeds and print them side by side, the first as the baseline.

    python experiments/table.py dream_plain dream_poi-net --seeds 1 2 3 --out runs/dream

Goes on where it was stopped.  The difference to the baseline is tested over all examples of all
seeds together: McNemar's exact test for spans, the paired t-test for classification.
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path

from syntagma.files import read_json
from syntagma.report.compare import COLUMNS, T_TESTED, mcnemar, paired_t_test
from syntagma.tasks.experiment import load_experiment
from syntagma.training.run import train

HERE = Path(__file__).parent


def run_all(names: list[str], seeds: list[int], out: Path, overrides: list[str]) -> None:
    for seed in seeds:
        for name in names:
            folder = out / f"{name}-{seed}"
            if not (folder / "metrics.json").is_file():
                experiment = load_experiment(
                    HERE / f"{name}.yaml", [f"training.seed={seed}", *overrides]
                )
                train(experiment, folder, resume=folder.exists())


def rows_of(name: str, seeds: list[int], out: Path, key: str) -> list[float]:
    """Whether each example of each seed is right, in one order."""
    return [
        float(row[key])
        for seed in seeds
        for _, row in sorted(read_json(out / f"{name}-{seed}" / "examples.json").items())
    ]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("experiments", nargs="+")
    arguments.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    arguments.add_argument("--out", type=Path, required=True)
    arguments.add_argument("--set", action="append", default=[], dest="overrides")
    options = arguments.parse_args()
    names, seeds, out = options.experiments, options.seeds, options.out
    run_all(names, seeds, out, options.overrides)
    task = load_experiment(HERE / f"{names[0]}.yaml").task
    columns, correct = COLUMNS.get(task, (("accuracy",), "accuracy"))
    first = read_json(out / f"{names[0]}-{seeds[0]}" / "metrics.json")
    columns = tuple(column for column in columns if column in first)
    print(f"\n| {' | '.join(['', *columns, 'Δ', 'p'])} |\n{'|---' * (len(columns) + 3)}|")
    baseline = rows_of(names[0], seeds, out, correct)
    for name in names:
        metrics = [read_json(out / f"{name}-{seed}" / "metrics.json") for seed in seeds]
        cells = [name]
        for column in columns:
            values = [values[column] for values in metrics]
            spread = f" ± {statistics.stdev(values):.2f}" if len(values) > 1 else ""
            cells.append(f"{statistics.mean(values):.2f}{spread}")
        rows = rows_of(name, seeds, out, correct)
        if name == names[0]:
            cells += ["", "baseline"]
        else:
            pairs = list(zip(rows, baseline, strict=True))
            gained, lost = sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)
            difference = 100 * (sum(rows) - sum(baseline)) / len(rows)
            test = paired_t_test(rows, baseline) if task in T_TESTED else mcnemar(gained, lost)
            cells += [f"{difference:+.2f}", f"{test:.4f}"]
        print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
