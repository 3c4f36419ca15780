"""The page for users of Transformers: its code runs as written, against a local hub."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from syntagma.models.pair_model import PairModel
from tests.encoders.fake_hub import WRITE, serving, use

PAGE = Path(__file__).parent.parent / "docs" / "give-my-classifier-syntax.md"
SECTIONS = ("The model", "With Trainer", "With PEFT", "With a loop of your own", "Use it")


@pytest.fixture
def place(tmp_path, tiny_encoder, monkeypatch):
    """A working directory, in which the page's encoder is a tiny one on a local hub."""
    with serving({"FacebookAI/roberta-base": Path(tiny_encoder)}, tmp_path / "hub") as fake:
        use(monkeypatch, fake.address, tmp_path / "cache")
        monkeypatch.setenv("HF_TOKEN", WRITE)
        monkeypatch.chdir(tmp_path)
        torch.manual_seed(0)
        yield tmp_path


def sections() -> dict[str, str]:
    """The Python of each section."""
    parts = re.split(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {
        title: "\n".join(re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
        for title, text in zip(parts[1::2], parts[2::2], strict=True)
    }


# PEFT reads an attribute that Transformers has renamed.
@pytest.mark.filterwarnings("ignore:.*is_gradient_checkpointing:FutureWarning")
def test_the_code_of_the_page_runs_from_top_to_bottom(place):
    names: dict[str, object] = {}
    code = sections()
    assert list(code) == [*SECTIONS, "Save, push, load"]
    for title, text in code.items():
        # A small parser would do, but the page's own is on this machine.
        exec(compile(text.replace("fast-parser", "linear"), f"{PAGE.name}: {title}", "exec"), names)
        if title == "With Trainer":
            trained = PairModel.from_pretrained("with-trainer").state_dict()
            assert torch.equal(
                trained["label_scores.weight"], names["model"].label_scores.weight.cpu()
            )
        if title == "With PEFT":
            merged = PairModel.from_pretrained("with-peft").state_dict()
            changed = {name for name in merged if not torch.equal(merged[name], trained[name])}
            assert changed >= {"label_scores.weight", "tree_distance.alpha"}
    model = names["model"]
    assert type(model) is PairModel
    assert model.config.id2label == {0: "barge", 1: "tug"}
    assert "license: mit" in (place / "hub" / "OWNER" / "who-pulls" / "README.md").read_text()
