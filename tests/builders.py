"""Small data files in the official format of each task, and experiments on them."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from syntagma.settings import build
from syntagma.tasks import find_task
from syntagma.tasks.experiment import Experiment
from syntagma.tasks.probing.data import ProbeExample, write_probe
from syntagma.tasks.task import Task
from tests.conftest import SENTENCES


def _sample(task: str, path: Path, copies: int) -> str:
    """Write the sample of a task, with its main file at a path and any others next to it."""
    with TemporaryDirectory(dir=path.parent) as folder:
        main = Path(find_task(task).sample.write(Path(folder), copies))
        for file in Path(folder).iterdir():
            file.replace(path if file == main else path.with_name(file.name))
    return str(path)


def treebank(path: Path, copies: int = 3) -> str:
    """A treebank in which each word depends on the previous one."""
    return _sample("parsing", path, copies)


def brackets(path: Path, copies: int = 3) -> str:
    """Phrase trees of the same sentences: each word forms a phrase with all words after it."""
    lines = []
    for text in SENTENCES * copies:
        forms = text.split()
        opened = [f"({'NP' if len(form) > 3 else 'VP'}" for form in forms[:-1]]
        tags = ["NN" if form[0].isupper() else "XX" for form in forms]
        words = [f"({tag} {form})" for tag, form in zip(tags, forms, strict=True)]
        inner = " ".join(f"{phrase} {word}" for phrase, word in zip(opened, words, strict=False))
        lines.append(f"(TOP {inner} {words[-1]}{')' * len(opened)})\n")
    path.write_text("".join(lines), encoding="utf-8")
    return str(path)


def squad(path: Path, copies: int = 4) -> str:
    """Questions whose answer is the last word of the sentence that they quote."""
    return _sample("spans", path, copies)


def dream(path: Path, copies: int = 4) -> str:
    """Questions about dialogues of two turns; the right option is the last word of the second."""
    return _sample("choice", path, copies)


def pairs(path: Path, copies: int = 4) -> str:
    """Each sentence entails its own first half and contradicts that of another sentence."""
    return _sample("pairs", path, copies)


def typing(path: Path, copies: int = 4) -> str:
    """About every third word is a mention; names and long words have types."""
    return _sample("typing", path, copies)


def relations(path: Path, copies: int = 4) -> str:
    """Pairs of adjacent words in SemEval's format: which of them is clearly longer, if any."""
    return _sample("relations", path, copies)


def open_qa(path: Path, copies: int = 4) -> str:
    """Questions as in :func:`squad`; two of four paragraphs contain the quoted sentence."""
    return _sample("open_qa", path, copies)


TACRED = {
    "id": "a1",
    "relation": "per:title",
    "token": ["Her", "captain", "-LRB-", "Mr.", "Obi", "-RRB-", "rows", "."],
    "subj_start": 3,
    "subj_end": 4,
    "obj_start": 1,
    "obj_end": 1,
    "subj_type": "PERSON",
    "obj_type": "TITLE",
    "stanford_pos": ["PRP$", "NN", "-LRB-", "NNP", "NNP", "-RRB-", "VBZ", "."],
    "stanford_ner": ["O"] * 8,
    "stanford_head": [2, 7, 5, 5, 2, 5, 0, 7],
    "stanford_deprel": ["nmod:poss", "nsubj", "punct", "compound", "dep", "punct", "ROOT", "punct"],
}
"""An example in TACRED's format."""

TACRED_TEXT = "Her captain ( Mr. Obi ) rows ."


def probing(path: Path, copies: int = 6) -> str:
    """Our sentences, and sentences of one repeated word: two labels that are easy to learn."""
    rows = []
    for copy in range(copies):
        for number, text in enumerate(SENTENCES):
            split = ("tr", "tr", "va", "te")[(copy + number) % 4]
            other = " ".join(["gull"] * (4 + number + copy))
            rows += [("", split, "words", f"{copy} {text}"), ("", split, "gulls", other)]
    write_probe(path, [ProbeExample(*row) for row in rows])
    return str(path)


def parallel(folder: Path, copies: int = 2) -> str:
    """Two parallel files: our sentences, and the same sentences in capital letters."""
    return find_task("translation").sample.write(folder, copies)


def experiment(task: str, data: str, encoder: str, **changes) -> Experiment:
    """Settings of a short training run on the task's sample, without dropout in the head."""
    sample = find_task(task).sample
    head_class = find_task(task).model_class.head_class
    no_dropout = {name: 0.0 for name in vars(head_class()) if name.endswith("dropout")}
    training = {
        "num_train_epochs": 2,
        "learning_rate": 1e-3,
        "batch_tokens": 128 if task == "parsing" else 512,
        "save_steps": 1000,
        "precision": "float32",
    }
    values = {
        "task": task,
        "data": {"train": [data], "dev": [data]},
        "encoder": encoder,
        "head": {**sample.head, **no_dropout, **changes.pop("head", {})},
        "training": {**training, **sample.training, **changes.pop("training", {})},
    }
    # An annotated corpus already records its parser.
    parser = {} if find_task(task).streams else {"parser": "linear"}
    return build(Experiment, values | parser | changes)


def translation(data: str, *, head=None, training=None, **changes) -> Experiment:
    """Settings of a short training run of a translator, from scratch if no encoder is given."""
    short = {"num_train_epochs": 1, "learning_rate": 3e-3, "batch_tokens": 600}
    changes |= {"head": head or {}, "training": short | (training or {})}
    encoder = changes.pop("encoder", find_task("translation").sample.encoder)
    return experiment("translation", data, encoder, **changes)


def new_task(settings: Experiment) -> tuple[Task, list]:
    """A new task and its training examples."""
    task_class = find_task(settings.task)
    (path,) = settings.data.train
    examples = task_class.read(path)
    torch.manual_seed(0)
    return task_class.new(settings, examples), examples
