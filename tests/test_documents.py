"""Commands, options, files and Python code in the documentation exist and work."""

from __future__ import annotations

import gzip
import logging
import re
import shutil
from html import unescape
from importlib import import_module
from pathlib import Path

import pytest
import torch
import typer

from syntagma.cli import app
from syntagma.encoders.default import find_default
from syntagma.tasks import find_task
from syntagma.tasks.experiment import load_experiment
from tests.builders import dream, experiment, pairs, parallel, relations, translation, typing
from tests.corpora import make_corpus
from tests.qa_models import save_qa_model

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
SLOW_PAGES = {
    "docs/export.md", "docs/notebooks.md", "docs/spacy.md", "docs/train.md", "docs/use.md",
}  # fmt: skip
"""Pages whose Python takes more than a few seconds."""
COMMANDS = typer.main.get_command(app).commands

needs_default = pytest.mark.skipif(
    find_default() is None, reason="no default encoder: `syntagma download default`"
)


def code(text: str) -> list[str]:
    """Indented lines, fenced lines and inline code, without comments."""
    # Inline code may be wrapped over two lines of prose.
    spans = [" ".join(span.split()) for span in re.findall(r"(?<!`)`([^`]+)`(?!`)", text)]
    indented = re.findall(r"^ {4}(.+(?:\\\n.+)*)", text, re.MULTILINE)
    fenced = "".join(re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)).split("\n")
    lines = [*spans, *(line.replace("\\\n", " ") for line in indented), *fenced]
    return [line.partition(" #")[0] for line in lines]


def find_code(pattern: str) -> list[tuple[str, str, str]]:
    """Find code, as (document, first group of the match, rest of the command)."""
    found = []
    for path in DOCUMENTS:
        for line in code(path.read_text(encoding="utf-8")):
            for match in re.finditer(pattern, line):
                rest = re.split(r"[|;&]\s+(?=syntagma|python)", line[match.end() :])[0]
                found.append((path.name, match[1], rest))
    return found


def options(text: str) -> list[str]:
    return re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", text)


def test_commands_and_their_options_exist():
    used = find_code(r"(?:^|(?<!from)\s)syntagma ([a-z]+)\b")
    assert {name for _, name, _ in used} >= set(COMMANDS)
    for document, name, rest in used:
        assert name in COMMANDS, f"{document}: syntagma {name}"
        known = {option for each in COMMANDS[name].params for option in each.opts} | {"--help"}
        for option in options(rest):
            assert option in known, f"{document}: syntagma {name} {rest}"


def test_scripts_and_their_options_exist():
    used = find_code(r"\bpython ((?:experiments|benchmarks|scripts)/\w+\.py)")
    assert used
    for document, script, rest in used:
        assert (ROOT / script).is_file(), f"{document}: {script}"
        text = (ROOT / script).read_text(encoding="utf-8")
        for option in options(rest):
            assert f'"{option}"' in text, f"{document}: {script} {option}"
    for document, module, _ in find_code(r"\bpython -m (benchmarks\.\w+)"):
        assert (ROOT / f"{module.replace('.', '/')}.py").is_file(), f"{document}: {module}"
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for document, target, _ in find_code(r"^make ([a-z]+)\b"):
        assert target in targets, f"{document}: make {target}"


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_files_of_this_repository_exist():
    for document, name, _ in find_code(
        r"\b((?:experiments|examples|benchmarks|docs)/[\w*.$/-]+\w)"
    ):
        # A shell variable may be part of a name.
        assert list(ROOT.glob(re.sub(r"\$\w+", "*", name))), f"{document}: {name}"
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8")
        for link, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", text):
            target = path.parent / link if link else path
            assert target.exists(), f"{path.name}: {link}"
            if anchor and target.suffix == ".md":
                assert anchor in anchors(target), f"{path.name}: {link}#{anchor}"


ARCHITECTURE = ROOT / "docs" / "architecture.md"
PACKAGE = ROOT / "src" / "syntagma"


def path_of(name: str) -> Path:
    """A file or folder named on the architecture page."""
    return next((p for p in (PACKAGE / name, ROOT / name) if p.exists()), ROOT / name)


def resolves(name: str, start: str = "syntagma") -> bool:
    """Whether a dotted name is a module, or something inside one."""
    found: object = import_module(start)
    for part in name.split("."):
        if not hasattr(found, part):
            try:
                found = import_module(f"{found.__name__}.{part}")  # type: ignore[attr-defined]
            except (ImportError, AttributeError):
                return False
        else:
            found = getattr(found, part)
    return True


def test_paths_and_names_on_the_architecture_page_exist():
    text = ARCHITECTURE.read_text(encoding="utf-8")
    spans = re.findall(r"`([^`\s]+)`", text)
    paths = [span for span in spans if re.fullmatch(r"[\w./-]+(/[\w-]+|\.(py|yaml|md))", span)]
    written = {"metrics.json", "config.json", "table.md", "result.json"}  # Output of commands.
    assert len(paths) > 60
    for path in paths:
        assert path in written or path_of(path).exists(), path
    for name in (span for span in spans if re.fullmatch(r"[a-z_]\w*(\.\w+)+", span)):
        if name not in {*paths, *written} and not name.startswith("head."):
            assert resolves(name), name


def test_functions_on_the_architecture_page_are_in_the_files_next_to_them():
    text = ARCHITECTURE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w./-]+\.(?:py|yaml))` \| (.+?) \|", text, re.MULTILINE)
    assert len(rows) > 40
    for path, names in rows:
        assert (PACKAGE / path).is_file(), path
        for name in re.findall(r"`([\w.]+)`", names):
            if path.endswith(".yaml"):
                assert f"\n  {name}:\n" in (PACKAGE / path).read_text(encoding="utf-8"), (
                    path,
                    name,
                )
            else:
                module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
                assert resolves(name, f"syntagma.{module}"), (path, name)


def test_architecture_and_contributing_show_the_same_import_order():
    order = re.compile(r"^    errors, json_values, file_names.*?(?=\n\n)", re.MULTILINE | re.DOTALL)
    pages = (ARCHITECTURE, ROOT / "CONTRIBUTING.md")
    shown = [order.findall(page.read_text(encoding="utf-8")) for page in pages]
    assert len(shown[0]) == 1
    assert shown[0] == shown[1]


def test_settings_named_in_the_documentation_exist():
    table = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    known = set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE))
    used = find_code(r"(?:^|--set )((?:\w+/)?(?:data|training|head|guides\.\w+)\.\w+)(?==|\s|$)")
    assert len(used) > 20
    for document, key, _ in used:
        if key in ("data.json", "data.py"):  # File names.
            continue
        assert key.rpartition(".")[2] in known, f"{document}: {key}"


def test_the_commands_of_the_example_report_can_be_run(tmp_path):
    page = ROOT / "docs" / "squad10k"
    text = (page / "index.html").read_text(encoding="utf-8")
    trained = re.findall(r"^(?:.*<code>)?syntagma train (\S+)", text, re.MULTILINE)
    assert {ROOT / path for path in trained} == {*(page / "settings").glob("*.yaml")}
    shown = []
    # Settings that were added after the page was written have their defaults.
    for number, block in enumerate(re.findall(r"<code>(task: .*?)</code>", text, re.DOTALL)):
        (tmp_path / f"{number}.yaml").write_text(unescape(block))
        shown.append(load_experiment(tmp_path / f"{number}.yaml"))
    for path in trained:
        settings = load_experiment(ROOT / path)
        if path.endswith("-1.yaml") and settings.task == "spans":
            assert settings in shown, path


def blocks(document: str) -> list[str]:
    text = (ROOT / document).read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def save_model(folder: Path, task: str, path: str, encoder: str, **changes) -> None:
    """Save an untrained model where a run would have saved it."""
    task_class = find_task(task)
    settings = experiment(task, path, encoder, **{"parser": "linear"} | changes)
    folder.mkdir(parents=True)
    task_class.new(settings, task_class.read(path)).save(folder)


@pytest.fixture(scope="module")
def user(tmp_path_factory, tiny_encoder) -> tuple[Path, dict[str, object]]:
    """A working directory with the files, and the variables, that the documentation uses."""
    place = tmp_path_factory.mktemp("user")
    data = {
        "choice": dream(place / "dialogues.json", copies=1),
        "pairs": pairs(place / "pairs.jsonl", copies=1),
        "typing": typing(place / "words.json", copies=1),
        "relations": relations(place / "neighbours.txt", copies=1),
    }
    for name, task, preset in (
        ("dream_poi-net", "choice", "poi-net"),
        ("nli_sg-net", "pairs", "sg-net"),
        ("openentity_seprem", "typing", "seprem"),
        ("semeval_seprem", "relations", "seprem"),
    ):
        save_model(place / "runs" / name, task, data[task], tiny_encoder, preset=preset)
    save_qa_model(place / "runs" / "qa_roberta", "roberta")
    settings = translation(parallel(place))
    translator = find_task("translation").new(
        settings, find_task("translation").read(*settings.data.train)
    )
    (place / "runs" / "multi30k_sg-net").mkdir()
    translator.save(place / "runs" / "multi30k_sg-net")
    (place / "data" / "nli").mkdir(parents=True)
    for name in ("train", "mnli_dev", "sick_dev"):
        with gzip.open(place / "data" / "nli" / f"{name}.jsonl.gz", "wb") as stream:
            stream.write(Path(data["pairs"]).read_bytes())
    (place / "news.parsed").symlink_to(make_corpus(place))
    for folder in ("experiments", "examples"):
        shutil.copytree(ROOT / folder, place / folder)
    passage = (ROOT / "examples" / "ferry.txt").read_text(encoding="utf-8")
    questions = ["Who fitted a coal barge with an engine?", "What was the Perseverance built of?"]
    variables: dict[str, object] = {
        "passage": passage,
        "passages": [passage, passage],
        "questions": questions,
        "question": questions[0],
        "options": ["Ada Mensah", "the town council"],
        "premise": "The ferry left.",
        "hypothesis": "Nobody moved.",
        "paragraphs": passage.split("\n\n"),
        "pairs_of_passage_and_question": [(passage, question) for question in questions],
        "batches": [([passage, questions[0]], torch.tensor([0, 1]))],
        "pairs_of_text_and_mention": [("The ferry left Port Ann.", (15, 23))],
    }
    return place, variables


PAGES_WITH_PYTHON = [
    path.relative_to(ROOT).as_posix()
    for path in DOCUMENTS
    # The tutorials and the page about Transformers have tests of their own.
    if "```python\n" in path.read_text(encoding="utf-8")
    and not path.name.startswith(("your-first-", "give-my-"))
]


def test_some_pages_have_python():
    assert {"README.md", "docs/use.md", "docs/train.md", "docs/annotate.md"} <= {*PAGES_WITH_PYTHON}


@needs_default
@pytest.mark.parametrize(
    "document",
    [
        pytest.param(page, marks=[pytest.mark.slow] if page in SLOW_PAGES else [])
        for page in PAGES_WITH_PYTHON
    ],
)
def test_the_python_code_of_a_document_runs(document, user, monkeypatch):
    if "spacy" in document:
        # What the entry point does, also where the package was installed before it had one.
        pytest.importorskip("syntagma.integrations.spacy")
    place, variables = user
    monkeypatch.chdir(place)
    log = logging.getLogger("syntagma")  # A page says how it is configured.
    for name, value in {"handlers": [], "level": log.level, "propagate": True}.items():
        monkeypatch.setattr(log, name, value)
    names = dict(variables)
    for number, block in enumerate(blocks(document), start=1):
        # Tests run offline, and any encoder will do.
        source = block.replace("FacebookAI/roberta-base", "default")
        source = source.replace("deepset/roberta-base-squad2", "runs/qa_roberta")
        exec(compile(source, f"{document}, block {number}", "exec"), names)
