"""Does training on phrases and dependencies together help both?

    python experiments/parser_views.py --seeds 1 2 3 --out runs/parser_views

An interrupted table is resumed.  A model with both views is decoded both ways, while
`syntagma compare` has the scores of the decoding that it was trained for.
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path

from syntagma.errors import in_one_line
from syntagma.files import read_json
from syntagma.outputs import write_json
from syntagma.parse.decode import DecodingMode
from syntagma.tasks.experiment import load_experiment
from syntagma.tasks.parsing.task import ParsingTask
from syntagma.training.run import train

EXPERIMENT = Path(__file__).parent / "parser_ptb_sample.yaml"
WAYS = {
    "dependencies only": ["head.views=dependencies"],
    "phrases only": ["head.views=constituents"],
    "both, separate margin": ["head.decoding=separate"],
    "both, joint margin": ["head.decoding=joint"],
}
DECODINGS: tuple[DecodingMode, ...] = ("separate", "joint")
NAMES = {"separate": "separate", "joint": "joint span"}
METRICS = ("uas_without_punctuation", "uas", "bracket_f1", "xpos")


def scores_of(folder: Path, dev: tuple[str, ...]) -> dict[str, dict[str, float]]:
    """The scores of a trained parser by decoding, cached in its folder."""
    kept = folder / "decodings.json"
    if kept.is_file():
        found: dict[str, dict[str, float]] = read_json(kept)
        return found
    task = ParsingTask.from_pretrained(folder)
    examples = [example for path in dev for example in task.read(path)]
    scores: dict[str, dict[str, float]] = {}
    both = task.model.spans is not None and task.model.head.views == "both"
    decodings: tuple[DecodingMode, ...] = DECODINGS if both else (task.parser.decoding,)
    for decoding in decodings:
        task.parser.decoding = decoding
        values = task.score(examples, task.predict(examples))
        if task.model.head.views == "constituents":
            # Its heads follow head rules, not the scheme of the treebank.
            values = {key: value for key, value in values.items() if not key.startswith("uas")}
        scores[decoding] = values
    write_json(kept, scores)
    return scores


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    arguments.add_argument("--out", type=Path, default=Path("runs/parser_views"))
    arguments.add_argument("--set", action="append", default=[], dest="overrides")
    options = arguments.parse_args()
    table: dict[tuple[str, str], list[dict[str, float]]] = {}
    for seed in options.seeds:
        for way, changes in WAYS.items():
            folder = options.out / f"{way.replace(',', '').replace(' ', '_')}-{seed}"
            if not (folder / "metrics.json").is_file():
                overrides = [*changes, f"training.seed={seed}", *options.overrides]
                train(load_experiment(EXPERIMENT, overrides), folder, resume=folder.exists())
            dev = load_experiment(EXPERIMENT).data.dev
            for decoding, values in scores_of(folder, dev).items():
                table.setdefault((way, NAMES.get(decoding, "–")), []).append(values)
    print(f"\n| trained on | decoded | {' | '.join(METRICS)} |")
    print("|---" * (2 + len(METRICS)) + "|")
    for (way, decoding), runs in table.items():
        cells = []
        for metric in METRICS:
            found = [run[metric] for run in runs if metric in run]
            spread = f" ± {statistics.stdev(found):.2f}" if len(found) > 1 else ""
            cells.append(f"{statistics.mean(found):.2f}{spread}" if found else "–")
        print(f"| {way} | {decoding} | {' | '.join(cells)} |")


if __name__ == "__main__":
    with in_one_line():
        main()
