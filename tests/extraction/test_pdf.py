"""PDF pages become paragraphs, headings, items and rows."""

from __future__ import annotations

import pytest

from syntagma.errors import InputError
from tests.document_files import PAGE_HEIGHT, blocks, draw_lines, extracted, pdf_file
from tests.messages import naming

COLUMN = [
    "The boat leaves from the pier at ten in the morning and",
    "comes back before it is dark, unless the wind is strong.",
    "Then it stays on the island until the harbour master has",
    "called, and the passengers sleep in the school.",
]


def pdf(tmp_path, pages, **settings):
    return extracted(tmp_path, "a.pdf", pdf_file(pages, **settings))


def test_lines_are_joined_to_paragraphs(tmp_path):
    document = pdf(tmp_path, [[*COLUMN, "", *COLUMN, "Dogs travel free."]], title="The ferry")
    assert document.title == "The ferry"
    assert blocks(document) == [
        ("paragraph", " ".join(COLUMN)),
        ("paragraph", " ".join([*COLUMN, "Dogs travel free."])),
    ]
    assert [block.page for block in document.blocks] == [1, 1]


@pytest.mark.parametrize("title", ["(anonymous)", "Untitled", "Microsoft Word - a.doc"])
def test_what_programs_write_for_a_title(tmp_path, title):
    assert pdf(tmp_path, [COLUMN], title=title).title == ""


def test_an_indented_line_and_a_short_one_end_paragraphs(tmp_path):
    def page(canvas):
        draw_lines(canvas, COLUMN[:3])
        draw_lines(canvas, [COLUMN[0]], left=90, top=740 - 3 * 14)
        draw_lines(canvas, ["It is free.", *COLUMN[:2]], top=740 - 4 * 14)

    assert blocks(pdf(tmp_path, [page])) == [
        ("paragraph", " ".join(COLUMN[:3])),
        ("paragraph", f"{COLUMN[0]} It is free."),
        ("paragraph", " ".join(COLUMN[:2])),
    ]


def test_hyphens_at_line_ends(tmp_path):
    lines = [
        "The summer time-", "table has well-", "known gaps, as Anglo-", "Saxon fleets had in 1910-",
        "1912; a well-known fact of our co\u00ad", "operative, on which the harbour was built.",
    ]  # fmt: skip
    ((_, text),) = blocks(pdf(tmp_path, [lines]))
    assert text == (
        "The summer timetable has well-known gaps, as Anglo-Saxon fleets had in 1910-1912; "
        "a well-known fact of our cooperative, on which the harbour was built."
    )


def test_a_paragraph_goes_on_on_the_next_page(tmp_path):
    first = [*COLUMN[:2], "Nobody knows the time-"]
    document = pdf(tmp_path, [first, ["table of the other", "boat. It is secret."], COLUMN])
    assert blocks(document) == [
        ("paragraph", " ".join([*COLUMN[:2], "Nobody knows the timetable"])),
        ("paragraph", "of the other boat. It is secret."),
        ("paragraph", " ".join(COLUMN)),
    ]
    assert [block.page for block in document.blocks] == [1, 2, 3]
    assert "the timetable\nof the other boat" in document.text
    assert "It is secret.\n\nThe boat" in document.text


def test_columns(tmp_path):
    left = ["The boat leaves from the", "pier at ten in the morn-"]
    right = ["ing and comes back before", "it is dark."]

    def page(canvas):
        draw_lines(canvas, left)
        draw_lines(canvas, right, left=320)

    assert blocks(pdf(tmp_path, [page])) == [
        ("paragraph", "The boat leaves from the pier at ten in the morning and comes back before "
         "it is dark.")
    ]  # fmt: skip


def test_rows_and_items(tmp_path):
    def page(canvas):
        draw_lines(canvas, [*COLUMN, "Bring:"])
        for number, cells in enumerate([("From", "Price"), ("Oban pier", "7 pounds")]):
            for cell, left in zip(cells, (72, 250), strict=True):
                canvas.drawString(left, 640 - 14 * number, cell)
        for number, text in enumerate(["a rope, which must be", "long", "tea"]):
            if number != 1:
                canvas.drawString(72, 580 - 14 * number, "\u2022")
            canvas.drawString(100, 580 - 14 * number, text)

    assert blocks(pdf(tmp_path, [page])) == [
        ("paragraph", " ".join([*COLUMN, "Bring:"])),
        ("row", "From | Price"),
        ("row", "Oban pier | 7 pounds"),
        ("item", "• a rope, which must be long"),
        ("item", "• tea"),
    ]


def test_headings_by_size(tmp_path):
    def page(canvas):
        draw_lines(canvas, ["The ferry"], size=24)
        draw_lines(canvas, ["Times"], top=700, size=16)
        draw_lines(canvas, COLUMN, top=680)
        draw_lines(canvas, ["Prices"], top=600, size=16)
        draw_lines(canvas, COLUMN, top=580)

    assert [found for found in blocks(pdf(tmp_path, [page])) if found[0] != "paragraph"] == [
        ("heading1", "The ferry"),
        ("heading2", "Times"),
        ("heading2", "Prices"),
    ]


def test_headings_of_the_outline(tmp_path):
    def page(canvas):
        draw_lines(canvas, ["Big print"], size=24)
        draw_lines(canvas, ["1.2 Times of the boat", "and its prices", *COLUMN], top=700)
        canvas.bookmarkPage("all")
        canvas.bookmarkPage("here")
        canvas.addOutlineEntry("All", "all", level=0)
        canvas.addOutlineEntry("Times of the boat and its prices", "here", level=1)

    found = blocks(pdf(tmp_path, [page]))
    assert found == [
        ("paragraph", "Big print"),
        ("heading2", "1.2 Times of the boat and its prices"),
        ("paragraph", " ".join(COLUMN)),
    ]


def numbered_page(number, head, foot):
    def page(canvas):
        canvas.drawString(72, PAGE_HEIGHT - 30, head)
        draw_lines(canvas, [*COLUMN, f"This is text {number}."], top=700)
        canvas.drawString(300, 30, foot)

    return page


@pytest.mark.parametrize(
    ("n_pages", "head", "foot", "gone"),
    [
        (4, "The Harbour Review", "Page {}", True),
        (2, "The Harbour Review", "- {} -", True),
        (4, "Chapter on {}", "{} | of 40", True),
        # These say something else on each page.
        (4, "Boat {}0", "Fare: {}7 pounds", False),
        (1, "The Harbour Review", "Page {}", False),
    ],
)
def test_running_heads_and_page_numbers(tmp_path, n_pages, head, foot, gone):
    pages = [numbered_page(n, head.format(n), foot.format(n)) for n in range(1, n_pages + 1)]
    text = pdf(tmp_path, pages).text
    assert text.count("This is text") == n_pages
    for repeated in (head, foot):
        assert (repeated.format(1) not in text) == gone


def test_a_table_over_several_pages_keeps_its_numbers(tmp_path):
    def page(canvas):
        number = canvas.getPageNumber()
        for row in range(5):
            for column in range(3):
                canvas.drawString(72 + 150 * column, 700 - 14 * row, f"{number * 7 + row * column}")

    document = pdf(tmp_path, [page] * 4)
    assert [kind for kind, _ in blocks(document)] == ["row"] * 20
    assert document.text.startswith("7 | 7 | 7\n7 | 8 | 9\n")


@pytest.mark.parametrize("character", ["a", "1", ".", "-", "i"])
def test_a_line_of_a_hundred_thousand_characters(tmp_path, character):
    long = character * 100_000

    def page(canvas):
        draw_lines(canvas, [*COLUMN, long, "end"])
        canvas.bookmarkPage("here")
        canvas.addOutlineEntry("Times", "here")

    # What is compared to the text before it at every character would take minutes.
    assert pdf(tmp_path, [page]).text.endswith("end")


def image_only(canvas):
    canvas.rect(72, 72, 300, 300, fill=1)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (pdf_file([image_only] * 3), "a.pdf 3 pages ocrmypdf"),
        (pdf_file([image_only]), "a.pdf 1 page ocrmypdf"),
        (pdf_file([COLUMN], password="secret"), "a.pdf encrypted qpdf"),
        (b"%PDF-1.7\nnothing", "a.pdf damaged"),
        (pdf_file([COLUMN])[:600], "a.pdf damaged"),
        (b"PK\x03\x04", "a.pdf not PDF"),
    ],
)
def test_what_cannot_be_read(tmp_path, data, words):
    with pytest.raises(InputError, match=naming(words)) as found:
        extracted(tmp_path, "a.pdf", data)
    assert "\n" not in str(found.value)
