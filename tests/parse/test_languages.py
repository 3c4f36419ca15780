"""A parser of several languages, and text in a language that it does not know."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

import pytest

from syntagma.cli import main
from syntagma.errors import InputError
from syntagma.evaluation import evaluate
from syntagma.parse.languages import MAX_CHECKED, Languages, files_in
from syntagma.parse.parser import JointParser
from syntagma.parse.sources.load import kept_source, load_parser, load_source, needed_source
from syntagma.tasks.parsing.labels import WordCodes, collect_labels, untagged_languages
from syntagma.tasks.parsing.segmentation.learn import learn_segmenter
from syntagma.tasks.parsing.task import ParsingTask
from syntagma.tasks.parsing.treebanks import read_treebank
from syntagma.text.alignment import ABSENT
from syntagma.text.conllu import read_conllu
from syntagma.training.run import train
from tests.builders import experiment
from tests.languages import TEXTS
from tests.messages import naming

# "du" stands for two words here, as in French.
FRENCH = """# text = Le bac du port part.
1\tLe\tle\tDET\t_\t_\t2\tdet\t_\t_
2\tbac\tbac\tNOUN\t_\t_\t6\tnsubj\t_\t_
3-4\tdu\t_\t_\t_\t_\t_\t_\t_\t_
3\tde\tde\tADP\t_\t_\t5\tcase\t_\t_
4\tle\tle\tDET\t_\t_\t5\tdet\t_\t_
5\tport\tport\tNOUN\t_\t_\t2\tnmod\t_\t_
6\tpart\tpartir\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No
7\t.\t.\tPUNCT\t_\t_\t6\tpunct\t_\t_

"""
ENGLISH = """# text = The ferry of Ann left.
1\tThe\tthe\tDET\t_\t_\t2\tdet\t_\t_
2\tferry\tferry\tNOUN\t_\t_\t5\tnsubj\t_\t_
3\tof\tof\tADP\t_\t_\t4\tcase\t_\t_
4\tAnn\tAnn\tPROPN\t_\t_\t2\tnmod\t_\t_
5\tleft\tleave\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No
6\t.\t.\tPUNCT\t_\t_\t5\tpunct\t_\t_

"""


@pytest.fixture(scope="module")
def treebanks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("treebanks")
    files = {"fr": folder / "fr_mine-ud-train.conllu", "en": folder / "en_mine-ud-train.conllu"}
    files["fr"].write_text(FRENCH * 24, encoding="utf-8")
    files["en"].write_text(ENGLISH * 24, encoding="utf-8")
    return files


@pytest.fixture(scope="module")
def french(treebanks):
    return learn_segmenter(list(read_conllu(treebanks["fr"]))).segmenter()


@pytest.fixture(scope="module")
def folder(treebanks, tiny_encoder, tmp_path_factory):
    """A parser of two languages, not trained."""
    examples = [example for path in treebanks.values() for example in read_treebank(path)]
    settings = experiment(
        "parsing", treebanks["fr"], tiny_encoder, head={"segmentation": "learned"}
    )
    folder = tmp_path_factory.mktemp("parsers") / "two"
    folder.mkdir()
    ParsingTask.new(settings, examples).save(folder)
    return folder


def forms(parses):
    return [parse.sentence.forms for parse in parses]


@pytest.fixture
def said(caplog):
    caplog.set_level(logging.WARNING, logger="syntagma")
    return lambda: [record.getMessage() for record in caplog.records]


def test_each_language_is_cut_as_its_treebank_does(folder):
    assert files_in(folder) == ["segmentation-en.safetensors", "segmentation-fr.safetensors"]
    parser = JointParser.from_pretrained(folder, lang="fr")
    assert forms(parser.parse_text("Le bac du port part.")) == [
        ("Le", "bac", "de", "le", "port", "part", ".")
    ]
    assert "du" in forms(parser.for_language("en").parse_text("Le bac du port part."))[0]
    assert parser.fingerprint != parser.for_language("en").fingerprint


def test_raw_text_is_scored_in_a_given_language(folder, treebanks, tmp_path):
    copy = tmp_path / "mine.conllu"  # A name that says no language.
    copy.write_bytes(Path(treebanks["fr"]).read_bytes())
    scores = {lang: evaluate(folder, [copy], raw=True, lang=lang) for lang in ("fr", "en")}
    assert scores["fr"]["words_f1"] > scores["en"]["words_f1"]
    # Also against what the name says.
    again = evaluate(folder, [treebanks["fr"]], raw=True, lang="en")
    assert again["words_f1"] == scores["en"]["words_f1"]
    assert evaluate(folder, [treebanks["fr"]], raw=True)["words_f1"] == scores["fr"]["words_f1"]
    with pytest.raises(InputError, match=naming("xx trained en fr")):
        evaluate(folder, [copy], raw=True, lang="xx")
    with pytest.raises(InputError, match=naming("lang raw")):
        evaluate(folder, [copy], lang="fr")


def test_the_language_of_a_text_is_detected_and_said_once(folder, said):
    parser = JointParser.from_pretrained(folder)
    (one, two) = parser.parse_texts([TEXTS["fr"], TEXTS["en"]])
    assert len(one) == len(two) == 1
    list(parser.parse_texts([TEXTS["fr"]]))
    assert len(said()) == 2
    assert naming_all(said()[0], "fr --lang")
    assert naming_all(said()[1], "en --lang")


def naming_all(message, words):
    return all(word in message for word in words.split())


def test_a_chosen_language_is_not_questioned(folder, said):
    parser = JointParser.from_pretrained(folder, lang="fr")
    list(parser.parse_texts([TEXTS["en"], TEXTS["de"]]))
    assert said() == []


@pytest.mark.parametrize(("text", "code"), [("Oui.", "fr"), ("Yes.", "en"), ("12:30", "en")])
def test_text_that_is_too_short_is_not_guessed_silently(text, code, folder, said):
    JointParser.from_pretrained(folder).parse_text(text)
    (message,) = said()
    assert naming_all(message, f"{text} short {code}. --lang")


def test_a_foreign_text_is_said_once_for_each_language(folder, said):
    parser = JointParser.from_pretrained(folder)
    list(parser.parse_texts([TEXTS["ar"], TEXTS["ar"], TEXTS["tr"]]))
    foreign = [message for message in said() if "trained on" in message]
    assert len(foreign) == 2
    assert naming_all(foreign[0], "ar en fr --tokenizer")


def test_an_unknown_language_is_an_error_that_names_those_known(folder):
    with pytest.raises(InputError, match=naming("'de' en fr spacy:de")):
        JointParser.from_pretrained(folder, lang="de")


@pytest.mark.parametrize("code", ["german", "DE", "d"])
def test_what_is_no_code_of_a_language_is_said_to_be_none(code, folder):
    with pytest.raises(InputError, match=naming(f"{code} ISO 639 en en fr")):
        JointParser.from_pretrained(folder, lang=code)


def test_a_parser_is_named_with_the_language_of_all_texts(folder, said):
    for source in (load_parser(f"{folder}:fr"), load_source(f"{folder}:fr")):
        assert source.languages.chosen == "fr"
        ((parse,),) = source.parse_texts(["Oui, du port."])
        assert parse.sentence.forms == ("Oui", ",", "de", "le", "port", ".")
    noisy = load_source(f"noisy:0.5:{folder}:fr")
    assert noisy.source.fingerprint == source.fingerprint
    assert needed_source(f"{folder}:fr", trees=False) == f"{folder}:fr"
    assert not said()
    with pytest.raises(InputError, match=naming("'de' en fr")):
        load_source(f"{folder}:de")


def test_noise_leaves_words_as_they_are(folder):
    text = "Oui, du port."
    ((clean,),) = load_source(f"{folder}:fr").parse_texts([text])
    for _ in range(2):  # Parsed, then read from disk.
        kept_source.cache_clear()
        ((found,),) = load_source(f"noisy:0:{folder}:fr").parse_texts([text])
        assert found.sentence == clean.sentence
        assert found.to_conllu(text).count("\tdu\t") == 1
    kept_source.cache_clear()


def test_parse_prints_lemmas_and_features_of_noisy_parses(tmp_path, capsys):
    (tmp_path / "a.txt").write_text("The boats can't have left.\n")
    printed = []
    for parser in ("noisy:0:fast-parser", "fast-parser"):
        with pytest.raises(SystemExit) as exit_:
            main(["parse", str(tmp_path / "a.txt"), "--parser", parser])
        assert exit_.value.code == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    assert "\tboats\tboat\t" in printed[0]


def test_a_corpus_is_annotated_in_one_language_with_all_options(folder, tmp_path):
    pytest.importorskip("pyarrow")
    from syntagma.parse.corpora.annotator import AnnotationSettings, open_source
    from syntagma.parse.corpora.corpus import AnnotatedCorpus
    from syntagma.parse.corpora.runner import annotate

    (tmp_path / "a.txt").write_text("Oui, du port.\n", encoding="utf-8")
    how = {"precision": "bfloat16", "confidence": True}
    chosen = AnnotationSettings(kind="lines", parser=f"{folder}:fr", **how)
    annotate([str(tmp_path / "a.txt")], tmp_path / "out", chosen, workers=1)
    corpus = AnnotatedCorpus(tmp_path / "out")
    (found,) = corpus.sentences()
    assert found.parse.sentence.forms == ("Oui", ",", "de", "le", "port", ".")
    assert found.parse.probabilities
    source = open_source(chosen, "cpu")
    assert (source.precision, source.languages.chosen) == ("bfloat16", "fr")
    assert corpus.manifest.settings["fingerprint"] == source.fingerprint
    other = AnnotationSettings(parser=f"{folder}:de")
    with pytest.raises(InputError, match=naming("'de' en fr")):
        annotate([str(tmp_path / "a.txt")], tmp_path / "none", other, workers=1)
    assert not (tmp_path / "none").exists()


def test_a_parser_whose_name_is_written_wrongly_is_suggested():
    for load in (load_parser, load_source):
        with pytest.raises(InputError, match=naming("multilingual_parser did you mean")):
            load("multilingual_parser")


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("no", "Ferja gjekk frå hamna klokka tolv, og ingen som var med, hadde sett uvêret."),
        ("zh", TEXTS["zh"]),
        ("hsb", "Přewozna łódź je w połodnjo přistaw wopušćiła a nichtó njeje wichor widźał."),
        ("xx", TEXTS["fr"]),
    ],
)
def test_a_text_in_the_parsers_own_language_is_not_foreign(code, text, said):
    """Some have several codes, and some are not known to what detects languages."""
    Languages({code: None}).segmenter_for(text)
    assert said() == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Was man in der Stadt will, das will man. Was es auch war, es war was.", "de"),
        ("Det er for dyrt at have en bil her i byen, og det er der ikke noget at gøre ved.", "da"),
        ("Brod je otišao iz luke u podne i nitko ga nije vidio do jutra.", "hr"),
    ],
)
def test_words_that_are_english_elsewhere_too_make_no_text_english(text, code, said):
    assert Languages({"en": None}).segmenter_for(text) is None
    (message,) = said()
    assert naming_all(message, f"{code} en")


def test_an_empty_text_is_in_no_language(folder, said):
    JointParser.from_pretrained(folder).parse_text(" \n")
    assert said() == []


def test_the_parser_that_ships_says_that_a_text_is_foreign(said):
    languages = Languages({"en": None})
    assert languages.segmenter_for(TEXTS["en"]) is None
    assert said() == []
    languages.segmenter_for(TEXTS["de"])
    (message,) = said()
    assert naming_all(message, "de en --tokenizer spacy:de whitespace")


def test_only_the_first_texts_are_looked_at(said):
    languages = Languages({"en": None})
    for _ in range(MAX_CHECKED):
        languages.segmenter_for(TEXTS["en"])
    languages.segmenter_for(TEXTS["de"])
    assert said() == []


def test_a_parser_whose_treebank_states_no_language_reads_any(french, said):
    languages = Languages({"": french})
    assert languages.codes == ()
    assert languages.segmenter_for(TEXTS["de"]) is french
    assert languages.choose("de").segmenter_for(TEXTS["fr"]) is french
    assert said() == []


def test_files_without_a_language_belong_to_the_only_one(treebanks, tmp_path, tiny_encoder):
    other = tmp_path / "more.conllu"
    other.write_text(FRENCH * 2, encoding="utf-8")
    examples = [each for path in (treebanks["fr"], other) for each in read_treebank(path)]
    task = ParsingTask.new(
        experiment("parsing", other, tiny_encoder, head={"segmentation": "english"}), examples
    )
    assert task.parser.languages.codes == ("fr",)
    assert task.model.config.labels["languages"] == ["fr"]


def test_files_without_a_language_beside_two_are_an_error(treebanks, tmp_path, tiny_encoder):
    other = tmp_path / "more.conllu"
    other.write_text(FRENCH * 2, encoding="utf-8")
    paths = (*treebanks.values(), other)
    examples = [each for path in paths for each in read_treebank(path)]
    with pytest.raises(InputError, match=naming("data.train en fr -ud-train.conllu")):
        ParsingTask.new(experiment("parsing", other, tiny_encoder), examples)


def test_raw_text_of_a_treebank_is_cut_in_its_language(folder, treebanks):
    for path in treebanks.values():
        assert evaluate(folder, [path], raw=True)["words_f1"] == 100


def with_tags(rows, tag):
    """Give each word a treebank tag (XPOS)."""
    lines = [line.split("\t") for line in rows.splitlines()]
    for columns in lines:
        if len(columns) > 1 and columns[0].isdigit():
            columns[4] = tag
    return "\n".join(map("\t".join, lines)) + "\n"


def test_words_of_a_language_without_treebank_tags_get_none(tiny_encoder, tmp_path):
    french, english = tmp_path / "fr_a-ud-train.conllu", tmp_path / "en_a-ud-train.conllu"
    french.write_text(FRENCH * 24, encoding="utf-8")
    english.write_text(with_tags(ENGLISH, "EN") * 24, encoding="utf-8")
    settings = experiment(
        "parsing",
        str(french),
        tiny_encoder,
        head={"segmentation": "english"},
        training={"num_train_epochs": 15, "learning_rate": 3e-3, "head_learning_rate": 2e-2},
    )
    settings = replace(settings, data=replace(settings.data, train=(str(french), str(english))))
    train(settings, tmp_path / "run")
    parser = load_parser(tmp_path / "run")
    for path, tag in ((french, "_"), (english, "EN")):
        sentence = next(iter(read_treebank(path))).gold.sentence
        # Its first words: of the others, a tiny vocabulary knows no pieces but shared ones.
        assert set(parser.parse([sentence])[0].xpos[:3]) == {tag}
    assert evaluate(tmp_path / "run", [str(french)])["xpos"] > 80


def test_unknown_treebank_tags_are_not_learned(treebanks, tmp_path):
    path = tmp_path / "en_a-ud-train.conllu"
    path.write_text(with_tags(ENGLISH, "EN"), encoding="utf-8")
    tagged = list(read_treebank(path))
    untagged = list(read_treebank(treebanks["en"]))
    french = list(read_treebank(treebanks["fr"]))
    assert untagged_languages(french + untagged) == {"en", "fr"}
    assert untagged_languages(french + untagged + tagged) == {"fr"}
    labels = collect_labels([each.gold for each in french + tagged], phrases=False, untagged=True)
    assert labels["xpos"] == ["EN", "_"]
    codes = WordCodes(labels)
    # A sentence of a language with tags, of which nobody wrote them.
    assert set(codes.of(untagged[0].gold)["xpos"]) == {ABSENT}
    assert set(codes.of(french[0].gold, untagged=True)["xpos"]) == {1}
