"""Parts of installed packages and of files that are named: found late, and reported clearly."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import syntagma
from syntagma import plugins
from syntagma.errors import InputError
from syntagma.models.guides import GUIDES, read_guides
from syntagma.parse.sources.controls import ChainSource
from syntagma.parse.sources.load import load_source, needed_source
from syntagma.parse.sources.registered import PARSERS
from syntagma.plugins import FILES, import_file
from syntagma.registry import WORDS, Registry
from syntagma.retrieval.registered import RETRIEVERS, load_retriever
from syntagma.syntax.tokenizer import SyntaxTokenizer
from syntagma.tasks import TASKS
from tests.installed import install, installing
from tests.messages import naming, says

GROUP = "syntagma.colors"
BUILT_IN = {"odd": "collections:OrderedDict"}
Install = Callable[..., None]


@pytest.fixture
def packages(tmp_path: Path) -> Iterator[Install]:
    """Install packages into a folder of the test's own."""
    folder = tmp_path / "site"
    folder.mkdir()
    with installing(folder):
        yield lambda *given, **modules: install(folder, *given, **modules)
    for registry in (GUIDES, TASKS, PARSERS, RETRIEVERS):
        for name in [*registry._parts]:
            if name not in registry._places:
                registry.unregister(name)


def colors(**options: Any) -> Registry[Any]:
    return Registry("color", BUILT_IN, group=GROUP, **options)


def test_packages_are_looked_for_only_if_a_name_is_unknown(packages, monkeypatch):
    def fail():
        raise AssertionError("looked for packages")

    registry = colors()
    with monkeypatch.context() as patch:
        patch.setattr("syntagma.registry.find_plugins", fail)
        assert "odd" in registry
        assert registry.find("odd").__name__ == "OrderedDict"
        assert registry.in_order(["odd"]) == ["odd"]
        assert [*read_guides({"coattention": {}, "tree_bias": {}})] == ["tree_bias", "coattention"]
        assert load_source("linear").fingerprint == "linear:left"
        assert needed_source("default-parser", trees=False) == "linear"
        for look in (lambda: "blue" in registry, lambda: list(registry)):
            with pytest.raises(AssertionError, match="looked"):
                look()
    assert "blue" not in registry


def test_the_help_looks_for_no_packages(monkeypatch, capsys):
    from syntagma.cli import main

    monkeypatch.setattr("syntagma.plugins._read_packages", None)
    plugins.find_plugins.cache_clear()
    for arguments in (["--help"], ["train", "--help"], ["evaluate", "--help"]):
        with pytest.raises(SystemExit) as leaving:
            main(arguments)
        assert leaving.value.code == 0
    assert "--import" in capsys.readouterr().out


def test_a_part_of_a_package_is_imported_when_it_is_used(packages):
    packages("paint", {GROUP: {"blue": "paint_box:Blue"}}, paint_box="class Blue: pass\n")
    registry = colors()
    assert list(registry) == ["odd", "blue"]
    assert len(registry) == 2
    assert "paint_box" not in sys.modules
    assert registry.find("blue").__name__ == "Blue"
    assert registry["blue"] is sys.modules["paint_box"].Blue


def test_the_order_does_not_depend_on_what_was_loaded_first(packages):
    code = "class A: pass\nclass B: pass\n"
    packages("paint", {GROUP: {"b": "paint_box:B", "a": "paint_box:A"}}, paint_box=code)
    registry = colors()
    registry.register("c", int)
    assert registry["b"].__name__ == "B"
    assert list(registry) == ["odd", "a", "b", "c"]
    assert registry.in_order(["c", "b", "a"]) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        ("import nothing_like_it\n", "ModuleNotFoundError nothing_like_it"),
        ("1 / 0\n", "ZeroDivisionError"),
        ("def f(:\n", "SyntaxError"),
        ("raise SystemExit('stop')\n", "SystemExit stop"),
        ("x = 1\n", "AttributeError Blue"),
    ],
)
def test_a_broken_package_is_named_and_breaks_nothing_else(packages, caplog, code, cause):
    entries = {"blue": "paint_box:Blue", "red": "other_box:Red"}
    packages("paint", {GROUP: entries}, paint_box=code, other_box="class Red: pass\n")
    registry = colors()
    place = f"paint 0.1 {GROUP} paint_box:Blue {cause}"
    with pytest.raises(InputError, match=naming(place)) as caught:
        registry.find("blue")
    assert "\n" not in str(caught.value)
    assert registry.find("red").__name__ == "Red"
    with caplog.at_level(logging.WARNING):
        assert [name for name, _ in registry.usable()] == ["odd", "red"]
    assert says(caplog.text, place)


def test_two_packages_with_one_name_are_both_named(packages):
    packages("paint", {GROUP: {"blue": "box1:Blue"}}, box1="class Blue: pass\n")
    packages("ink", {GROUP: {"blue": "box2:Blue", "red": "box2:Red"}}, box2="class Red: pass\n")
    registry = colors()
    with pytest.raises(InputError, match=naming("'blue' paint ink box1:Blue box2:Blue uninstall")):
        registry.find("blue")
    assert registry.find("red").__name__ == "Red"


def test_a_package_cannot_replace_a_built_in_part(packages):
    packages("paint", {GROUP: {"odd": "paint_box:Odd"}}, paint_box="class Odd: pass\n")
    registry = colors()
    assert registry["odd"].__name__ == "OrderedDict"
    assert list(registry) == ["odd"]
    with pytest.raises(InputError, match=naming("paint 0.1 odd taken")):
        registry.check_plugin("odd")


def test_a_registered_part_cannot_have_the_name_of_a_packages_part(packages):
    packages("paint", {GROUP: {"blue": "paint_box:Blue"}}, paint_box="class Blue: pass\n")
    registry = colors()
    with pytest.raises(InputError, match=naming("'blue' paint 0.1 uninstall")):
        registry.register("blue", int)
    # The package itself may register what it offers, before or after it is loaded.
    registry.register("blue", __import__("paint_box").Blue)
    assert registry["blue"].__name__ == "Blue"


def test_a_module_may_register_the_part_that_it_offers(packages):
    code = (
        "from syntagma import register_guide\n"
        "from syntagma.models.pos_embedding import TagEmbedding\n"
        "@register_guide\nclass Tint(TagEmbedding):\n    name = 'tint'\n"
    )
    packages("paint", {"syntagma.guides": {"tint": "paint_box:Tint"}}, paint_box=code)
    assert GUIDES.find("tint").__name__ == "Tint"
    assert list(read_guides({"tint": {}, "tree_bias": {}})) == ["tree_bias", "tint"]


def test_what_a_package_offers_is_checked(packages):
    code = (
        "from syntagma.models.pos_embedding import TagEmbedding as Tags\n"
        "class Other: pass\n"
        "class Named(Tags): name = 'shade'\n"
    )
    places = {"other": "paint_box:Other", "tint": "paint_box:Named", "a-b": "paint_box:Named"}
    packages("paint", {"syntagma.guides": places}, paint_box=code)
    with pytest.raises(InputError, match=naming("paint 0.1 syntagma.models.guide.Guide Other")):
        GUIDES.find("other")
    with pytest.raises(InputError, match=naming("paint 0.1 name 'tint'")):
        GUIDES.find("tint")
    with pytest.raises(InputError, match=naming("paint 0.1 letters underscores")):
        GUIDES.find("a-b")


def test_a_list_of_entry_points_that_cannot_be_read_is_skipped(packages, tmp_path, caplog):
    packages("paint", {GROUP: {"blue": "paint_box:Blue"}}, paint_box="class Blue: pass\n")
    packages("broken", {GROUP: {}})
    (tmp_path / "site/broken-0.1.dist-info/entry_points.txt").write_text(f"[{GROUP}]\nnothing\n")
    plugins.find_plugins.cache_clear()
    with caplog.at_level(logging.WARNING):
        assert list(colors()) == ["odd", "blue"]
    assert says(caplog.text, "broken entry_points.txt")


def test_of_two_copies_of_a_package_the_first_counts(packages, tmp_path):
    packages("paint", {GROUP: {"blue": "paint_box:Blue"}}, paint_box="class Blue: pass\n")
    with installing(tmp_path / "later"):
        sys.path.append(sys.path.pop(0))
        install(tmp_path / "later", "Paint", {GROUP: {"blue": "gone:Blue"}})
        assert colors()["blue"].__name__ == "Blue"


def test_an_unknown_name_says_how_plug_ins_are_found(packages):
    with pytest.raises(InputError, match=naming("'blu' odd --import installed")):
        colors().find("blu")
    with pytest.raises(InputError, match=naming("color 'a b' hyphens")):
        colors(names=WORDS).register("a b", int)


MINE = """
from syntagma import register_parser
from syntagma.parse.sources.controls import ChainSource

def make(argument="", *, device="cpu", mode="raw"):
    return ChainSource("right" if argument == "right" else "left", mode=mode)

register_parser("my-chain", make)
"""


def test_a_named_file_is_imported_once(packages, tmp_path):
    path = tmp_path / "site" / "mine.py"
    path.write_text(MINE + "import beside\nbeside.count += 1\n")
    (path.parent / "beside.py").write_text("count = 0\n")
    import_file(path)
    import_file(path)
    assert sys.modules["beside"].count == 1
    assert load_source("my-chain:right").fingerprint == "linear:right"
    assert load_source("my-chain").fingerprint == "linear:left"
    assert needed_source("my-chain", trees=False) == "my-chain"
    assert os.environ[FILES] == str(path)


def test_processes_that_a_command_starts_import_the_same_files(packages, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    # Without torch, which takes seconds to import.
    code = (
        "from syntagma.parse.sources.registered import make_parser\n"
        "print(make_parser('my-chain:right').fingerprint)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=os.environ | {FILES: str(path)},
    )
    assert done.stdout == "linear:right\n", done.stderr


def test_a_file_that_cannot_be_imported_is_one_line(packages, tmp_path):
    folder = tmp_path / "site"
    with pytest.raises(InputError, match=naming("--import gone.py")):
        import_file(folder / "gone.py")
    (folder / "notes.txt").write_text("x = 1\n")
    with pytest.raises(InputError, match=naming("notes.txt Python")):
        import_file(folder / "notes.txt")
    (folder / "json.py").write_text("x = 1\n")
    with pytest.raises(InputError, match=naming("json.py 'json' rename")):
        import_file(folder / "json.py")
    (folder / "broken.py").write_text("x = 1\nx / 0\n")
    with pytest.raises(InputError, match=naming("broken.py line 2 ZeroDivisionError")):
        import_file(folder / "broken.py")
    (folder / "wrong.py").write_text("x = 1\n\ndef f(:\n")
    with pytest.raises(InputError, match=naming("wrong.py line 3 SyntaxError")):
        import_file(folder / "wrong.py")
    assert os.environ.get(FILES, "") == ""


def test_a_file_whose_name_is_taken_by_a_package_is_refused(packages, tmp_path):
    packages(
        "paint", {"syntagma.parsers": {"my-chain": "paint_box:make"}}, paint_box="def make(): 0\n"
    )
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    with pytest.raises(InputError, match=naming("mine.py line 8 'my-chain' paint 0.1")):
        import_file(path)


def test_parsers_that_cannot_be_made_are_one_line(packages):
    code = (
        "def fails(argument='', **options): raise OSError('no weights')\n"
        "def other(argument='', **options): return 3\n"
    )
    entries = {"fails": "paint_box:fails", "other": "paint_box:other"}
    packages("paint", {"syntagma.parsers": entries, "syntagma.retrievers": entries}, paint_box=code)
    with pytest.raises(InputError, match=naming("'fails:x' OSError no weights")):
        load_source("fails:x")
    with pytest.raises(InputError, match=naming("'other' fingerprint parse_texts 3")):
        load_source("other")
    with pytest.raises(InputError, match=naming("'unknown' default-parser fails --import")):
        load_source("unknown")
    with pytest.raises(InputError, match=naming("'fails' OSError no weights")):
        load_retriever("fails")
    with pytest.raises(InputError, match=naming("'retriever:other:x' search passages 3")):
        load_retriever("retriever:other:x")
    for taken in ("conllu", "default-parser", "noisy"):
        with pytest.raises(InputError, match=naming(f"'{taken}' taken")):
            syntagma.register_parser(taken, ChainSource)


class Chain:
    """A parse source that is derived from nothing."""

    fingerprint = "chain of the test"

    def parse_texts(self, texts):
        return ChainSource().parse_texts(texts)


def test_an_object_can_be_given_where_a_parser_is_named(tmp_path, tiny_encoder):
    from syntagma.evaluation import evaluate, open_model, predict
    from tests.builders import experiment, pairs

    source: syntagma.ParseSource = Chain()
    data = pairs(tmp_path / "pairs.jsonl", copies=1)
    settings = experiment("pairs", data, tiny_encoder, preset="sg-net")
    task = TASKS["pairs"].new(settings, TASKS["pairs"].read(data))
    (tmp_path / "model").mkdir()
    task.save(tmp_path / "model")
    tokenizer = SyntaxTokenizer.for_model(task.model, parser=source)
    assert tokenizer("The ferry left.")["enter"].shape[0] == 1
    scores = evaluate(tmp_path / "model", [data], parser=source)
    assert scores["parser"] == "Chain"
    assert scores["parser_digest"] == "chain of the test"
    assert open_model(tmp_path / "model", parser=source).predictor.texts.cache.source is source
    assert (
        predict(tmp_path / "model", [data], tmp_path / "found.tsv", parser=source)
        == scores["total"]
    )
