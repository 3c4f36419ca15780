"""How long a cold process takes for one sentence or one question, and where the seconds go.

Files are in the page cache: each command runs once before it is timed.  Imports of torch and
Transformers, in the same run, are what no command that computes can do without.

    python -m benchmarks.start
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from benchmarks.quick import size
from benchmarks.text import EXAMPLE

ROUNDS = size(5, 1)
SENTENCE = "Nobody slept on the ferry that night."
QUESTION = "Who fitted a coal barge with an engine?"
BASELINE = "python -c 'import torch, transformers'"
HELP, HELP_BAR = "syntagma --help", 0.3
"""A command, and the seconds that it may take."""
PYTHON = [sys.executable, "-c"]

STEPS = """
import json, time
from syntagma.__main__ import _collect_later
_collect_later()
marks = [("", time.perf_counter())]
def mark(name):
    marks.append((name, time.perf_counter()))
import torch
mark("import torch")
import transformers
mark("import transformers")
from transformers.models.bert import modeling_bert
mark("import the encoder's class, with what Transformers imports for it")
import syntagma.cli.printing, syntagma.parse.sources.load, syntagma.report.answers
mark("import of this package")
{steps}
times = dict((name, end - start) for (_, start), (name, end) in zip(marks, marks[1:]))
print(json.dumps(times))
"""
PARSING = """
parser = syntagma.parse.sources.load.load_parser("default-parser")
mark("read and check weights, build the models")
parser({sentence!r})
mark("compute")
"""
ANSWERING = """
from syntagma import Reader
reader = Reader.from_pretrained("default")
mark("read and check weights, build the models")
reader.answer(open({path!r}, encoding="utf-8").read(), {question!r})
mark("compute")
"""


def seconds(commands: Mapping[str, Sequence[str]]) -> dict[str, list[float]]:
    """Return the times of commands, which take turns, after a first call of each."""
    times: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(ROUNDS + 1):
        for name, command in commands.items():
            start = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            if number:
                times[name].append(time.perf_counter() - start)
    return times


def steps(body: str) -> dict[str, float]:
    """Return the median time of each step of a process."""
    code = STEPS.format(steps=body)
    runs = []
    for _ in range(ROUNDS):
        done = subprocess.run([*PYTHON, code], check=True, capture_output=True, text=True)
        runs.append(json.loads(done.stdout))
    return {name: median(run[name] for run in runs) for name in runs[0]}


def main() -> None:
    from benchmarks.tables import Measured, show

    # As installed: a shorter spinning does not change the start.
    os.environ.pop("GOMP_SPINCOUNT", None)
    command = [sys.executable, "-m", "syntagma"]
    with tempfile.TemporaryDirectory() as name:
        sentence = Path(name) / "sentence.txt"
        sentence.write_text(SENTENCE, encoding="utf-8")
        times = seconds(
            {
                "python -c pass": [*PYTHON, "pass"],
                "python -c 'import torch'": [*PYTHON, "import torch"],
                BASELINE: [*PYTHON, "import torch, transformers"],
                "… and the class of the encoder": [
                    *PYTHON,
                    "from transformers.models.bert.modeling_bert import BertModel",
                ],
                HELP: [*command, "--help"],
                "syntagma parse, one sentence": [*command, "parse", str(sentence)],
                "syntagma answer, one question": [*command, "answer", str(EXAMPLE), QUESTION],
            }
        )
    usual = median(times[BASELINE])
    show(
        "Start of a cold process",
        [
            {
                "": name,
                "seconds": Measured(
                    median(found),
                    at_most=HELP_BAR if name == HELP else None,
                    lowest=min(found),
                    highest=max(found),
                ),
                "relative to import torch, transformers": median(found) / usual,
            }
            for name, found in times.items()
        ],
    )
    parsing = steps(PARSING.format(sentence=SENTENCE))
    answering = steps(ANSWERING.format(path=str(EXAMPLE), question=QUESTION))
    show(
        "Where the seconds of a start go",
        [{"": name, "parse, s": parsing[name], "answer, s": answering[name]} for name in parsing],
    )


if __name__ == "__main__":
    main()
