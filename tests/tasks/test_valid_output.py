"""What `syntagma parse` prints is valid CoNLL-U, whatever the text."""

from __future__ import annotations

import io

import pytest
import torch

from syntagma.cli.printing import write_parses
from syntagma.tasks.parsing.task import ParsingTask
from syntagma.tasks.parsing.treebanks import read_treebank
from tests.builders import experiment, treebank
from tests.conftest import SENTENCES
from tests.ud_validation import problems

VALID = """\
# newdoc id = a
# sent_id = 1
# text = Bo can't row.
1\tBo\tBo\tPROPN\tNNP\tNumber=Sing\t4\tnsubj\t_\t_
2-3\tcan't\t_\t_\t_\t_\t_\t_\t_\t_
2\tca\tcan\tAUX\tMD\tVerbForm=Fin\t4\taux\t_\t_
3\tn't\tnot\tPART\tRB\tPolarity=Neg\t4\tadvmod:neg\t_\t_
4\trow\trow\tVERB\tVB\tMood=Imp,Ind|Number=Sing\t0\troot\t_\tSpaceAfter=No
5\t.\t.\tPUNCT\t.\t_\t4\tpunct\t_\t_

"""


def test_the_checks_accept_a_valid_sentence():
    assert problems(VALID) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("4\tnsubj", "1\tnsubj"),
        ("4\tnsubj", "6\tnsubj"),
        ("4\tnsubj", "0\troot"),
        ("4\tnsubj", "4\troot"),
        ("4\tnsubj", "4\tsubject"),
        ("advmod:neg", "advmod:Neg"),
        ("PROPN", "PROP"),
        ("Number=Sing\t4", "number=Sing\t4"),
        ("Mood=Imp,Ind|Number=Sing", "Number=Sing|Mood=Imp"),
        ("Mood=Imp,Ind", "Mood=Ind,Imp"),
        ("Mood=Imp,Ind|", "Number=Plur|"),
        ("2-3\t", "2-6\t"),
        ("2-3\tcan't\t_", "2-3\tcan't\tcan"),
        ("5\t.", "6\t."),
        ("row\tVERB", "\tVERB"),
        ("\tSpaceAfter=No", "\t_"),
        ("# sent_id = 1\n", ""),
        ("# text = Bo can't row.\n", ""),
        ("\n\n", "\n"),
        ("4\taux\t_\t_", "4\taux\t_\tSpaceAfter=No"),
    ],
)
def test_the_checks_notice(old, new):
    assert old in VALID
    assert problems(VALID.replace(old, new, 1)) != []


def test_the_checks_notice_a_repeated_id():
    assert problems(VALID * 2) != []


TRICKY = [
    "Don't! We can't, they'd've \"said\" (it's Ann's & the boys').",
    "He paid $5.50, 10,000 yen or 3/4; see www.tide.example/a?b=c#d or mail bo@tide.example.",
    "Wait...what?No!Yes.",
    "A list:\n\n- one\n- two\n\n1. First\n2. Second",
    "Zero\u200bwidth, soft\u00adhyphen, \ufeffmark and non\u00a0breaking\u3000space.",
    "Tabs\tand  double   spaces\r\nand\x0bfeeds \x85 here.",
    "東京は大きい。 Привет, мир! مرحبا بالعالم 👩\u200d👩\u200d👧 :-) #tide @bo",
    "gonna wanna cannot dunno its not his",
    "x" * 700 + " end.",
    "no final stop",
    "...",
    "“Quoted,” she said—then left… 'It's' 5p.m. etc.",
    "-LRB- escaped -RRB- `` words ''",
]


@pytest.fixture(scope="module")
def parser(tmp_path_factory, tiny_encoder):
    """An untrained parser with all labels: its trees are wrong, and must be valid."""
    data = treebank(tmp_path_factory.mktemp("trees") / "tides.conllu")
    head = {"morphology": ["feats", "lemmas"]}
    torch.manual_seed(2)
    return ParsingTask.new(
        experiment("parsing", data, tiny_encoder, head=head), read_treebank(data)
    ).parser


def printed(parser, *paths, kind="text"):
    out = io.StringIO()
    write_parses(paths, parser, kind=kind, out=out)
    return out.getvalue()


@pytest.mark.parametrize("kind", ["text", "lines", "words"])
def test_printed_trees_are_valid(parser, tmp_path, kind):
    text = "\n\n".join([*SENTENCES, *TRICKY])
    (tmp_path / "all.txt").write_bytes(text.encode())
    output = printed(parser, tmp_path / "all.txt", kind=kind)
    assert problems(output) == []
    assert output.startswith("# newdoc id = all.txt\n")
    assert output.count("# newdoc") == 1
    assert ("# newpar" in output) == (kind == "text")


def test_each_paragraph_begins_once_and_sentences_are_numbered_over_all_files(parser, tmp_path):
    for name, text in (("a", "One. Two.\nThree.\n\n \nFour."), ("b", "\n\nFive.")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    output = printed(parser, tmp_path / "a", tmp_path / "b")
    comments = [line for line in output.splitlines() if line.startswith("#")]
    assert [line for line in comments if "text" not in line] == [
        "# newdoc id = a",
        "# newpar",
        *["# sent_id = 1", "# sent_id = 2", "# sent_id = 3"],
        *["# newpar", "# sent_id = 4"],
        *["# newdoc id = b", "# newpar", "# sent_id = 5"],
    ]
    assert problems(output) == []


def test_sentences_without_a_space_between_them_touch(parser, tmp_path):
    (tmp_path / "a").write_text("Wait!No space. End.", encoding="utf-8")
    rows = [line.split("\t") for line in printed(parser, tmp_path / "a").splitlines()]
    assert [row[9] for row in rows if row[1:2] == ["!"]] == ["SpaceAfter=No"]


def test_the_comments_of_a_treebank_stay(parser, tmp_path):
    (tmp_path / "a.conllu").write_text(VALID.replace("# sent_id = 1\n", "# sent_id = x\n"))
    output = printed(parser, tmp_path / "a.conllu", kind="conllu")
    assert [line for line in output.splitlines() if line.startswith("#")] == [
        "# newdoc id = a",
        "# sent_id = x",
        "# text = Bo can't row.",
    ]
    assert problems(output) == []
