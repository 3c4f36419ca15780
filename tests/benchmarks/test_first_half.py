"""Every benchmark runs.  A file is run by one process, so half of them are in each of two."""

from pathlib import Path

import pytest

from benchmarks.__main__ import NAMES
from tests.quick_benchmarks import check, run


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES[::2])
def test_it_runs_and_saves_its_tables(name: str, tmp_path: Path) -> None:
    check(name, tmp_path)


def test_an_unknown_benchmark_is_an_error() -> None:
    done = run("nothing")
    assert done.returncode == 2
    assert "no benchmark nothing" in done.stderr
    assert "masks" in done.stderr
