"""Write the folder of a model: configuration, weights, tokenizer and model card."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any

from safetensors.torch import load_file, save_file
from torch import Tensor

from syntagma.encoders import compact
from syntagma.encoders.default import CONFIG, WEIGHTS, sha256
from syntagma.encoders.load import encoder_weights, load_tokenizer
from syntagma.encoders.model_card import README, CardSettings, read_card, write_card
from syntagma.encoders.qa_models import weights_of
from syntagma.encoders.reference import ModelRef, find_model, full_name
from syntagma.encoders.saved_config import DIGEST, FORMAT, absolute_base, is_own
from syntagma.encoders.tokenizer_files import JSON_FILES, remove_tokenizer
from syntagma.errors import InputError
from syntagma.files import read_json
from syntagma.formats import stamp
from syntagma.outputs import write_file, write_json, write_text


def require_storage(bits: int | None, rank: int) -> None:
    """Check how weights are to be stored.

    Args:
        bits: as for ``SyntagmaModel.save_pretrained``.
        rank: as for ``SyntagmaModel.save_pretrained``.

    Raises:
        InputError: a value is invalid.
    """
    if bits not in (None, 4, 8, compact.EXACT):
        raise InputError(f"bits: expected 4, 8, {compact.EXACT} or None, got {bits!r}")
    if rank < 0 or (rank and bits not in (4, 8)):
        raise InputError(f"rank: expected a number from 1, together with 4 or 8 bits, got {rank}")


def write_model(
    model: Any,
    folder: Path,
    *,
    bits: int | None = None,
    rank: int = 0,
    state_dict: Mapping[str, Tensor] | None = None,
    card: CardSettings | Mapping[str, Any] | None = None,
) -> None:
    """Write a model into a folder.

    Args:
        model: the model.
        folder: the folder.
        bits: as for ``SyntagmaModel.save_pretrained``.
        rank: as for ``SyntagmaModel.save_pretrained``.
        state_dict: weights to write in place of the model's own.
        card: settings of the model card.

    Raises:
        InputError: a setting is invalid, or differences are to be stored to a base that is unknown.
    """
    require_storage(bits, rank)
    checked = read_card(card)
    folder.mkdir(parents=True, exist_ok=True)
    weights = model.weights(state_dict)
    storage: dict[str, Any] = {}
    if bits is not None:
        if not model.config.base:
            raise InputError(
                f"bits: {bits} stores differences from the encoder that the model was built on, "
                f"which its {CONFIG} does not name; omit bits"
            )
        known = _base_of(model)
        if known.folder.resolve() == folder.resolve():
            raise InputError(
                f"{folder}: bits: {bits} stores differences from the encoder in this folder, which "
                f"would be lost; give another folder, or omit bits"
            )
        published = encoder_weights(known, model.encoder_class)
        base = {f"encoder.{name}": weight for name, weight in published.items()}
        weights = compact.compact(weights, base, bits=bits, rank=rank)
        storage = {"format": "differences", "bits": bits, "group": compact.GROUP}
        storage |= {"rank": rank} if rank else {}
    if bits is None and model.origin is not None:
        save_tokenizer(model.origin, folder)
    elif bits is not None and _has_other_model(folder, model):
        # The model is read with the tokenizer of its base, unless there is one beside it.
        remove_tokenizer(folder)
    with write_file(folder / WEIGHTS) as draft:
        save_file(weights, draft, metadata={"format": "pt"})
    values = _portable(model.config, folder) | {
        "storage": storage,
        "architectures": [type(model).__name__],
        "dtype": str(model.dtype).removeprefix("torch."),
        **stamp(FORMAT),
        DIGEST: sha256(folder / WEIGHTS),
    }
    # A fitted threshold may be infinite, which `write_json` would turn into null.
    write_text(folder / CONFIG, json.dumps(values, indent=2, default=str) + "\n")
    _write_card(model, folder, checked, is_new=card is not None)


def save_tokenizer(ref: ModelRef, folder: Path) -> None:
    """Write the tokenizer of a model into another folder, so that the folder can be moved.

    Args:
        ref: an encoder, or a saved model.
        folder: an existing folder; its own tokenizer, if it has one, is replaced.

    Raises:
        InputError: the model has no tokenizer.
    """
    source = next((one.folder for one in ref.chain if one.has_tokenizer), None)
    if source is None:
        tokenizer = load_tokenizer(ref)
        if not _is_of(folder, ref):
            remove_tokenizer(folder)
        tokenizer.save_pretrained(folder)
    elif source.resolve() != folder.resolve():
        remove_tokenizer(folder)
        for name in JSON_FILES:
            if (source / name).is_file():
                shutil.copyfile(source / name, folder / name)


def _is_of(folder: Path, ref: ModelRef) -> bool:
    """Whether a folder is that of a model, or of one that it was built on."""
    return any(one.folder.resolve() == folder.resolve() for one in ref.chain)


def _has_other_model(folder: Path, model: Any) -> bool:
    """Whether there is a model in a folder that has another base, and thus another tokenizer."""
    path = folder / CONFIG
    if not path.is_file() or (model.origin is not None and _is_of(folder, model.origin)):
        return False
    before = read_json(path, finite=False).get("base") if is_own(path) else None
    return before is None or absolute_base(before, folder) != model.config.base


def keep_stored(folder: Path, model: Any, like: ModelRef) -> None:
    """Store what a model shares with a compact one exactly as it is stored there.

    Args:
        folder: the model was written there with the bits and the rank of the other.
        model: the model.
        like: the compact model.
    """
    path = folder / WEIGHTS
    weights = compact.keep_stored(
        load_file(path),
        model.weights(),
        load_file(like.folder / WEIGHTS),
        weights_of(like, model.encoder_class),
    )
    with write_file(path) as draft:
        save_file(weights, draft, metadata={"format": "pt"})
    values = read_json(folder / CONFIG, finite=False) | {DIGEST: sha256(path)}
    write_json(folder / CONFIG, values, finite=False)


def _base_of(model: Any) -> ModelRef:
    """Return the encoder that differences are stored to, as it was loaded from the hub."""
    if model.origin is not None and full_name(model.origin.published) == model.config.base:
        published: ModelRef = model.origin.published
        return published
    return find_model(model.config.base)


def _portable(config: Any, folder: Path) -> dict[str, Any]:
    """Return a configuration as plain values without absolute paths."""
    values: dict[str, Any] = config.to_dict()
    # Transformers' record of the source may be a local path; `base` names the encoder already.
    values["encoder"].pop("_name_or_path", None)
    values.pop("_name_or_path", None)
    return values | {"base": relative_base(values["base"], folder)}


def relative_base(base: str, folder: Path) -> str:
    """Return a base as it is saved: a folder relative to the model's, any other name unchanged.

    Args:
        base: a name on the hub or of a named encoder, or the absolute path of a folder.
        folder: the model's folder.

    >>> relative_base("google-bert/bert-base-uncased", Path("models/reader"))
    'google-bert/bert-base-uncased'
    >>> relative_base(str(Path("models/encoder").absolute()), Path("models/reader"))
    '../encoder'
    """
    if not os.path.isabs(base):
        return base
    try:
        relative = PurePath(os.path.relpath(base, folder.resolve())).as_posix()
    except ValueError:  # On Windows, no path leads to another drive.
        return base
    return relative if relative.startswith("..") else f"./{relative}"


def rebase(folder: Path, home: Path, *, origin: Path | None = None) -> None:
    """Correct the paths of bases in a folder that will be moved or was copied.

    Args:
        folder: the folder, with a model, or with models in subfolders.
        home: the place that it will have.
        origin: the place that the paths in it start from; by default its present one.
    """
    for path in folder.rglob(CONFIG):
        if not is_own(path):
            continue
        inner, values = path.parent.relative_to(folder), read_json(path, finite=False)
        base = absolute_base(values["base"], (origin or folder) / inner)
        if base != values["base"]:
            values["base"] = relative_base(base, home / inner)
            write_json(path, values, finite=False)


def _write_card(model: Any, folder: Path, card: CardSettings, *, is_new: bool) -> None:
    """Write the card, or keep the one that the model's author may have edited."""
    if not is_new and (folder / README).exists():
        return
    source = model.source
    # The encoder of a task's model has another card.
    is_same = source and source.config and source.config["task"] == model.config.task
    if not is_new and is_same and (source.folder / README).is_file():
        shutil.copyfile(source.folder / README, folder / README)
        return
    write_card(folder, model, card)
