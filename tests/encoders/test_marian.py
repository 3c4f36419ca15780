"""Tokenizers of published Marian models: the pieces of Transformers, with offsets."""

from __future__ import annotations

import json
import shutil

import pytest
import torch
from transformers import AutoConfig, AutoModelForSeq2SeqLM

pytest.importorskip("sentencepiece")
pytest.importorskip("google.protobuf")
pytest.importorskip("sacrebleu")

import sentencepiece
from transformers import MarianTokenizer as Slow

from syntagma import GuidedEncoder, SyntaxTokenizer
from syntagma.encoders.load import load_tokenizer
from syntagma.encoders.marian import MarianTokenizer
from syntagma.encoders.reference import find_model
from syntagma.errors import InputError
from syntagma.evaluation import open_model
from syntagma.settings import build
from syntagma.tasks.experiment import Experiment
from syntagma.training.run import train
from tests.conftest import SENTENCES
from tests.encoders.fake_hub import serving, use
from tests.messages import naming

GERMAN = [f"Über {sentence[::-1].title()} größer" for sentence in SENTENCES]
ODD = [
    "  two  spaces ", " lead", "x", "", "ﬁne ½ Ⅳ", "tab\there", "a\u00a0b", "a\u200bb", "…–“q”",
    "日本 ships", "☃☃ Ünder",
]  # fmt: skip


def write_model(folder, *, codes=(), model_type="unigram"):
    """Write a tiny model with the same files as the published ones."""
    pieces = ["</s>", "<unk>"]
    for side, texts in (("source", SENTENCES), ("target", GERMAN)):
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(texts * 3), model_prefix=str(folder / side), vocab_size=130,
            model_type=model_type, hard_vocab_limit=False, minloglevel=2,
            normalization_rule_name="nmt_nfkc",
        )  # fmt: skip
        (folder / f"{side}.vocab").unlink()
        (folder / f"{side}.model").rename(folder / f"{side}.spm")
        own = sentencepiece.SentencePieceProcessor(model_file=str(folder / f"{side}.spm"))
        pieces += [own.id_to_piece(number) for number in range(3, own.get_piece_size())]
    pieces = list(dict.fromkeys([*pieces, *codes, "<pad>"]))
    numbers = {piece: number for number, piece in enumerate(pieces)}
    (folder / "vocab.json").write_text(json.dumps(numbers), encoding="utf-8")
    sides = {
        f"{side}_{key}": value
        for side in ("encoder", "decoder")
        for key, value in (("layers", 2), ("attention_heads", 4), ("ffn_dim", 64))
    }
    config = AutoConfig.for_model(
        "marian", d_model=32, vocab_size=len(pieces), pad_token_id=numbers["<pad>"],
        eos_token_id=0, bos_token_id=None, decoder_start_token_id=numbers["<pad>"],
        forced_eos_token_id=None, **sides,
    )  # fmt: skip
    torch.manual_seed(0)
    AutoModelForSeq2SeqLM.from_config(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("marian"))


@pytest.fixture(scope="module")
def many_targets(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("many"), codes=(">>deu<<", ">>nld<<"))


def slow(folder):
    with pytest.warns(UserWarning, match="sacremoses"):
        return Slow(*(str(folder / name) for name in ("source.spm", "target.spm", "vocab.json")))


def test_pieces_of_both_languages_match_transformers(published):
    ours, theirs = load_tokenizer(str(published)), slow(published)
    assert isinstance(ours, MarianTokenizer)
    assert len(ours) == len(theirs)
    for text in (*SENTENCES, *ODD):
        assert ours(text)["input_ids"] == theirs(text)["input_ids"], text
    for text in (*SENTENCES, *GERMAN, *ODD):
        target = theirs(text_target=text)["input_ids"]
        assert ours(text_target=text)["input_ids"] == target, text
        decoded = ours.decode(target, skip_special_tokens=True)
        assert decoded.strip() == theirs.decode(target, skip_special_tokens=True), text


def test_unknown_characters_of_the_source_are_looked_up_one_by_one(published):
    """Transformers looks up a run of such letters as one piece, which rarely exists."""
    text = "The größer ferry"
    ours, theirs = load_tokenizer(str(published)), slow(published)
    found = ours.convert_ids_to_tokens(ours(text)["input_ids"])
    expected = theirs.convert_ids_to_tokens(theirs(text)["input_ids"])
    place = expected.index("<unk>")
    assert found == [*expected[:place], "ö", "ß", *expected[place + 1 :]]


def test_pieces_have_character_offsets(published):
    text = "  The oak\u00a0ﬁnds  a ferry"
    found = load_tokenizer(str(published))(text, return_offsets_mapping=True)
    pieces = load_tokenizer(str(published)).convert_ids_to_tokens(found["input_ids"])
    for piece, (start, end) in zip(pieces[:-1], found["offset_mapping"], strict=False):
        letters = piece.replace("▁", "")
        assert letters in text[start:end].replace("ﬁ", "fi"), (piece, text[start:end])


def test_saving_copies_the_original_files(published, tmp_path):
    load_tokenizer(str(published)).save_pretrained(tmp_path)
    shutil.copy(published / "config.json", tmp_path)
    assert not (tmp_path / "tokenizer.json").exists()
    again, before = load_tokenizer(str(tmp_path)), load_tokenizer(str(published))
    for text in SENTENCES:
        assert again(text)["input_ids"] == before(text)["input_ids"]
        assert again(text_target=text)["input_ids"] == before(text_target=text)["input_ids"]
    again.save_pretrained(tmp_path)  # must not truncate its own files


def translation(folder, data, **head):
    values = {
        "task": "translation",
        "encoder": str(folder),
        "preset": "sg-net",
        "parser": "linear",
        "data": {"train": data, "dev": data},
        "head": {"max_length": 60, "num_beams": 2, **head},
        "training": {"num_train_epochs": 1, "batch_tokens": 600},
    }
    return build(Experiment, values, where="experiment")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    for name, lines in (("en", SENTENCES), ("de", GERMAN)):
        text = "\n".join(line.replace("\n", " ") for line in lines) + "\n"
        (folder / name).write_text(text, encoding="utf-8")
    return f"{folder / 'en'}+{folder / 'de'}"


def test_a_guided_model_can_be_trained_and_reopened(published, data, tmp_path, monkeypatch):
    train(translation(published, data), tmp_path / "run")
    assert (tmp_path / "run" / "source.spm").is_file()
    opened = open_model(tmp_path / "run")
    assert isinstance(opened.tokenizer, MarianTokenizer)
    with serving({"someone/translator": tmp_path / "run"}) as hub:
        use(monkeypatch, hub.address, tmp_path / "cache")
        fetched = find_model("someone/translator").folder
    assert {"source.spm", "target.spm", "vocab.json"} <= {path.name for path in fetched.iterdir()}
    written = (tmp_path / "run" / "predictions.txt").read_text("utf-8").splitlines()
    assert [found.text for found in opened.predict(opened.read(data))] == written


def test_the_encoder_can_be_used_alone(published):
    model = GuidedEncoder.from_pretrained(str(published), guides="seprem")
    batch = SyntaxTokenizer.for_model(model, parser="linear")([SENTENCES[0], SENTENCES[1]])
    assert model(**batch).last_hidden_state.shape[:2] == batch["input_ids"].shape


def test_the_source_begins_with_the_code_of_the_target_language(many_targets, data, tmp_path):
    train(translation(many_targets, data, target_language=">>nld<<"), tmp_path / "run")
    task = open_model(tmp_path / "run")
    batch = task.collate(task.features(task.read(data))[:2])
    code = task.tokenizer.convert_tokens_to_ids(">>nld<<")
    assert (batch["input_ids"][:, 0] == code).all()
    assert not (batch["labels"] == code).any()
    expected = slow(many_targets)(">>nld<< " + SENTENCES[0])["input_ids"]
    assert batch["input_ids"][0, : len(expected)].tolist() == expected


@pytest.mark.parametrize(
    ("codes", "language", "message"),
    [
        ((">>deu<<", ">>nld<<"), "", "head.target_language >>deu<< >>nld<<"),
        ((">>deu<<", ">>nld<<"), "de", "head.target_language de >>deu<< >>nld<<"),
        ((), ">>deu<<", "head.target_language >>deu<<"),
    ],
)
def test_a_wrong_target_language_is_rejected(
    codes, language, message, published, many_targets, data, tmp_path
):
    folder = many_targets if codes else published
    with pytest.raises(InputError, match=naming(message)):
        train(translation(folder, data, target_language=language), tmp_path / "run")


class TestFiles:
    @pytest.fixture
    def copy(self, published, tmp_path):
        return shutil.copytree(published, tmp_path / "copy")

    def test_a_vocabulary_with_gaps_is_rejected(self, copy):
        (copy / "vocab.json").write_text('{"</s>": 0, "<unk>": 1, "<pad>": 7}')
        with pytest.raises(InputError, match=naming("vocab.json 0 <unk> </s> <pad>")):
            load_tokenizer(str(copy))

    def test_a_file_without_a_sentencepiece_model_is_rejected(self, copy):
        (copy / "source.spm").write_bytes(b"\xff\xfe no model")
        with pytest.raises(InputError, match=naming("source.spm SentencePiece")):
            load_tokenizer(str(copy))

    def test_another_type_of_sentencepiece_model_is_rejected(self, tmp_path):
        write_model(tmp_path, model_type="char")
        with pytest.raises(InputError, match=naming("source.spm unigram")):
            load_tokenizer(str(tmp_path))

    def test_a_missing_protobuf_is_reported(self, copy, monkeypatch):
        def missing():
            raise ImportError("protobuf")

        monkeypatch.setattr("syntagma.encoders.marian.import_protobuf", missing)
        with pytest.raises(InputError, match=naming("'.[mt]'")):
            load_tokenizer(str(copy))
