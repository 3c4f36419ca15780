"""What the models are used for: one file a task, one row in :data:`TASKS`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from syntagma.errors import InputError
from syntagma.settings import nearest

if TYPE_CHECKING:
    from syntagma.tasks.task import Task

__all__ = ["TASKS", "find_task"]

TASKS: dict[str, str] = {
    "choice": "syntagma.tasks.choices:ChoiceTask",
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
