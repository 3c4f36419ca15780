"""Trees of sentences from those of their translations."""

from argparse import Namespace

import numpy as np
import project_trees
import pytest

from syntagma import load_parser
from syntagma.text.conllu import read_conllu
from syntagma.text.sentence import Parse, Sentence

LINES = "The ferry left the harbour .\nTwo old sailors slept below deck .\n"


def parse_of(forms, heads):
    relations = tuple("dep" if head else "root" for head in heads)
    tags = ("NOUN",) * len(heads)
    return Parse(Sentence.from_words(forms.split()), tuple(heads), relations, tags, tags)


@pytest.fixture
def run(tmp_path, monkeypatch, tiny_parser, tiny_encoder):
    """Run the script on two texts and return the path of the treebank."""

    def with_texts(english, other, *options):
        (tmp_path / "en.txt").write_text(english, encoding="utf-8")
        (tmp_path / "xx.txt").write_text(other, encoding="utf-8")
        out = tmp_path / "xx-ud-train.conllu"
        files = [str(tmp_path / "en.txt"), str(tmp_path / "xx.txt")]
        models = ["--known", tiny_parser, "--english", tiny_parser, "--encoder", tiny_encoder]
        arguments = ["project_trees.py", *files, *models, "--out", str(out), *options]
        monkeypatch.setattr("sys.argv", arguments)
        project_trees.main()
        return out

    return with_texts


def test_words_correspond_if_each_is_the_most_similar_to_the_other_one():
    similarity = np.array([[0.9, 0.2, 0.1], [0.8, 0.1, 0.2], [0.1, 0.2, 0.6]])
    left, right = (Sentence.from_words(words.split()) for words in ("a b c", "x y z"))
    # b is most similar to x, but x is more similar to a.
    assert project_trees.mutual_best(similarity, left, right) == {0: 0, 2: 2}


def test_punctuation_corresponds_to_punctuation_only():
    similarity = np.array([[0.9, 0.5], [0.5, 0.4]])
    left, right = Sentence.from_words(["a", "."]), Sentence.from_words(["!", "x"])
    assert project_trees.mutual_best(similarity, left, right) == {0: 1, 1: 0}


def test_words_that_are_hardly_similar_do_not_correspond():
    left, right = Sentence.from_words(["a"]), Sentence.from_words(["x"])
    assert project_trees.mutual_best(np.array([[0.2]]), left, right) == {}


def test_an_arc_is_carried_over_if_both_of_its_words_correspond():
    carried = project_trees.carry_over(parse_of("a b c", (2, 0, 1)), {1: 0, 2: 1})
    # That of a lacks its word, and that of c its head.
    assert [(arc.word, arc.head, arc.relation) for arc in carried] == [(0, 0, "root")]


@pytest.mark.parametrize(("relation", "carried"), [("nmod:poss", ""), ("nmod", "nmod")])
def test_neither_relation_nor_tag_of_a_possessive_pronoun_is_carried_over(
    tiny_parser, monkeypatch, relation, carried
):
    parser = load_parser(tiny_parser)
    sentence = Sentence.from_words(["its", "crew"])
    english = Parse(sentence, (2, 0), (relation, "root"), ("PRON", "NOUN"), ("_", "_"))
    links = {0: 0, 1: 1}
    arcs = project_trees.carry_over(english, links)
    assert [(arc.head, arc.relation) for arc in arcs] == [(2, carried), (0, "root")]

    projector = project_trees.Projector(parser)
    own = parser.parse([sentence])[0].upos[0]
    projector.upos = [tag if tag == own else "PRON" for tag in projector.upos]
    monkeypatch.setattr(project_trees, "WEIGHT", 100.0)  # so that what is carried over decides
    (tree,) = projector.trees([project_trees.Pair(sentence, sentence)], [english], [links])
    assert tree.upos[0] == ("PRON" if carried else own)


def test_the_english_tree_decides_where_the_parser_does_not(tiny_parser):
    projector = project_trees.Projector(load_parser(tiny_parser))
    english = parse_of("left ferry the", (0, 1, 2))
    pair = project_trees.Pair(english.sentence, Sentence.from_words(["die", "Fähre", "ging"]))
    (tree,) = projector.trees([pair], [english], [{0: 2, 1: 1, 2: 0}])
    assert tree.sentence.forms == ("die", "Fähre", "ging")
    assert tree.heads == (2, 3, 0)
    assert tree.relations == ("dep", "dep", "root")


def test_a_sentence_with_few_corresponding_words_is_left_out(tiny_parser):
    projector = project_trees.Projector(load_parser(tiny_parser))
    english = parse_of("left ferry the", (0, 1, 2))
    pair = project_trees.Pair(english.sentence, Sentence.from_words(["die", "Fähre", "ging"]))
    assert list(projector.trees([pair], [english], [{0: 2}])) == []


def test_a_text_and_itself_have_the_same_trees(run, tiny_parser):
    treebank = list(read_conllu(run(LINES, LINES)))
    parser = load_parser(tiny_parser)
    words = [line.split() for line in LINES.splitlines()]
    expected = parser.parse([Sentence.from_words(each) for each in words])
    assert [tree.parse().heads for tree in treebank] == [parse.heads for parse in expected]
    assert [tree.comment("text") for tree in treebank] == LINES.splitlines()


def test_contractions_are_split(tmp_path):
    english, other = tmp_path / "en.txt", tmp_path / "de.txt"
    english.write_text("In the park he slept .\n", encoding="utf-8")
    other.write_text("Im Park schlief er im Gras .\n", encoding="utf-8")
    given = Namespace(english_text=english, other_text=other, split=["im=in dem"])
    (pair,) = project_trees.read_pairs(given)
    assert pair.other.forms == ("In", "dem", "Park", "schlief", "er", "in", "dem", "Gras", ".")


@pytest.mark.parametrize(
    ("english", "other", "options", "message"),
    [
        (LINES, "Eine Zeile .\n", (), "has 2, .* 1"),
        (LINES, LINES, ("--split", "im"), "expected TOKEN=WORD WORD"),
        ("Yes .\n", "Ja .\n", (), "no sentence of 4 to 32 words"),
    ],
)
def test_texts_that_do_not_fit_are_reported(run, english, other, options, message):
    with pytest.raises(project_trees.InputError, match=message):
        run(english, other, *options)


def test_texts_that_are_no_translations_are_reported(run, monkeypatch):
    monkeypatch.setattr(project_trees, "SIMILARITY", 1.1)  # no two words are as similar as that
    with pytest.raises(project_trees.InputError, match="none of the 2 sentences of"):
        run(LINES, LINES)
