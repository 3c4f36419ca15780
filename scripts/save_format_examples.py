"""Save one tiny model of each task, for the test that later versions still read them.

    python scripts/save_format_examples.py 0.1

Run it when a release changes a format or adds a task, with the new version; a folder that exists is
never written again. The models are not trained: the test compares what they predict.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from syntagma.encoders.default import CONFIG  # noqa: E402
from syntagma.tasks import TASKS  # noqa: E402
from tests.builders import experiment  # noqa: E402
from tests.conftest import save_encoder  # noqa: E402
from tests.test_formats import expected_of  # noqa: E402

SIZES = {
    "hidden_size": 8,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 8,
    "max_position_embeddings": 160,
}


def save_example(name: str, out: Path) -> None:
    """Save a model of a task with what it predicts of its sample.

    Args:
        name: of the task.
        out: the folder to write.
    """
    task_class = TASKS[name]
    sample = task_class.sample
    with TemporaryDirectory() as folder:
        encoder = sample.encoder or str(save_encoder(Path(folder) / "encoder", "bert", **SIZES))
        data = sample.write(Path(folder), 1)
        small = {"hidden_size": 8, "intermediate_size": 8, "vocab_size": 300}
        changes = {"head": small} if name == "translation" else {}
        guides = guided(name) or {"preset": sample.presets[-1]}
        settings = experiment(name, data, encoder, **guides, **changes)
        torch.manual_seed(0)
        examples = task_class.read(data)
        task = task_class.new(settings, examples)
        if not task_class.streams:
            # A probe standardises the states by those that it learns from.
            task.features(examples)
        out.mkdir(parents=True)
        task.save(out)
        config = json.loads((out / CONFIG).read_text(encoding="utf-8"))
        (out / CONFIG).write_text(json.dumps(config | {"base": "tiny-encoder"}, indent=2) + "\n")
        (out / "expected.json").write_text(json.dumps(expected_of(out)) + "\n", encoding="utf-8")


def guided(name: str) -> dict:
    """Settings that give a model of a task every guide that it takes."""
    if "all" not in TASKS[name].sample.presets:
        return {}
    return {"preset": "poi-net", "guides": {"ancestor_attention": {}, "tree_distance": {}}}


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python scripts/save_format_examples.py VERSION, such as 0.1")
    for each in TASKS:
        place = ROOT / "tests" / "data" / "formats" / sys.argv[1] / each
        if place.exists():
            continue
        save_example(each, place)
        size = sum(path.stat().st_size for path in place.iterdir())
        print(f"{place.relative_to(ROOT)}: {size / 1000:.0f} kB")
