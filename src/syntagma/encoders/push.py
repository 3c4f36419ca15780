"""Push a model to the Hugging Face hub, with nothing in it that only this machine has."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from syntagma.encoders import hub_upload
from syntagma.encoders.default import CONFIG
from syntagma.encoders.model_card import README, CardSettings, name_card
from syntagma.encoders.named_models import NAMED_MODELS
from syntagma.errors import InputError
from syntagma.files import read_json
from syntagma.outputs import write_json, write_text

PUSH_OPTIONS = ("token", "private", "revision", "create_pr", "commit_message")
"""Options of ``push_to_hub`` that this package shares with Transformers."""

_LABELS = ("labels", "id2label", "label2id")
"""Fields with names of labels, which may look like paths (``/location/city``)."""


def push_model(
    model: Any,
    repo_id: str,
    *,
    card: CardSettings | Mapping[str, Any] | None = None,
    bits: int | None = None,
    rank: int = 0,
    state_dict: Mapping[str, Any] | None = None,
    token: str | bool | None = None,
    private: bool | None = None,
    revision: str | None = None,
    create_pr: bool = False,
    commit_message: str | None = None,
) -> str:
    """Write a model into a temporary folder and upload it.

    Args:
        model: the model.
        repo_id: ``OWNER/NAME``, or ``NAME`` below the user who is logged in; created if absent.
        card: settings of the model card; without them, a card on the hub is kept.
        bits: as for ``SyntagmaModel.save_pretrained``.
        rank: as for ``SyntagmaModel.save_pretrained``.
        state_dict: as for ``SyntagmaModel.save_pretrained``.
        token: a token with write access; by default that of ``hf auth login``.
        private: whether a new repository is private; by default as the owner's settings say.
        revision: branch to upload to.
        create_pr: whether to open a pull request in place of a commit.
        commit_message: message of the commit.

    Returns:
        Address of the commit, or of the pull request.

    Raises:
        InputError: the model needs something that only this machine has, or the hub refuses.
    """
    if bits is not None and os.path.isabs(model.config.base):
        raise InputError(
            f"push_to_hub: bits={bits} stores differences from {model.config.base}, which is on "
            f"this machine only; omit bits"
        )
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        model.save_pretrained(folder, bits=bits, rank=rank, state_dict=state_dict, card=card)
        _add_verifier(model, folder)
        for path in folder.rglob(CONFIG):
            _make_public(path)
        for path in folder.rglob("tokenizer_config.json"):
            _clean_tokenizer(path)
        with hub_upload.repository(repo_id, token=token, private=private) as found:
            if card is None and hub_upload.has_file(found, README, token=token, revision=revision):
                (folder / README).unlink()
            else:
                name_card(folder / README, found)
            return hub_upload.upload(
                folder,
                found,
                token=token,
                revision=revision,
                create_pr=create_pr,
                message=commit_message or f"Upload a {type(model).__name__} of Syntagma",
            )


def _add_verifier(model: Any, folder: Path) -> None:
    """Copy the verifier of a reader that is saved inside the reader's own folder."""
    name = getattr(model.head, "verifier", "")
    source = model.source and model.source.folder / name
    if name and not os.path.isabs(name) and source and source.is_dir():
        shutil.copytree(source, folder / name)


def _make_public(path: Path) -> None:
    """Remove the folder of the base from a configuration, and look for other paths.

    Raises:
        InputError: the model cannot be used without something that only this machine has.
    """
    values = read_json(path, finite=False)
    if _is_local(values["base"]) and values["storage"]:
        raise InputError(
            f"push_to_hub: {path.parent.name} is stored as differences from an encoder that is on "
            f"this machine only; save it without bits"
        )
    if _is_local(values["base"]):
        # Only stored differences need it, and of the rest only its tokenizer, which is saved.
        values["base"] = ""
    for key, value in local_values(values):
        if not _is_inside(path.parent, value):
            raise InputError(
                f"push_to_hub: {key} is {value!r}, which is on this machine only; push that model "
                f"first and name it OWNER/NAME, or use one that ships, such as default-parser"
            )
    write_json(path, values, finite=False)


def _is_inside(folder: Path, value: str) -> bool:
    """Whether a path, such as that of a reader's verifier, is inside the model's own folder."""
    place = (folder / value).resolve()
    return place.is_dir() and place.is_relative_to(folder.resolve())


def _clean_tokenizer(path: Path) -> None:
    """Remove where a tokenizer was once read from, which earlier versions of Transformers saved."""
    values = read_json(path, finite=False)
    local = {place for place, _ in local_values(values)}
    if kept := {key: value for key, value in values.items() if key not in local}:
        write_text(path, json.dumps(kept, indent=2, ensure_ascii=False) + "\n")


def local_values(values: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """Yield the settings that name files or folders of this machine.

    Args:
        values: a configuration.
        place: where in the configuration this part of it is.

    >>> [*local_values({"parser": "conllu:/data/trees.conllu", "base": "google/bert"})]
    [('parser', 'conllu:/data/trees.conllu')]
    """
    if isinstance(values, str) and _is_local(values):
        yield place, values
    elif isinstance(values, Mapping):
        for key, value in values.items():
            if key not in _LABELS:
                yield from local_values(value, f"{place}.{key}" if place else str(key))
    elif isinstance(values, list):
        for value in values:
            yield from local_values(value, place)


def _is_local(value: str) -> bool:
    """Whether a name, such as that of a parse source, contains a path of this machine."""
    if value in NAMED_MODELS:
        return False
    # Names of parse sources have parts, as in noisy:0.2:conllu:dev.conllu,test.conllu.
    parts = {value, *(part for piece in _tails(value) for part in piece.split(","))}
    return any(
        os.path.isabs(part)
        or part.startswith(("./", "../", "~"))
        or (re.search(r"[/\\.]", part) and Path(part).exists())
        for part in parts
    )


def _tails(value: str) -> Iterator[str]:
    """Yield what follows each colon."""
    while ":" in value:
        value = value.partition(":")[2]
        yield value
