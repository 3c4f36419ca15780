"""Every benchmark runs: those that are not in the first half."""

from pathlib import Path

import pytest

from benchmarks.__main__ import NAMES
from tests.quick_benchmarks import check


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES[1::2])
def test_it_runs_and_saves_its_tables(name: str, tmp_path: Path) -> None:
    check(name, tmp_path)
