"""The speed and accuracy of parsers in the documents: a table of records, and a plot of it.

`benchmarks/parsing.py` measures them, and `record_results.py` calls these functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

import yaml

from syntagma.drawing.plotting import MARKERS, panels, shown_name, style_of

TABLE = "parser_speed"
PLOT = "results/parser-speed.svg"
"""Path of the plot below docs/."""
ENCODER = "nothing: its encoder alone"
"""What a run of the encoder alone finds, in the benchmark's words."""
PEERS = ("spaCy", "Stanza")
"""Parsers that are not ours."""
COMMAND = """\
python experiments/spacy_peer.py --train EWT-TRAIN GUM-TRAIN --exclude 'GUM_essay_*' \\
    'GUM_fiction_*' 'GUM_letter_*' 'GUM_podcast_*' 'GUM_whow_*' --dev EWT-DEV GUM-DEV
python -m benchmarks.parsing EWT-DEV --spacy runs/spacy_peer/model-best
python experiments/record_results.py --parsing runs/bench/parsers.json
"""
COLUMNS: dict[str, Any] = {
    "finds": {"title": "finds", "kind": "text"},
    "precision": {"title": "precision", "kind": "text"},
    "threads": {"title": "threads", "kind": "text"},
    "las": "LAS",
    "words": "words/s",
    "least": "least",
    "most": "most",
    "time": "time ÷ encoder alone",
    "time_bar": {"title": "at most", "kind": "text"},
    "speed": "speed ÷ spaCy",
    "speed_bar": {"title": "at least", "kind": "text"},
}


def key_of(parser: str, finds: str, precision: str, threads: int) -> str:
    """The name of a row, of words joined by `_`."""
    what = "encoder" if finds == ENCODER else finds
    return "_".join(f"{parser} {what} {precision} {threads}".replace("-", " ").split()).lower()


def records_of(result: Mapping[str, Any]) -> dict[str, Any]:
    """The table of records of what `benchmarks/parsing.py` saved."""
    found = result["measurements"]
    speeds = {
        key_of(each["parser"], each["finds"], each["precision"], each["threads"]): (
            each["words_per_second"]
        )
        for each in found["parsers"]
    }
    time_bars = {(parser, finds): bar for parser, finds, bar in found["time_bars"]}
    speed_bars = {tuple(key): bar for *key, bar in found["speed_bars"]}
    rows = {}
    for each in found["parsers"]:
        parser, finds, precision = each["parser"], each["finds"], each["precision"]
        key = key_of(parser, finds, precision, each["threads"])
        words = median(speeds[key])
        row = {"name": parser, "finds": finds, "precision": precision}
        row["threads"] = str(each["threads"])
        if each["las"] is not None:
            row["las"] = f"{each['las']:.2f}"
        row |= {"words": f"{words:.0f}", "least": f"{min(speeds[key]):.0f}"}
        row["most"] = f"{max(speeds[key]):.0f}"
        encoder = speeds.get(key_of(parser, ENCODER, precision, each["threads"]))
        if encoder and finds != ENCODER:
            row["time"] = f"{median(encoder) / words:.2f}"
            if (parser, finds) in time_bars:
                row["time_bar"] = f"{time_bars[parser, finds]:g}"
        peer = speeds.get(key_of("spaCy", "dependencies", "float32", each["threads"]))
        if peer and parser != "spaCy" and finds != ENCODER:
            row["speed"] = f"{words / median(peer):.2f}"
            if (bar := speed_bars.get((parser, finds, precision))) is not None:
                row["speed_bar"] = f"{bar:g}"
        rows[key] = row
    table = {
        "title": "Parsers: accuracy and speed",
        "what": "LAS in per cent; words/s on given words, median of the rounds with the range",
        "data": found["data"],
        "machine": result["machine"],
        "command": COMMAND,
        "columns": COLUMNS,
        "rows": rows,
    }
    return {"tables": {TABLE: table}}


def records_text(result: Mapping[str, Any]) -> str:
    """The same as YAML."""
    note = "# Written by experiments/record_results.py --parsing from benchmarks/parsing.py\n"
    body = yaml.dump(
        records_of(result), sort_keys=False, allow_unicode=True, width=10_000,
        default_flow_style=None,
    )  # fmt: skip
    return note + body


def series_of(table: Mapping[str, Any]) -> dict[str, list[Mapping[str, str]]]:
    """The rows with LAS of parsers that find dependencies, by series, each from slow to fast.

    A series has one precision and number of threads; a peer is a series of its own.
    """
    series: dict[str, list[Mapping[str, str]]] = {}
    for row in table["rows"].values():
        if row["finds"] != "dependencies" or "las" not in row:
            continue
        who = row["name"] if row["name"] in PEERS else f"ours, {row['precision']}"
        threads = "1 thread" if row["threads"] == "1" else f"{row['threads']} threads"
        series.setdefault(f"{who}, {threads}", []).append(row)
    for rows in series.values():
        rows.sort(key=lambda row: float(row["words"]))
    return series


def draw(table: Mapping[str, Any], out: Path) -> None:
    """Write the plot: LAS against words/s with the range of the rounds.

    Each parser is named where it is fastest.
    """
    fastest: dict[str, tuple[float, float]] = {}
    with panels(1, out, width=5.6, height=3.4) as (axis,):
        for number, (name, rows) in enumerate(series_of(table).items()):
            words, least, most, las = (
                [float(row[column]) for row in rows] for column in ("words", "least", "most", "las")
            )
            below = [here - low for here, low in zip(words, least, strict=True)]
            above = [high - here for here, high in zip(words, most, strict=True)]
            axis.errorbar(
                words, las, xerr=[below, above], label=shown_name(name), markersize=5, capsize=2,
                marker=MARKERS[number % len(MARKERS)], **style_of(number),
            )  # fmt: skip
            for row, place in zip(rows, zip(words, las, strict=True), strict=True):
                fastest[row["name"]] = max(place, fastest.get(row["name"], place))
        for name, place in fastest.items():
            axis.annotate(
                shown_name(name), place, xytext=(0, 7), textcoords="offset points", ha="center",
                fontsize=8,
            )  # fmt: skip
        axis.set_xlabel("words/s")
        axis.set_ylabel("LAS")
        axis.margins(x=0.12, y=0.15)
        axis.set_xlim(left=0)
