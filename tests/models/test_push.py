"""Models that are saved or pushed have a card, all they need, and nothing of this machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from huggingface_hub import ModelCard
from transformers import AutoTokenizer

from syntagma import GuidedEncoder, PairClassifier, Reader, SyntaxTokenizer
from syntagma.encoders.reference import find_model
from syntagma.errors import InputError
from syntagma.models.pair_model import PairModel
from syntagma.models.span_model import SpanModel
from tests.builders import experiment, new_task, squad
from tests.conftest import save_encoder
from tests.encoders.fake_hub import COMMIT, READ, WRITE, closed, serving, use
from tests.messages import naming, says

CARD = {
    "license": "mit",
    "language": ["en"],
    "datasets": ["someone/ferries"],
    "metrics": {"accuracy": 87.5},
    "widget": [{"text": "The barge sank."}],
    "tags": ["harbours"],
    "text": "It knows **ferries**.",
}


@pytest.fixture
def fake(monkeypatch, tmp_path, tiny_encoder):
    with serving({"someone/encoder": Path(tiny_encoder)}, tmp_path / "store") as hub:
        use(monkeypatch, hub.address, tmp_path / "cache")
        yield hub


def classifier(encoder: str, **settings: object) -> PairModel:
    torch.manual_seed(4)
    settings = {"guides": {"tree_distance": {}}, "labels": ["no", "yes"]} | settings
    return PairModel.from_pretrained(encoder, parser="linear", **settings)


def front_matter(folder: Path) -> dict[str, object]:
    return ModelCard.load(folder / "README.md").data.to_dict()


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_a_saved_model_has_a_card(fake, tmp_path):
    classifier("someone/encoder").save_pretrained(tmp_path / "mine", card=CARD)
    found = front_matter(tmp_path / "mine")
    assert found["license"] == "mit"
    assert found["base_model"] == "someone/encoder"
    assert found["datasets"] == ["someone/ferries"]
    assert found["metrics"] == ["accuracy"]
    assert found["widget"] == [{"text": "The barge sank."}]
    assert found["tags"] == ["syntagma", "tree_distance", "harbours"]
    assert found["pipeline_tag"] == "text-classification"
    assert found["library_name"] == "syntagma"
    (result,) = found["model-index"][0]["results"]
    assert result["metrics"][0]["value"] == 87.5
    text = (tmp_path / "mine" / "README.md").read_text()
    assert says(text, "`no` `yes` **ferries** 87.5 PairModel.from_pretrained `tree_distance`")


def test_a_card_without_settings_says_what_is_known(tiny_encoder, tmp_path):
    classifier(tiny_encoder).save_pretrained(tmp_path / "mine")
    found = front_matter(tmp_path / "mine")
    assert not found.keys() & {"license", "base_model", "datasets", "metrics", "model-index"}
    assert found["widget"]


def test_an_edited_card_is_kept(tiny_encoder, tmp_path):
    model = classifier(tiny_encoder)
    model.save_pretrained(tmp_path / "mine")
    (tmp_path / "mine" / "README.md").write_text("# Edited\n")
    model.save_pretrained(tmp_path / "mine")
    PairModel.from_pretrained(tmp_path / "mine").save_pretrained(tmp_path / "copy")
    assert (tmp_path / "copy" / "README.md").read_text() == "# Edited\n"
    model.save_pretrained(tmp_path / "mine", card={"license": "mit"})
    assert front_matter(tmp_path / "mine")["license"] == "mit"


def test_wrong_settings_of_a_card_are_reported(tiny_encoder, tmp_path):
    with pytest.raises(InputError, match=naming("card 'licence' 'license'")):
        classifier(tiny_encoder).save_pretrained(tmp_path, card={"licence": "mit"})


def test_a_base_in_a_folder_is_saved_relative_to_the_model(tmp_path):
    save_encoder(tmp_path / "one" / "encoder", "bert")
    model = GuidedEncoder.from_pretrained(tmp_path / "one" / "encoder")
    model.save_pretrained(tmp_path / "one" / "models" / "small", bits=8)
    saved = json.loads((tmp_path / "one/models/small/config.json").read_text())
    assert saved["base"] == "../../encoder"
    (tmp_path / "one").rename(tmp_path / "two")
    found = GuidedEncoder.from_pretrained(tmp_path / "two" / "models" / "small")
    assert found.config.base == str(tmp_path / "two" / "encoder")
    for name, weight in model.state_dict().items():
        assert torch.equal(found.state_dict()[name], weight)


def test_a_pushed_model_has_all_it_needs_and_nothing_local(fake, tmp_path, monkeypatch):
    folder = tmp_path / "harbour-master" / "encoder"
    save_encoder(folder, "bert")
    model = classifier(str(folder))
    address = model.push_to_hub("ada/ferries", token=WRITE, card=CARD, commit_message="First")
    assert address == f"{fake.address}/ada/ferries/commit/{COMMIT}"
    assert fake.messages == ["First"]
    pushed = tmp_path / "store" / "ada" / "ferries"
    for word in (b"harbour-master", str(tmp_path).encode(), str(Path.home()).encode() + b"/"):
        assert word not in bytes_of(pushed)
    shutil.rmtree(folder)
    found = PairClassifier.from_pretrained("ada/ferries")
    for name, weight in model.state_dict().items():
        assert torch.equal(found.model.state_dict()[name], weight)
    assert found.classify("The ferry left.", "Nobody moved.").label in ("no", "yes")
    assert AutoTokenizer.from_pretrained("ada/ferries")("The ferry left.")["input_ids"]
    text = (pushed / "README.md").read_text()
    assert 'PairModel.from_pretrained("ada/ferries")' in text
    assert front_matter(pushed)["model-index"][0]["name"] == "ferries"
    assert "# ferries" in text
    # It names no base, so that it stands for itself as the start of another model.
    again = GuidedEncoder.from_encoder("ada/ferries", guides={"tree_distance": {}})
    assert again.config.base == "ada/ferries"
    assert SyntaxTokenizer.for_model(again, parser="linear")("The ferry left.")
    with pytest.raises(InputError, match=naming("bits config.json")):
        found.model.save_pretrained(tmp_path / "small", bits=8)
    assert find_model("ada/ferries").chain == (find_model("ada/ferries"),)


def test_a_name_alone_is_below_the_user_and_may_be_private(fake, tmp_path):
    classifier("someone/encoder").push_to_hub("ferries", token=WRITE, private=True)
    assert PairModel.from_pretrained("ada/ferries", token=READ).config.base == "someone/encoder"
    with pytest.raises(InputError, match=naming("ada/ferries token")):
        PairModel.from_pretrained("ada/ferries", cache_dir=tmp_path / "other cache")


def test_a_card_on_the_hub_is_kept(fake, tmp_path):
    model = classifier("someone/encoder")
    model.push_to_hub("ada/ferries", token=WRITE)
    card = tmp_path / "store" / "ada" / "ferries" / "README.md"
    card.write_text("# Edited there\n")
    model.push_to_hub("ada/ferries", token=WRITE)
    assert card.read_text() == "# Edited there\n"
    model.push_to_hub("ada/ferries", token=WRITE, card={"license": "mit"})
    assert "license: mit" in card.read_text()


def test_differences_to_an_encoder_on_the_hub_can_be_pushed(fake, tmp_path):
    model = classifier("someone/encoder")
    model.push_to_hub("ada/small", token=WRITE, bits=8)
    assert not (tmp_path / "store" / "ada" / "small" / "tokenizer.json").exists()
    found = PairClassifier.from_pretrained("ada/small").model
    for name in ("label_scores.weight", "encoder.embeddings.word_embeddings.weight"):
        torch.testing.assert_close(
            found.state_dict()[name], model.state_dict()[name], atol=1e-3, rtol=0
        )


def test_a_branch_is_made_for_a_revision(fake):
    model = classifier("someone/encoder")
    model.push_to_hub("ada/ferries", token=WRITE, card={"text": "One."})
    model.label_scores.bias.data += 1
    model.push_to_hub("ada/ferries", token=WRITE, revision="more")
    found = PairModel.from_pretrained("ada/ferries", revision="more").label_scores.bias
    assert torch.equal(found, model.label_scores.bias)
    assert not torch.equal(PairModel.from_pretrained("ada/ferries").label_scores.bias, found)


def test_save_pretrained_can_push(fake, tmp_path):
    model = classifier("someone/encoder")
    model.save_pretrained(tmp_path / "ferries", push_to_hub=True, token=WRITE)
    assert (tmp_path / "ferries" / "config.json").is_file()
    assert PairModel.from_pretrained("ada/ferries").config.task == "pairs"


def test_the_weights_that_are_given_are_written_and_pushed(fake, tmp_path):
    model = classifier("someone/encoder")
    others = {name: weight + 1 for name, weight in model.state_dict().items()}
    model.save_pretrained(tmp_path / "ferries", state_dict=others, push_to_hub=True, token=WRITE)
    for place in (tmp_path / "ferries", "ada/ferries"):
        found = PairModel.from_pretrained(place).state_dict()
        assert all(torch.equal(found[name], weight) for name, weight in others.items())


def test_a_reader_is_pushed_with_its_verifier(fake, tmp_path, tiny_encoder):
    data = squad(tmp_path / "squad.json", copies=1)
    verifier = new_task(
        experiment("spans", data, tiny_encoder, head={"objective": "answerability"})
    )[0]
    (tmp_path / "verifier").mkdir()
    verifier.save(tmp_path / "verifier")
    head = {"verifier": str(tmp_path / "verifier")}
    task = new_task(experiment("spans", data, tiny_encoder, head=head))[0]
    (tmp_path / "reader").mkdir()
    task.save(tmp_path / "reader")
    reader = Reader.from_pretrained(tmp_path / "reader")
    reader.model.push_to_hub("ada/reader", token=WRITE)
    for place in (tmp_path, tiny_encoder):
        assert str(place).encode() not in bytes_of(tmp_path / "store" / "ada" / "reader")
    found = Reader.from_pretrained("ada/reader")
    assert found.verifier.model.head.objective == "answerability"


@pytest.mark.parametrize("parser", ["conllu:trees.conllu", "noisy:0.1:models/parser"])
def test_what_only_this_machine_has_is_reported(fake, tmp_path, monkeypatch, parser):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models" / "parser").mkdir(parents=True)
    (tmp_path / "trees.conllu").touch()
    model = classifier("someone/encoder")
    model.config.parser = parser
    with pytest.raises(InputError, match=naming(f"parser {parser} OWNER/NAME default-parser")):
        model.push_to_hub("ada/ferries", token=WRITE)


def test_absolute_paths_are_reported(fake, tmp_path, tiny_parser):
    model = classifier("someone/encoder")
    model.config.parser = tiny_parser
    with pytest.raises(InputError, match=naming(f"parser {tiny_parser}")):
        model.push_to_hub("ada/ferries", token=WRITE)
    (tmp_path / "verifier").mkdir()
    reader = SpanModel.from_pretrained(
        "someone/encoder", head={"verifier": str(tmp_path / "verifier")}
    )
    with pytest.raises(InputError, match=naming(f"head.verifier {tmp_path}/verifier")):
        reader.push_to_hub("ada/ferries", token=WRITE)
    assert fake.messages == []


def test_a_tokenizer_does_not_say_where_it_was_read(fake, tmp_path):
    path = save_encoder(tmp_path / "encoder", "bert") / "tokenizer_config.json"
    values = json.loads(path.read_text())
    path.write_text(json.dumps(values | {"name_or_path": "/home/ada/bert"}))
    classifier(str(tmp_path / "encoder")).push_to_hub("ada/ferries", token=WRITE)
    pushed = tmp_path / "store" / "ada" / "ferries"
    assert b"/home/ada" not in bytes_of(pushed)
    assert json.loads((pushed / "tokenizer_config.json").read_text()).items() >= values.items()
    assert PairClassifier.from_pretrained("ada/ferries")


def test_differences_to_a_local_encoder_cannot_be_pushed(fake, tiny_encoder):
    with pytest.raises(InputError, match=naming(f"bits=8 {tiny_encoder} omit")):
        classifier(tiny_encoder).push_to_hub("ada/ferries", token=WRITE, bits=8)


def test_labels_may_look_like_paths(fake, tmp_path):
    classifier("someone/encoder", labels=["/place/city", "/tmp"]).push_to_hub(
        "ada/places", token=WRITE
    )
    found = PairModel.from_pretrained("ada/places")
    assert found.config.labels == {"labels": ["/place/city", "/tmp"]}


def refusal(model: PairModel, name: str = "ada/ferries", **options: object) -> str:
    with pytest.raises(InputError) as raised:
        model.push_to_hub(name, **options)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_what_the_hub_refuses_is_explained(fake, tiny_encoder, monkeypatch, tmp_path):
    model = classifier(tiny_encoder)
    assert says(refusal(model), "ada/ferries token write hf auth login")
    assert says(refusal(model, token="hf_old"), "ada/ferries accept token hf auth login")
    assert says(refusal(model, token=READ), f"write ada/ferries {fake.address}/settings/tokens")
    refused = refusal(model, token=WRITE, card={"license": "ours"})
    assert says(refused, 'ada/ferries README.md "license"')
    assert says(refusal(model, "a b"), "OWNER/NAME 'a b'")
    assert says(refusal(model, branch="main"), "branch revision token")
    address = closed()
    use(monkeypatch, address, tmp_path / "cache")
    assert says(refusal(model, token=WRITE), f"ada/ferries {address} reachable")


PROGRAM = """
from syntagma.models.pair_model import PairModel
from syntagma.models.span_model import SpanModel

model = PairModel.from_pretrained("someone/encoder", num_labels=2)
print(model.push_to_hub("ada/ferries"))
print(PairModel.from_pretrained("ada/ferries").config.num_labels)
"""


@pytest.mark.slow
def test_a_new_process_pushes_to_the_hub_that_its_environment_names(tmp_path, tiny_encoder):
    """The other tests set the address inside this process."""
    with serving({"someone/encoder": Path(tiny_encoder)}, tmp_path / "store") as hub:
        own = {"HF_ENDPOINT": hub.address, "HF_HOME": str(tmp_path / "home"), "HF_TOKEN": WRITE}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env=os.environ | own | {"HF_HUB_OFFLINE": "0"},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.split() == [f"{hub.address}/ada/ferries/commit/{COMMIT}", "2"]
