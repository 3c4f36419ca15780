"""The code of the tutorials on writing a guide and a task runs as printed."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from syntagma.encoders.default import find_default
from syntagma.errors import InputError
from syntagma.evaluation import evaluate, open_model
from syntagma.models.guides import GUIDES
from syntagma.report.write import write_report
from syntagma.tasks import TASKS
from tests.messages import naming

ROOT = Path(__file__).parents[1]


@pytest.fixture(params=["tiny", pytest.param("default", marks=pytest.mark.slow)])
def run_page(request, tmp_path, monkeypatch, tiny_encoder):
    """Run the Python blocks of a page as one module, in an empty folder, as a reader would."""
    if request.param == "default" and find_default() is None:
        pytest.skip("no default encoder: `syntagma download default`")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)

    def run(name: str) -> ModuleType:
        text = (ROOT / "docs" / name).read_text(encoding="utf-8")
        code = "\n".join(re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
        assert '"default"' in code
        if request.param == "tiny":
            code = code.replace('"default"', repr(tiny_encoder))
        module = f"{name.removesuffix('.md').replace('-', '_')}_{request.param}"
        (tmp_path / f"{module}.py").write_text(code, encoding="utf-8")
        return import_module(module)

    yield run
    GUIDES.unregister("depth_embedding")
    TASKS.unregister("sentences")


def test_the_tutorial_on_guides(run_page, capsys):
    page = run_page("your-first-guide.md")
    printed = capsys.readouterr().out
    assert "depth" in printed
    assert "DepthSettings(deepest=8)" in printed
    assert page.task.model.depth_embedding.table.weight.abs().sum() > 0
    assert evaluate("runs/depth", [page.data])["total"] == 32
    assert "depth_embedding" not in dict(open_model("runs/plain").model.named_children())
    write_report(["runs/plain", "runs/depth"], "report")
    assert "depth" in Path("report", "index.html").read_text(encoding="utf-8")
    with pytest.raises(InputError, match=naming("deepest 0")):
        page.DepthSettings(0)


def test_the_tutorial_on_tasks(run_page, capsys):
    page = run_page("your-first-task.md")
    printed = capsys.readouterr().out
    assert "sg-net" in printed
    assert '"label.question.accuracy"' in printed
    assert len(Path("predictions.tsv").read_text(encoding="utf-8").splitlines()) == 36
    scores = evaluate("runs/sg-net", [page.data])
    assert scores["total"] == 36
    assert scores["accuracy"] > 60  # one of three labels by chance
    assert scores["parser"] == "linear"
    write_report(["runs/none", "runs/sg-net"], "report")
    text = Path("report", "index.html").read_text(encoding="utf-8")
    assert "sentence_length" in text or "sentence length" in text
    Path("bad.tsv").write_text("question\tWho is there?\nNo label here.\n", encoding="utf-8")
    with pytest.raises(InputError, match=naming("line 2 tab 'No label here.'")):
        page.SentenceTask.read("bad.tsv")
    assert len(page.SentenceTask.read("bad.tsv", skip_bad=True)) == 1
