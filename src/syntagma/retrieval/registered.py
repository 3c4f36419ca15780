"""Retrievers of other packages and of users, by name."""

from __future__ import annotations

from typing import Protocol

from syntagma.registry import WORDS, Registry
from syntagma.retrieval.retriever import Retriever

PREFIX = "retriever:"
"""Beginning of the name of a retriever where files and folders can be named as well."""


class MakeRetriever(Protocol):
    """A function or class that makes a retriever."""

    def __call__(self, argument: str = "", *, device: str = "cpu") -> Retriever:
        """Make a retriever.

        Args:
            argument: what follows the name and a colon, such as the name of an index; may be empty.
            device: device to compute on.
        """
        ...


RETRIEVERS: Registry[MakeRetriever] = Registry(
    "retriever", {}, group="syntagma.retrievers", names=WORDS
)
"""Functions that make a retriever, by name."""


def register_retriever(name: str, make: MakeRetriever) -> None:
    """Add a retriever that commands can name, as ``retriever:NAME`` or ``retriever:NAME:ARGUMENT``.

    Args:
        name: letters, digits, hyphens and underscores.
        make: called when the retriever is needed, see :class:`MakeRetriever`.

    Raises:
        InputError: the name is taken.
    """
    RETRIEVERS.register(name, make)


def load_retriever(name: str, *, device: str = "cpu") -> Retriever:
    """Make the retriever with this name.

    Args:
        name: ``NAME`` or ``NAME:ARGUMENT``, perhaps after ``retriever:``.
        device: device to compute on.

    Raises:
        InputError: there is none, it cannot be made, or it is not a retriever.
    """
    needs = ("search", "passages")
    retriever: Retriever = RETRIEVERS.make(
        name.removeprefix(PREFIX), needs=needs, written=name, device=device
    )
    return retriever
