"""Small data files in the official format of each task, and experiments on them."""

from __future__ import annotations

import gzip
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
    """A treebank in which every word hangs on the one before it, but the last on nothing new."""
    return _sample("parsing", path, copies)


def brackets(path: Path, copies: int = 3) -> str:
    """Phrase trees beside :func:`treebank`: each word and all that follow it make a phrase."""
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
    """Questions about dialogues of two of our sentences; the right option ends the second."""
    return _sample("choice", path, copies)


def pairs(path: Path, copies: int = 4) -> str:
    """A sentence entails its first half and contradicts another one's."""
    return _sample("pairs", path, copies)


def typing(path: Path, copies: int = 4) -> str:
    """Every third word of our sentences is a mention; names and long words have types."""
    return _sample("typing", path, copies)


def relations(path: Path, copies: int = 4) -> str:
    """Pairs of neighbours in SemEval's format: which of the two is longer, if one is by far."""
    return _sample("relations", path, copies)


def open_qa(path: Path, copies: int = 4) -> str:
    """Questions as in :func:`squad`; two of four paragraphs hold the sentence that they quote."""
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
"""An entry of TACRED's files."""

TACRED_TEXT = "Her captain ( Mr. Obi ) rows ."


def probing(path: Path, copies: int = 6) -> str:
    """Whether a sentence is ours as it is, or all in one repeated word: easy to tell."""
    rows = []
    for copy in range(copies):
        for number, text in enumerate(SENTENCES):
            split = ("tr", "tr", "va", "te")[(copy + number) % 4]
            other = " ".join(["gull"] * (4 + number + copy))
            rows += [("", split, "words", f"{copy} {text}"), ("", split, "gulls", other)]
    write_probe(path, [ProbeExample(*row) for row in rows])
    return str(path)


def upper(text: str) -> str:
    """A language that is easy to learn."""
    return " ".join(word.upper() for word in text.split())


def parallel(folder: Path, copies: int = 2) -> str:
    """Our sentences and the same in capitals, two files."""
    sources = [text for text in SENTENCES for _ in range(copies)]
    (folder / "a.en").write_text("".join(f"{text}\n" for text in sources), encoding="utf-8")
    text = "".join(f"{upper(text)}\n" for text in sources)
    (folder / "a.up.gz").write_bytes(gzip.compress(text.encode()))
    return f"{folder / 'a.en'}+{folder / 'a.up.gz'}"


TRANSLATION = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "dropout": 0.0,
    "attention_dropout": 0.0,
    "vocab_size": 400,
    "max_length": 90,
    "num_beams": 2,
    "label_smoothing": 0.0,
}
"""The head of a tiny translator."""


def experiment(task: str, data: str, encoder: str, **changes) -> Experiment:
    training = {
        "num_train_epochs": 2,
        "learning_rate": 1e-3,
        "batch_tokens": 128 if task == "parsing" else 512,
        "save_steps": 3,
        "precision": "float32",
    }
    heads = {
        "parsing": {"arc_width": 16, "relation_width": 8, "dropout": 0.1},
        "spans": {"max_length": 96, "doc_stride": 32, "max_question_length": 24},
        "open_qa": {"max_length": 96, "doc_stride": 32, "max_question_length": 24},
        "choice": {"max_length": 96, "dropout": 0.0},
        "pairs": {"max_length": 64, "dropout": 0.0, "pooling": "max"},
        "relations": {"max_length": 64, "dropout": 0.0},
        "typing": {"max_length": 64, "dropout": 0.0},
        "probing": {"max_length": 96, "hidden": 8, "dropout": 0.0},
        "structural": {"max_length": 96, "rank": 8},
    }
    values = {
        "task": task,
        "data": {"train": [data], "dev": [data]},
        "encoder": encoder,
        "head": heads[task] | changes.pop("head", {}),
        "training": training | changes.pop("training", {}),
    }
    return build(Experiment, values | changes)


def translation(data: str, *, head=None, training=None, **changes) -> Experiment:
    """A translator from scratch."""
    values = {
        "task": "translation",
        "encoder": "scratch",
        "parser": "linear",
        "data": {"train": [data], "dev": [data]},
        "head": TRANSLATION | (head or {}),
        "training": {
            "num_train_epochs": 1,
            "learning_rate": 3e-3,
            "batch_tokens": 600,
            "precision": "float32",
        }
        | (training or {}),
    }
    return build(Experiment, values | changes)


def new_task(settings: Experiment) -> tuple[Task, list]:
    """A fresh task, and the examples that it would learn from."""
    task_class = find_task(settings.task)
    (path,) = settings.data.train
    examples = task_class.read(path)
    torch.manual_seed(0)
    return task_class.new(settings, examples), examples
