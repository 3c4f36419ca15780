"""The models and indexes that the command line names: requests can ask for these and no others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from syntagma.encoders.default import DEFAULT_PARSER, DEFAULT_READER, require_encoder
from syntagma.encoders.reference import find_model, full_name
from syntagma.errors import InputError
from syntagma.retrieval.index_folder import is_index, read_state
from syntagma.settings import nearest

Kind = Literal["reader", "parser", "index", "predictor"]
KIND_OF: dict[str, Kind] = {"spans": "reader", "open_qa": "reader", "parsing": "parser"}
"""What the models of a task are served as; those of other tasks are predictors."""
NOT_SERVED = ("pretraining",)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A model or an index under the name by which requests ask for it.

    Args:
        name: the name in requests.
        place: what to load: a folder as an absolute path, the name of a shipped model, or a hub
            name.
        kind: which requests it answers.
        task: of a model; empty for an index.
    """

    name: str
    place: str
    kind: Kind
    task: str = ""


def read_names(given: Sequence[str]) -> tuple[NamedModel, ...]:
    """Look up what the command line names; nothing is loaded.

    Args:
        given: ``PLACE`` or ``NAME=PLACE`` each; without any, the shipped reader and parser.

    Returns:
        The models, with the shipped reader if there are indexes and nothing that reads them.

    Raises:
        InputError: a place is no model or index, a model cannot be served, or two have the same
            name.
    """
    found = [_look_up(*_split(text)) for text in given or (DEFAULT_READER, DEFAULT_PARSER)]
    kinds = {model.kind for model in found}
    if "index" in kinds and "reader" not in kinds:
        found.append(_look_up(DEFAULT_READER, DEFAULT_READER))
    by_name: dict[str, NamedModel] = {}
    for model in found:
        if model.name in by_name:
            raise InputError(
                f"--model {model.place}: the name {model.name} is that of "
                f"{by_name[model.name].place} too; give it another: --model OTHER={model.place}"
            )
        by_name[model.name] = model
    return tuple(found)


def _split(text: str) -> tuple[str, str]:
    """Split ``NAME=PLACE``; without a name, it is the last part of the place."""
    name, equals, place = text.partition("=")
    if equals and _NAME.fullmatch(name) and not Path(text).exists():
        return name, place
    name = Path(text).resolve().name if Path(text).exists() else text.rpartition("/")[2]
    if not _NAME.fullmatch(name):
        raise InputError(
            f"--model {text}: expected a name of letters, digits, '.', '_' and '-', got {name!r}; "
            f"give it one: --model NAME={text}"
        )
    return name, text


def _look_up(name: str, place: str) -> NamedModel:
    if is_index(place):
        read_state(Path(place))
        return NamedModel(name, str(Path(place).absolute()), "index")
    require_encoder(place)
    ref = find_model(place)
    # `settings` says of anything but a saved model why it is none.
    task = "spans" if ref.kind == "qa_model" else str(ref.settings["task"])
    if task in NOT_SERVED or not task:
        raise InputError(
            f"--model {place}: models of the task {task or 'none'} answer no requests; give a "
            f"reader, a parser, an index, or a model for choice, pairs, relations or typing"
        )
    return NamedModel(name, full_name(ref), KIND_OF.get(task, "predictor"), task)


def choose(models: Sequence[NamedModel], kind: Kind, name: str | None) -> NamedModel:
    """Return the model that a request asks for.

    Args:
        models: all that are served.
        kind: what the request needs.
        name: the name in the request; without one, the first of the kind.

    Raises:
        InputError: there is no such model.
    """
    fitting = [each for each in models if each.kind == kind]
    if name is None:
        if fitting:
            return fitting[0]
        option = "INDEX" if kind == "index" else "FOLDER"
        raise InputError(f"no {kind} is served; start the server with --model {option}")
    for model in fitting:
        if model.name == name:
            return model
    known = nearest(name, [each.name for each in fitting]) if fitting else f"no {kind} is served"
    raise InputError(f"{name!r:.60} is not a {kind} that is served; {known}")
