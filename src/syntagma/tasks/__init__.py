"""What the models are used for: one folder a task, one row in :data:`TASKS`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from syntagma.errors import InputError
from syntagma.settings import nearest

if TYPE_CHECKING:
    from syntagma.tasks.task import Task

__all__ = ["TASKS", "find_task"]

TASKS: dict[str, str] = {
    "choice": "syntagma.tasks.choice.task:ChoiceTask",
    "open_qa": "syntagma.tasks.open_qa.task:OpenQaTask",
    "pairs": "syntagma.tasks.pairs.task:PairTask",
    "parsing": "syntagma.tasks.parsing.task:ParsingTask",
    "pretraining": "syntagma.tasks.pretraining.task:PretrainingTask",
    "probing": "syntagma.tasks.probing.task:ProbingTask",
    "relations": "syntagma.tasks.relations.task:RelationTask",
    "spans": "syntagma.tasks.spans.task:SpanTask",
    "structural": "syntagma.tasks.probing.structural:StructuralTask",
    "translation": "syntagma.tasks.translation.task:TranslationTask",
    "typing": "syntagma.tasks.typing.task:TypingTask",
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
