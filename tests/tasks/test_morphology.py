"""Parsers that predict lemmas and features: trained, saved, and read only when asked."""

from __future__ import annotations

import json
import pickle
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from syntagma.cli.printing import write_parses
from syntagma.encoders.cpu.int8 import has_int8
from syntagma.errors import DamagedFileError, InputError
from syntagma.evaluation import evaluate, score_predictions
from syntagma.packing import pack
from syntagma.parse.morphology import Lemmatizer, MorphologyLabels, PredictedMorphology
from syntagma.parse.parser import JointParser
from syntagma.parse.windows import score_in_windows
from syntagma.tasks.parsing.labels import WordCodes, collect_labels
from syntagma.tasks.parsing.task import ParsingTask
from syntagma.tasks.parsing.treebanks import read_treebank
from syntagma.text.conllu import TreebankSentence
from syntagma.text.documents import read_documents
from syntagma.text.json_format import parse_values
from syntagma.text.morphology import Morphology
from syntagma.text.sentence import Parse, Sentence
from syntagma.training.run import train
from tests.builders import brackets, experiment, pairs, treebank
from tests.messages import naming

BOTH = {"morphology": ["feats", "lemmas"], "morphology_width": 32}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return treebank(tmp_path_factory.mktemp("trees") / "tides.conllu")


@pytest.fixture(scope="module")
def run(tmp_path_factory, data, tiny_encoder):
    """Train a parser with all labels."""
    folder = tmp_path_factory.mktemp("runs") / "both"
    training = {"num_train_epochs": 10, "eval_steps": None}
    training |= {"learning_rate": 3e-3, "head_learning_rate": 2e-2}
    train(experiment("parsing", data, tiny_encoder, head=BOTH, training=training), folder)
    return folder


def share(predicted, gold):
    pairs = [
        (one, other)
        for parse, example in zip(predicted, gold, strict=True)
        for one, other in zip(parse, example, strict=True)
    ]
    return sum(one == other for one, other in pairs) / len(pairs)


def test_lemmas_and_features_are_learned(run, data):
    gold = [example.gold for example in read_treebank(data)]
    found = JointParser.from_pretrained(run).parse(parse.sentence for parse in gold)
    assert share([p.feats for p in found], [p.feats for p in gold]) > 0.95
    assert share([p.lemmas for p in found], [p.lemmas for p in gold]) > 0.97
    # Words of no treebank, by the script alone.
    (parse,) = JointParser.from_pretrained(run).parse([Sentence.from_words(["Zebus", "sleep"])])
    assert parse.lemmas in (("zebu", "sleep"), ("zebus", "sleep"))


def test_all_measures_are_scored_on_given_words(run, data):
    scores = evaluate(run, [data])
    assert scores["lemmas"] > 97
    assert scores["ufeats"] > 95
    assert scores["alltags"] <= min(scores["ufeats"], scores["upos"], scores["xpos"])
    assert scores["mlas"] <= scores["clas"]
    assert scores["blex"] <= scores["clas"]


def test_a_parser_without_morphology_gets_no_credit_for_that_of_the_treebank(data, tiny_encoder):
    examples = read_treebank(data)[:4]
    task = ParsingTask.new(experiment("parsing", data, tiny_encoder), examples)
    scores = task.score(examples, [each.gold for each in examples])
    assert scores["lemmas"] == scores["mlas"] == 100
    bare = [replace(each.gold, morphology=None) for each in examples]
    assert {"lemmas", "blex", "ufeats", "alltags", "mlas"}.isdisjoint(task.score(examples, bare))


def test_a_file_of_predictions_has_nothing_of_the_treebank(data, tiny_encoder, tmp_path):
    lines = []
    for line in Path(data).read_text().splitlines():
        lines.append(line)
        if line.startswith("# text"):
            words = line.removeprefix("# text = ").split()
            tags = " ".join(f"(NN {word})" for word in words)
            lines.append(f"# constituency = (ROOT (S {tags}))")
    gold = tmp_path / "gold.conllu"
    gold.write_text("\n".join(lines) + "\n")
    examples = read_treebank(gold)
    assert all(each.gold.constituents and each.gold.lemmas for each in examples)
    settings = experiment("parsing", data, tiny_encoder, head={"views": "dependencies"})
    task = ParsingTask.new(settings, examples)
    predictions = task.predict(examples)
    task.write_predictions(examples, predictions, tmp_path / "out.conllu")
    scores = score_predictions("parsing", [gold], tmp_path / "out.conllu")
    own = task.score(examples, predictions)
    assert {name: own[name] for name in scores} == scores
    assert not [name for name in scores if "lemmas" in name or "bracket" in name]


def test_raw_text_is_cut_tagged_and_parsed(run, data, tmp_path):
    scores = evaluate(run, [data], raw=True)
    assert {"tokens_f1", "sentences_f1", "words_f1", "lemmas_f1", "mlas_f1"} <= scores.keys()
    # Our sentences have no marks of their own: `dawn.` is one word there, and two here.
    assert 60 < scores["words_f1"] < 100
    assert scores["las_f1"] <= scores["uas_f1"] <= scores["words_f1"]
    # The same from a file of predictions.
    text = "\n".join(document.text for document in read_documents(data))
    (tmp_path / "raw.txt").write_text(text, encoding="utf-8")
    parser = JointParser.from_pretrained(run)
    with open(tmp_path / "system.conllu", "w", encoding="utf-8") as out:
        write_parses([tmp_path / "raw.txt"], parser, out=out)
    again = score_predictions("parsing", [data], tmp_path / "system.conllu", raw=True)
    assert again == {name: scores[name] for name in again}


def test_only_parsers_start_from_raw_text(data, tmp_path):
    with pytest.raises(InputError, match=naming("--raw parsers pairs")):
        score_predictions("pairs", [pairs(tmp_path / "pairs.jsonl")], data, raw=True)
    path = brackets(tmp_path / "tides.ptb")
    with pytest.raises(InputError, match=naming("--raw CoNLL-U brackets")):
        score_predictions("parsing", [path], data, raw=True)


def test_no_string_is_made_before_somebody_asks(run, data, monkeypatch):
    parser = JointParser.from_pretrained(run)

    def refuse(*_):
        raise AssertionError("a lemma was made")

    monkeypatch.setattr(Lemmatizer, "__missing__", refuse)
    parses = parser.parse(example.gold.sentence for example in read_treebank(data))
    assert all(isinstance(parse.morphology, PredictedMorphology) for parse in parses)
    with pytest.raises(AssertionError, match="a lemma was made"):
        _ = parses[0].lemmas


def test_batches_and_parts_change_nothing(run, data):
    parser = JointParser.from_pretrained(run)
    sentences = [example.gold.sentence for example in read_treebank(data)[:8]]
    together = parser.parse(sentences)
    for sentence, parse in zip(sentences, together, strict=True):
        (alone,) = parser.parse([sentence])
        assert parse.morphology == alone.morphology
    (parts,) = JointParser.from_pretrained(run, max_words=3).parse(sentences[:1])
    assert len(parts.lemmas) == len(parts.feats) == len(sentences[0])
    assert parts.parts


def test_words_with_spaces_have_a_lemma_for_all_parts(run):
    parser = JointParser.from_pretrained(run)
    (parse,) = parser.parse([Sentence.from_words(["grey gulls", "sleep"])])
    assert len(parse.feats) == 2
    assert parse.lemmas[0].startswith("grey gull")


@pytest.mark.parametrize("precision", ["bfloat16", "int8"])
def test_other_precisions_agree(run, data, precision):
    if precision == "int8" and not has_int8():
        pytest.skip("no int8 on this CPU")
    gold = [example.gold for example in read_treebank(data)]
    sentences = [parse.sentence for parse in gold]
    full = JointParser.from_pretrained(run).parse(sentences)
    low = JointParser.from_pretrained(run, precision=precision).parse(sentences)
    assert share([p.feats for p in low], [p.feats for p in full]) > 0.95
    assert share([p.lemmas for p in low], [p.lemmas for p in full]) > 0.95


def test_a_packed_parser_keeps_its_lexicon(run, data, tmp_path):
    pack(run, tmp_path / "small", bits=8)
    sentences = [example.gold.sentence for example in read_treebank(data)[:8]]
    full = JointParser.from_pretrained(run).parse(sentences)
    small = JointParser.from_pretrained(tmp_path / "small").parse(sentences)
    assert share([p.lemmas for p in small], [p.lemmas for p in full]) > 0.95
    config = json.loads((tmp_path / "small" / "config.json").read_text(encoding="utf-8"))
    assert config["labels"]["lexicon"]


@pytest.mark.parametrize(
    ("name", "value"),
    [("lemmas", "lower|3"), ("lexicon", "NOUN\tdogs"), ("lexicon", "NOUN\tsly|0-0+|0-0+\tdogs")],
)
def test_a_damaged_label_is_reported(run, tmp_path, name, value):
    copy = Path(shutil.copytree(run, tmp_path / "copy"))
    config = json.loads((copy / "config.json").read_text(encoding="utf-8"))
    config["labels"][name][0] = value
    (copy / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(DamagedFileError, match=naming(f"labels.{name} download")):
        JointParser.from_pretrained(copy)


def test_one_of_both_can_be_learned(data, tiny_encoder):
    examples = read_treebank(data)
    for name, other in (("feats", "lemmas"), ("lemmas", "feats")):
        head = {"morphology": [name]}
        task = ParsingTask.new(experiment("parsing", data, tiny_encoder, head=head), examples)
        (parse,) = task.parser.parse([examples[0].gold.sentence])
        assert getattr(parse, name) is not None
        assert getattr(parse, other) is None
        assert other not in task.model.config.labels


def test_what_the_treebank_has_can_be_asked_for(data, tiny_encoder):
    settings = experiment("parsing", data, tiny_encoder, head={"morphology": ["auto"]})
    examples = read_treebank(data)
    labels = ParsingTask.new(settings, examples).model.config.labels
    assert {"feats", "lemmas", "lexicon"} <= set(labels)
    bare = [replace(each, gold=replace(each.gold, morphology=None)) for each in examples]
    labels = ParsingTask.new(settings, bare).model.config.labels
    assert not {"feats", "lemmas", "lexicon"} & set(labels)


def test_the_lemma_of_an_escape_is_that_of_what_it_stands_for():
    forms = ("-LRB-", "(", "-LSB-", "Either\\/Or", "Gulls")
    labels = MorphologyLabels({"lemmas": ["lower|0-0+|0-0+"], "lexicon": []})
    codes = np.zeros(len(forms), np.int64)
    found = labels.of_codes(Sentence.from_words(forms), ("X",) * len(forms), None, codes)
    assert found.lemmas == ("(", "(", "[", "either/or", "gulls")
    # Learned from the same words as it is applied to.
    gold = Parse(
        Sentence.from_words(["-LRB-"] * 6),
        (0, 1, 1, 1, 1, 1),
        upos=("PUNCT",) * 6,
        morphology=Morphology(lemmas=("-lrb-",) * 6),
    )
    learned = collect_labels([gold], phrases=False, morphology=["lemmas"])
    codes = WordCodes(learned).of(gold)["lemmas"]
    written = MorphologyLabels(learned).of_codes(gold.sentence, gold.upos, None, codes)
    assert written.lemmas == gold.lemmas


def test_penn_quotes_are_their_own_lemmas():
    # German and English treebanks have them; read as the plain quote, all would be the same word.
    forms = ("``", "''", "`", "word")
    gold = Parse(
        Sentence.from_words(forms * 2),
        (0, *[1] * 7),
        upos=("PUNCT", "PUNCT", "PUNCT", "NOUN") * 2,
        morphology=Morphology(lemmas=forms * 2),
    )
    learned = collect_labels([gold], phrases=False, morphology=["lemmas"])
    assert learned["lemmas"] == ["lower|0-0+|0-0+"]
    for lexicon in (learned["lexicon"], []):  # Also without the lexicon, by the script alone.
        labels = MorphologyLabels({**learned, "lexicon": lexicon})
        codes = WordCodes(learned).of(gold)["lemmas"]
        assert labels.of_codes(gold.sentence, gold.upos, None, codes).lemmas == forms * 2


def test_a_treebank_without_morphology_cannot_teach_it(data, tiny_encoder):
    bare = [replace(each, gold=replace(each.gold, morphology=None)) for each in read_treebank(data)]
    for name in ("feats", "lemmas"):
        settings = experiment("parsing", data, tiny_encoder, head={"morphology": [name]})
        with pytest.raises(InputError, match=naming(f"head.morphology omit {name}")):
            ParsingTask.new(settings, bare)


def test_sentences_without_morphology_train_the_rest(data, tiny_encoder):
    examples = read_treebank(data)
    settings = experiment("parsing", data, tiny_encoder, head=BOTH)
    task = ParsingTask.new(settings, examples)
    silver = [replace(each, gold=replace(each.gold, morphology=None)) for each in examples]
    item = task.features(silver)[0]
    assert set(item.gold["feats"]) == set(item.gold["lemmas"]) == {-100}
    assert set(item.gold["upos"]) != {-100}


def test_predicted_morphology_is_written_and_travels_as_strings():
    labels = MorphologyLabels(
        {
            "feats": ["Number=Plur", "_"],
            "lemmas": ["lower|0-0+|0-1+", "keep|0-0+|0-0+"],
            "lexicon": ["VERB\t=go\twent"],
        }
    )
    sentence = Sentence.from_words(["Gulls", "went"])
    morphology = labels.of_codes(sentence, ("NOUN", "VERB"), np.array([0, 1]), np.array([0, 1]))
    assert morphology == Morphology(("Number=Plur", "_"), ("gull", "go"))
    assert hash(morphology) == hash(pickle.loads(pickle.dumps(morphology)))
    assert isinstance(pickle.loads(pickle.dumps(morphology)), Morphology)
    parse = Parse(sentence, (2, 0), upos=("NOUN", "VERB"), morphology=morphology)
    rows = TreebankSentence.from_parse(parse, text="Gulls went").rows
    assert [row[2:6:3] for row in rows] == [("gull", "Number=Plur"), ("go", "_")]
    assert [word["lemma"] for word in parse_values(parse)["words"]] == ["gull", "go"]
    assert [word["feats"] for word in parse_values(parse)["words"]] == ["Number=Plur", "_"]
    assert "lemma" not in parse_values(replace(parse, morphology=None))["words"][0]


def test_the_middle_layer_is_read_alone_in_batches_and_in_windows(data, tiny_encoder):
    head = BOTH | {"morphology_layer": "middle"}
    task = ParsingTask.new(
        experiment("parsing", data, tiny_encoder, head=head), read_treebank(data)
    )
    model, parser = task.model, task.parser
    encoded = parser.encoder.encode([example.gold.sentence for example in read_treebank(data)[:3]])
    batch = parser.encoder.collate(encoded)
    with torch.inference_mode():
        states, lower = model.encode_pieces(batch["input_ids"], batch["attention_mask"])
        layers = model.encoder(
            input_ids=batch["input_ids"],
            attention_mask=batch["attention_mask"],
            output_hidden_states=True,
        ).hidden_states
        pieces = batch["attention_mask"].bool()
        middle = layers[len(layers) // 2]
        torch.testing.assert_close(lower[pieces], middle[pieces])
        assert not torch.allclose(lower[pieces], states[pieces], atol=1e-2)
        whole = model(**parser.encoder.collate([encoded[0]])).states
        windows = score_in_windows(model, parser.encoder, encoded[0], len(encoded[0]))
    assert torch.allclose(whole.feats, windows.feats, atol=1e-5)
    assert torch.allclose(whole.lemmas, windows.lemmas, atol=1e-5)
