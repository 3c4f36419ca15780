"""The container: its build steps run here without Docker, and the server starts from the result."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from benchmarks.served import ADDRESS, LOADING_SECONDS, Client
from syntagma.serve.gate import PATHS
from syntagma.serve.limits import Limits
from syntagma.serve.server import CLOSING_SECONDS, KEEP_ALIVE_SECONDS
from syntagma.serve.worker import STOP_SECONDS

ROOT = Path(__file__).parents[2]
TARGET = "/opt/syntagma"
"""Where the image has what scripts/container.sh installs."""
LARGEST_MB, BASE_MB = 1600, 160
"""The largest image, and what python:3.12-slim takes of it (about 130 MB, and some room)."""
TEXT = "Ada Mensah fitted a coal barge with an engine. The barge carried twelve people."


class Instruction(NamedTuple):
    """A line of the Dockerfile: its keyword, and the rest."""

    name: str
    rest: str


def instructions() -> list[Instruction]:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    joined = "\n".join(line for line in lines if not line.startswith("#")).replace("\\\n", " ")
    rows = [line.split(None, 1) for line in joined.splitlines() if line.strip()]
    return [Instruction(name, rest.strip()) for name, rest in rows]


def last(name: str) -> str:
    """What the last instruction of a kind says, which is that of the image."""
    return [each.rest for each in instructions() if each.name == name][-1]


def environment() -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in shlex.split(last("ENV")))


def health_command() -> list[str]:
    found: list[str] = json.loads(last("HEALTHCHECK").partition("CMD ")[2])
    return found


def copy_context(folder: Path) -> None:
    """Copy what .dockerignore lets into the build."""
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    names = [line[1:] for line in lines if line.startswith("!")]
    assert "*" in lines
    for name in names:
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, place, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, place)


def megabytes(folder: Path) -> float:
    """The size of a folder, as an image has it: a file with several names counts once."""
    seen = {(at.st_dev, at.st_ino): at.st_size for at in map(os.lstat, folder.rglob("*"))}
    return sum(seen.values()) / 1e6


def test_the_image_runs_as_nobody_special_and_checks_a_route_that_exists():
    assert last("USER") == "10001"
    route = re.search(r"http://127\.0\.0\.1:(\d+)(/\w+)", " ".join(health_command()))
    assert route is not None
    assert route[2] in PATHS
    entry = json.loads(last("ENTRYPOINT"))
    assert entry[entry.index("--port") + 1] == route[1] == last("EXPOSE")
    assert environment()["HF_HUB_OFFLINE"] == "1"


def test_the_context_is_there():
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        assert not line.startswith("!") or (ROOT / line[1:]).exists()


def test_the_composed_service_keeps_indexes_and_has_time_to_end():
    composed = yaml.safe_load((ROOT / "compose.yaml").read_text())
    service = composed["services"]["server"]
    assert "indexes:/indexes" in service["volumes"]
    assert last("VOLUME") == "/indexes"
    longest = Limits().seconds + CLOSING_SECONDS + STOP_SECONDS
    assert int(service["stop_grace_period"].removesuffix("s")) > longest
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])


def test_the_documented_proxies_fit_the_limits_of_the_server():
    limits = Limits()
    page = (ROOT / "docs" / "deploy.md").read_text()

    def number(pattern: str) -> float:
        (found,) = re.findall(pattern, page)
        return float(found)

    assert number(r"client_max_body_size (\d+);") == limits.body_bytes
    assert number(r"max_size (\d+)\n") == limits.body_bytes
    for pattern in (r"proxy_read_timeout (\d+)s;", r"response_header_timeout (\d+)s\n"):
        assert number(pattern) > limits.seconds + CLOSING_SECONDS
    for pattern in (r"client_body_timeout (\d+)s;", r"read_body (\d+)s\n"):
        assert number(pattern) > limits.read_seconds
    for pattern in (r"keepalive_timeout (\d+)s;", r"keepalive (\d+)s\n"):
        assert number(pattern) < KEEP_ALIVE_SECONDS
    for pattern in (r"stop_grace_period: (\d+)s`", r"terminationGracePeriodSeconds: (\d+)`"):
        assert number(pattern) > limits.seconds + CLOSING_SECONDS + STOP_SECONDS


@pytest.mark.skipif(sys.platform == "win32", reason="is a shell script")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [((), "SOURCE and TARGET, got 0"), ((".", "x"), "constraints.txt"), ((ROOT, "."), "exists")],
)
def test_the_script_says_in_one_line_what_is_wrong(arguments, said, tmp_path):
    words = ["sh", str(ROOT / "scripts" / "container.sh"), *map(str, arguments)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert said in line
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def installed() -> Iterator[Path]:
    """What the image has in /opt/syntagma, made by the build stage of the Dockerfile."""
    import torch

    if sys.platform != "linux":
        pytest.skip("the image is of Linux")
    if torch.version.cuda is not None:
        pytest.skip("pip installs torch for CUDA here, which an image must not have")
    # Not pytest's folder, which only its owner may enter.
    folder = Path(tempfile.mkdtemp(prefix="syntagma-image-"))
    try:
        folder.chmod(0o755)
        index = ["-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder / "index")]
        if subprocess.run([sys.executable, *index, "typer"], capture_output=True).returncode:
            pytest.skip("no package index can be reached")
        copy_context(folder / "source")
        command = next(each.rest for each in instructions() if each.name == "RUN")
        words = [
            word.replace("/source", str(folder / "source")).replace(TARGET, str(folder / "target"))
            for word in shlex.split(command)
        ]
        start = time.monotonic()
        done = subprocess.run(
            words, capture_output=True, text=True, cwd=folder, env=os.environ | {"PYTHON": python()}
        )
        assert done.returncode == 0, done.stdout + done.stderr
        print(f"\ninstalled in {time.monotonic() - start:.0f} s")
        yield folder / "target"
    finally:
        shutil.rmtree(folder)


def python() -> str:
    """The interpreter for the image: one that other users can run, if there is any."""
    for found in ("/usr/bin/python3", "/usr/local/bin/python3"):
        checks = "import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))"
        if Path(found).exists() and not subprocess.run([found, "-c", checks]).returncode:
            return found
    return sys.executable


def other_user(target: Path) -> dict[str, Any]:
    """The options of a process of the image's user, if this one may start it.

    Only root may, and only where its Python is not in a folder of its own.
    """
    user = int(last("USER"))
    options = {"user": user, "group": user, "extra_groups": []}
    python = target / "venv" / "bin" / "python"
    try:
        subprocess.run([python, "-c", ""], check=True, capture_output=True, cwd="/", **options)
    except (OSError, subprocess.CalledProcessError):
        print("\nrun by the user of the test, since another cannot run its Python")
        return {}
    return options


class Running:
    """The server of the image, as the user of the image; a context manager.

    Args:
        target: the folder that the image has in /opt/syntagma.
        log: file for its messages.
    """

    def __init__(self, target: Path, log: Path) -> None:
        self.log = log
        moved = {
            name: value.replace(TARGET, str(target)).replace("$PATH", os.environ["PATH"])
            for name, value in environment().items()
        }
        self.options: dict[str, Any] = {"env": moved, "cwd": "/"}
        self.options |= other_user(target)
        entry = [str(target / "venv" / "bin" / "syntagma"), *json.loads(last("ENTRYPOINT"))[1:]]
        entry[entry.index("--port") + 1] = "0"
        with log.open("w") as file:
            self.process = subprocess.Popen(
                entry, stdout=file, stderr=subprocess.STDOUT, **self.options
            )

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *raised: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def wait(self) -> int:
        """Wait until it is ready; return its port."""
        end = time.monotonic() + LOADING_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            text = self.log.read_text().replace("0.0.0.0", "127.0.0.1")
            for port, said in ADDRESS.findall(text):
                if said == "is ready":
                    return int(port)
            time.sleep(0.1)
        raise AssertionError(self.log.read_text())

    def is_healthy(self, target: Path, port: int) -> bool:
        """Run the health check of the image."""
        command = [word.replace(":8000", f":{port}") for word in health_command()]
        command[0] = str(target / "venv" / "bin" / command[0])
        return subprocess.run(command, capture_output=True, **self.options).returncode == 0

    def megabytes(self) -> float:
        """The memory of the server and its workers."""
        pages = 0
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                group = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                if self.process.pid in (group, int(folder.name)):
                    pages += int((folder / "statm").read_text().split()[1])
            except OSError:
                continue
        return pages * os.sysconf("SC_PAGESIZE") / 1e6


@pytest.mark.slow
def test_the_image_is_small_enough(installed):
    size = megabytes(installed)
    print(f"\n{size:.0f} MB installed, {size + BASE_MB:.0f} MB in the image (limit {LARGEST_MB})")
    assert size + BASE_MB < LARGEST_MB


@pytest.mark.slow
def test_whoever_runs_it_can_read_everything_and_change_nothing(installed):
    for path in installed.rglob("*"):
        if not path.is_symlink():
            mode = path.stat().st_mode
            assert mode & 0o444 == 0o444, path
            assert not mode & 0o022, path


@pytest.mark.slow
def test_the_server_of_the_image_answers_and_drains(installed, tmp_path):
    start = time.monotonic()
    with Running(installed, tmp_path / "log") as server:
        port = server.wait()
        print(f"\nready after {time.monotonic() - start:.0f} s")
        assert server.is_healthy(installed, port)
        assert not server.is_healthy(installed, 1)

        async def ask():
            client = Client(port)
            body = {"text": TEXT, "question": "Who fitted a barge with an engine?"}
            response = await client.post("/v1/answer", body)
            assert response.status == 200, response.body
            (answer,) = response.json()["answers"]
            assert answer["text"] == "Ada Mensah"
            parsed = await client.post("/v1/parse", {"text": TEXT})
            assert len(parsed.json()["texts"][0]["sentences"]) == 2
            await client.close()

        asyncio.run(ask())
        print(f"{server.megabytes():.0f} MB of memory")
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(60) == 0
    assert "Traceback" not in (tmp_path / "log").read_text()
