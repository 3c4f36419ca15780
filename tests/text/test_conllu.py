"""Treebank files: exact round trip, offsets, and error messages."""

from __future__ import annotations

import gzip

import pytest

from syntagma.errors import InputError
from syntagma.text.conllu import TreebankSentence, format_conllu, parse_conllu, read_conllu
from syntagma.text.sentence import Parse
from tests.messages import naming

BLANK = "_\t_"


def row(number, form, head="_", relation="_", *, upos="X", misc="_"):
    return f"{number}\t{form}\t_\t{upos}\tT{number}\t_\t{head}\t{relation}\t_\t{misc}"


DOCUMENT = "\n".join(
    [
        "# newdoc id = tides",
        "# sent_id = tides-1",
        "# text = We can't wait, du port.",
        row(1, "We", 4, "nsubj"),
        row("2-3", "can't"),
        row(2, "ca", 4, "aux"),
        row(3, "n't", 4, "advmod"),
        row(4, "wait", 0, "root", misc="SpaceAfter=No"),
        row(5, ",", 4, "punct"),
        row("5.1", "ghost"),
        row("6-7", "du"),
        row(6, "de", 8, "case"),
        row(7, "le", 8, "det"),
        row(8, "port", 4, "obl", misc="SpaceAfter=No|Note=x"),
        row(9, ".", 4, "punct"),
        "",
        row(1, "Go", 0, "root"),
        "",
        "",
    ]
)


def sentences(text=DOCUMENT):
    return list(parse_conllu(text.split("\n"), name="tides.conllu"))


def test_round_trip_is_exact():
    assert "".join(map(format_conllu, sentences())) == DOCUMENT


def test_words_have_offsets_into_the_text():
    sentence = sentences()[0].sentence()
    text = sentences()[0].text
    assert sentence.forms == ("We", "ca", "n't", "wait", ",", "de", "le", "port", ".")
    # Forms that spell the token get their part of it; otherwise each gets the whole token.
    assert [text[word.start : word.end] for word in sentence.words] == [
        "We",
        "ca",
        "n't",
        "wait",
        ",",
        "du",
        "du",
        "port",
        ".",
    ]


def test_text_is_rebuilt_without_a_comment():
    source = sentences()[0]
    bare = TreebankSentence((), source.rows)
    assert bare.text == "We can't wait, du port."
    assert bare.sentence() == source.sentence()


def test_text_is_rebuilt_if_the_comment_has_other_words():
    source = sentences()[0]
    for text in ("We can't wait.", "We can't wait, du port. Go", "We can't , du port wait."):
        other = TreebankSentence((f"# text = {text}",), source.rows)
        assert other.text == "We can't wait, du port."
    spaced = TreebankSentence(("# text = We  can't wait,\u00a0du port .",), source.rows)
    assert spaced.text == "We  can't wait,\u00a0du port ."
    assert [spaced.text[w.start : w.end] for w in spaced.sentence().words][-2:] == ["port", "."]


def test_touches_next_reads_the_last_token():
    rows = (row("1-2", "du", misc="SpaceAfter=No"), row(1, "de"), row(2, "le"))
    lines = [tuple(line.split("\t")) for line in rows]
    assert TreebankSentence((), tuple(lines)).touches_next
    unlike = row(1, "a", misc="CorrectSpaceAfter=No")
    assert not TreebankSentence((), (tuple(unlike.split("\t")),)).touches_next


def test_with_parse_replaces_only_the_predicted_columns():
    source = sentences()[0]
    parse = source.parse()
    new = source.with_parse(
        Parse(parse.sentence, (4, 4, 4, 0, 4, 8, 8, 4, 4), ("dep",) * 9, ("Y",) * 9, ("Z",) * 9)
    )
    assert [r[0] for r in new.rows] == [r[0] for r in source.rows]
    assert new.words[8][3:8] == ("Y", "Z", "_", "4", "dep")
    assert new.words[7][9] == "SpaceAfter=No|Note=x"
    with pytest.raises(ValueError, match=naming("9 words 1")):
        source.with_parse(sentences()[1].parse())


def test_from_parse_round_trip(ferry):
    text = " ".join(ferry.sentence.forms)
    rows = TreebankSentence.from_parse(ferry, text=text)
    again = next(parse_conllu(format_conllu(rows).splitlines()))
    assert again.parse() == ferry


def test_words_that_share_offsets_become_a_multi_word_token():
    source = sentences()[0]
    rows = TreebankSentence.from_parse(source.parse(), text=source.text)
    assert [r[:2] for r in rows.rows if "-" in r[0]] == [("6-7", "du")]
    again = next(parse_conllu(format_conllu(rows).splitlines()))
    assert again.parse() == source.parse()


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            [row(1, "a", 2, "x"), row(2, "b", 1, "x"), row(3, "c", 0, "root")],
            "bad.conllu line 1 1 → 2 → 1",
        ),
        ([row(1, "a", 0, "root"), row(2, "b", 0, "root")], "bad.conllu line 1 one root 2"),
        ([row(1, "a", 1, "x")], "bad.conllu line 1 root"),
        (
            [row(1, "a", 3, "x"), row(2, "b", 0, "root")],
            "bad.conllu line 1 word a head 3 0 2",
        ),
        ([row(1, "a", "x", "x")], "bad.conllu line 1 word a head x 0 1"),
        (["# sent_id = s7", row(1, "a", "-1", "x")], "bad.conllu line 1 s7 word 1 -1"),
    ],
)
def test_what_is_no_tree_is_refused_with_its_place(lines, message):
    with pytest.raises(InputError, match=naming(message)):
        next(parse_conllu(lines, name="bad.conllu")).parse()


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["1\ta\tb"], "bad.conllu line 1 10 columns tabs 3"),
        ([row(1, "a"), row(3, "c")], "bad.conllu line 2 word 2 3"),
        ([row("x", "a")], "bad.conllu line 1 x 3 3-4 3.1"),
        ([row(1, "a"), row(2, "")], "bad.conllu line 2 2 form _"),
        ([row("1-2", " "), row(1, "a"), row(2, "b")], "bad.conllu line 1 1-2 form _"),
        ([row("²", "a")], "bad.conllu line 1 ² 3 3-4 3.1"),
        ([row("1-2-3", "a")], "bad.conllu line 1 1-2-3 3 3-4 3.1"),
        ([row("2-1", "ab"), row(1, "a")], "bad.conllu line 1 2-1 1"),
        ([row(1, "a"), row(2, "b"), row("1-2", "ab")], "bad.conllu line 3 1-2 3"),
        ([row("1-2", "ab"), row(1, "a"), row("2-3", "c")], "bad.conllu line 3 2-3 2"),
        ([row("1-3", "ab"), row(1, "a"), row(2, "b")], "bad.conllu line 1 3 2"),
    ],
)
def test_broken_lines_are_named(lines, message):
    with pytest.raises(InputError, match=naming(message)):
        list(parse_conllu(lines, name="bad.conllu"))


def test_long_chains_need_no_recursion():
    lines = [row(n, "w", n - 1, "x") for n in range(1, 5001)]
    assert len(next(parse_conllu(lines)).parse()) == 5000


def test_reads_gzip_and_rejects_empty_files(tmp_path):
    path = tmp_path / "a.conllu.gz"
    path.write_bytes(gzip.compress(DOCUMENT.encode()))
    assert len(list(read_conllu(path))) == 2
    path.write_bytes(gzip.compress(b"\n\n"))
    with pytest.raises(InputError, match=naming("a.conllu.gz sentences CoNLL-U")):
        list(read_conllu(path))
