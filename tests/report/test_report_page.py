"""The report page: contents, and rendering in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from syntagma.drawing.tables import html_table
from syntagma.report.report_page import Section, plot, plots, report_page

A4 = 718
"""Printable width of an A4 sheet in Chromium, in CSS pixels."""
PLOT = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><rect width="9" height="9"/>'
    "</svg>"
)


def page(folder: Path) -> Path:
    (folder / "a <plot>.svg").write_text(PLOT)
    body = plots([plot(folder / "a <plot>.svg", 'f1 by "length" & kind')])
    sections = [Section("Groups of examples", body), Section("Empty", "")]
    text = report_page(title="<b>", summary="2 runs", sections=sections, notices=["a & b", "a & b"])
    (folder / "index.html").write_text(text, encoding="utf-8")
    return folder / "index.html"


def test_sections_notices_and_anchors(tmp_path):
    text = page(tmp_path).read_text(encoding="utf-8")
    assert '<a href="#groups-of-examples">Groups of examples</a>' in text
    assert 'id="groups-of-examples"' in text
    assert "Empty" not in text
    assert text.count("a &amp; b") == 1
    assert "<title>&lt;b&gt;</title>" in text
    assert "Skipped" not in report_page(title="t", summary="", sections=[])


@pytest.mark.chromium
def test_plots_are_rendered_without_requests(browser, tmp_path):
    file = page(tmp_path)
    browser.open(file)
    assert browser.run("document.querySelector('img').naturalWidth") == 40
    assert browser.problems() == []
    fetched = [url for url in browser.requests() if not url.startswith("data:")]
    assert fetched == [file.as_uri()]


@pytest.mark.chromium
def test_wide_tables_fit_on_paper(browser, tmp_path):
    head = ["", "seeds", "precision", "recall", "f1", "macro_f1", "accuracy", "Δ f1", "+", "−"]
    rows = [[*head, "p", "p (Holm)", "p (resampled)"]]
    for name in ("plain", "seprem_fine_tuning"):
        rows.append([name, "3", *["65.37 ± 0.94"] * 5, "-0.28", "142", "141", *["0.4889"] * 3])
    text = report_page(title="t", summary="", sections=[Section("Results", html_table(rows))])
    (tmp_path / "index.html").write_text(text, encoding="utf-8")
    browser.open(tmp_path / "index.html", width=A4)
    browser.send("Emulation.setEmulatedMedia", media="print")
    try:
        right = "document.querySelector('{}').getBoundingClientRect().right"
        assert browser.run(f"{right.format('table')} <= {right.format('.section')}")
    finally:
        browser.send("Emulation.setEmulatedMedia", media="")
