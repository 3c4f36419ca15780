"""Every benchmark runs; what it measures is not looked at."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.__main__ import NAMES

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_it_runs_and_saves_its_tables(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks", name, "--quick", "--out", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    tables = [json.loads(path.read_text("utf-8")) for path in tmp_path.glob("*.json")]
    assert tables
    for table in tables:
        assert table["command"] == f"python -m benchmarks.{name}"
        assert len(table["text"]) == len(table["rows"]) + 1


def test_an_unknown_benchmark_is_an_error() -> None:
    command = [sys.executable, "-m", "benchmarks", "nothing"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no benchmark nothing" in done.stderr
    assert "masks" in done.stderr
