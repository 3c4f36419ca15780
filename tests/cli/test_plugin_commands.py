"""Commands use what installed packages and named files offer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from syntagma.cli import app
from syntagma.encoders.default import find_default
from syntagma.models.guides import GUIDES
from syntagma.parse.sources.registered import PARSERS
from syntagma.retrieval.registered import RETRIEVERS
from tests.builders import pairs
from tests.installed import install, installing
from tests.messages import one_line, says

GUIDE = """
from syntagma import register_guide, register_parser, register_retriever
from syntagma.models.pos_embedding import TagEmbedding
from syntagma.parse.sources.controls import ChainSource
from syntagma.retrieval.retriever import Hit, Passage

@register_guide
class Tint(TagEmbedding):
    name = "tint"

def make_parser(argument="", *, device="cpu", mode="raw"):
    return ChainSource("left", mode=mode)

class Shelf:
    def __init__(self, argument="", *, device="cpu"):
        self.text = f"Ada Mensah built the ferry in {argument}."

    def search(self, questions, *, top):
        return [[Hit("a", 1.0)][:top] for _ in questions]

    def passages(self, ids):
        return [Passage(each, self.text, source="shelf.txt") for each in ids]

register_parser("my-chain", make_parser)
register_retriever("shelf", Shelf)
"""


@pytest.fixture
def mine(tmp_path: Path) -> Iterator[Path]:
    """A file with a guide, a parser and a retriever."""
    folder = tmp_path / "site"
    folder.mkdir()
    path = folder / "mine_parts.py"
    path.write_text(GUIDE)
    with installing(folder):
        yield path
    for registry in (GUIDES, PARSERS, RETRIEVERS):
        for name in ("tint", "my-chain", "shelf"):
            registry.unregister(name)


def test_every_command_that_can_use_a_registered_name_has_the_option():
    without = {"download", "doctor", "index", "reproduce"}
    for name, command in typer.main.get_command(app).commands.items():
        has_option = any("--import" in each.opts for each in command.params)
        assert has_option != (name in without), name


def test_train_and_evaluate_with_a_guide_of_a_file(run, mine, tmp_path, tiny_encoder):
    data = pairs(tmp_path / "pairs.jsonl", copies=1)
    path = tmp_path / "tiny.yaml"
    path.write_text(
        f"task: pairs\nencoder: {tiny_encoder}\nparser: my-chain\nguides: {{tint: {{}}}}\n"
        f"data:\n  train: {data}\n  dev: {data}\nhead: {{max_length: 64, pooling: max}}\n"
        "training:\n  max_steps: 2\n  precision: float32\n"
    )
    code, _, err = run("train", path, "--out", tmp_path / "run")
    assert code == 2
    assert says(one_line(err), "'tint' tree_bias --import")
    code, _, err = run("train", path, "--out", tmp_path / "run", "--import", mine)
    assert code == 0, err
    code, out, _ = run("evaluate", tmp_path / "run", data, "--parser", "my-chain", "--import", mine)
    assert code == 0
    assert says(out, "accuracy my-chain linear:left")
    code, out, _ = run("settings", "tint", "--import", mine)
    assert says(out, "tint guides: initialise")


def test_parse_with_a_parser_of_a_file(run, mine, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("The ferry left.  It sank.\n\nNobody slept.\n")
    code, out, _ = run("parse", text, "--parser", "my-chain", "--import", mine)
    assert code == 0
    rows = [line.split("\t") for line in out.splitlines() if line[:1].isdigit()]
    assert [row[6] for row in rows] == ["0", "1", "2", "3", "0", "1", "2", "0", "1", "2"]
    assert out.count("# text = ") == 3
    assert "# text = Nobody slept." in out
    code, out, _ = run("parse", text, "--parser", "linear:right", "--to", "json")
    assert len(out.splitlines()) == 3
    assert '"form": "Nobody", "start": 27, "end": 33' in out
    code, _, err = run("parse", text, "--parser", "linear", "--from", "lines")
    assert code == 2
    assert says(one_line(err), "--from lines default-parser text")
    code, _, err = run("parse", text, "--parser", "linear", "--decoding", "joint")
    assert says(one_line(err), "--decoding --parser linear")
    code, _, err = run("parse", text, "--parser", "linear", "--to", "brackets")
    assert says(one_line(err), "--to brackets default-parser")


@pytest.mark.skipif(
    find_default() is None, reason="no default encoder: `syntagma download default`"
)
def test_answer_from_a_retriever_of_a_file(run, mine):
    asked = "Who built the ferry?"
    code, out, _ = run("answer", "retriever:shelf:1871", asked, "--import", mine)
    assert code == 0
    assert says(out, "Ada Mensah shelf.txt 1871")
    code, _, err = run("answer", "retriever:shelves", asked, "--import", mine)
    assert code == 2
    assert says(one_line(err), "'shelves' shelf")


def test_a_file_that_fails_is_one_line(run, mine, tmp_path):
    mine.write_text("import nothing_like_it\n")
    code, _, err = run("parse", "--import", mine)
    assert code == 2
    assert says(one_line(err), "mine_parts.py line 1 nothing_like_it")


def test_the_doctor_lists_what_packages_offer(run, mine):
    entries = {"syntagma.guides": {"tint": "mine_parts:Tint", "shade": "gone:Shade"}}
    install(mine.parent, "paint", entries)
    code, out, _ = run("doctor")
    assert code == 0
    lines = [line for line in out.splitlines() if line.startswith("plug-in")]
    assert says(lines[0], "guide tint paint 0.1 mine_parts:Tint")
    assert says(lines[1], "guide shade paint 0.1 gone ModuleNotFoundError")
    code, out, _ = run("settings")
    assert code == 0
    assert "## tint, under `guides: tint:`" in out
    assert "## coattention" in out
    assert "## shade" not in out
