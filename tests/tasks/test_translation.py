"""Guided encoder-decoders: model, settings and languages."""

from __future__ import annotations

import logging
import shutil
from dataclasses import replace

import pytest
import torch
from torch.nn import functional
from transformers import AutoConfig, AutoModelForSeq2SeqLM, AutoTokenizer

pytest.importorskip("sacrebleu")

from syntagma.encoders.config import SyntagmaConfig
from syntagma.errors import InputError
from syntagma.evaluation import open_model
from syntagma.models.translation_model import TranslationModel
from syntagma.packing import pack
from syntagma.tasks.translation.sample import SAMPLE
from syntagma.tasks.translation.vocabulary import learn_vocabulary
from syntagma.training.run import train
from tests.builders import new_task, parallel
from tests.builders import translation as experiment
from tests.conftest import SENTENCES, build_tokenizer, crossed, tiny_config
from tests.messages import naming, says


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return parallel(tmp_path_factory.mktemp("parallel"))


GUIDES = {
    "none": {},
    "sg-net": {},
    "seprem": {},
    "poi-net": {"coattention": False},
}
BIASED = {"tree_bias": {"labels": True}}


def tiny_seq2seq(model_type, folder):
    if not folder.exists():
        tokenizer = build_tokenizer("byte_level")
        sides = {
            f"{side}_{key}": value
            for side in ("encoder", "decoder")
            for key, value in (("layers", 2), ("attention_heads", 4), ("ffn_dim", 64))
        }
        sizes = {
            "bart": {"d_model": 32, **sides},
            "mbart": {"d_model": 32, **sides},
            "m2m_100": {"d_model": 32, **sides},
            "marian": {"d_model": 32, **sides},
            "t5": {"d_model": 32, "d_kv": 8, "num_hidden_layers": 2, "num_heads": 4, "d_ff": 64},
        }[model_type]
        config = AutoConfig.for_model(
            model_type,
            vocab_size=len(tokenizer),
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
            bos_token_id=tokenizer.bos_token_id,
            decoder_start_token_id=tokenizer.pad_token_id,
            forced_eos_token_id=None,
            **sizes,
        )
        torch.manual_seed(0)
        AutoModelForSeq2SeqLM.from_config(config).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def pretrained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("seq2seq")
    return lambda model_type: tiny_seq2seq(model_type, folder / model_type)


MODELS = ("scratch", "bart", "mbart", "m2m_100", "marian", "t5")


@pytest.mark.parametrize(
    ("guides", "model_type"),
    [*crossed(GUIDES, MODELS), *crossed(BIASED, [name for name in MODELS if name != "t5"])],
)
def test_a_step_lowers_the_loss_and_reaches_every_parameter(guides, model_type, data, pretrained):
    encoder = "scratch" if model_type == "scratch" else pretrained(model_type)
    settings = {"guides": BIASED}
    if guides in GUIDES:
        settings = {"preset": guides, "guides": GUIDES[guides]}
    task, examples = new_task(experiment(data, encoder=encoder, **settings))
    features = task.features(examples)
    batch = task.collate([features[index] for index in range(4)])
    model = task.model.train()
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    losses = []
    for _ in range(4):
        loss = model(**batch).loss
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert losses[-1] < losses[0]
    unreached = [
        key for key, parameter in model.named_parameters()
        if not key.startswith("encoder.") and parameter.grad is None
    ]  # fmt: skip
    assert not unreached


def test_without_guides_the_model_equals_the_plain_one(pretrained, data):
    name = pretrained("bart")
    plain = AutoModelForSeq2SeqLM.from_pretrained(name).eval()
    task, examples = new_task(experiment(data, encoder=name))
    batch = task.collate([task.features(examples)[index] for index in range(3)])
    with torch.no_grad():
        ours = task.model.eval()(**batch).logits
        theirs = plain(
            input_ids=batch["input_ids"],
            attention_mask=batch["attention_mask"],
            labels=batch["labels"].masked_fill(batch["labels"] < 0, -100),
        ).logits
    assert torch.equal(ours, theirs)


@pytest.mark.parametrize("preset", ["none", "sg-net"])
def test_initial_weights_and_embedding_scale(preset, data):
    task, _ = new_task(experiment(data, preset=preset))
    model, width = task.model, SAMPLE.head["hidden_size"]
    linear = [part.weight for part in model.modules() if isinstance(part, torch.nn.Linear)]
    vectors = model.both_sides.get_input_embeddings().weight
    for weight in linear:
        if weight is not vectors:
            assert weight.std().item() == pytest.approx(0.02 * (512 / width) ** 0.5, rel=0.15)
    own = vectors[torch.arange(len(vectors)) != task.tokenizer.pad_token_id]
    assert own.std().item() == pytest.approx(width**-0.5, rel=0.05)
    assert not vectors[task.tokenizer.pad_token_id].any()


@pytest.mark.parametrize("model_type", ["scratch", "bart", "marian", "t5"])
def test_the_training_loss_equals_the_loss_over_all_pieces(model_type, pretrained, data):
    """In training, scores are not computed for padding."""
    encoder = pretrained(model_type) if model_type != "scratch" else "scratch"
    task, examples = new_task(experiment(data, encoder=encoder, head={"label_smoothing": 0.1}))
    features = task.features(examples)
    batch = task.collate([features[index] for index in range(6)])
    model = task.model.train()
    for part in model.modules():
        if isinstance(getattr(part, "dropout", None), float):
            part.dropout = 0.0
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
    found = model(**batch)
    assert found.logits is None
    assert (batch["labels"] < 0).any()
    scores = model.eval()(**batch).logits
    expected = functional.cross_entropy(
        scores.flatten(0, 1), batch["labels"].flatten(), ignore_index=-100, label_smoothing=0.1
    )
    torch.testing.assert_close(found.loss, expected)


@pytest.mark.parametrize("preset", ["none", "sg-net"])
def test_saving_and_loading_changes_nothing(preset, data, tmp_path):
    task, examples = new_task(experiment(data, preset=preset))
    task.save(tmp_path)
    reloaded = open_model(tmp_path)
    batch = task.collate([task.features(examples)[index] for index in range(4)])
    with torch.no_grad():
        one, other = task.model.eval()(**batch), reloaded.model.eval()(**batch)
    assert torch.equal(one.logits, other.logits)
    # Encoder, decoder and output layer share their embeddings, which are saved once.
    n_values = sum(parameter.numel() for parameter in task.model.parameters())
    assert (tmp_path / "model.safetensors").stat().st_size < 4.5 * n_values + 100_000


def test_tokenised_text_is_not_tokenised_again(data):
    """A line of words is one sentence, and no word is split."""
    for tokenized, n_words, n_sentences in ((True, 5, 1), (False, 7, 2)):
        task, _ = new_task(experiment(data, preset="seprem", head={"tokenized": tokenized}))
        (encoded,) = task.predictor.texts.encode(["well-known cats . They sleep"]).values()
        assert (encoded.n_words, encoded.n_sentences) == (n_words, n_sentences)


class TestLanguages:
    def build(self, pretrained, data, tmp_path, **head):
        folder = tmp_path / "mbart"
        shutil.copytree(pretrained("mbart"), folder)
        tokenizer = AutoTokenizer.from_pretrained(folder)
        tokenizer.add_special_tokens({"additional_special_tokens": ["en_XX", "de_DE"]})
        tokenizer.save_pretrained(folder)
        model = AutoModelForSeq2SeqLM.from_pretrained(folder)
        model.resize_token_embeddings(len(tokenizer))
        model.generation_config.bad_words_ids = [[7]]
        model.save_pretrained(folder)
        return new_task(experiment(data, encoder=str(folder), head=head))[0], tokenizer

    def test_a_pretrained_model_keeps_its_generation_settings(self, pretrained, data, tmp_path):
        task, tokenizer = self.build(pretrained, data, tmp_path, target_language="de_DE")
        first = tokenizer.convert_tokens_to_ids("de_DE")
        task.save(tmp_path)
        for own in (task, open_model(tmp_path)):
            generation = own.model.both_sides.generation_config
            assert generation.bad_words_ids == [[7]]
            assert generation.forced_bos_token_id == first
            batch = own.predictor.collate(own.predictor.items([SENTENCES[0]]))
            batch.pop("token_type_ids", None)
            pieces, _ = own.model.search(**batch)
            assert pieces[0, 1] == first
            assert not (pieces == 7).any()

    @pytest.mark.parametrize("last", [True, False])
    def test_search_starts_with_the_piece_used_in_training(self, pretrained, data, tmp_path, last):
        """In some models, the language code follows the end piece of the target."""
        task, tokenizer = self.build(pretrained, data, tmp_path, target_language="de_DE")
        code, end = tokenizer.convert_tokens_to_ids(["de_DE", "</s>"])
        task.model.speak(code, last=last)
        labels = torch.tensor([[9, 10, end, code] if last else [code, 9, 10, end]])
        reads = task.model._shifted(labels)[0].tolist()
        batch = task.predictor.collate(task.predictor.items([SENTENCES[0]]))
        batch.pop("token_type_ids", None)
        pieces, _ = task.model.search(**batch)
        assert reads[0 if last else 1] == pieces[0, 0 if last else 1] == code

    def test_a_multilingual_model_needs_a_target_language(self, pretrained, data, tmp_path):
        from syntagma.tasks.translation.languages import set_languages

        task, tokenizer = self.build(pretrained, data, tmp_path)
        tokenizer.tgt_lang = None
        with pytest.raises(InputError, match=naming("head.target_language de_DE")):
            set_languages(task.model, tokenizer)

    def test_an_unknown_language_is_named(self, pretrained, data, tmp_path):
        with pytest.raises(InputError, match=naming("head.source_language fr en_XX")):
            self.build(pretrained, data, tmp_path, source_language="fr")


@pytest.mark.parametrize("storage", ["packed", "frozen"])
@pytest.mark.slow
def test_training_can_continue_from_a_saved_guided_translator(storage, pretrained, data, tmp_path):
    """The base model then includes the decoder, and guides are saved separately."""
    settings = experiment(
        data, encoder=pretrained("bart"), preset="sg-net", head={"max_length": 120},
        training={"encoder": "frozen" if storage == "frozen" else "full"},
    )  # fmt: skip
    train(settings, tmp_path / "run")
    if storage == "packed":
        pack(tmp_path / "run", tmp_path / "packed", bits=8)
    folder = str(tmp_path / ("packed" if storage == "packed" else "run"))
    before = open_model(folder).model.state_dict()
    task, _ = new_task(experiment(data, encoder=folder, preset="saved"))
    for name, value in task.model.state_dict().items():
        assert torch.equal(value, before[name]), name


def test_a_tokenizer_that_needs_other_packages_is_named(pretrained, data, monkeypatch):
    def missing(*_, **__):
        raise ImportError("\nMarianTokenizer requires SentencePiece. Check out the page.")

    monkeypatch.setattr("syntagma.encoders.load.AutoTokenizer.from_pretrained", missing)
    with pytest.raises(InputError, match=naming("marian SentencePiece tokenizer.json")):
        new_task(experiment(data, encoder=pretrained("marian")))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"head": {"num_attention_heads": 5}}, "head 32 5 num_attention_heads"),
        ({"head": {"max_length": 5}}, "data.train head.max_length 5"),
        ({"head": {"label_smoothing": 1.0}}, "head label_smoothing [0, 1) 1.0"),
        ({"encoder": "/nowhere"}, "/nowhere default"),
        ({"encoder": "default"}, "bert BART mBART T5 scratch"),
        ({"training": {"encoder": "frozen"}}, "training.encoder frozen scratch full"),
        ({"training": {"encoder": "lora"}}, "training.encoder lora scratch full"),
        ({"hidden_dropout": 0.2}, "hidden_dropout head.dropout"),
        ({"attention_dropout": 0.0}, "attention_dropout head.attention_dropout"),
        (
            {"preset": "sg-net", "guides": {"ancestor_attention": {"initialise": "last_layer"}}},
            "guides.ancestor_attention.initialise",
        ),
    ],
)
def test_invalid_settings_are_reported(changes, message, data, tmp_path):
    with pytest.raises(InputError, match=naming(message)):
        train(experiment(data, **changes), tmp_path / "run")


@pytest.mark.parametrize(("value", "n_guides"), [(False, 0), (None, 1), (True, 1)])
def test_a_guide_may_be_named_without_settings(value, n_guides, data):
    task, _ = new_task(experiment(data, preset="sg-net", guides={"ancestor_attention": value}))
    assert len(task.model.config.guides) == n_guides


def test_long_sources_are_truncated_with_a_warning(data, caplog):
    task, _ = new_task(experiment(data))
    task.model.head = replace(task.model.head, max_length=20)
    with caplog.at_level(logging.WARNING):
        assert isinstance(task.predictor.translate(" ".join(SENTENCES)).text, str)
    assert says(caplog.text, "1 sources 19")


def test_initialisation_keeps_sinusoidal_positions():
    """The initialisation of weights must not change those that are not trained."""
    from syntagma.models.translation_model import TranslationHead, fresh_config

    tokenizer = learn_vocabulary(SENTENCES, kind="bpe", size=300)
    config = fresh_config(TranslationHead(**SAMPLE.head), tokenizer)
    model = TranslationModel(SyntagmaConfig(encoder=config, task="translation", head=SAMPLE.head))
    positions = model.trunk.embed_positions.weight
    assert positions[1, 0].item() == pytest.approx(0.8415, abs=1e-4)
    other = TranslationModel(SyntagmaConfig(encoder=config, task="translation", head=SAMPLE.head))
    assert torch.equal(other.trunk.embed_positions.weight, positions)


def small_translator() -> TranslationModel:
    torch.manual_seed(0)
    config = SyntagmaConfig(encoder=tiny_config("bart"), task="translation", head={})
    model = TranslationModel(config)
    model.post_init()
    return model


@pytest.mark.parametrize("bits", [4, 8, 32])
def test_trained_tied_embeddings_are_saved(bits, tmp_path):
    published = small_translator()
    published.encoder.save_pretrained(tmp_path / "base")
    model = TranslationModel.from_encoder(str(tmp_path / "base"))
    moved = {name: 0.1 * torch.randn_like(weight) for name, weight in model.named_parameters()}
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight += moved[name]
    model.save_pretrained(tmp_path / "packed", bits=bits)
    reloaded = TranslationModel.from_pretrained(tmp_path / "packed")
    for name, weight in model.named_parameters():
        error = (reloaded.get_parameter(name) - weight).abs().max()
        assert error <= (0 if bits == 32 else moved[name].abs().max() * 1.01 / (2**bits - 2)), name


def test_recomputed_layers_use_the_same_dropout():
    inputs = {
        "input_ids": torch.arange(5, 45).view(4, 10),
        "attention_mask": torch.ones(4, 10, dtype=torch.long),
        "labels": torch.arange(50, 82).view(4, 8),
    }
    found = []
    for recompute in (False, True):
        model = small_translator().train()
        if recompute:
            model.gradient_checkpointing_enable()
        torch.manual_seed(3)
        model(**inputs).loss.backward()
        found.append([weight.grad for weight in model.parameters() if weight.grad is not None])
    assert len(found[0]) == len(found[1]) > 50
    assert all(map(torch.equal, *found))


def test_generation_stops_without_an_end_piece(data):
    task, _ = new_task(experiment(data))
    items = task.predictor.items(["A gull cried."])
    batch = task.predictor.collate(items)
    batch.pop("token_type_ids", None)
    task.model.both_sides.config.eos_token_id = task.model.both_sides.config.pad_token_id
    task.model.both_sides.generation_config.eos_token_id = None
    pieces, _ = task.model.eval().search(**batch)
    assert pieces.shape[1] == 1 + min(90, 2 * batch["input_ids"].shape[1] + 20)
