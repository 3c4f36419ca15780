"""The tables of benchmarks: bars, several runs as one, and what documents show of them."""

import json
from pathlib import Path

import pytest

from benchmarks.__main__ import shown_command
from benchmarks.quick import VARIABLE
from benchmarks.tables import Measured, measured_in, merged, name_of, show, text_of
from experiments.record_results import BENCH, benchmark_text, keep_benchmarks
from syntagma.errors import InputError

NAMED = next(iter(sorted(BENCH.glob("*.json"))), None)


def table(folder: Path, *ratios: float) -> dict[str, object]:
    rows = [
        {"": f"model {number}", "kind": "fast", "ratio": Measured(ratio, at_most=1.2)}
        for number, ratio in enumerate(ratios)
    ]
    loaded: dict[str, object] = json.loads(show("Cost, measured", rows).read_text("utf-8"))
    return loaded


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYNTAGMA_BENCH", str(tmp_path))


@pytest.mark.parametrize(
    ("measured", "text"),
    [
        (Measured(1.234), "1.23"),
        (Measured(12_345.6), "12,346"),
        (Measured(1.1, at_most=1.2), "1.1 ≤ 1.2"),
        (Measured(1.3, at_most=1.2), "1.3, not ≤ 1.2"),
        (Measured(0.9, at_least=0.7), "0.9 ≥ 0.7"),
        (Measured(0.6, at_least=0.7, lowest=0.5, highest=0.8), "0.6 (0.5 to 0.8), not ≥ 0.7"),
    ],
)
def test_a_bar_is_shown_beside_its_number(measured: Measured, text: str) -> None:
    assert str(measured) == text


def test_runs_are_merged_to_the_median_and_the_range(tmp_path: Path) -> None:
    one = merged([table(tmp_path, 1.1, 3.0), table(tmp_path, 1.3, 3.0), table(tmp_path, 1.0, 3.0)])
    first, second = (cell for _, _, cell in measured_in(one))
    assert first == Measured(1.1, at_most=1.2, lowest=1.0, highest=1.3)
    assert first.kept
    assert not second.kept
    assert one["runs"] == 3
    assert "1.1 (1 to 1.3) ≤ 1.2" in text_of(one)


def test_runs_with_different_rows_are_not_merged(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="different rows"):
        merged([table(tmp_path, 1.1), table(tmp_path, 1.1, 1.2)])


def test_names_of_files_have_letters_and_digits_only() -> None:
    assert name_of("Guides (a seventh layer: 1.17) at 16 x 384") == (
        "guides_a_seventh_layer_1_17_at_16_x_384"
    )


def test_a_folder_without_tables_of_the_documents_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none of the tables"):
        keep_benchmarks(tmp_path)


@pytest.mark.skipif(NAMED is None, reason="no table is kept")
def test_documents_show_the_kept_tables() -> None:
    assert NAMED is not None
    kept = json.loads(NAMED.read_text("utf-8"))
    text = benchmark_text(NAMED.stem)
    assert kept["command"] in text
    assert kept["machine"] in text
    for row in kept["text"][1:]:
        assert row[0] in text


def test_the_command_of_a_table_names_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYNTAGMA_BENCH_CHOICE", "/data/RACE one.tar.gz#dev")
    monkeypatch.setenv(VARIABLE, "1")  # `--quick` is no data.
    command = shown_command(["-m", "benchmarks.choice", "--words", "48"])
    assert command == (
        "SYNTAGMA_BENCH_CHOICE='RACE one.tar.gz#dev' python -m benchmarks.choice --words 48"
    )
