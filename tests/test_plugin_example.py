"""The example of a plug-in, and the page about plug-ins, do what they say."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from syntagma.encoders.default import find_default
from syntagma.errors import InputError
from syntagma.models.guide import Syntax
from syntagma.models.guides import GUIDES, read_guides
from syntagma.parse.sources.load import load_source
from syntagma.parse.sources.registered import PARSERS
from syntagma.retrieval.registered import RETRIEVERS, load_retriever
from syntagma.syntax.relations import relation_ids
from syntagma.tasks import TASKS
from tests.installed import install, installing
from tests.messages import naming, says

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "plugin"
PAGE = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
needs_default = pytest.mark.skipif(
    find_default() is None, reason="no default encoder: `syntagma download default`"
)


@pytest.fixture
def plugin(tmp_path: Path) -> Iterator[None]:
    """The example, installed without pip."""
    entries = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]["entry-points"]
    site = tmp_path / "site"
    shutil.copytree(EXAMPLE / "src", site)
    with installing(site):
        install(site, "syntagma-example", entries)
        yield
    for registry in (GUIDES, TASKS, PARSERS, RETRIEVERS):
        for name in [*registry._parts]:
            if name not in registry._places:
                registry.unregister(name)


def test_the_guide_adds_a_vector_for_each_relation(plugin):
    with pytest.raises(InputError, match=naming("deviation 0 -1")):
        read_guides({"relation_embedding": {"deviation": -1}})
    kind = GUIDES.find("relation_embedding")
    guide = kind(kind.settings_class(), 4)
    assert not guide.table.weight.any()
    torch.nn.init.normal_(guide.table.weight)
    codes = relation_ids(["nsubj", "obj", "nsubj"])
    columns = {"relation": torch.tensor([[0, *codes]]), "word": torch.tensor([[-1, 0, 1, 2]])}
    none, subject, object_, again = guide(Syntax(torch.ones(1, 4), **columns))[0]
    assert subject.equal(again)
    assert not subject.equal(object_)
    assert none.equal(guide.table.weight[0])


def test_the_parser_attaches_function_words_to_what_follows(plugin):
    (parses,) = load_source("function-words").parse_texts(["The old ferry left in a storm."])
    (parse,) = parses
    assert parse.heads == (2, 0, 2, 2, 7, 7, 2, 2)
    assert parse.relations[:5] == ("det", "root", "dep", "dep", "case")
    (of_words,) = load_source("function-words", mode="words").parse_texts(["do n't ."])
    assert of_words[0].sentence.forms == ("do", "n't", ".")
    assert of_words[0].heads.count(0) == 1
    with pytest.raises(InputError, match=naming("function-words 'x'")):
        load_source("function-words:x")


def test_the_task_reads_its_own_files(plugin, tmp_path):
    task = TASKS.find("paraphrases")
    path = task.sample.write(tmp_path, 1)
    found = task.read(path)
    assert {example.label for example in found} == {"same", "different"}
    Path(path).write_text("1\tIt rains.\tRain falls.\nyes\tIt rains.\tIt snows.\n")
    with pytest.raises(InputError, match=naming("line 2 1 0 tab yes")):
        task.read(path)
    assert len(task.read(path, skip_bad=True)) == 1


def test_the_retriever_finds_the_paragraph_with_the_words(plugin, tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("The lamp is lit.\n\nThe ferry left\nat noon.\n\nNobody slept.\n")
    retriever = load_retriever(f"paragraphs:{path}")
    ((best, *others),) = retriever.search(["When did the ferry leave?"], top=2)
    assert len(others) == 1
    (passage,) = retriever.passages([best.id])
    assert (
        passage.text == "The ferry left\nat noon." == path.read_text()[passage.start : passage.end]
    )
    with pytest.raises(InputError, match=naming("FILE.txt")):
        load_retriever("paragraphs")


def test_the_page_shows_the_examples_entry_points():
    (shown,) = re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    entries = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]["entry-points"]
    for group, places in tomllib.loads(shown)["project"]["entry-points"].items():
        assert places == entries[group]


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working directory with a new environment, which sees this one's packages."""
    place = tmp_path_factory.mktemp("fresh")
    # The pip and setuptools of a new environment may be too old to build without the network.
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place / "venv"], check=True)
    (site,) = (place / "venv").rglob("site-packages")
    seen = [str(ROOT / "src"), *(path for path in sys.path if "-packages" in path)]
    (site / "seen.pth").write_text("\n".join(seen) + "\n")
    shutil.copytree(ROOT / "examples", place / "examples")
    return place


@pytest.mark.slow
@needs_default
def test_the_commands_of_the_page_run_in_a_fresh_environment(fresh):
    """As written, but for flags that keep pip from asking the network."""
    section = PAGE.partition("## A package")[2].partition("\n## ")[0]
    commands = re.findall(r"^ {4}(\w.+)$", section, re.MULTILINE)
    assert len(commands) == 7
    code = (
        "from pathlib import Path\n"
        "from syntagma.tasks import find_task\n"
        "for name, copies in {'train': 4, 'dev': 1}.items():\n"
        "    path = Path(find_task('paraphrases').sample.write(Path(), copies))\n"
        "    path.rename(f'{name}.tsv')\n"
    )
    outputs = {}
    python = str(fresh / "venv" / "bin" / "python")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [python, *arguments], cwd=fresh, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{arguments}: {done.stderr}"
        return done.stdout

    for command in commands:
        program, *arguments = shlex.split(command)
        if program == "pip":
            offline = ("--no-deps", "--no-build-isolation", "--no-index")
            run("-m", "pip", arguments[0], *offline, *arguments[1:])
            run("-c", code)
            continue
        if arguments[0] == "train":
            arguments += ["--set", "training.max_steps=4", "--set", "training.batch_tokens=512"]
        outputs[arguments[0]] = run("-m", "syntagma", *arguments)
    listed = [line for line in outputs["doctor"].splitlines() if line.startswith("plug-in")]
    assert len(listed) == 4
    assert all(says(line, "syntagma-example 0.1") for line in listed)
    assert says(outputs["settings"], "relation_embedding deviation")
    assert says(outputs["parse"], "ferry det")
    assert says(outputs["answer"], "Ada Mensah examples/ferry.txt")
    assert says(outputs["evaluate"], "accuracy function-words")
    settings = (fresh / "runs" / "paraphrases" / "config.json").read_text()
    assert '"relation_embedding"' in settings


@pytest.mark.slow
@needs_default
def test_a_file_of_the_page_is_imported_by_commands(fresh):
    (code, *_) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (fresh / "flat_parser.py").write_text(code)
    command = re.findall(r"^ {4}syntagma (parse .+--import.+)$", PAGE, re.MULTILINE)[0]
    python = str(fresh / "venv" / "bin" / "python")
    done = subprocess.run(
        [python, "-m", "syntagma", *shlex.split(command)], cwd=fresh, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    heads = {line.split("\t")[6] for line in done.stdout.splitlines() if line[:1].isdigit()}
    assert heads == {"0", "1"}
