"""What readers of a page see is in its text, with its structure."""

from __future__ import annotations

import pytest

from syntagma.errors import InputError
from tests.document_files import blocks, extracted
from tests.messages import naming


def html(tmp_path, page):
    return blocks(extracted(tmp_path, "a.html", page))


def test_structure(tmp_path):
    page = """<!doctype html><html><head><title>The &amp; ferry</title></head><body>
    <h2>Sailing <em>times</em></h2>Loose
    text.<p>It leaves<br>at <b>t</b>en.</p><ul><li>a rope<li>tea</ul>
    <table><thead><tr><th>From<th>Price</thead><tr><td><p>Oban</p><td>7&nbsp;&euro;</table>
    <pre>
  x = 1

  y = 2
</pre></body></html>"""
    document = extracted(tmp_path, "a.html", page)
    assert document.title == "The & ferry"
    assert blocks(document) == [
        ("heading2", "Sailing times"),
        ("paragraph", "Loose text."),
        ("paragraph", "It leaves\nat ten."),
        ("item", "- a rope"),
        ("item", "- tea"),
        ("row", "From | Price"),
        ("row", "Oban | 7 €"),
        ("paragraph", "  x = 1\n\n  y = 2"),
    ]
    assert "- a rope\n- tea\n\nFrom | Price\nOban | 7 €\n\n" in document.text


@pytest.mark.parametrize(
    "hidden",
    [
        "<script>var no = 1</script>", "<style>no {}</style>", "<nav><ul><li>no</ul></nav>",
        "<template><p>no</template>", "<noscript>no</noscript>", "<div hidden>no<p>no</div>",
        "<p style='color: red; display:none'>no</p>", "<span aria-hidden=true>no</span>",
        "<div role=navigation>no</div>", "<!-- no -->",
        "<svg><title>no</title><text>no</text></svg>", "<select><option>no</select>",
        "<button>no</button>", "<title>no</title>",
    ],
)  # fmt: skip
def test_hidden_parts(tmp_path, hidden):
    page = f"<title>T</title><p>before</p>{hidden}<p>after</p>"
    document = extracted(tmp_path, "a.htm", page)
    assert blocks(document) == [("paragraph", "before"), ("paragraph", "after")]
    assert document.title == "T"


def test_a_hidden_body_is_read(tmp_path):
    # Pages show themselves by a script.
    assert html(tmp_path, "<body style='visibility: hidden'><p>text") == [("paragraph", "text")]


@pytest.mark.parametrize(
    ("lists", "items"),
    [
        ("<ol><li>a<li>b</ol>", ["1. a", "2. b"]),
        ("<ol start=3 type=a><li>a<li value=27>b<li>c</ol>", ["c. a", "aa. b", "ab. c"]),
        ("<ol type=I><li>a<ul><li>b</ul><li>c</ol>", ["I. a", "- b", "II. c"]),
        ("<ol start='x'><li>a</ol><li>b", ["1. a", "- b"]),
        ("<ol start=99999999999><li>a</ol>", ["1. a"]),
        ("<ol><li>a</ol><ol reversed><li>b<li hidden>no<li>c</ol>", ["1. a", "2. b", "1. c"]),
        ("<ol reversed start=9><li>a<ul><li>b</ul><li>c</ol>", ["9. a", "- b", "8. c"]),
    ],
)
def test_marks_of_items(tmp_path, lists, items):
    assert html(tmp_path, lists) == [("item", item) for item in items]


def test_marks_of_links_are_no_part_of_headings(tmp_path):
    page = "<h2>Times<a class=headerlink href='#times'>¶</a></h2>"
    assert html(tmp_path, page) == [("heading2", "Times")]


def test_two_line_breaks_end_a_paragraph(tmp_path):
    assert html(tmp_path, "one<br>two<br> <BR/>three<br>") == [
        ("paragraph", "one\ntwo"),
        ("paragraph", "three"),
    ]


def test_tables_that_arrange_a_page_are_no_rows(tmp_path):
    long = "word " * 100
    page = f"""<table><tr><td><h1>Head</h1><p>text<td><table><tr><td>a<td>b</table></table>
    <table><tr><td><p>{long}<p>{long}<td>side</table><table><tr><td>alone</table>"""
    assert html(tmp_path, page) == [
        ("heading1", "Head"),
        ("paragraph", "text"),
        ("row", "a | b"),
        ("paragraph", long.strip()),
        ("paragraph", long.strip()),
        ("paragraph", "side"),
        ("paragraph", "alone"),
    ]


def test_empty_cells_keep_their_columns(tmp_path):
    page = "<table><tr><td>a<td><td>c<tr><td>d<td>e<td><tr><td><td>f<tr><td><td></table>"
    assert html(tmp_path, page) == [("row", "a | | c"), ("row", "d | e"), ("row", "| f")]


@pytest.mark.parametrize(
    ("table", "rows"),
    [
        (
            "<tr><td rowspan=2>Mon<td>early<td>Ada<tr><td>late<td>Kofi<tr><td>Tue<td>a<td>b",
            ["Mon | early | Ada", "| late | Kofi", "Tue | a | b"],
        ),
        ("<tr><th colspan=2>Left<th>Right<tr><td>a<td>b<td>c", ["Left | | Right", "a | b | c"]),
        ("<tr><td>a<td rowspan=2 colspan=2>b<td>c<tr><td>d<td>e", ["a | b | | c", "d | | | e"]),
        ("<tr><td rowspan=3>a<td>b<tr><td>c<tr><td>d", ["a | b", "| c", "| d"]),
        # Spans end with their part of the table, and with the table.
        ("<thead><tr><td rowspan=0>a<td>b<tbody><tr><td>c<td>d", ["a | b", "c | d"]),
        ("<tr><td rowspan=9>a<td>b</table><table><tr><td>c<td>d", ["a | b", "c | d"]),
        ("<tr><td rowspan=x>a<td colspan=-3>b<tr><td>c<td>d", ["a | b", "c | d"]),
    ],
)
def test_cells_over_several_columns_or_rows(tmp_path, table, rows):
    assert html(tmp_path, f"<table>{table}</table>") == [("row", row) for row in rows]


def test_a_table_that_arranges_a_page_covers_no_rows(tmp_path):
    long = "word " * 100
    page = "<table><tr><td rowspan=3><h1>Head</h1><td>a<tr><td>b<tr><td rowspan=2>c<td>d<tr>"
    page += f"<td>{long}</table>"
    assert html(tmp_path, page)[:4] == [
        ("heading1", "Head"),
        ("paragraph", "a"),
        ("paragraph", "b"),
        ("row", "c | d"),
    ]
    assert ("paragraph", long.strip()) in html(tmp_path, page)


def test_cells_that_claim_millions_of_columns(tmp_path):
    page = f"<table>{'<tr>' + '<td colspan=999999 rowspan=999999>a' * 3}" * 200 + "</table>"
    assert all(text.count("|") < 200 for _, text in html(tmp_path, page))


def test_invisible_characters(tmp_path):
    page = "<p>time&shy;table a&#8203;b \ufeffc\x07d&#0;e&#xd800;f"
    ((_, text),) = html(tmp_path, page)
    assert text == "timetable ab c d�e�f"


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        ("", "utf-8"),
        ("", "cp1252"),
        ("<meta charset=latin1>", "cp1252"),
        ('<meta http-equiv=Content-Type content="text/html; charset=iso-8859-2">', "iso-8859-2"),
        ('<?xml version="1.0" encoding="ISO-8859-1"?>', "iso-8859-1"),
        ("<meta charset='shift_jis'>", "shift_jis"),
        ("<meta charset=iso-2022-jp>", "iso-2022-jp"),
        # Not what it says, but UTF-8, as pages often are.
        ("<meta charset=iso-8859-1>", "utf-8"),
        ("<meta charset=utf-16>", "utf-8"),
        ("<meta charset=utf-7>", "utf-8"),
        ("<meta charset=unicode_escape>", "utf-8"),
    ],
)
def test_encodings(tmp_path, head, encoding):
    text = "東京 +AGEA-" if "jis" in encoding or "jp" in encoding else r"Él \n +AGEA-"
    page = f"<html><head>{head}</head><body><p>{text}".encode(encoding)
    assert blocks(extracted(tmp_path, "a.xhtml", page)) == [("paragraph", text)]


def test_utf_16_with_a_mark(tmp_path):
    assert html(tmp_path, "\ufeff<p>Él".encode("utf-16-le")) == [("paragraph", "Él")]


def test_one_broken_character_does_not_spoil_a_long_page(tmp_path):
    page = b"<meta charset=utf-8><p>" + b"word " * 1000 + b"caf\xe9"
    ((_, text),) = html(tmp_path, page)
    assert text.endswith("caf�")


@pytest.mark.parametrize(
    ("page", "words"),
    [
        (b"<meta charset=utf-8><p>caf\xe9", "a.html utf-8 iconv"),
        (b"\x00\x01\x02", "a.html NUL"),
        (b"<script>x</script>", "a.html no text"),
    ],
)
def test_what_is_no_page(tmp_path, page, words):
    with pytest.raises(InputError, match=naming(words)):
        html(tmp_path, page)


def test_a_title_that_never_ends(tmp_path):
    page = f"<p>text</p><title>{'word ' * 200_000}"
    document = extracted(tmp_path, "a.html", page)
    assert document.text == "text"
    assert len(document.title) <= 500


@pytest.mark.parametrize("tag", ["div", "b", "ul><li", "table><tr><td", "blockquote"])
def test_deep_pages(tmp_path, tag):
    page = f"<p>before{f'<{tag}>' * 30_000}deep"
    assert "deep" in extracted(tmp_path, "a.html", page).text


def test_lists_that_never_end(tmp_path):
    assert "text" in extracted(tmp_path, "a.html", f"<p>text{'<ol ' * 200_000}").text
