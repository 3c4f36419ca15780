"""Trained translators: translations, scores, and further training."""

from __future__ import annotations

import json
import shutil
from unittest.mock import Mock

import pytest
import torch
from transformers import trainer

pytest.importorskip("sacrebleu")

from syntagma.analysis.compare import compare_runs
from syntagma.encoders.load import encoder_weights
from syntagma.errors import InputError
from syntagma.evaluation import evaluate, open_model, predict
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.models.translation_model import TranslationModel
from syntagma.packing import pack
from syntagma.tasks.translation.sample import upper
from syntagma.tasks.translation.task import Translation, Translator
from syntagma.training.run import train
from syntagma.training.trainer import SyntagmaTrainer
from tests.builders import new_task, parallel
from tests.builders import translation as experiment
from tests.conftest import SENTENCES
from tests.messages import naming


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return parallel(tmp_path_factory.mktemp("parallel"))


@pytest.fixture(scope="module")
def runs(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for preset in ("none", "sg-net"):
        training = {"num_train_epochs": 45, "learning_rate": 1e-2, "batch_tokens": 300,
                    "eval_steps": 0.5, "save_steps": 1000}  # fmt: skip
        head = {"vocabulary": "words", "tokenized": True}
        train(experiment(data, preset=preset, training=training, head=head), folder / preset)
    return folder


@pytest.mark.slow
def test_it_learns_to_translate(runs, data, tmp_path):
    for preset in ("none", "sg-net"):
        metrics = json.loads((runs / preset / "metrics.json").read_text())
        assert metrics["bleu"] > 60
        task = open_model(runs / preset, precision="float32")
        found = task.evaluate(task.read(data), by=["length"])
        assert found["bleu"] == pytest.approx(metrics["bleu"])
        assert found["length.6-10.total"] > 0
    predict(runs / "none", [data.split("+")[0]], tmp_path / "out.txt")
    assert len((tmp_path / "out.txt").read_text().splitlines()) == 2 * len(SENTENCES)


@pytest.mark.parametrize("preset", ["none", "sg-net"])
def test_padding_and_batching_do_not_change_translations(preset, runs):
    translator = Translator.from_pretrained(runs / preset, precision="float32")
    together = list(translator.stream(SENTENCES))
    with pytest.raises(InputError, match=naming("list texts A gull.")):
        next(translator.stream("A gull."))
    for source, found in zip(SENTENCES, together, strict=True):
        alone = translator.translate(source)
        assert alone.text == found.text
        assert alone.score == pytest.approx(found.score, abs=1e-4)


def test_the_score_is_the_length_normalised_log_probability(runs):
    """The score equals one computed piece by piece, even with a single beam."""
    translator = Translator.from_pretrained(runs / "none", precision="float32")
    (item,) = translator.items([SENTENCES[0]])
    batch = translator.collate([item])
    batch.pop("token_type_ids", None)
    for n_beams, penalty in ((1, 1.0), (3, 0.5)):
        translator.model.set_head(num_beams=n_beams, length_penalty=penalty)
        with torch.no_grad():
            pieces, scores = translator.model.search(**batch)
            total, length = 0.0, 0
            for place in range(1, pieces.shape[1]):
                read = pieces[:, :place]
                logits = translator.model(**batch, decoder_input_ids=read).logits[0, -1]
                total += logits.log_softmax(-1)[pieces[0, place]].item()
                length += 1
        assert pieces[0, -1] == translator.tokenizer.eos_token_id
        assert scores.item() == pytest.approx(total / length**penalty, rel=1e-4)


def test_an_unknown_word_is_kept_in_the_output(runs):
    translator = Translator.from_pretrained(runs / "none")
    known = translator.tokenizer.get_vocab()
    unknown = translator.tokenizer.unk_token_id
    pieces = torch.tensor(
        [[0, known["THE"], unknown, known["THE"], translator.tokenizer.eos_token_id]]
    )
    translator.model.search = lambda **_: (pieces, torch.zeros(1))
    assert translator.translate("the").text == "THE ⁇ THE"


def test_both_scores_and_their_signature_are_reported(runs, data, tmp_path):
    metrics = json.loads((runs / "none" / "metrics.json").read_text())
    assert metrics["bleu"] == metrics["bleu_words"]
    # The 13a tokenizer splits off full stops that are attached to words of the references.
    (tmp_path / "a.en").write_text("".join(f"{text} .\n" for text in SENTENCES), encoding="utf-8")
    attached = "".join(f"{upper(text)}.\n" for text in SENTENCES)
    (tmp_path / "a.up").write_text(attached, encoding="utf-8")
    found = evaluate(runs / "none", [f"{tmp_path / 'a.en'}+{tmp_path / 'a.up'}"])
    assert found["bleu"] == found["bleu_words"] < found["bleu_13a"]
    assert "tok:none" in metrics["signature"]
    assert evaluate(runs / "none", [data])["signature"] == metrics["signature"]
    table = compare_runs([runs / "none", runs / "sg-net"]).table()
    assert f"bleu: {metrics['signature']}" in table
    other = tmp_path / "other"
    shutil.copytree(runs / "sg-net", other)
    metrics["signature"] = metrics["signature"].replace("tok:none", "tok:13a")
    (other / "metrics.json").write_text(json.dumps(metrics))
    with pytest.raises(
        InputError, match=naming("other none nrefs:1|case:mixed|eff:no|tok:13a tok:none")
    ):
        compare_runs([runs / "none", other])


def test_a_translator_can_be_trained_further(runs, data, tmp_path):
    for preset in ("none", "sg-net"):
        settings = experiment(
            data, encoder=str(runs / preset), preset="saved",
            head={"vocabulary": "words", "tokenized": True}, training={"learning_rate": 1e-7},
        )  # fmt: skip
        metrics = train(settings, tmp_path / preset)
        before = json.loads((runs / preset / "metrics.json").read_text())
        assert metrics["bleu"] == pytest.approx(before["bleu"], abs=5)


def test_a_resumed_run_does_not_warn_of_missing_weights(data, tmp_path, monkeypatch):
    """Checkpoints lack tied weights and sinusoids; a warning about them would be misleading."""
    settings = experiment(data, training={"num_train_epochs": 2, "save_steps": 1})
    with monkeypatch.context() as cut:
        cut.setattr(SyntagmaTrainer, "evaluate", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            train(settings, tmp_path / "run")
    assert list((tmp_path / "run" / "checkpoints").iterdir())
    warned = Mock()
    monkeypatch.setattr(trainer.logger, "warning", warned)
    train(settings, tmp_path / "run", resume=True)
    assert not [call for call in warned.mock_calls if "missing keys" in str(call)]


def test_a_model_from_scratch_cannot_be_packed(runs, tmp_path):
    with pytest.raises(InputError, match=naming("scratch")):
        pack(runs / "none", tmp_path / "small")
    assert not (tmp_path / "small").exists()


def test_empty_lines_stay_empty(runs, tmp_path):
    text = tmp_path / "a+b.txt"
    text.write_text(f"{SENTENCES[0]}\n\n{SENTENCES[1]}\n")
    with pytest.raises(InputError, match=naming("a+b.txt line 2 empty --skip-bad")):
        predict(runs / "none", [text], tmp_path / "out.txt")
    assert predict(runs / "none", [text], tmp_path / "out.txt", skip_bad=True) == 3
    lines = (tmp_path / "out.txt").read_text().split("\n")
    assert [bool(line) for line in lines] == [True, False, True, False]
    assert next(Translator.from_pretrained(runs / "none").stream([""])).text == ""
    with pytest.raises(InputError, match=naming("text empty")):
        Translator.from_pretrained(runs / "none").translate(" ")


def test_runs_are_compared_by_the_sign_test(runs):
    found = compare_runs([runs / "none", runs / "sg-net"])
    assert found.columns == ("bleu",)
    assert "sign test" in found.test
    assert found.systems[1].p_value == 1 or 0 < found.systems[1].p_resampled <= 1
    assert found.n_examples == 2 * len(SENTENCES)


def test_a_translation_is_one_line(data, tmp_path):
    """Pretrained models can generate line breaks."""
    task, examples = new_task(experiment(data))
    texts = ["A gull\ncried.", "It \r\n left.", "Tides\u2028rose."]
    found = [Translation(text, 0.0) for text in texts]
    task.write_predictions(examples[:3], found, tmp_path / "out.txt")
    lines = (tmp_path / "out.txt").read_text(encoding="utf-8").split("\n")
    assert lines == ["A gull cried.", "It left.", "Tides\u2028rose.", ""]


def test_a_translator_cannot_be_used_as_encoder(runs, tmp_path):
    with pytest.raises(InputError, match=naming("sg-net translation decoder")):
        GuidedEncoder.from_pretrained(str(runs / "sg-net"))
    with pytest.raises(InputError, match=naming("sg-net translation decoder")):
        encoder_weights(str(runs / "sg-net"))


def test_scores_need_references(runs, data):
    with pytest.raises(InputError, match=naming("16 `syntagma predict`")):
        evaluate(runs / "none", [data.split("+")[0]])


def test_scoring_in_parts_does_not_change_scores(runs, monkeypatch):
    """Scores over the whole vocabulary are never in memory for all pieces at once."""
    translator = Translator.from_pretrained(runs / "none", precision="float32")
    whole = [found.score for found in translator.stream(SENTENCES)]
    seen = []
    score = TranslationModel._score

    def spied(self, states, attention_mask, pieces):
        seen.append(len(pieces))
        return score(self, states, attention_mask, pieces)

    monkeypatch.setattr(TranslationModel, "_score", spied)
    monkeypatch.setattr("syntagma.models.translation_model.SCORED", 1)
    assert [found.score for found in translator.stream(SENTENCES)] == pytest.approx(whole)
    assert set(seen) == {1}
