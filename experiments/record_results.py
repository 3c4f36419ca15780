"""Write docs/results.md, docs/results/ and docs/reproduce/ from the records of measurements.

    python experiments/record_results.py                       # write the pages again
    python experiments/record_results.py runs/reproduce/cpu/results/sg-net_table3/result.json
    python experiments/record_results.py --json records.json   # also all numbers, one record each
    python experiments/record_results.py --parsing runs/bench/parsers.json
    python experiments/record_results.py --bench runs/bench

With result files of `syntagma reproduce`, their numbers are recorded first; with `--parsing`, those
that `python -m benchmarks.parsing` saved (`parser-speed.yaml`, and the plot drawn from it); with
`--bench`, the tables of `python -m benchmarks` that a text names.  The other numbers are in
`experiments/results/NAME.yaml`, and the text around them in `NAME.md`.

In a text, `{{squad10k.plain.exact}}` is a cell of a table, `{{table squad10k}}` a table with its
conditions, `{{bench start_of_a_cold_process}}` one of a benchmark, `{{NAME}}` a single value,
`{{A - B}}` a difference; a format may follow, as in `{{A - B:.1f}}`.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from parser_speed import PLOT, TABLE, draw, records_text

from syntagma.drawing.tables import markdown
from syntagma.errors import InputError, in_one_line
from syntagma.files import read_json, read_text
from syntagma.outputs import write_json, write_text
from syntagma.reproduce.index import record
from syntagma.reproduce.pages import reproduce_pages

ROOT = Path(__file__).parent.parent
RECORDS = Path(__file__).parent / "results"
SPEED = RECORDS / "parser-speed.yaml"
BENCH = RECORDS / "bench"
"""Tables of benchmarks, as `python -m benchmarks` saved them."""
SUMMARY = "summary"
KEPT = ("title", "machine", "command", "runs", "text")
"""What is kept of a benchmark's table."""
CONDITIONS = ("what", "data", "seeds", "control", "test", "machine", "version")
TESTS = ("difference", "better", "worse", "p", "p_holm", "p_seeds", "p_bootstrap")
"""Columns that compare a row with the control."""
TEXT = ("text", "outcome")
"""Kinds of columns that are not numbers: a setting, or what was observed."""
NUMBER = re.compile(r"(?:< )?([+-]?\d+(?:\.\d+)?(?:e-?\d+)?)(?: ± (\d+(?:\.\d+)?))?")
PLACEHOLDER = re.compile(r"\{\{(.+?)\}\}")


@dataclass(frozen=True)
class Cell:
    """A measured number, in the digits in which it was reported."""

    text: str

    @property
    def value(self) -> float:
        return float(self._match[1])

    @property
    def deviation(self) -> float | None:
        return float(self._match[2]) if self._match[2] else None

    @property
    def _match(self) -> re.Match[str]:
        found = NUMBER.match(self.text)
        if found is None:
            raise InputError(f"expected a number such as 58.67 ± 0.75 or < 0.0001, got {self.text}")
        return found

    def shown(self) -> str:
        """The number with a minus sign and separators of thousands."""
        text = re.sub(r"(?<![\d.])\d{4,}(?![\d.])", lambda found: f"{int(found[0]):,}", self.text)
        return re.sub(r"^-(?=\d)", "−", text)


@dataclass(frozen=True)
class Records:
    """All tables and single values by name, with the page that each belongs to."""

    tables: dict[str, dict[str, Any]]
    values: dict[str, dict[str, str]]
    pages: dict[str, str]

    def cell(self, name: str) -> Cell:
        """The cell `TABLE.ROW.COLUMN`, or the value of a name."""
        table, _, place = name.partition(".")
        row, _, column = place.rpartition(".")
        try:
            if not place:
                return Cell(self.values[name]["value"])
            return Cell(self.tables[table]["rows"][row][column])
        except KeyError as error:
            raise InputError(f"{{{{{name}}}}}: no such record ({error} is missing)") from error

    def flat(self) -> Iterator[dict[str, Any]]:
        """One record for each measured number."""
        for name, table in self.tables.items():
            conditions = {key: table[key] for key in (*CONDITIONS, "command") if key in table}
            for row, cells in table["rows"].items():
                tests = {key: cells[key] for key in TESTS if key in cells}
                for column, title in table["columns"].items():
                    kind = title["kind"] if isinstance(title, dict) else ""
                    if column not in cells or column in TESTS or kind in TEXT:
                        continue
                    cell = Cell(cells[column])
                    yield {
                        "id": f"{name}.{row}.{column}",
                        "system": cells["name"],
                        "metric": title["title"] if isinstance(title, dict) else title,
                        "source": "paper" if kind == "paper" else "measured",
                        "value": cell.value,
                        "deviation": cell.deviation,
                        "reported": cell.text,
                        **conditions,
                        "tests": tests if column == tested(table) else {},
                    }  # fmt: skip
        for name, value in self.values.items():
            cell = Cell(value["value"])
            yield {
                "id": name,
                "source": value.get("source", "measured"),
                "what": value["what"],
                "value": cell.value,
                "deviation": cell.deviation,
                "reported": cell.text,
            }


def tested(table: Mapping[str, Any]) -> str:
    """The column whose differences are tested: the one that is named, or the first number."""
    if "tested" in table:
        return str(table["tested"])
    return next(key for key, title in table["columns"].items() if isinstance(title, str))


def read_records(folder: Path = RECORDS) -> Records:
    """Read all records; names must be unique over all files."""
    records = Records({}, {}, {})
    for path in sorted(folder.glob("*.yaml")):
        # Every scalar is read as text, so that 60.10 keeps its digits.
        content = yaml.load(read_text(path), yaml.BaseLoader)
        for kind, known in (("tables", records.tables), ("values", records.values)):
            for name, item in content.get(kind, {}).items():
                if name in records.pages:
                    raise InputError(f"{path}: {name} is also in {records.pages[name]}.yaml")
                known[name] = item
                records.pages[name] = path.stem
    return records


def table_text(table: Mapping[str, Any]) -> str:
    """A table with its conditions and its command."""
    titles = table["columns"].values()
    header = [title["title"] if isinstance(title, dict) else title for title in titles]
    rows = [[table.get("head", ""), *header]]
    for cells in table["rows"].values():
        shown = (Cell(cells.get(key, "")).shown() for key in table["columns"])
        rows.append([cells["name"], *shown])
    conditions = [f"- {key}: {table[key]}" for key in CONDITIONS if key in table]
    command = "\n".join(f"    {line}" for line in table["command"].strip().splitlines())
    return "\n\n".join(("\n".join(conditions), markdown(rows), command))


def benchmark_text(name: str) -> str:
    """The table of a benchmark with its machine, the number of its runs, and its command."""
    table = read_json(BENCH / f"{name}.json")
    runs = table["runs"]
    conditions = [f"- machine: {table['machine']}"]
    if runs > 1:
        conditions.append(f"- each number: the median of {runs} processes, and their range")
    return "\n\n".join(["\n".join(conditions), markdown(table["text"]), f"    {table['command']}"])


def keep_benchmarks(folder: Path) -> list[Path]:
    """Copy the tables that a text names, of those that are in a folder of `python -m benchmarks`.

    Raises:
        InputError: the folder has none of them.
    """
    texts = [read_text(path) for path in RECORDS.glob("*.md")]
    named = {name for text in texts for name in re.findall(r"\{\{bench (\w+)\}\}", text)}
    found = [folder / f"{name}.json" for name in sorted(named)]
    found = [path for path in found if path.exists()]
    if not found:
        raise InputError(f"{folder}: has none of the tables that the documents name: {named}")
    for path in found:
        table = read_json(path)
        write_json(BENCH / path.name, {key: table[key] for key in KEPT})
    return found


def summary_rows(records: Records, lines: list[dict[str, str]]) -> list[list[str]]:
    """The rows of the summary: a system with its control on a task."""
    rows = [["", "task", "metric", "seeds", "control", "with it", "difference",
             "p", "p (Holm)", "p (seeds)"]]  # fmt: skip
    for line in lines:
        table = records.tables[line["table"]]
        metric = line.get("metric", tested(table))
        cells = table["rows"][line["row"]]
        control = records.cell(f"{line['table']}.{line.get('control', 'plain')}.{metric}")
        system = Cell(cells[metric])
        tests = cells if metric == tested(table) else {}
        if "p" in line:
            tests = {"p": records.cell(line["p"]).text}
        difference = tests.get("difference") or f"{system.value - control.value:+.2f}"
        p_values = [Cell(tests.get(key, "")).shown() for key in ("p", "p_holm", "p_seeds")]
        page = records.pages[line["table"]]
        title = table["columns"][metric]
        rows.append(
            [
                line.get("system", ""), f"[{line['task']}](results/{page}.md)", title,
                line["seeds"], control.shown(), system.shown(), Cell(difference).shown(), *p_values,
            ]
        )  # fmt: skip
    return rows


def filled(text: str, records: Records, summary: list[dict[str, str]]) -> str:
    """A template with its placeholders replaced."""

    def replace(found: re.Match[str]) -> str:
        name = found[1].strip()
        if name == SUMMARY:
            return markdown(summary_rows(records, summary))
        if name.startswith("bench "):
            return benchmark_text(name.removeprefix("bench "))
        if name.startswith("table "):
            return table_text(records.tables[name.removeprefix("table ")])
        name, _, style = name.partition(":")
        first, minus, second = name.partition(" - ")
        if not style and not minus:
            return records.cell(name).shown()
        value = records.cell(first).value - (records.cell(second).value if minus else 0)
        if style.startswith("abs"):
            value, style = abs(value), style.removeprefix("abs")
        # The option z turns a rounded -0.0 into 0.0.
        return f"{value:{style.replace('.', 'z.', 1)}}".replace("-", "−")

    return PLACEHOLDER.sub(replace, text)


def result_pages(folder: Path = RECORDS) -> dict[str, str]:
    """The pages of results by their path below docs/."""
    records = read_records(folder)
    summary = yaml.load(read_text(folder / f"{SUMMARY}.yaml"), yaml.BaseLoader)["summary"]
    pages = {}
    for path in sorted(folder.glob("*.md")):
        name = "results.md" if path.stem == SUMMARY else f"results/{path.name}"
        text = filled(read_text(path), records, summary)
        title, _, rest = text.partition("\n")
        source = f"experiments/results/{path.name}"
        note = f"<!-- Written by experiments/record_results.py from {source} -->"
        pages[name] = f"{title}\n\n{note}\n{rest}"
    return pages


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", nargs="*", type=Path, help="result.json of reproduce")
    parser.add_argument("--json", type=Path, help="also write all records to this file")
    parser.add_argument("--parsing", type=Path, help="parsers.json of benchmarks/parsing.py")
    parser.add_argument("--bench", type=Path, help="folder of `python -m benchmarks`")
    options = parser.parse_args()
    if options.parsing:
        write_text(SPEED, records_text(read_json(options.parsing)))
    for path in keep_benchmarks(options.bench) if options.bench else []:
        print(path)
    for name in record(options.results):
        print(name)
    for name, text in {**result_pages(), **reproduce_pages()}.items():
        write_text(ROOT / "docs" / name, text)
    draw(read_records().tables[TABLE], ROOT / "docs" / PLOT)
    if options.json:
        write_json(options.json, list(read_records().flat()))


if __name__ == "__main__":
    with in_one_line():
        main()
