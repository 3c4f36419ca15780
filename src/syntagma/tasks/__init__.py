"""What the models are used for: one folder a task, found by name in :data:`TASKS`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from syntagma.registry import Registry

if TYPE_CHECKING:
    from syntagma.tasks.task import Task

__all__ = ["BREAKDOWNS", "TASKS", "find_task", "register_task"]

TASKS: Registry[type[Task[Any, Any]]] = Registry(
    "task",
    {
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
    },
    group="syntagma.tasks",
    base="syntagma.tasks.task:Task",
)
"""Everything that the package must know about a task is said by its class."""

BREAKDOWNS = {
    "choice": ("subset",),
    "open_qa": ("evidence",),
    "pairs": ("label", "confusion"),
    "parsing": ("relation", "length", "genre", "arguments"),
    "probing": ("label", "confusion"),
    "relations": ("label", "confusion"),
    "translation": ("length",),
    "typing": ("label",),
}
"""The ``breakdowns`` of the classes; here, because a help that lists them must not import torch."""


def find_task(name: str) -> type[Task[Any, Any]]:
    """The task with this name.

    Raises:
        InputError: there is none.
    """
    return TASKS.find(name)


def register_task(task: type[Task[Any, Any]]) -> type[Task[Any, Any]]:
    """Make a task available to settings under its :attr:`Task.name`; also a class decorator.

    Args:
        task: the class; it is returned.

    Raises:
        InputError: another task has this name.
    """
    TASKS.register(task.name, task)
    return task
