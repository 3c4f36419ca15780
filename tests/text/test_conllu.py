"""Treebank files: exact round trip, offsets, and error messages."""

from __future__ import annotations

import gzip
from dataclasses import replace

import pytest

from syntagma.errors import InputError
from syntagma.text.conllu import TreebankSentence, format_conllu, parse_conllu, read_conllu
from syntagma.text.morphology import Morphology, join_morphologies
from syntagma.text.segmentation.segment import segment
from syntagma.text.sentence import Parse, Sentence
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
    # Each form gets its part of the token if the forms spell it, otherwise the whole token.
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


def test_words_that_are_as_long_as_their_token_need_not_spell_it():
    rows = ["1-2\tPelo" + "\t_" * 8, row(1, "Por", 0, "root"), row(2, "o", 1), "", ""]
    (source,) = sentences("\n".join(rows))
    assert source.sentence().words == (("Por", 0, 4), ("o", 0, 4))


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
    other_key = row(1, "a", misc="CorrectSpaceAfter=No")
    assert not TreebankSentence((), (tuple(other_key.split("\t")),)).touches_next


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


def test_enhanced_dependencies_and_their_empty_nodes_are_removed_together():
    lines = [
        "# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC",
        "# text = Bo mends nets, Al oars.",
        "1\tBo\tBo\tPROPN\tNNP\t_\t2\tnsubj\t2:nsubj\t_",
        "2\tmends\tmend\tVERB\tVBZ\t_\t0\troot\t0:root\t_",
        "3\tnets\tnet\tNOUN\tNNS\t_\t2\tobj\t2:obj\tSpaceAfter=No|Note=x",
        "4\t,\t,\tPUNCT\t,\t_\t5\tpunct\t5.1:punct\t_",
        "5\tAl\tAl\tPROPN\tNNP\t_\t2\tconj\t5.1:nsubj\t_",
        "5.1\tmends\tmend\tVERB\tVBZ\t_\t_\t_\t2:conj\tCopyOf=2",
        "6\toars\toar\tNOUN\tNNS\t_\t5\torphan\t5.1:obj\tSpaceAfter=No",
        "7\t.\t.\tPUNCT\t.\t_\t2\tpunct\t2:punct\t_",
        "",
    ]
    (source,) = parse_conllu(lines)
    assert problems(source) == []
    parse = source.parse()
    heads = (3, 3, 0, 3, 6, 3, 3)
    relations = ("compound", "compound", "root", "punct", "compound", "conj", "punct")
    new = source.with_parse(replace(parse, heads=heads, relations=relations))
    assert problems(new) == []
    assert new.parse().heads == heads
    assert new.comments == source.comments
    assert [row[9] for row in new.words] == [row[9] for row in source.words]
    # `problems` notices a graph of which only a part was removed.
    partial = replace(source, rows=tuple((*row[:8], "_", row[9]) for row in source.rows))
    assert problems(partial) == []
    kept = source.rows[5]
    partial = replace(partial, rows=(*partial.rows[:5], kept, *partial.rows[6:]))
    assert problems(partial) == ["the enhanced graph is not connected"]


def problems(sentence):
    """What a validator reports about ids, the tree, the enhanced graph and the text."""
    found = []
    if [row[0] for row in sentence.words] != [str(n + 1) for n in range(len(sentence.words))]:
        found.append("ids are not consecutive")
    for row in sentence.words:
        if (row[6] == "0") != (row[7] == "root"):
            found.append(f"word {row[0]}: root")
    sentence.parse()
    graph = {row[0]: row[8] for row in sentence.rows if "-" not in row[0]}
    if any(deps != "_" for deps in graph.values()):
        reached, size = {"0"}, 0
        while size < len(reached):
            size = len(reached)
            for node, deps in graph.items():
                heads = {arc.split(":")[0] for arc in deps.split("|")}
                reached |= {node} if heads & reached else set()
        if reached != {"0", *graph}:
            found.append("the enhanced graph is not connected")
    if sentence.comment("text") not in (None, sentence.text):
        found.append("text")
    return found


@pytest.mark.parametrize(
    ("text", "forms", "covered"),
    [
        ("An oar (of ash) broke.", "An oar -LRB- of ash -RRB- broke .", ["(", ")"]),
        ("[ash] {oar}", "-lsb- ash -rsb- -LCB- oar -RCB-", ["[", "]", "{", "}"]),
        ('"Row," said Bo.', "`` Row , '' said Bo .", ['"', '"']),
        ("“Row,” said Bo.", "`` Row , '' said Bo .", ["“", "”"]),
        ("‘Row’ 1/2 **", "` Row ' 1\\/2 \\*\\*", ["‘", "1/2", "**"]),
        ("`` Row '' -LRB- 2 -RRB-", "`` Row '' -LRB- 2 -RRB-", ["``", "''", "-LRB-", "-RRB-"]),
    ],
)
def test_escaped_words_are_found_in_the_text(text, forms, covered):
    text = text.replace("Row’", "Row'")
    rows = (row(n, form) for n, form in enumerate(forms.split(), start=1))
    (sentence,) = parse_conllu([f"# text = {text}", *rows])
    assert sentence.text == text
    words = sentence.sentence().words
    assert [word.form for word in words] == forms.split()
    parts = [text[word.start : word.end] for word in words]
    assert "".join(parts) == text.replace(" ", "")
    assert [part for part in parts if not part.isalpha() and part not in ".,2'"] == covered


def test_a_text_comment_with_another_bracket_is_ignored():
    (sentence,) = parse_conllu(["# text = [ ash", row(1, "-LRB-"), row(2, "ash")])
    assert sentence.text == "-LRB- ash"
    assert sentence.sentence().starts == (0, 6)


def test_from_parse_round_trip(ferry):
    text = " ".join(ferry.sentence.forms)
    rows = TreebankSentence.from_parse(ferry, text=text)
    again = next(parse_conllu(format_conllu(rows).splitlines()))
    assert again.parse() == ferry


def test_multi_word_tokens_are_written_again():
    source = sentences()[0]
    rows = TreebankSentence.from_parse(source.parse(), text=source.text)
    assert [r[:2] for r in rows.rows if "-" in r[0]] == [("2-3", "can't"), ("6-7", "du")]
    again = next(parse_conllu(format_conllu(rows).splitlines()))
    assert again.parse() == source.parse()
    assert again.parse().sentence.multiword == ((1, 3), (5, 7))


TOUCHING = "I cannot say whose it's: the boys' 5m 'net' or Ann’s. Gonna ask?"


def test_english_contractions_become_multi_word_tokens():
    (first, second) = segment(TOUCHING)
    tags = {"'": "PART", "net": "NOUN"}
    for sentence, tokens in (
        (first, ["cannot", "it's", "boys'", "Ann’s"]),
        (second, ["Gonna"]),
    ):
        upos = tuple(tags.get(form, "X") for form in sentence.forms)
        if sentence is first:
            # The apostrophe after `net` closes a quotation.
            last = [i for i, form in enumerate(sentence.forms) if form == "'"][-1]
            upos = (*upos[:last], "PUNCT", *upos[last + 1 :])
        parse = Parse(sentence, tuple(range(len(sentence))), upos=upos)
        rows = TreebankSentence.from_parse(parse, text=TOUCHING)
        assert [row[1] for row in rows.rows if "-" in row[0]] == tokens
        assert rows.comment("text") == rows.text
        # The words of a token have no gap of their own.
        inside = {form for row in rows.rows for form in [row[1]] if row[9] == "SpaceAfter=No"}
        assert inside.isdisjoint({"can", "it", "Gon"})


def test_words_known_to_be_tokens_stay_tokens():
    (sentence, _) = segment(TOUCHING)
    parse = Parse(replace(sentence, multiword=()), tuple(range(len(sentence))))
    rows = TreebankSentence.from_parse(parse, text=TOUCHING)
    assert all(row[0].isdigit() for row in rows.rows)


def test_blank_words_are_no_contractions():
    sentence = Sentence(("Bo", "", "row"), (0, 2, 2), (2, 2, 5))
    rows = TreebankSentence.from_parse(Parse(sentence, (0, 1, 1)), text="Borow").rows
    assert [row[0] for row in rows] == ["1", "2", "3"]


def test_the_written_text_has_no_zero_width_characters():
    text = "Row\u200bon, Bo."
    (sentence,) = segment(text)
    rows = TreebankSentence.from_parse(Parse(sentence, tuple(range(len(sentence)))), text=text)
    assert rows.comment("text") == rows.text == "Row on, Bo."


MORPHOLOGY = [
    "# newpar",
    "1\tBo\tBo\tPROPN\tNNP\tNumber=Sing\t2\tnsubj\t_\t_",
    "2\trows\trow\tVERB\tVBZ\tNumber=Sing|Person=3\t0\troot\t_\t_",
    "",
    "# newdoc id = b",
    "1\tNo\tno\tINTJ\tUH\t_\t0\troot\t_\t_",
    "",
    "1\tNo\t_\tINTJ\tUH\t_\t0\troot\t_\t_",
    "",
]


def test_lemmas_and_features_are_read_and_written():
    first, second, third = parse_conllu(MORPHOLOGY)
    parse = first.parse()
    assert parse.lemmas == ("Bo", "row")
    assert parse.feats == ("Number=Sing", "Number=Sing|Person=3")
    # A sentence with lemmas is annotated: its words have no features.
    assert (second.parse().lemmas, second.parse().feats) == (("no",), ("_",))
    assert (third.parse().lemmas, third.parse().feats) == (None, None)
    assert TreebankSentence.from_parse(parse, text="Bo rows").rows == first.rows
    other = replace(parse, morphology=Morphology(lemmas=("bo", "rows")))
    assert [row[2] for row in first.with_parse(other).rows] == ["bo", "rows"]
    # What the parse does not know stays as it was.
    assert [row[5] for row in first.with_parse(other).rows] == [row[5] for row in first.rows]
    assert first.with_parse(replace(parse, morphology=None)) == first


def test_paragraphs_and_documents_begin():
    found = list(parse_conllu(MORPHOLOGY))
    assert [each.starts_paragraph for each in found] == [True, True, False]
    assert [each.starts_document for each in found] == [False, True, False]


def test_parts_of_a_sentence_join_their_morphology():
    one, other = Morphology(("_",), ("a",)), Morphology(("Case=Acc",), None)
    assert join_morphologies([one, other]) == Morphology(("_", "Case=Acc"), None)
    assert join_morphologies([one, None]) is None


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
def test_invalid_trees_are_rejected_with_their_location(lines, message):
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
        ([row("1" * 5000, "a")], "bad.conllu line 1 3 3-4 3.1"),
        ([row("1-" + "2" * 5000, "a")], "bad.conllu line 1 3 3-4 3.1"),
        ([row("1-2-3", "a")], "bad.conllu line 1 1-2-3 3 3-4 3.1"),
        ([row("2-1", "ab"), row(1, "a")], "bad.conllu line 1 2-1 1"),
        ([row(1, "a"), row(2, "b"), row("1-2", "ab")], "bad.conllu line 3 1-2 3"),
        ([row("1-2", "ab"), row(1, "a"), row("2-3", "c")], "bad.conllu line 3 2-3 2"),
        ([row("1-3", "ab"), row(1, "a"), row(2, "b")], "bad.conllu line 1 3 2"),
    ],
)
def test_malformed_lines_are_reported(lines, message):
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
