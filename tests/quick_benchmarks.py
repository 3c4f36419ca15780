"""Run a benchmark as a check that it still runs; what it measures is not looked at."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command of the benchmarks."""
    command = [sys.executable, "-m", "benchmarks", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def check(name: str, folder: Path) -> None:
    """Check that a benchmark runs, and saves its tables in a folder."""
    done = run(name, "--quick", "--out", str(folder))
    assert done.returncode == 0, done.stderr[-2000:]
    tables = [json.loads(path.read_text("utf-8")) for path in folder.glob("*.json")]
    assert tables
    for table in tables:
        assert table["command"] == f"python -m benchmarks.{name}"
        assert len(table["text"]) == len(table["rows"]) + 1
