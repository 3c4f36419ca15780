"""Parse sources: controls, treebanks, given words, and spaCy and Stanza objects made in memory."""

from __future__ import annotations

import collections
import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntagma.errors import InputError
from syntagma.parse.penn_tags import PENN_TAGS
from syntagma.parse.sources.adapters import (
    SpacySource,
    StanzaSource,
    document_of,
    single_root,
)
from syntagma.parse.sources.cache import ParseCache
from syntagma.parse.sources.controls import (
    ChainSource,
    NoisySource,
    RandomTreeSource,
    replace_heads,
    replace_tags,
)
from syntagma.parse.sources.given_words import GivenWordsSource
from syntagma.parse.sources.load import load_parser, load_source
from syntagma.parse.sources.treebank import TreebankSource
from syntagma.parse.trees import are_trees
from syntagma.parse.universal_tags import UPOS_TAGS
from syntagma.syntax.encode import encode_texts
from syntagma.text.conllu import TreebankSentence, format_conllu
from syntagma.text.sentence import Parse, Sentence
from tests.conftest import SENTENCES, build_tokenizer
from tests.messages import naming

TEXTS = [" ".join(SENTENCES[:3]), SENTENCES[4], ""]


def is_tree(heads):
    return bool(are_trees(np.array(heads, np.int64), np.array([0, len(heads)]))[0])


def flat(parses):
    return [parse for text in parses for parse in text]


@pytest.mark.parametrize(
    "name",
    ["linear", "linear:left", "linear:right", "random", "random:7", "noisy:0.5:linear",
     "noisy:1,3:random:2", "noisy:0:linear"],
)  # fmt: skip
def test_controls_give_trees_over_the_words_of_the_text(name):
    source = load_source(name)
    found = list(source.parse_texts(TEXTS))
    assert [len(parses) for parses in found] == [3, 1, 0]
    for text, parses in zip(TEXTS, found, strict=True):
        for parse in parses:
            assert is_tree(parse.heads)
            for form, start, end in parse.sentence.words:
                assert text[start:end] == form
    # The same text gets the same tree in another order of texts.
    assert flat(source.parse_texts(TEXTS[::-1]))[:1] == found[1]


def test_chains_attach_each_word_to_its_neighbour():
    left, right = (next(ChainSource(side).parse_texts([SENTENCES[0]]))[0] for side in
                   ("left", "right"))  # fmt: skip
    assert left.heads == tuple(range(10))
    assert left.relations[:2] == ("root", "dep")
    assert right.heads == (*range(2, 11), 0)


def test_random_trees_are_uniform():
    """There are nine rooted trees over three words."""
    counts = collections.Counter()
    sentence = Sentence.from_words(["one", "two", "three"])
    for seed in range(1800):
        counts[RandomTreeSource(seed)._drawn(sentence).heads] += 1
    assert len(counts) == 9
    assert all(is_tree(heads) for heads in counts)
    # The expected count is 200, with a standard deviation of 13.3.
    assert max(abs(count - 200) for count in counts.values()) < 60
    other = Sentence.from_words(["one", "two", "four"])
    assert any(
        RandomTreeSource(seed)._drawn(sentence).heads != RandomTreeSource(seed)._drawn(other).heads
        for seed in range(9)
    )


def test_random_tags_are_uniform_and_of_both_sets():
    sentence = Sentence.from_words([f"w{place}" for place in range(9000)])
    parse = RandomTreeSource(1)._drawn(sentence)
    for tags, known in ((parse.xpos, PENN_TAGS), (parse.upos, UPOS_TAGS)):
        counts = collections.Counter(tags)
        assert counts.keys() == set(known)
        expected = len(tags) / len(known)
        assert max(abs(count - expected) for count in counts.values()) < 5 * expected**0.5


@given(st.integers(0, 30), st.sampled_from([0.0, 0.2, 0.5, 1.0]), st.integers(0, 5))
def test_noise_replaces_the_requested_share_of_heads_and_leaves_a_tree(n_words, share, seed):
    sentence = Sentence.from_words([f"w{index}" for index in range(n_words)])
    parse = RandomTreeSource(seed)._drawn(sentence)
    noisy = replace_heads(parse, share, np.random.default_rng(seed))
    assert is_tree(noisy.heads)
    moved = sum(old != new for old, new in zip(parse.heads, noisy.heads, strict=True))
    expected = share * max(n_words - 1, 0)
    assert moved <= math.ceil(expected)
    if n_words > 12:
        # A word that dominates all others except the root cannot get another head.
        assert moved >= math.floor(expected) - 1
    assert [h == 0 for h in noisy.heads] == [h == 0 for h in parse.heads]


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_tags_are_replaced_by_other_tags_and_the_tree_is_kept(share, ferry):
    noisy = replace_tags(ferry, share, np.random.default_rng(4))
    changed, changed_upos = (
        [old != new for old, new in zip(before, after, strict=True)]
        for before, after in ((ferry.xpos, noisy.xpos), (ferry.upos, noisy.upos))
    )
    assert sum(changed) == round(share * 10)
    assert changed_upos == changed
    assert set(noisy.xpos) - set(ferry.xpos) <= set(PENN_TAGS)
    assert set(noisy.upos) - set(ferry.upos) <= set(UPOS_TAGS)
    assert noisy.heads == ferry.heads
    chain = Parse(ferry.sentence, ChainSource()._heads(10))
    assert replace_tags(chain, share, np.random.default_rng(4)) == chain


def test_the_fingerprint_of_noise_depends_on_seed_share_and_source():
    plain = ChainSource()
    fingerprints = {
        NoisySource(plain, 0.2).fingerprint,
        NoisySource(plain, 0.4).fingerprint,
        NoisySource(plain, 0.2, 1).fingerprint,
        NoisySource(ChainSource("right"), 0.2).fingerprint,
        NoisySource(plain, 0.2, what="tags").fingerprint,
        plain.fingerprint,
    }
    assert len(fingerprints) == 6


def test_noise_is_added_to_a_treebank(tmp_path, ferry):
    path = tmp_path / "ferry.conllu"
    text = " ".join(ferry.sentence.forms)
    path.write_text(format_conllu(TreebankSentence.from_parse(ferry, text=text)))
    ((gold,),) = load_source(f"noisy:0:conllu:{path}").parse_texts([text])
    ((noisy,),) = load_source(f"noisy:1,5:conllu:{path}").parse_texts([text])
    ((both,),) = load_source(f"noisy_tags:1:noisy:1,5:conllu:{path}").parse_texts([text])
    assert both.heads == noisy.heads
    assert all(a != b for a, b in zip(both.xpos, gold.xpos, strict=True))
    assert gold.heads == ferry.heads
    assert sum(a != b for a, b in zip(noisy.heads, gold.heads, strict=True)) >= 7


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("noisy:1.5:linear", "heads 0 1 noisy 1.5"),
        ("noisy_tags:-1:linear", "tags 0 1 noisy_tags -1"),
        ("noisy:0.2,-1:linear", "noisy:0.2,-1:linear 0 1 noisy:0.2,7:default-parser"),
        ("noisy:half:linear", "noisy:half:linear 0 1 noisy:0.2,7:default-parser half"),
        ("noisy:0.5", "noisy:0.5 noisy:SHARE:SOURCE"),
        ("linear:up", "linear:up linear:right"),
        ("random:x", "random:x random:SEED"),
        ("spacy:", "spacy: spacy:NAME"),
        ("conllu:", "conllu: conllu:FILE"),
    ],
)
def test_invalid_source_names_are_rejected(name, message):
    with pytest.raises(InputError, match=naming(message)):
        load_source(name)


def test_further_roots_are_attached_to_the_first():
    assert single_root([0, 1, 0, 0]) == (0, 1, 1, 1)
    assert single_root([2, 0]) == (2, 0)
    assert single_root([]) == ()


@pytest.mark.parametrize(("name", "package"), [("spacy:en_x", "spacy"), ("stanza:en", "stanza")])
def test_a_missing_library_is_reported(name, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=naming("pip install '.[parsers]'")):
        load_source(name)


class TestSpacy:
    TEXT = "  The gull cried.\n\nShe can't  row"

    @pytest.fixture
    def pipeline(self):
        spacy = pytest.importorskip("spacy")
        from spacy.tokens import Doc

        def parse(document):
            """Attach each token to the previous one; a sentence begins at the start and at She."""
            for token in document:
                starts = token.i == 0 or token.text == "She"
                token.head = token if starts else document[token.i - 1]
                token.dep_ = "ROOT" if starts else "dep"
                token.pos_, token.tag_ = "NOUN", "NN"
            return document

        pipeline = spacy.blank("en")
        if not Doc.has_extension("unused"):
            spacy.language.Language.component("chain", func=parse)
        pipeline.add_pipe("chain")
        return pipeline

    def test_white_space_tokens_are_dropped(self, pipeline):
        source = SpacySource(pipeline, "chain")
        (first, second), none = source.parse_texts([self.TEXT, ""])
        assert none == []
        assert first.sentence.forms == ("The", "gull", "cried", ".")
        assert second.sentence.forms == ("She", "ca", "n't", "row")
        for parse in (first, second):
            assert is_tree(parse.heads)
            assert [self.TEXT[s:e] for _, s, e in parse.sentence.words] == list(
                parse.sentence.forms
            )
        # The first word was attached to white space, which was the root.
        assert first.heads == (0, 1, 2, 3)
        assert second.heads == (0, 1, 2, 3)
        assert first.relations == ("root", "dep", "dep", "dep")
        assert first.xpos == ("NN",) * 4
        assert source.fingerprint.startswith("spacy:chain:en:")

    def test_given_words_and_sentences_are_kept(self, pipeline):
        sentences = [
            Sentence(("ca", "n't", "She", "row?"), (0, 2, 6, 10), (2, 5, 9, 14)),
            Sentence.from_words(["Go"]),
        ]
        first, second = SpacySource(pipeline, "chain").parse_sentences(sentences)
        assert (first.sentence, second.sentence) == tuple(sentences)
        # The pipeline finds a second root in "She", which is attached to the first.
        assert first.heads == (0, 1, 1, 3)
        assert first.relations == ("root", "dep", "ROOT", "dep")
        assert second.heads == (0,)

    def test_a_sentence_becomes_a_document_with_its_spaces_and_annotations(self, pipeline):
        sentence = Sentence(("ca", "n't", "row"), (0, 2, 6), (2, 5, 9))
        document = document_of(pipeline.vocab, sentence, tags=["MD", "RB", "VB"])
        assert document.text == "can't row"
        assert [token.is_sent_start for token in document] == [True, False, False]
        assert [token.tag_ for token in document] == ["MD", "RB", "VB"]

    def test_pieces_are_aligned_with_its_words(self, pipeline):
        from syntagma.parse.columns import ParsedText

        (parses,) = SpacySource(pipeline, "chain").parse_texts([self.TEXT])
        (encoded,) = encode_texts(
            [self.TEXT], build_tokenizer("wordpiece"), [ParsedText.from_parses(parses)]
        )
        assert set(encoded.syntax["word"].tolist()) == set(range(8))

    def test_pipelines_without_a_parser_and_unknown_pipelines_are_rejected(self):
        spacy = pytest.importorskip("spacy")
        pipeline = spacy.blank("en")
        pipeline.add_pipe("sentencizer")
        with pytest.raises(InputError, match=naming("spacy:plain parser")):
            list(SpacySource(pipeline, "plain").parse_texts(["A gull."]))
        with pytest.raises(
            InputError,
            match=naming("spacy:en_no_such_model `python -m spacy download en_no_such_model`"),
        ):
            load_source("spacy:en_no_such_model")


class TestStanza:
    TEXT = "Gulls can't row. Go"

    @pytest.fixture
    def document(self):
        document = pytest.importorskip("stanza.models.common.doc").Document
        word = {"upos": "X", "xpos": "XX", "deprel": "dep"}
        rows = [
            [
                word | {"id": 1, "text": "Gulls", "head": 4, "misc": "start_char=0|end_char=5"},
                {"id": (2, 3), "text": "can't", "misc": "start_char=6|end_char=11"},
                word | {"id": 2, "text": "ca", "head": 4},
                word | {"id": 3, "text": "n't", "head": 4},
                word
                | {"id": 4, "text": "row", "head": 0, "deprel": "root",
                   "misc": "start_char=12|end_char=15"},
                word | {"id": 5, "text": ".", "head": 4, "misc": "start_char=15|end_char=16"},
            ],
            [
                {"id": (1, 2), "text": "Go", "misc": "start_char=17|end_char=19"},
                word | {"id": 1, "text": "Go", "head": 0},
                word | {"id": 2, "text": "you", "head": 1},
            ],
        ]  # fmt: skip
        return document(rows, text=self.TEXT)

    def source(self, document):
        class Pipeline:
            def bulk_process(self, texts):
                return [document for _ in texts]

        return StanzaSource(Pipeline(), "en")

    def test_words_of_multi_word_tokens_have_offsets(self, document):
        (first, second), *_ = self.source(document).parse_texts([self.TEXT])
        assert first.heads == (4, 4, 4, 0, 4)
        assert first.relations[3] == "root"
        assert [self.TEXT[s:e] for _, s, e in first.sentence.words] == list(first.sentence.forms)
        # Words that do not spell their token get all of its characters.
        assert second.sentence.words == (("Go", 17, 19), ("you", 17, 19))
        assert self.source(document).fingerprint.startswith("stanza:en:")

    def test_a_pipeline_without_a_parser_is_rejected(self, document):
        document.sentences[0].words[0].head = None
        with pytest.raises(InputError, match=naming("stanza:en parser")):
            list(self.source(document).parse_texts([self.TEXT]))

    def test_missing_models_are_reported(self, tmp_path, monkeypatch):
        pytest.importorskip("stanza")
        monkeypatch.setenv("STANZA_RESOURCES_DIR", str(tmp_path))
        with pytest.raises(InputError, match=naming("stanza:en `python -c stanza.download('en')")):
            load_source("stanza:en")


def test_load_parser_loads_only_parsers_of_this_package(tiny_encoder):
    for name in ("linear", "nowhere", tiny_encoder):
        with pytest.raises(InputError, match=naming(f"{name} default-parser")):
            load_parser(name)
    with pytest.raises(InputError, match=naming("default-reader spans parsing")):
        load_parser("default-reader")
    with pytest.raises(InputError, match=naming("model folder None")):
        load_parser(None)


class _Recorder:
    """A stub of the joint parser that records the words it is given."""

    fingerprint = "parser:recorder"

    def __init__(self):
        self.seen = []

    def parse_stream(self, sentences):
        for sentence in sentences:
            self.seen.append(sentence.forms)
            yield Parse(sentence, tuple(range(len(sentence))))


def test_given_words_are_kept():
    parser = _Recorder()
    source = GivenWordsSource(parser)
    text = "the well @-@ known cook &apos;s &quot; wife &quot; ."
    first, nothing, two = source.parse_texts([text, " ", "one line\nanother . line"])
    assert [parse.sentence.forms for parse in first] == [tuple(text.split())]
    assert parser.seen[0] == ("the", "well", "-", "known", "cook", "'s", '"', "wife", '"', ".")
    assert nothing == []
    assert [parse.sentence.forms for parse in two] == [("one", "line"), ("another", ".", "line")]
    words = first[0].sentence
    spans = zip(words.starts, words.ends, strict=True)
    assert [text[start:end] for start, end in spans] == text.split()
    assert source.fingerprint != parser.fingerprint


@pytest.mark.parametrize("name", ["linear", "random:3", "noisy:0.5:linear"])
def test_controls_keep_given_words(name):
    text = "Mr. Low can't . He won't"
    ((parse,),) = load_source(name, mode="words").parse_texts([text])
    assert parse.sentence.forms == ("Mr.", "Low", "can't", ".", "He", "won't")
    raw, words = (load_source(name, mode=mode).fingerprint for mode in ("raw", "words"))
    assert raw != words


def test_treebank_sentences_are_looked_up_by_their_words(tmp_path):
    rows = "# text = Stop!\n1\tStop\t_\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No\n"
    rows += "2\t!\t_\tPUNCT\t_\t_\t1\tpunct\t_\t_\n\n"
    one, other = tmp_path / "a.conllu", tmp_path / "b.conllu"
    one.write_text(rows)
    other.write_text(rows.replace("Stop", "Go"))
    assert next(TreebankSource(one).parse_texts(["Stop!"]))[0].heads == (0, 1)
    source = load_source(f"conllu:{one},{other}", mode="words")
    for text in ("Stop !", "Go !"):
        ((parse,),) = source.parse_texts([text])
        assert parse.heads == (0, 1)
        assert (parse.sentence.starts[1], parse.sentence.ends[1]) == (len(text) - 1, len(text))
    with pytest.raises(InputError, match=naming("a.conllu b.conllu Wait")):
        list(source.parse_texts(["Wait !"]))


@pytest.mark.parametrize("heads", [(2, 1, 0), (0, 9, 1), (0, -1, 1)])
def test_heads_that_form_no_tree_are_rejected(heads):
    class Broken:
        fingerprint = "broken"

        def parse_texts(self, texts):
            for text in texts:
                words = Sentence.from_words(text.split())
                yield [Parse(words, heads, ("x",) * 3, ("X",) * 3, ("X",) * 3)]

    with pytest.raises(InputError, match=naming(f"{', '.join(map(str, heads))} a b c")):
        ParseCache(Broken()).parsed(["a b c"])


@pytest.mark.parametrize("what", ["heads", "tags"])
def test_short_sentences_get_noise_too(what):
    generator = np.random.default_rng(0)
    forms = ["We", "slept", "well", "then"]
    parse = Parse(
        Sentence.from_words(forms), (2, 0, 2, 2), ("x",) * 4, ("X",) * 4, ("PRP", "VBD", "RB", "RB")
    )
    change = {"heads": replace_heads, "tags": replace_tags}[what]
    n = 3000
    changed = 0
    for _ in range(n):
        found = change(parse, 0.1, generator)
        name = "heads" if what == "heads" else "xpos"
        pairs = zip(getattr(found, name), getattr(parse, name), strict=True)
        changed += sum(one != other for one, other in pairs)
    words = 3 if what == "heads" else 4
    assert changed / (n * words) == pytest.approx(0.1, abs=0.02)
