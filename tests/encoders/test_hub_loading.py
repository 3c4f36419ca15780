"""Whatever loads a model from Python takes the options of Transformers, and explains failures."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch
from transformers import AutoModel

from syntagma import (
    Chooser,
    EntityTyper,
    GuidedEncoder,
    JointParser,
    OpenReader,
    PairClassifier,
    Reader,
    RelationClassifier,
    SyntaxTokenizer,
    load_parser,
    open_model,
)
from syntagma.encoders.attention import NAME
from syntagma.encoders.reference import find_model
from syntagma.errors import InputError
from syntagma.models.pair_model import PairModel
from syntagma.tasks.auto import register
from tests.builders import dream, experiment, new_task, pairs, relations, squad, typing
from tests.encoders.fake_hub import READ, closed, serving, use
from tests.messages import naming, says
from tests.qa_models import save_qa_model


@pytest.fixture(scope="module")
def folders(tmp_path_factory, tiny_encoder, tiny_parser) -> dict[str, Path]:
    """Models by their names on the hub."""
    place = tmp_path_factory.mktemp("hub")
    for name, seed in (("model", 1), ("newer", 2)):
        torch.manual_seed(seed)
        model = GuidedEncoder.from_pretrained(
            tiny_encoder, guides={"ancestor_attention": {}}, parser="linear"
        )
        model.save_pretrained(place / name)
    shutil.copytree(place / "newer", place / "several" / "inner" / "small")
    shutil.copytree(tiny_encoder, place / "encoders" / "small")
    tasks = {
        "choice": dream(place / "choice.json", copies=1),
        "pairs": pairs(place / "pairs.jsonl", copies=1),
        "typing": typing(place / "typing.json", copies=1),
        "relations": relations(place / "relations.txt", copies=1),
        "spans": squad(place / "spans.json", copies=1),
    }
    for task, data in tasks.items():
        settings = experiment(task, data, tiny_encoder)
        (place / task).mkdir()
        new_task(settings)[0].save(place / task)
    save_qa_model(place / "qa", "roberta")
    own = {name: place / name for name in ("model", "several", "encoders", "qa", *tasks)}
    own |= {"encoder": Path(tiny_encoder), "parser": Path(tiny_parser), "model@v2": place / "newer"}
    return {f"someone/{name}": folder for name, folder in own.items()}


@pytest.fixture
def fake(folders, monkeypatch, tmp_path):
    with serving(folders) as hub:
        use(monkeypatch, hub.address, tmp_path / "hub")
        yield hub


def same(one: torch.nn.Module, other: torch.nn.Module) -> bool:
    weights = other.state_dict()
    return all(torch.equal(weight, weights[name]) for name, weight in one.state_dict().items())


def load(name: str, **options: object) -> GuidedEncoder:
    return GuidedEncoder.from_pretrained(name, **options)


def test_a_revision_is_loaded(fake, folders):
    for revision, folder in (("main", "someone/model"), ("v2", "someone/model@v2")):
        assert same(load("someone/model", revision=revision), load(str(folders[folder])))
    with pytest.raises(InputError, match=naming("someone/model 'v3'")):
        load("someone/model", revision="v3")


def test_a_subfolder_is_loaded_from_hub_and_folder(fake, folders):
    wanted = load(str(folders["someone/model@v2"]))
    inner = "inner/small"
    found = load("someone/several", subfolder=inner)
    assert same(found, wanted)
    assert same(load(str(folders["someone/several"]), subfolder=inner), wanted)
    assert SyntaxTokenizer.for_model(found)("The ferry left.")["input_ids"].numel()
    # Files of other folders are not fetched.
    assert not any("model.safetensors" in line and inner not in line for line in fake.requests)
    bare = load("someone/encoders", subfolder="small")
    assert same(bare, load(str(folders["someone/encoders"] / "small")))
    SyntaxTokenizer.from_pretrained("someone/encoders", subfolder="small", parser="linear")
    with pytest.raises(InputError, match=naming("inner/large config.json")):
        Reader.from_pretrained("someone/several", subfolder="inner/large")
    with pytest.raises(InputError, match="inner/large"):
        load(str(folders["someone/several"]), subfolder="inner/large")
    with pytest.raises(InputError, match=naming("subfolder '../several'")):
        load("someone/several", subfolder="../several")


def test_the_cache_is_used_without_requests(fake, tmp_path):
    place = tmp_path / "mine"
    found = load("someone/model", cache_dir=place)
    assert (place / "models--someone--model").is_dir()
    fake.requests.clear()
    assert same(load("someone/model", cache_dir=place, local_files_only=True), found)
    assert fake.requests == []
    with pytest.raises(InputError, match=naming("someone/model local_files_only cache")):
        load("someone/model", local_files_only=True)
    assert fake.requests == []


def explained(name: str, **options: object) -> str:
    with pytest.raises(InputError) as raised:
        load(name, **options)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_each_refusal_has_a_line_of_its_own(fake, monkeypatch):
    fake.private.add("someone/model")
    lines = {
        "absent": explained("someone/absent"),
        "private": explained("someone/model"),
        "wrong token": explained("someone/model", token="hf_old"),
        "gated": explained("someone/gated", token=READ),
    }
    assert says(lines["absent"], "someone/absent name hf auth login")
    assert says(lines["private"], "someone/model public private token")
    assert says(lines["wrong token"], "token hf auth login")
    assert "hf_old" not in lines["wrong token"]
    assert f"{fake.address}/someone/gated" in lines["gated"]
    monkeypatch.setenv("HF_TOKEN", "hf_expired")
    assert explained("someone/model") == lines["wrong token"]


def test_an_unreachable_hub_has_a_line_of_its_own(monkeypatch, tmp_path):
    address = closed()
    use(monkeypatch, address, tmp_path)
    assert says(explained("someone/model"), f"someone/model cache {address} reachable")


LOADERS = {
    "someone/model": (GuidedEncoder.from_pretrained, SyntaxTokenizer.from_pretrained),
    "someone/encoder": (GuidedEncoder.from_pretrained, SyntaxTokenizer.from_pretrained),
    "someone/spans": (Reader.from_pretrained, OpenReader.from_pretrained, open_model),
    "someone/qa": (Reader.from_pretrained,),
    "someone/parser": (JointParser.from_pretrained, load_parser),
    "someone/choice": (Chooser.from_pretrained,),
    "someone/pairs": (PairClassifier.from_pretrained, PairModel.from_pretrained),
    "someone/typing": (EntityTyper.from_pretrained,),
    "someone/relations": (RelationClassifier.from_pretrained,),
}


@pytest.mark.parametrize(
    ("name", "loader"), [(name, each) for name, some in LOADERS.items() for each in some]
)
def test_every_loader_passes_the_options_on(fake, name, loader):
    fake.private.add(name)
    with pytest.raises(InputError, match=naming("token")):
        loader(name)
    parser = {"parser": "linear"} if loader == SyntaxTokenizer.from_pretrained else {}
    loader(name, token=READ, **parser)
    with pytest.raises(InputError, match="v9"):
        loader(name, token=READ, revision="v9")


def test_a_base_is_loaded_with_the_same_token(fake, folders, tmp_path):
    fake.private |= {"someone/small", "someone/encoder"}
    model = load("someone/encoder", token=READ)
    model.save_pretrained(tmp_path / "small", bits=8)
    fake.models["someone/small"] = tmp_path / "small"
    found = load("someone/small", token=READ)
    assert found.config.base == "someone/encoder"
    assert same(found, model)
    SyntaxTokenizer.for_model(found, parser="linear")
    with pytest.raises(InputError, match="token"):
        load("someone/small")


def test_a_parser_on_the_hub_is_loaded_with_the_same_token(fake, folders, tmp_path):
    fake.private |= {"someone/parser", "someone/reading"}
    settings = experiment(
        "pairs",
        pairs(tmp_path / "pairs.jsonl", copies=1),
        str(folders["someone/encoder"]),
        guides={"tree_distance": {}},
    )
    task = new_task(settings)[0]
    task.model.config.parser = "someone/parser"
    (tmp_path / "reading").mkdir()
    task.save(tmp_path / "reading")
    fake.models["someone/reading"] = tmp_path / "reading"
    found = PairClassifier.from_pretrained("someone/reading", token=READ)
    assert found.classify("The ferry left.", "Nobody moved.").label


def test_a_token_is_not_shown(fake):
    assert READ not in repr(find_model("someone/model", load("someone/model").source.options))
    ref = load("someone/model", token=READ).source
    assert READ not in repr(ref)
    assert ref.options.token == READ


@pytest.mark.parametrize("name", ["someone/model", "someone/encoder"])
def test_placement(fake, name):
    model = load(name, dtype="bfloat16", device_map="auto", attn_implementation="eager")
    assert model.dtype == torch.bfloat16
    assert model.device.type == ("cuda" if torch.cuda.is_available() else "cpu")
    assert model.trunk.config._attn_implementation == "eager"
    assert load(name, device_map={"": "cpu"}).device.type == "cpu"
    for options in ({}, {"attn_implementation": "sdpa"}):
        assert load(name, **options).trunk.config._attn_implementation == NAME


def test_the_saved_dtype_is_kept_if_asked_for(fake, tmp_path):
    load("someone/model", dtype=torch.float16).save_pretrained(tmp_path)
    assert load(str(tmp_path)).dtype == torch.float32
    assert load(str(tmp_path), dtype="auto").dtype == torch.float16
    register()
    assert AutoModel.from_pretrained(tmp_path, dtype="auto").dtype == torch.float16


def test_readers_and_parsers_are_placed(fake):
    reader = Reader.from_pretrained("someone/spans", dtype="bfloat16", device_map="cpu")
    assert reader.model.dtype == torch.bfloat16
    assert reader.answer("The ferry left at dawn.", "When?").candidates
    parser = load_parser("someone/parser", attn_implementation="eager", dtype="float16")
    assert parser.model.dtype == torch.float16
    assert parser("The ferry left.")[0].heads


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"device_map": {"encoder": 0, "head": 1}}, "device_map one encoder"),
        ({"device_map": "cuda:77"}, "device cuda:77 cpu"),
        ({"device_map": "gpu"}, "device_map 'gpu' cuda:0"),
        ({"attn_implementation": "kernels-community/flash"}, "'kernels-community/flash' sdpa"),
        ({"attn_implementation": "fast"}, "fast sdpa eager"),
        ({"dtype": "double8"}, "dtype bfloat16 'double8'"),
    ],
)
def test_impossible_placements_are_reported(folders, option, message):
    with pytest.raises(InputError, match=naming(message)):
        load(str(folders["someone/model"]), **option)


@pytest.mark.parametrize("name", ["someone/model", "someone/encoder"])
def test_a_former_name_of_an_option_is_corrected(folders, name):
    with pytest.raises(InputError, match=naming("'torch_dtype' 'dtype'")):
        load(str(folders[name]), torch_dtype="bfloat16")


def test_device_and_device_map_must_agree(folders):
    with pytest.raises(InputError, match=naming("device_map")):
        Reader.from_pretrained(folders["someone/spans"], device="meta", device_map="cpu")
