"""Question-answering models that Transformers saved give the same scores here, or one error."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForMaskedLM, AutoModelForQuestionAnswering, AutoTokenizer

from syntagma import PairClassifier, Reader
from syntagma.encoders.load import encoder_weights, load_encoder_config
from syntagma.encoders.qa_models import LINEAR_HEADS, window_lengths
from syntagma.encoders.reference import find_model
from syntagma.errors import InputError
from syntagma.evaluation import open_model
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.models.span_model import SpanHead, SpanModel
from tests.conftest import SENTENCES, build_tokenizer, save_encoder, tiny_config
from tests.messages import naming
from tests.qa_models import change_config, save_qa_model

PASSAGE = " ".join(SENTENCES)
QUESTION = "Who crossed the river?"
WEIGHTS = "model.safetensors"


@pytest.mark.parametrize("model_type", LINEAR_HEADS)
def test_scores_equal_those_of_transformers_bit_for_bit(tmp_path, model_type):
    folder = save_qa_model(tmp_path, model_type)
    reader = Reader.from_pretrained(folder, precision="float32")
    theirs = AutoModelForQuestionAnswering.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    windows = reader.windows([(SENTENCES[0], QUESTION), (PASSAGE, QUESTION)])
    batch = reader.batch(windows)
    pieces = tokenizer(QUESTION, SENTENCES[0], return_token_type_ids=True)
    n = len(pieces["input_ids"])
    inputs = {name: batch[name] for name in ("input_ids", "attention_mask")}
    assert inputs["input_ids"][0, :n].tolist() == pieces["input_ids"]
    assert batch["token_type_ids"][0, :n].tolist() == pieces["token_type_ids"]
    if getattr(theirs.config, "type_vocab_size", 0) > 1:
        inputs["token_type_ids"] = batch["token_type_ids"]
    context, lengths = batch["context"], batch["attention_mask"].sum(1).tolist()
    with torch.no_grad():
        scores, wanted = reader.model(**batch), theirs(**inputs)
        alone = [
            theirs(**{name: values[row : row + 1, :length] for name, values in inputs.items()})
            for row, length in enumerate(lengths)
        ]
    for name in ("start_logits", "end_logits"):
        if model_type == "convbert":  # Theirs reads padding, ours does not.
            for row, (length, one) in enumerate(zip(lengths, alone, strict=True)):
                read = context[row, :length]
                torch.testing.assert_close(scores[name][row, :length][read], one[name][0, read])
        else:
            assert torch.equal(scores[name][context], wanted[name][context])
    assert scores.start_logits[~context].eq(-torch.inf).all()


def test_only_the_passage_and_the_first_piece_are_scored(tmp_path):
    reader = Reader.from_pretrained(save_qa_model(tmp_path, "roberta"))
    pair = (SENTENCES[0], QUESTION)
    batch = reader.batch(reader.windows([pair]))
    found = AutoTokenizer.from_pretrained(tmp_path)(QUESTION, SENTENCES[0]).sequence_ids()
    passage = [place for place, owner in enumerate(found) if owner == 1]
    assert batch["context"][0].nonzero().flatten().tolist() == [0, *passage]


@pytest.mark.parametrize(
    ("longest", "expected"), [(512, (384, 64, 128)), (160, (160, 40, 56)), (16, (16, 4, 2))]
)
def test_windows_are_as_in_training_or_as_long_as_the_encoder_reads(longest, expected):
    lengths = window_lengths(longest)
    SpanHead(**lengths)
    names = ("max_length", "max_question_length", "doc_stride")
    assert tuple(lengths[name] for name in names) == expected


@pytest.mark.parametrize(("model_type", "offset"), [("bert", 0), ("roberta", 2), ("mpnet", 2)])
def test_the_longest_window_fits_the_position_embeddings(tmp_path, model_type, offset):
    folder = save_qa_model(tmp_path, model_type, max_position_embeddings=64)
    reader = Reader.from_pretrained(folder)
    assert reader.model.head.max_length == 64 - offset
    assert reader.answer(PASSAGE * 3, QUESTION, threshold=float("inf")).outcome == "answer"


def test_it_is_a_kind_of_its_own_and_still_an_encoder(tmp_path):
    folder = save_qa_model(tmp_path, "bert")
    ref = find_model(folder)
    assert (ref.kind, ref.architecture) == ("qa_model", "BertForQuestionAnswering")
    assert load_encoder_config(ref).model_type == "bert"
    expected = {name.partition(".")[2]: part for name, part in load_file(folder / WEIGHTS).items()}
    weights = encoder_weights(ref)
    assert weights.keys() == expected.keys() - {"weight", "bias"}
    model = GuidedEncoder.from_pretrained(folder, guides="sg-net")
    for name, weight in weights.items():
        assert torch.equal(model.encoder.state_dict()[name], expected[name])
        assert torch.equal(weight, expected[name])


def test_a_span_model_has_the_head_unless_settings_ask_for_a_new_one(tmp_path):
    folder = save_qa_model(tmp_path, "bert")
    head = load_file(folder / WEIGHTS)["qa_outputs.weight"]
    assert torch.equal(SpanModel.from_pretrained(folder).span_scores.weight, head)
    new = SpanModel.from_pretrained(folder, task="spans", head={"max_length": 128, "doc_stride": 8})
    assert not torch.equal(new.span_scores.weight, head)
    assert not new.head.question_first


def test_saved_in_another_precision_it_computes_in_float32(tmp_path):
    folder = save_qa_model(tmp_path, "bert")
    weights = load_file(folder / WEIGHTS)
    halves = {name: weight.half() for name, weight in weights.items()}
    save_file(halves, folder / WEIGHTS, metadata={"format": "pt"})
    change_config(folder, dtype="float16")
    model = SpanModel.from_pretrained(folder)
    assert torch.equal(model.span_scores.weight, halves["qa_outputs.weight"].float())


def test_weights_of_pytorch_are_read(tmp_path):
    folder = save_qa_model(tmp_path, "bert")
    expected = Reader.from_pretrained(folder)(PASSAGE, QUESTION)
    torch.save(load_file(folder / WEIGHTS), folder / "pytorch_model.bin")
    (folder / WEIGHTS).unlink()
    assert Reader.from_pretrained(folder)(PASSAGE, QUESTION) == expected


class Harmful:
    """An object whose unpickling writes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_code_in_weights_of_pytorch_is_not_run(tmp_path):
    folder = save_qa_model(tmp_path / "model", "bert")
    (folder / WEIGHTS).unlink()
    harmful = {"qa_outputs.weight": Harmful(tmp_path / "touched")}
    torch.save(harmful, folder / "pytorch_model.bin", pickle_module=pickle)
    with pytest.raises(InputError, match=naming(folder)) as caught:
        Reader.from_pretrained(folder)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "touched").exists()


def test_a_vocabulary_without_a_tokenizer_file_is_enough(tmp_path):
    """Old models have only ``vocab.txt``; older versions of Transformers read it with protobuf."""
    pytest.importorskip("google.protobuf")
    folder = save_qa_model(tmp_path, "bert")
    expected = Reader.from_pretrained(folder)(SENTENCES[0], QUESTION)
    vocabulary = build_tokenizer("wordpiece").get_vocab()
    (folder / "vocab.txt").write_text("\n".join(sorted(vocabulary, key=vocabulary.__getitem__)))
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").unlink()
    assert Reader.from_pretrained(folder)(SENTENCES[0], QUESTION) == expected


def masked_lm(folder: Path) -> None:
    AutoModelForMaskedLM.from_config(tiny_config("bert")).save_pretrained(folder)


def plain_encoder(folder: Path) -> None:
    save_encoder(folder, "bert")


def three_scores(folder: Path) -> None:
    save_qa_model(folder, "bert")
    labels = {"id2label": {n: str(n) for n in range(3)}, "label2id": {str(n): n for n in range(3)}}
    change_config(folder, **labels)


def beam_search(folder: Path) -> None:
    save_qa_model(folder, "bert")
    change_config(folder, architectures=["XLNetForQuestionAnswering"], model_type="xlnet")


def other_head(folder: Path) -> None:
    config = tiny_config("modernbert")
    AutoModelForQuestionAnswering.from_config(config).save_pretrained(folder)


def own_head(folder: Path) -> None:
    save_qa_model(folder, "albert")
    change_config(folder, architectures=["AlbertForQuestionAnsweringAVPool"])


def other_type(folder: Path) -> None:
    save_qa_model(folder, "distilbert")
    change_config(folder, architectures=["BertForQuestionAnswering"])


def decoder(folder: Path) -> None:
    AutoModelForQuestionAnswering.from_config(tiny_config("bart")).save_pretrained(folder)


def no_head(folder: Path) -> None:
    save_encoder(folder, "bert")
    change_config(folder, architectures=["BertForQuestionAnswering"])


def other_sizes(folder: Path) -> None:
    save_qa_model(folder, "bert")
    change_config(folder, hidden_size=16)


def cut_weights(folder: Path) -> None:
    save_qa_model(folder, "bert")
    (folder / WEIGHTS).write_bytes((folder / WEIGHTS).read_bytes()[:-100])


def no_numbers(folder: Path) -> None:
    weights = load_file(save_qa_model(folder, "bert") / WEIGHTS)
    weights["qa_outputs.bias"][0] = torch.nan
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})


def no_weights(folder: Path) -> None:
    (save_qa_model(folder, "bert") / WEIGHTS).unlink()


def no_tokenizer(folder: Path) -> None:
    save_qa_model(folder, "bert")
    for path in folder.glob("tokenizer*"):
        path.unlink()


def no_architecture(folder: Path) -> None:
    save_qa_model(folder, "bert")
    change_config(folder, architectures=None)


def broken_config(folder: Path) -> None:
    (save_qa_model(folder, "bert") / "config.json").write_text('{"architectures": ["BertForQ')


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (masked_lm, "BertForMaskedLM config.json …ForQuestionAnswering"),
        (plain_encoder, "BertModel config.json …ForQuestionAnswering"),
        (three_scores, "2 scores num_labels 3 config.json"),
        (beam_search, "XLNetForQuestionAnswering beam bert roberta"),
        (other_head, "ModernBertForQuestionAnswering bert roberta"),
        (own_head, "AlbertForQuestionAnsweringAVPool bert roberta"),
        (other_type, "BertForQuestionAnswering 'distilbert' roberta"),
        (decoder, "BartForQuestionAnswering bert roberta"),
        (no_head, "qa_outputs.bias missing"),
        (other_sizes, "sizes config.json"),
        (cut_weights, ""),
        (no_numbers, "qa_outputs.bias finite"),
        (no_weights, ""),
        (no_tokenizer, "tokenizer tokenizer.json"),
        (broken_config, "config.json JSON"),
        (no_architecture, "architecture config.json"),
    ],
)
def test_what_cannot_be_read_is_explained_in_one_line(tmp_path, make, words):
    make(tmp_path / "model")
    for load in (Reader.from_pretrained, open_model):
        with pytest.raises(InputError, match=naming(f"{tmp_path / 'model'} {words}")) as caught:
            load(tmp_path / "model")
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "words"),
    [("someone/reader", "hub"), ("distilbert-squad", "hub OWNER/NAME")],
)
def test_a_name_that_is_not_found_says_why(monkeypatch, name, words):
    monkeypatch.setattr("syntagma.encoders.hub.is_reachable", lambda: False)
    with pytest.raises(InputError, match=naming(f"{name} folder {words}")):
        Reader.from_pretrained(name)


def test_a_copy_is_needed_where_settings_are_changed(tmp_path):
    folder = save_qa_model(tmp_path, "bert")
    with pytest.raises(InputError, match=naming("BertForQuestionAnswering save_pretrained")):
        find_model(folder).settings  # noqa: B018


def test_it_is_a_model_for_no_other_task(tmp_path):
    folder = save_qa_model(tmp_path, "bert")
    with pytest.raises(InputError, match=naming(f"{folder} 'pairs' 'spans'")):
        PairClassifier.from_pretrained(folder)
