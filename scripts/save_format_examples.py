"""Save a tiny model of each task, two runs and a corpus, which later versions must still read.

    python scripts/save_format_examples.py 0.1

Run it when a release changes a format or adds a task, with the new version; a folder that exists is
never written again. The models are not trained: the test compares what they predict. Each example
has an ``expected.json`` with what the version that wrote it reads of it.

The same machine and libraries write the same models and the same corpus again. Of the runs, the
weights and predictions are the same, but records contain times and speeds, and checkpoints what
torch pickles.
"""

from __future__ import annotations

import json
import shutil
import sys
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from syntagma.encoders.default import CONFIG  # noqa: E402
from syntagma.runs.folder import read_experiment  # noqa: E402
from syntagma.tasks import TASKS  # noqa: E402
from syntagma.tasks.pretraining.task import PretrainingTask  # noqa: E402
from syntagma.training.run import train  # noqa: E402
from syntagma.training.trainer import SyntagmaTrainer  # noqa: E402
from tests.builders import experiment, pairs  # noqa: E402
from tests.conftest import save_encoder  # noqa: E402
from tests.corpora import annotate, text_file  # noqa: E402
from tests.corpora import settings as annotation  # noqa: E402
from tests.test_formats import (  # noqa: E402
    contents_of_run,
    end_of_training,
    expected_of,
    trees_in,
)

SIZES = {
    "hidden_size": 8,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 8,
    "max_position_embeddings": 160,
}


def save_example(name: str, out: Path, **head: object) -> None:
    """Save a model of a task with what it predicts of its sample.

    Args:
        name: of the task.
        out: the folder to write.
        head: settings of the head that the sample does not have.
    """
    task_class = TASKS[name]
    sample = task_class.sample
    with TemporaryDirectory() as folder:
        encoder = sample.encoder or str(save_encoder(Path(folder) / "encoder", "bert", **SIZES))
        data = sample.write(Path(folder), 1)
        small = {"hidden_size": 8, "intermediate_size": 8, "vocab_size": 300}
        changes = {"head": small if name == "translation" else head}
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


def write_expected(values: object) -> None:
    """Write what the test compares, next to the example in the working folder."""
    Path("expected.json").write_text(json.dumps(values) + "\n", encoding="utf-8")


def forget_machine(run: Path) -> None:
    """Make the paths in a run relative to the working folder, as its settings are."""
    for path in run.rglob("*.json"):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(f"{Path.cwd()}/", ""), encoding="utf-8")


def save_finished_run() -> None:
    """Train a guided classifier of pairs for two steps, in the working folder."""
    encoder = save_encoder(Path("encoder"), "bert", **SIZES)
    data = pairs(Path("pairs.jsonl"), copies=1)
    training = {"max_steps": 2, "eval_steps": None}
    train(experiment("pairs", data, str(encoder), preset="sg-net", training=training), Path("run"))
    # A finished run is read without the encoder that it began with.
    shutil.rmtree(encoder)
    forget_machine(Path("run"))
    write_expected(contents_of_run(Path("run")))


def save_unfinished_run() -> None:
    """Stop a training after its first checkpoint, in the working folder.

    The encoder is frozen: with the state of the optimiser for all its weights the checkpoint would
    be larger than an example may be.
    """
    encoder = save_encoder(Path("encoder"), "bert", **SIZES)
    data = pairs(Path("pairs.jsonl"), copies=1)
    training = {"max_steps": 4, "save_steps": 2, "eval_steps": None, "encoder": "frozen"}
    settings = experiment("pairs", data, str(encoder), training=training)
    compute_loss = SyntagmaTrainer.compute_loss

    def stop(self: SyntagmaTrainer, *arguments: object, **options: object) -> object:
        if self.state.global_step == 3:
            raise KeyboardInterrupt
        return compute_loss(self, *arguments, **options)

    SyntagmaTrainer.compute_loss = stop
    try:
        train(settings, Path("run"))
    except KeyboardInterrupt:
        pass
    finally:
        SyntagmaTrainer.compute_loss = compute_loss
    forget_machine(Path("run"))
    with TemporaryDirectory() as folder:
        resumed = Path(shutil.copytree("run", Path(folder) / "run"))
        train(read_experiment(resumed), resumed, resume=True)
        write_expected({"checkpoint": 2, **end_of_training(resumed)})


def save_corpus() -> None:
    """Annotate our sentences, in the working folder."""
    source = text_file(Path("harbour.txt"), copies=1)
    annotate([source], Path("corpus"), annotation())
    corpora = len(PretrainingTask.read("corpus"))
    write_expected({"trees": trees_in(Path("corpus")), "corpora": corpora})


def save_parser_with_morphology() -> None:
    """Save a parser that also predicts lemmas and features, in the working folder."""
    head = {"morphology": ["feats", "lemmas"], "morphology_width": 8}
    save_example("parsing", Path("model"), **head)
    for path in Path("model").iterdir():
        path.rename(path.name)
    Path("model").rmdir()


OTHERS = {
    "parsing_morphology": save_parser_with_morphology,
    "finished_run": save_finished_run,
    "unfinished_run": save_unfinished_run,
    "corpus": save_corpus,
}

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python scripts/save_format_examples.py VERSION, such as 0.1")
    for each in (*TASKS, *OTHERS):
        place = ROOT / "tests" / "data" / "formats" / sys.argv[1] / each
        if place.exists():
            continue
        if each in TASKS:
            save_example(each, place)
        else:
            place.mkdir(parents=True)
            with chdir(place):
                OTHERS[each]()
        size = sum(path.stat().st_size for path in place.rglob("*") if path.is_file())
        print(f"{place.relative_to(ROOT)}: {size / 1000:.0f} kB")
