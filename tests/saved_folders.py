"""The saved models of the format tests, and changes to their JSON files."""

from __future__ import annotations

import json
from pathlib import Path

SAVED = Path(__file__).parent / "data" / "formats" / "0.1"


def change(path: Path, edit) -> None:
    values = json.loads(path.read_text(encoding="utf-8"))
    values = edit(values) or values
    path.write_text(json.dumps(values), encoding="utf-8")
