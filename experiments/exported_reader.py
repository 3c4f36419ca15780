"""How often an exported reader answers as our own does.

    syntagma export default-reader --to onnx --out runs/exported
    python experiments/exported_reader.py runs/exported examples/questions/everyday-dev.json

`examples/onnx_reader.py` reads the export, without torch and with simpler features of words, and
`--reader` the same questions in Syntagma.  Only for a reader without guides.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path
from typing import Any

from syntagma.drawing.tables import aligned
from syntagma.errors import in_one_line
from syntagma.tasks.spans.reader import Reader
from syntagma.tasks.spans.squad import read_squad

EXAMPLE = Path(__file__).parents[1] / "examples" / "onnx_reader.py"


def load_example() -> Any:
    """Import the example, which is a file of its own."""
    spec = importlib.util.spec_from_file_location(EXAMPLE.stem, EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[EXAMPLE.stem] = module
    spec.loader.exec_module(module)
    return module


def main() -> None:
    """Read the arguments, ask both, and print how often they agree."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", help="an exported reader")
    parser.add_argument("data", help="a file in SQuAD's format")
    parser.add_argument("--reader", default="default-reader")
    given = parser.parse_args()
    example = load_example()
    exported = example.Model(given.folder)
    questions = read_squad(given.data)[0]
    reader = Reader.from_pretrained(given.reader, precision="float32")
    counts = {"best span": 0, "outcome": 0, "both": 0}
    for question in questions:
        theirs = example.answer(exported, question.passage, question.question)
        ours = reader.answer(question.passage, question.question)
        best = ours.candidates[0] if ours.candidates else None
        same_span = theirs["text"] == (best.text if best else "")
        same_outcome = theirs["outcome"] == ours.outcome
        counts["best span"] += same_span
        counts["outcome"] += same_outcome
        counts["both"] += same_span and same_outcome
        if not (same_span and same_outcome):
            shown = best.text if best else ""
            print(
                f"{question.id}: {theirs['text']!r} ({theirs['outcome']}), ours {shown!r} "
                f"({ours.outcome})"
            )
    rows = [[name, f"{count} of {len(questions)}"] for name, count in counts.items()]
    print(aligned([["equal", ""], *rows]))


if __name__ == "__main__":
    with in_one_line():
        main()
