"""The component of spaCy: what it writes, batches, files, processes, and what it refuses."""

from __future__ import annotations

import logging
import os
import pickle
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest

from syntagma.encoders.default import find_default
from syntagma.errors import InputError
from syntagma.parse.languages import Languages
from syntagma.parse.sources.controls import RandomTreeSource
from syntagma.parse.sources.load import load_parser
from syntagma.text.brackets import parse_brackets
from syntagma.text.segmentation.segment import segment
from syntagma.text.sentence import Sentence
from tests.installed import install
from tests.messages import naming

spacy = pytest.importorskip("spacy")

from spacy import displacy  # noqa: E402
from spacy.tokens import Doc, DocBin, Span  # noqa: E402
from spacy.training import Example  # noqa: E402

from syntagma.integrations.spacy import make_component, set_extensions  # noqa: E402
from syntagma.integrations.spacy_docs import (  # noqa: E402
    PHRASES,
    parses_of,
    read_sentences,
    write_parses,
)

ROOT = Path(__file__).parents[2]
TEXT = "The old ferry crossed the wide river. Nobody on the deck slept before dawn."
NAME = "syntagma"

needs_default = pytest.mark.skipif(
    find_default() is None, reason="no default encoder: `syntagma download default`"
)


def annotations(doc):
    """All that the component writes."""
    phrases = [(span.label_, span.start, span.end) for span in doc.spans.get(PHRASES, ())]
    rows = [(t.text, t.head.i, t.dep_, t.tag_, t.pos_, t.is_sent_start) for t in doc]
    return rows, phrases


def entry_points():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "entry-points"
    ]


def test_the_entry_point_is_the_factory():
    value = entry_points()["spacy_factories"][NAME]
    assert EntryPoint(NAME, value, "spacy_factories").load() is make_component


def test_it_writes_what_the_parser_finds_for_the_tokens(nlp, phrase_parser):
    doc = nlp(TEXT)
    words = [[token.text for token in sentence] for sentence in doc.sents]
    assert [len(sentence) for sentence in words] == [8, 8]
    parser = load_parser(phrase_parser, decoding="separate")
    parses = parser.parse([Sentence.from_words(forms) for forms in words])
    assert any(parse.constituents for parse in parses)
    for sentence, parse in zip(doc.sents, parses, strict=True):
        heads = [0 if t.head == t else t.head.i - sentence.start + 1 for t in sentence]
        assert tuple(heads) == parse.heads
        relations = [t.dep_ if t.dep_ != "ROOT" else "root" for t in sentence]
        assert tuple(relations) == parse.relations
        assert tuple(t.tag_ for t in sentence) == parse.xpos
        assert tuple(t.pos_ for t in sentence) == parse.upos
        found = [
            (phrase.label_, phrase.start - sentence.start, phrase.end - sentence.start)
            for phrase in sentence._.constituents
        ]
        assert found == [tuple(phrase) for phrase in parse.constituents]
    assert [p.constituents for p in parses_of(doc)] == [p.constituents for p in parses]
    assert [p.heads for p in parses_of(doc)] == [p.heads for p in parses]
    assert parses_of(doc)[1].sentence.start == doc.text.index("Nobody")


def test_parse_strings_are_penn_brackets_of_the_words(nlp):
    doc = nlp("The old ferry (the Wren)  crossed the river. ")
    sentence = next(doc.sents)
    top = f"(TOP {sentence._.parse_string})"
    (tree,) = parse_brackets([top])
    assert tree.sentence().forms == tuple(t.text for t in doc if not t.is_space)
    assert len(tree.constituents) == len(sentence._.constituents)
    for phrase in sentence._.constituents:
        # An untrained parser finds chains over the same words; the outermost comes first.
        assert phrase._.parse_string.startswith(f"({phrase._.constituents[0].label_} ")
    assert doc[0:1]._.parse_string.endswith("The)") or doc[0:1]._.parse_string.endswith("The))")


@pytest.mark.parametrize(
    "words",
    [
        ["\n\n", "The", " ", "ferry", "\t", "left", ".", "  ", "Nobody", "slept", ".", "\n"],
        ["Theferry", "crossed.No", "body", "slept."],
        ["New York", "slept", "."],
        ["a\nb", "left"],
        [" ", "\n"],
        ["?"],
        ["\u200b", "ferry", "👍🏽", "left"],
    ],
    ids=repr,
)
def test_any_tokens_are_kept_and_get_a_tree(nlp, words):
    doc = nlp(Doc(nlp.vocab, words=words))
    assert [token.text for token in doc] == words
    assert doc.has_annotation("DEP", require_complete=True)
    assert doc.has_annotation("TAG", require_complete=True)
    for sentence in doc.sents:
        roots = [token for token in sentence if token.head == token]
        assert len(roots) == 1
        assert roots[0].dep_ == "ROOT"
        for token in sentence:
            assert sentence.start <= token.head.i < sentence.end
            if not token.text.strip() and len(sentence) > 1 and token != roots[0]:
                assert (token.tag_, token.pos_, token.dep_) == ("_SP", "SPACE", "dep")
    for token in doc:
        # Words never depend on white space, unless there is nothing else.
        if token.text.strip():
            assert token.head.text.strip()


def test_sentence_starts_that_are_set_are_kept(nlp):
    doc = nlp.make_doc("The ferry left Nobody slept. The end. The ferry")
    doc[3].is_sent_start = True
    doc[6].is_sent_start = False
    nlp.get_pipe(NAME)(doc)
    starts = [token.i for token in doc if token.is_sent_start]
    # Token 6 would start a sentence, and token 9 does, since nothing was said of it.
    assert starts == [0, 3, 9]
    nlp.add_pipe("sentencizer", first=True, config={"punct_chars": ["left"]})
    assert [sentence.text for sentence in nlp("The ferry left Nobody slept. The end.").sents] == [
        "The ferry left",
        "Nobody slept. The end.",
    ]


class EndsEverywhere:
    """Scores every gap between two words as the end of a sentence."""

    doubt = 1e9

    def __call__(self, forms, first_words, features, scores):
        return np.ones_like(scores)


def test_sentences_are_those_of_the_parser(nlp):
    parser = nlp.get_pipe(NAME).parser
    parser.languages = Languages({"en": None}).rescored_by(EndsEverywhere(), ["en"])
    text = "Der Zug fuhr um 9.15 Uhr am 3. Mai ab. Niemand stieg aus."
    expected = [text[p.sentence.start : p.sentence.end] for p in parser(text)]
    assert len(expected) > len(segment(text))
    assert [span.text for span in nlp(text).sents] == expected


def test_sentences_are_right_whatever_arcs_cross():
    vocabulary = spacy.blank("en").vocab
    for seed in (4, 6):  # With these trees, spaCy alone finds other sentences.
        doc = Doc(vocabulary, words=["ferry"] * 800)
        for token in doc[1:]:
            token.is_sent_start = token.i == 400
        read = read_sentences(doc)
        source = RandomTreeSource(seed)
        parses = [source._drawn(part.sentence) for part in read]
        write_parses(doc, read, parses, phrases=False)
        assert [sentence.start for sentence in doc.sents] == [0, 400]
        assert [parse.heads for parse in parses_of(doc)] == [parse.heads for parse in parses]


def test_batches_give_what_single_texts_give(nlp):
    texts = [TEXT, "", "  ", "The ferry left.", "\n\nNobody slept.\n"]
    single = [annotations(nlp(text)) for text in texts]
    assert [annotations(doc) for doc in nlp.pipe(texts, batch_size=2)] == single
    assert [annotations(doc) for doc in nlp.pipe(texts * 30)] == single * 30
    assert [context for _, context in nlp.pipe(zip(texts, "abcde", strict=True), as_tuples=True)]
    empty = nlp("")
    assert empty[:]._.constituents == []
    assert empty[:]._.parse_string == ""


def test_the_stream_is_read_a_batch_at_a_time(nlp):
    read = []

    def texts():
        for number in range(100):
            read.append(number)
            yield "The ferry left."

    next(nlp.pipe(texts(), batch_size=4))
    assert len(read) < 20


def test_two_processes_give_what_one_gives(nlp):
    texts = [TEXT, "The ferry left.", "Nobody slept.", "The river"]
    single = [annotations(nlp(text)) for text in texts]
    found = list(nlp.pipe(texts, n_process=2, batch_size=1))
    assert [annotations(doc) for doc in found] == single
    assert found[0][:]._.parse_string == nlp(TEXT)[:]._.parse_string


def test_a_pickled_component_loads_the_parser_again(nlp):
    component = nlp.get_pipe(NAME)
    other = pickle.loads(pickle.dumps(component))
    doc = other(nlp.make_doc(TEXT))
    assert annotations(doc) == annotations(nlp(TEXT))


def test_documents_are_stored_with_their_phrases(nlp):
    doc = nlp(TEXT)
    again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert annotations(again) == annotations(doc)
    (stored,) = DocBin(docs=[doc]).get_docs(nlp.vocab)
    assert annotations(stored) == annotations(doc)
    both = Doc.from_docs([doc, doc])
    assert len(both.spans[PHRASES]) == 2 * len(doc.spans[PHRASES])
    assert list(both.sents)[2]._.parse_string == next(doc.sents)._.parse_string


def test_displacy_draws_trees_and_phrases(nlp):
    doc = nlp("The ferry <script> left.")
    tree = displacy.render(doc, style="dep", jupyter=False, options={"collapse_punct": False})
    assert tree.count('class="displacy-arrow"') == len(doc) - 1
    spans = displacy.render(doc, style="span", jupyter=False, options={"spans_key": PHRASES})
    assert "ferry" in spans


def test_a_parser_in_a_folder_is_saved_with_the_pipeline(nlp, tmp_path, phrase_parser):
    expected = annotations(nlp(TEXT))
    nlp.to_disk(tmp_path / "pipeline")
    moved = tmp_path / "moved"
    (tmp_path / "pipeline").rename(moved)
    config = (moved / "config.cfg").read_text(encoding="utf-8")
    assert phrase_parser in config
    # The folder of the parser does not exist on another machine.
    (moved / "config.cfg").write_text(config.replace(phrase_parser, str(tmp_path / "gone")))
    again = spacy.load(moved)
    assert annotations(again(TEXT)) == expected
    # What was loaded can be saved, pickled and packed again, and over itself.
    again.to_disk(moved)
    assert annotations(again(TEXT)) == annotations(spacy.load(moved)(TEXT)) == expected
    again.to_disk(tmp_path / "second")
    packed = again.to_bytes()
    third = spacy.load(tmp_path / "second")
    third.from_bytes(packed)
    assert annotations(third(TEXT)) == expected
    copied = pickle.loads(pickle.dumps(third.get_pipe(NAME)))
    assert annotations(copied(third.make_doc(TEXT))) == expected


def test_a_relative_folder_is_saved_from_another_directory(tmp_path, phrase_parser, monkeypatch):
    monkeypatch.chdir(Path(phrase_parser).parent)
    pipeline = spacy.blank("en")
    pipeline.add_pipe(NAME, config={"parser": Path(phrase_parser).name})
    monkeypatch.chdir(tmp_path)
    pipeline.to_disk(tmp_path / "pipeline")
    assert (tmp_path / "pipeline" / NAME / "parser" / "config.json").is_file()
    # There is no folder of this name here.
    assert annotations(spacy.load(tmp_path / "pipeline")(TEXT)) == annotations(pipeline(TEXT))


def test_a_folder_is_saved_with_the_language_of_its_texts(tmp_path, phrase_parser):
    own = shutil.copytree(phrase_parser, tmp_path / "own")
    pipeline = spacy.blank("en")
    pipeline.add_pipe(NAME, config={"parser": f"{own}:en"})
    expected = annotations(pipeline(TEXT))
    pipeline.to_disk(tmp_path / "pipeline")
    own.rename(tmp_path / "gone")
    again = spacy.load(tmp_path / "pipeline")
    assert annotations(again(TEXT)) == expected
    assert again.get_pipe(NAME).parser.languages.chosen == "en"


def test_a_missing_folder_is_reported_when_the_parser_is_needed(tmp_path):
    pipeline = spacy.blank("en")
    pipeline.add_pipe(NAME, config={"parser": str(tmp_path / "gone")})
    with pytest.raises(InputError, match=naming("gone default-parser")):
        pipeline(TEXT)
    pipeline = spacy.blank("en")
    pipeline.add_pipe(NAME, config={"parser": "defalt-parser"})
    with pytest.raises(InputError, match=naming("defalt-parser default-parser")):
        pipeline(TEXT)


def test_what_cannot_be_loaded_is_refused_at_once(tiny_parser):
    pipeline = spacy.blank("en")
    with pytest.raises(InputError, match=naming("separate phrases")):
        pipeline.add_pipe(NAME, config={"parser": tiny_parser, "decoding": "separate"})
    with pytest.raises(InputError, match=naming("cuda:9")):
        pipeline.add_pipe(NAME, config={"parser": tiny_parser, "device": "cuda:9"})
    with pytest.raises(ValueError, match="decoding"):
        pipeline.add_pipe(NAME, config={"parser": tiny_parser, "decoding": "both"})


def test_without_phrases_the_attributes_say_what_to_do(tiny_parser, nlp):
    pipeline = spacy.blank("en")
    pipeline.add_pipe(NAME, config={"parser": tiny_parser})
    doc = pipeline(TEXT)
    assert doc.has_annotation("DEP")
    with pytest.raises(InputError, match=naming("phrases separate joint")):
        _ = doc[:]._.constituents
    assert [parse.constituents for parse in parses_of(doc)] == [None, None]
    with pytest.raises(InputError, match=naming("heads syntagma")):
        parses_of(spacy.blank("en")(TEXT))


def test_attributes_of_others_are_not_replaced(tiny_parser):
    Span.remove_extension("parse_string")
    Span.set_extension("parse_string", default="mine")
    try:
        pipeline = spacy.blank("en")
        with pytest.raises(InputError, match=naming("parse_string decoding dependencies")):
            pipeline.add_pipe(NAME, config={"parser": tiny_parser})
        pipeline.add_pipe(NAME, config={"parser": tiny_parser, "decoding": "dependencies"})
        assert pipeline(TEXT)[:]._.parse_string == "mine"
    finally:
        Span.remove_extension("parse_string")
        set_extensions()


def test_errors_go_to_the_handler_of_the_pipeline(nlp, monkeypatch):
    failed = []

    def fail(self, sentences):
        raise InputError("no")

    nlp.set_error_handler(lambda name, component, docs, error: failed.append((name, len(docs))))
    monkeypatch.setattr(type(nlp.get_pipe(NAME).parser), "parse", fail)
    assert list(nlp.pipe([TEXT] * 3, batch_size=2)) == []
    assert failed == [(NAME, 2), (NAME, 1)]


def test_spacy_scores_it(nlp):
    predicted = [nlp(text) for text in (TEXT, "The ferry left.")]
    gold = [nlp(doc.text) for doc in predicted]
    scores = nlp.evaluate([Example(nlp.make_doc(doc.text), doc) for doc in gold])
    assert {scores[key] for key in ("tag_acc", "pos_acc", "dep_uas", "dep_las", "sents_f")} == {1.0}
    assert nlp.analyze_pipes()["summary"][NAME]["assigns"][:2] == ["token.head", "token.dep"]


def test_a_name_that_means_another_parser_now_is_noticed(nlp, tmp_path, caplog, phrase_parser):
    component = nlp.get_pipe(NAME)
    # As for a parser that ships: the pipeline has its name only.
    component._is_named = True
    saved = component._identity()
    with caplog.at_level(logging.WARNING):
        component._compare(saved)
        assert not caplog.records
        component._compare(saved | {"digest": "0123456789abcdef", "version": "7"})
    assert "0123456789ab" in caplog.text
    assert saved["digest"][:12] in caplog.text


@needs_default
def test_a_parser_with_a_name_is_not_copied(tmp_path):
    pipeline = spacy.blank("en")
    pipeline.add_pipe(NAME)
    (tmp_path / NAME / "parser").mkdir(parents=True)  # Of an earlier pipeline.
    pipeline.to_disk(tmp_path)
    assert [path.name for path in (tmp_path / NAME).rglob("*")] == ["parser.json"]
    assert 'parser = "default-parser"' in (tmp_path / "config.cfg").read_text(encoding="utf-8")
    doc = spacy.load(tmp_path)("We can't wait for Ada's ferry.")
    assert [token.text for token in doc][:3] == ["We", "ca", "n't"]
    assert [token.dep_ for token in doc][:4] == ["nsubj", "aux", "advmod", "ROOT"]
    assert doc[:]._.parse_string.startswith("(S (NP (PRP We)) (VP (MD ca) (RB n't)")
    again = spacy.blank("en")
    again.add_pipe(NAME)
    assert len(pipeline.get_pipe(NAME).to_bytes()) < 1000


SPAWNED = """
import multiprocessing
import spacy

if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    nlp = spacy.blank("en")
    nlp.add_pipe("syntagma", config={{"parser": {parser!r}}})
    docs = list(nlp.pipe(["The ferry left."] * 4, n_process=2, batch_size=1))
    print(len(docs), docs[3][:]._.parse_string == nlp("The ferry left.")[:]._.parse_string)
"""


def run_installed(script: Path, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """Run a script where the package is installed with the entry points of pyproject.toml."""
    site = tmp_path / "site"
    install(site, "syntagma", entry_points())
    return subprocess.run(
        [sys.executable, str(script)],
        capture_output=True, text=True, timeout=300, cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(site), str(ROOT / "src")])},
    )  # fmt: skip


@pytest.mark.slow
@needs_default
def test_the_page_runs_as_written_in_an_installation(tmp_path):
    text = (ROOT / "docs" / "spacy.md").read_text(encoding="utf-8")
    code = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    script = tmp_path / "page.py"
    script.write_text("\n".join(code), encoding="utf-8")
    done = run_installed(script, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "(S (NP (NP (DT The) (NN ferry))" in done.stdout
    # Which of the two labels depends on the reader that ships, and the page names both.
    assert re.search(r"^Ada Mensah (ANSWER|UNSURE) The ferry that", done.stdout, re.MULTILINE)
    assert (tmp_path / "pipeline" / "syntagma" / "parser.json").is_file()


@pytest.mark.slow
def test_spacy_finds_it_in_an_installation_and_in_new_processes(tmp_path, phrase_parser):
    """Without importing anything of ours, and where processes cannot be forked."""
    script = tmp_path / "script.py"
    script.write_text(SPAWNED.format(parser=phrase_parser))
    done = run_installed(script, tmp_path)
    assert done.stdout.split() == ["4", "True"], done.stderr
