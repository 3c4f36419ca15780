"""Texts of several sentences get their trees from a treebank or an annotated corpus."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntagma.errors import InputError
from syntagma.parse.corpora.annotator import AnnotationSettings
from syntagma.parse.corpora.corpus import AnnotatedCorpus
from syntagma.parse.corpora.runner import annotate
from syntagma.parse.sources.load import load_source
from syntagma.parse.sources.sentence_index import SentenceIndex
from syntagma.syntax.tokenizer import SyntaxTokenizer
from syntagma.text.sentence import Parse, Sentence
from tests.messages import naming

ROWS = """\
# text = Gulls can't sing.
1\tGulls\t_\tNOUN\tNNS\t_\t4\tnsubj\t_\t_
2-3\tcan't\t_\t_\t_\t_\t_\t_\t_\t_
2\tca\t_\tAUX\tMD\t_\t4\taux\t_\t_
3\tn't\t_\tPART\tRB\t_\t4\tadvmod\t_\t_
4\tsing\t_\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No
5\t.\t_\tPUNCT\t.\t_\t4\tpunct\t_\t_

# text = No.
1\tNo\t_\tINTJ\tUH\t_\t0\troot\t_\tSpaceAfter=No
2\t.\t_\tPUNCT\t.\t_\t1\tpunct\t_\t_

# text = They hum in New York.
1\tThey\t_\tPRON\tPRP\t_\t2\tnsubj\t_\t_
2\thum\t_\tVERB\tVBP\t_\t0\troot\t_\t_
3\tin\t_\tADP\tIN\t_\t4\tcase\t_\t_
4\tNew York\t_\tPROPN\tNNP\t_\t2\tobl\t_\tSpaceAfter=No
5\t.\t_\tPUNCT\t.\t_\t2\tpunct\t_\t_

# text = No.
1\tNo\t_\tDET\tDT\t_\t2\tdet\t_\tSpaceAfter=No
2\t.\t_\tPUNCT\t.\t_\t0\troot\t_\t_

"""


@pytest.fixture
def treebank(tmp_path):
    path = tmp_path / "gulls.conllu"
    path.write_text(ROWS, encoding="utf-8")
    return path


def stored_trees(source, *texts):
    """Look texts up: the words of each sentence as written in the text, and its heads."""
    return [
        [([text[a:b] for _, a, b in parse.sentence.words], parse.heads) for parse in parses]
        for text, parses in zip(texts, source.parse_texts(texts), strict=True)
    ]


GULLS = (["Gulls", "ca", "n't", "sing", "."], (4, 4, 4, 0, 4))
YES_NO, NO_YES = (["No", "."], (0, 1)), (["No", "."], (2, 0))


@pytest.mark.parametrize("space", [" ", "\n", "  \u00a0", ""])
def test_a_passage_is_looked_up_sentence_by_sentence(treebank, space):
    text = space.join(["", "They hum in New  York.", "Gulls can't sing.", "No."])
    ((hum, gulls, no),) = stored_trees(load_source(f"conllu:{treebank}"), text)
    assert hum == (["They", "hum", "in", "New  York", "."], (2, 0, 4, 2, 2))
    assert gulls == GULLS
    assert no == YES_NO


def test_repeated_sentences_get_their_trees_in_turn(treebank):
    source = load_source(f"conllu:{treebank}")
    assert stored_trees(source, "No. They hum in New York. No.")[0][::2] == [YES_NO, NO_YES]
    assert stored_trees(source, "They hum in New York.", "No.", "No.", "") == [
        [(["They", "hum", "in", "New York", "."], (2, 0, 4, 2, 2))], [NO_YES], [YES_NO], [],
    ]  # fmt: skip


def test_the_first_missing_text_is_named(treebank):
    source = load_source(f"conllu:{treebank}")
    with pytest.raises(InputError, match=naming("gulls.conllu 'Yes. No.' Gulls")):
        list(source.parse_texts(["No. Gulls can't sing. Yes.\nNo."]))
    with pytest.raises(InputError, match=naming("gulls.conllu 'They hum.'")):
        list(source.parse_texts(["They hum."]))


def test_a_tokenizer_reads_a_passage_with_stored_trees(treebank, tiny_encoder):
    tokenizer = SyntaxTokenizer.from_pretrained(tiny_encoder, parser=f"conllu:{treebank}")
    batch = tokenizer("No. They hum in New York.")
    assert set(batch["sentence"].flatten().tolist()) == {-1, 0, 1}


def test_a_corpus_made_from_a_treebank_is_a_parse_source_like_it(treebank, tmp_path):
    settings = AnnotationSettings(kind="conllu", parser=f"conllu:{treebank}")
    annotate([str(treebank)], tmp_path / "gulls", settings, workers=1)
    found = [one.parse for one in AnnotatedCorpus(tmp_path / "gulls").sentences()]
    assert [parse.heads for parse in found] == [GULLS[1], (0, 1), (2, 0, 4, 2, 2), (2, 0)]
    corpus = load_source(f"parquet:{tmp_path / 'gulls'}")
    text = "No. They hum in New York.\nNo. Gulls can't sing."
    assert stored_trees(corpus, text) == stored_trees(load_source(f"conllu:{treebank}"), text)
    with pytest.raises(InputError, match=naming("gulls 'Hum.'")):
        list(corpus.parse_texts(["Hum."]))
    again = AnnotationSettings(kind="conllu", parser=f"parquet:{tmp_path / 'gulls'}")
    annotate([str(treebank)], tmp_path / "again", again, workers=1)
    same = [one.parse for one in AnnotatedCorpus(tmp_path / "again").sentences()]
    assert same == found


def test_given_words_that_differ_from_the_stored_ones_are_rejected(treebank, tmp_path):
    other = tmp_path / "other.conllu"
    other.write_text("1\tNo.\t_\tINTJ\tUH\t_\t0\troot\t_\t_\n\n", encoding="utf-8")
    settings = AnnotationSettings(kind="conllu", parser=f"conllu:{treebank}")
    with pytest.raises(InputError, match=naming(f"conllu:{treebank} 'No.' words")):
        annotate([str(other)], tmp_path / "out", settings, workers=1)
    lines = tmp_path / "lines.txt"
    lines.write_text("No. Gulls can't sing.\n", encoding="utf-8")
    settings = AnnotationSettings(kind="lines", parser=f"conllu:{treebank}")
    with pytest.raises(InputError, match=naming("sentences No. Gulls sing.")):
        annotate([str(lines)], tmp_path / "out2", settings, workers=1)


def test_given_words_are_looked_up_with_their_boundaries(treebank):
    source = load_source(f"conllu:{treebank}", mode="words")
    ((no, gulls),) = stored_trees(source, "No .  Gulls ca n't sing .")
    assert (no, gulls) == (YES_NO, GULLS)
    with pytest.raises(InputError, match=naming("No. Gulls ca")):
        list(source.parse_texts(["No. Gulls ca n't sing ."]))


SHORT = ["".join(letters) for n in (1, 2, 3) for letters in product("ab", repeat=n)]


@given(
    st.lists(st.sampled_from(SHORT), min_size=1, max_size=6),
    st.text("abc", min_size=1, max_size=12),
)
def test_a_text_is_found_if_and_only_if_it_can_be_split(known, text):
    parses = [Parse(Sentence.from_words([form]), (0,)) for form in known]
    index = SentenceIndex(zip(known, parses, strict=True))
    # Lengths of the prefixes that consist of known sentences.
    possible = {0}
    for end in range(1, len(text) + 1):
        if any(end - len(one) in possible and text[:end].endswith(one) for one in known):
            possible.add(end)
    numbers, missing = index.find(text)
    if len(text) in possible:
        assert "".join(known[number] for number in numbers) == text
        assert missing is None
    else:
        assert missing == max(possible)
