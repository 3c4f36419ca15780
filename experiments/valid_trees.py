"""Count what the validator of Universal Dependencies rejects in parses of raw text and gold trees.

    python experiments/valid_trees.py default-parser data/treebanks/ewt/en_ewt-ud-dev.conllu.gz
    python experiments/valid_trees.py multilingual-parser de_gsd-ud-dev.conllu.gz --lang de

The texts of the first sentences of a treebank are parsed by `syntagma parse`, each as a paragraph
of its own.  The package `udtools` must be installed.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from itertools import islice
from pathlib import Path

from syntagma.drawing.tables import aligned
from syntagma.text.conllu import format_conllu, read_conllu

REPORTED = re.compile(r"\[L(?P<level>\d) (?!WARNING)\S+ (?P<kind>[\w-]+)\]")
"""What the validator prints of an error."""
LEVELS = (2, 3)


def errors_in(path: Path, language: str) -> Counter[tuple[int, str]]:
    """Run the validator, and count its errors by level and kind."""
    program = Path(sys.executable).with_name("udvalidate")
    if not program.is_file():
        raise SystemExit("udvalidate is missing beside this Python: pip install udtools")
    options = ["--lang", language, "--level", str(max(LEVELS)), "--max-err", "0", "--no-warnings"]
    done = subprocess.run(
        [program, *options, "--", path], capture_output=True, text=True, check=False
    )
    printed = done.stdout + done.stderr
    found = Counter((int(each["level"]), each["kind"]) for each in REPORTED.finditer(printed))
    if bool(done.returncode) != bool(found):
        raise SystemExit(f"{path}: cannot read what udvalidate printed:\n{printed}")
    return found


def main() -> None:
    """Parse, validate, and print the table."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("parser", help="its name or folder")
    options.add_argument("treebank", type=Path)
    options.add_argument("--lang", default="", help="language, for a parser of several")
    options.add_argument("--sentences", type=int, default=1000)
    given = options.parse_args()
    language = given.lang or given.treebank.name.partition("_")[0]
    gold = list(islice(read_conllu(given.treebank), given.sentences))
    with tempfile.TemporaryDirectory() as place:
        texts, parsed, trees = (Path(place, name) for name in ("texts", "parsed", "gold"))
        texts.write_text("\n\n".join(each.text for each in gold), encoding="utf-8")
        trees.write_text("".join(map(format_conllu, gold)), encoding="utf-8")
        command = [sys.executable, "-m", "syntagma", "parse", texts, "--parser", given.parser]
        with open(parsed, "wb") as out:
            subprocess.run(
                [*command, *(["--lang", given.lang] if given.lang else [])], stdout=out, check=True
            )
        counts = [errors_in(path, language) for path in (parsed, trees)]
        n_parses = parsed.read_text(encoding="utf-8").count("# sent_id = ")
    rows = [["errors", f"{n_parses} parses of {given.parser}", f"{len(gold)} gold trees"]]
    for level in LEVELS:
        totals = [sum(n for (at, _), n in found.items() if at == level) for found in counts]
        rows.append([f"level {level}", *map(str, totals)])
    for key in sorted({key for found in counts for key in found}):
        rows.append([f"- {key[1]}", *(str(found[key]) for found in counts)])
    print(aligned(rows))


if __name__ == "__main__":
    main()
