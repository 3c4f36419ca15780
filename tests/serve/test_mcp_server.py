"""The tools that `examples/mcp_server.py` gives an agent, called by the SDK's own client."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from syntagma.encoders.default import find_default
from tests.messages import says

pytest.importorskip("markdown_it")
mcp = pytest.importorskip("mcp")
pytest.importorskip("mcp.server.mcpserver", reason="needs mcp 2")
ROOT = Path(__file__).parents[2]
SERVER = ROOT / "examples" / "mcp_server.py"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_default() is None, reason="no encoder: `syntagma download default`"),
]
SECRET = "The password of the harbour office is quadrant."


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> list[Path]:
    """Two folders of documents, of which one has a link to a third that is not served."""
    place = tmp_path_factory.mktemp("documents")
    shutil.copytree(ROOT / "examples" / "harbour", place / "harbour")
    (place / "letters").mkdir()
    (place / "letters" / "gull.txt").write_text("Dear Ines,\n\nThe gull laid three eggs.\n")
    (place / "office").mkdir()
    (place / "office" / "secret.txt").write_text(SECRET)
    (place / "letters" / "more").symlink_to(place / "office")
    return [place / "harbour", place / "letters"]


@asynccontextmanager
async def connected(folders, log):
    server = mcp.StdioServerParameters(
        command=sys.executable,
        args=[str(SERVER), *map(str, folders)],
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )
    with log.open("w") as file:
        async with mcp.Client(mcp.stdio_client(server, errlog=file)) as client:
            yield client


def session(folders, tmp_path, use):
    """Let `use` call the tools of a server."""

    async def main():
        async with connected(folders, tmp_path / "log") as client:

            async def call(tool, **arguments):
                result = await client.call_tool(tool, arguments)
                if result.is_error:
                    (content,) = result.content
                    return content.text
                return result.structured_content

            return await use(client, call)

    return asyncio.run(main())


def test_tools_find_and_cite(folders, tmp_path):
    async def use(client, call):
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {"answer", "search", "parse"}
        found = await call("answer", question="How many eggs did the gull lay?")
        assert found["outcome"] == "answer"
        assert "three" in found["text"]
        cited = found["citation"]
        assert cited["file"] == "letters/gull.txt"
        whole = (folders[1] / "gull.txt").read_text()
        assert whole[cited["start"] : cited["end"]] == found["text"]
        sentence = cited["sentence"]
        assert sentence["text"] == "The gull laid three eggs."
        assert whole[sentence["start"] : sentence["end"]] == sentence["text"]

        fee = await call("answer", question="What is the mooring fee?", mode="lenient")
        assert fee["citation"]["file"] == "harbour/mooring-agreement.pdf"
        assert fee["citation"]["page"] >= 1

        passages = (await call("search", question="lamp on the north mole", top=3))["passages"]
        assert 1 <= len(passages) <= 3
        assert passages[0]["file"].startswith("harbour/")
        assert passages[0]["heading"]
        assert passages[0]["score"] >= passages[-1]["score"]

        start = sentence["start"]
        part = {"start": start, "end": sentence["end"]}
        (tree,) = (await call("parse", file="letters/gull.txt", **part))["sentences"]
        words = {word["form"]: word for word in tree["words"]}
        assert words["laid"]["head"] == 0
        assert words["gull"]["relation"] == "nsubj"
        assert whole[words["eggs"]["start"] : words["eggs"]["end"]] == "eggs"
        (same,) = (await call("parse", text="The gull laid three eggs."))["sentences"]
        assert [word["head"] for word in same["words"]] == [w["head"] for w in tree["words"]]

    session(folders, tmp_path, use)


def test_no_request_leaves_the_folders(folders, tmp_path):
    outside = [
        "../office/secret.txt",
        "letters/../../office/secret.txt",
        "letters/more/secret.txt",
        str(folders[0].parent / "office" / "secret.txt"),
        "/etc/passwd",
        "letters\\gull.txt",
        "letters",
        "letters/gull.txt\0",
        "",
    ]

    async def use(client, call):
        for file in outside:
            said = await call("parse", file=file)
            assert says(said, "file search"), said
            assert "\n" not in said
            assert "quadrant" not in said
        for passage in (await call("search", question="password office", top=20))["passages"]:
            assert "quadrant" not in passage["text"]

    session(folders, tmp_path, use)
    assert says((tmp_path / "log").read_text(), "secret.txt link")


def test_bad_input_is_one_clear_line(folders, tmp_path):
    calls = [
        ("answer", {}, "question"),
        ("answer", {"question": "  "}, "question"),
        ("answer", {"question": 3}, "question"),
        ("answer", {"question": "Who?" * 1000}, "question 2000"),
        ("answer", {"question": "Who?", "mode": "sure"}, "mode strict balanced lenient"),
        ("answer", {"question": "Who?", "path": "/etc"}, "path question mode"),
        ("search", {"question": "Who?", "top": 0}, "top 1"),
        ("search", {"question": "Who?", "top": 10**6}, "top 20"),
        ("parse", {}, "text file neither"),
        ("parse", {"text": "A gull.", "file": "letters/gull.txt"}, "text file both"),
        ("parse", {"text": "A gull.", "start": 2}, "start end file"),
        ("parse", {"text": " "}, "20,000"),
        ("parse", {"text": "a " * 20_000}, "20,000"),
        ("parse", {"file": "letters/gull.txt", "start": 30, "end": 900}, "900 gull.txt"),
        ("parse", {"text": "A gull.", "end": -1}, "end 1"),
        ("read", {"file": "/etc/passwd"}, "read"),
    ]

    async def use(client, call):
        for tool, arguments, words in calls:
            said = await call(tool, **arguments)
            assert isinstance(said, str), (tool, arguments)
            assert "\n" not in said
            assert says(said, words), said
        # It still works.
        assert (await call("search", question="eggs", top=1))["passages"]

    session(folders, tmp_path, use)
    assert "Traceback" not in (tmp_path / "log").read_text()


def test_a_folder_that_does_not_exist_ends_it_with_one_line(tmp_path):
    for folders, words in (
        ([tmp_path / "none"], "none folder exists"),
        ([tmp_path, tmp_path / "b" / tmp_path.name], f"{tmp_path.name} same name"),
    ):
        (tmp_path / "b" / tmp_path.name).mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            [sys.executable, str(SERVER), *map(str, folders)],
            capture_output=True,
            text=True,
            timeout=120,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 2
        (line,) = done.stderr.splitlines()
        assert says(line, words)


def test_the_index_is_kept(folders, tmp_path):
    kept = tmp_path / "index"

    async def use(client, call):
        return (await call("search", question="eggs", top=1))["passages"]

    first = session([*folders, "--index", kept], tmp_path, use)
    before = sorted(path.stat().st_mtime_ns for path in kept.rglob("*.bin"))
    assert before
    assert session([*folders, "--index", kept], tmp_path, use) == first
    assert sorted(path.stat().st_mtime_ns for path in kept.rglob("*.bin")) == before
