"""What the models are used for: one file a task, one row in :data:`TASKS`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from syntagma.errors import InputError
from syntagma.settings import nearest

if TYPE_CHECKING:
    from syntagma.tasks.open_reader import OpenReader
    from syntagma.tasks.task import Task

__all__ = ["TASKS", "OpenReader", "find_task"]

TASKS: dict[str, str] = {
    "choice": "syntagma.tasks.choices:ChoiceTask",
    "open_qa": "syntagma.tasks.open_qa:OpenQaTask",
    "pairs": "syntagma.tasks.pairs:PairTask",
    "parsing": "syntagma.tasks.parsing:ParsingTask",
    "pretraining": "syntagma.tasks.pretraining:PretrainingTask",
    "probing": "syntagma.tasks.probing:ProbingTask",
    "relations": "syntagma.tasks.relations:RelationTask",
    "spans": "syntagma.tasks.spans:SpanTask",
    "structural": "syntagma.tasks.structural:StructuralTask",
    "translation": "syntagma.tasks.translation:TranslationTask",
    "typing": "syntagma.tasks.typing:TypingTask",
}
"""Where each task lives; nothing is imported before it is asked for."""


def find_task(name: str) -> type[Task[Any, Any]]:
    """The task of a name.

    Raises:
        InputError: there is none.
    """
    if name not in TASKS:
        raise InputError(f"unknown task {name!r}; {nearest(name, list(TASKS))}")
    module, _, attribute = TASKS[name].partition(":")
    task: type[Task[Any, Any]] = getattr(import_module(module), attribute)
    return task


def __getattr__(name: str) -> Any:
    """Load a public class when it is first asked for."""
    if name != "OpenReader":
        raise AttributeError(f"module 'syntagma.tasks' has no attribute {name!r}")
    return import_module("syntagma.tasks.open_reader").OpenReader
