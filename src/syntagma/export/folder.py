"""Export a saved model into a folder that other programs can use."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch

from syntagma.encoders.reference import ModelName, find_model
from syntagma.errors import InputError, how_to_skip
from syntagma.evaluation import open_model
from syntagma.export.families import Family, SpanFamily, family_of, first
from syntagma.export.int8 import round_to_int8
from syntagma.export.onnx_file import MODEL, Session, require_extra, write_onnx
from syntagma.export.parity import Parity, compare, require_within
from syntagma.export.readme import readme
from syntagma.export.settings_file import config_of
from syntagma.export.texts import passages
from syntagma.models.guide import AttentionGuide
from syntagma.outputs import require_absent, write_folder, write_json, write_text

FORMATS = ("onnx",)
EXAMPLES = 500
"""Number of examples on which an export is compared with its model."""
TRACED = 3
"""Number of items that the graph is traced with: sizes of 0 and 1 would become constants."""
SHIPPED = "passages that come with Syntagma"
VERIFIER = "verifier"
"""Folder of a reader's verifier in its own."""


class Exported(NamedTuple):
    """What was written.

    Args:
        folder: the folder.
        size: size of the graph with its weights, in bytes; without a verifier's.
        parity: the comparison with the model.
    """

    folder: Path
    size: int
    parity: Parity

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as in the JSON file of ``export --json``."""
        return {"folder": str(self.folder), "size": self.size, "parity": self.parity.to_dict()}


def export(
    name: ModelName,
    out: str | Path,
    *,
    to: str = "onnx",
    int8: bool = False,
    check: Sequence[str | Path] = (),
    task: str = "",
    parser: str = "",
    phrases: bool = False,
    skip_bad: bool = False,
) -> Exported:
    """Write a model as a graph with everything that a program needs to use it.

    The export is run on examples and compared with the model; if they differ by more than
    :func:`syntagma.export.parity.bounds` allows, nothing is written.

    Args:
        name: of the model, see :func:`syntagma.evaluation.open_model`.
        out: the folder to write; it must not exist.
        to: the format, ``onnx``.
        int8: store weights as 8-bit integers, a quarter of the size.
        check: files of the model's task, of which the first 500 examples are compared; by default
            passages that come with the package.
        task: another task than the model's own, see :func:`syntagma.evaluation.open_model`.
        parser: where the trees of the compared examples come from, if not from the source used in
            training.
        phrases: for parsers: export scores of phrases too.
        skip_bad: skip bad examples of ``check``.

    Raises:
        InputError: there is no such model, it cannot be exported, the folder exists, or the export
            differs from the model.
        MissingExtraError: the extra ``export`` is not installed.
    """
    if to not in FORMATS:
        raise InputError(f"--to: expected {' or '.join(FORMATS)}, got {to!r}")
    require_extra()
    require_absent(out)
    ref = find_model(name)
    opened = open_model(ref, task=task, parser=parser, precision="float32")
    family = family_of(opened, phrases=phrases)
    make_plain(family.model)
    rows, source = _rows(family, opened, check, skip_bad)
    identity = ref.identity()
    with write_folder(out) as draft:
        job = _Job(rows, source, opened.name, identity, int8)
        found = _write(family, draft, job)
        verifier = getattr(family.predictor, "verifier", None)
        if isinstance(family, SpanFamily) and verifier is not None:
            (draft / VERIFIER).mkdir()
            other = {"name": f"verifier of {ref.name}", "version": "", "digest": ""}
            make_plain(verifier.model)
            _write(SpanFamily(verifier), draft / VERIFIER, job._replace(identity=other))
    return found._replace(folder=Path(out))


class _Job(NamedTuple):
    rows: list[Any]
    source: str
    task: str
    identity: dict[str, str]
    int8: bool


def make_plain(model: Any) -> None:
    """Let a model compute with operations that a graph can hold, and nothing that CPUs need.

    Args:
        model: the model, which computes the same as before.

    Raises:
        InputError: it has a guide that cannot be exported.
    """
    model.eval()
    encoder = model.encoder
    # A private attribute: Transformers has no public one that returns the implementation in use.
    if getattr(encoder.config, "_attn_implementation", None) == "syntagma":
        encoder.set_attn_implementation("sdpa")
    for guide in getattr(model, "guides", ()):
        if isinstance(guide, AttentionGuide):
            guide.all_pairs = True
        if getattr(guide.settings, "mask", "") == "random":
            raise InputError(
                f"guides.{guide.name}: mask random cannot be exported, since it draws words by "
                f"hashes of 32 bits, which ONNX cannot compute; train a model with mask: ancestors"
            )


def _rows(
    family: Family, opened: Any, check: Sequence[str | Path], skip_bad: bool
) -> tuple[list[Any], str]:
    """Return what the export and the model are compared on, and where it comes from."""
    if not check:
        return first(family.made_rows(passages()), EXAMPLES), SHIPPED
    with how_to_skip("--skip-bad"):
        parts = opened.read_parts(list(map(str, check)), skip_bad=skip_bad)
    examples = [example for part in parts.values() for example in part][:EXAMPLES]
    rows = family.example_rows(examples)
    if not rows:
        raise InputError(f"--check: {', '.join(map(str, check))}: expected examples, got none")
    return rows, ", ".join(Path(path).name for path in check)


def _write(family: Family, folder: Path, job: _Job) -> Exported:
    """Write the files of one model into an existing folder."""
    what = job.identity["name"] or "model"
    path = folder / MODEL
    traced = family.items(job.rows[: 4 * TRACED])
    if len(traced) < 2:
        raise InputError(f"{what}: expected at least two examples to compare on, got {len(traced)}")
    write_onnx(family.graph, family.batch(traced[:TRACED]), path, what=_described(what, family))
    if job.int8:
        round_to_int8(path)
    session = Session(path, n_threads=torch.get_num_threads())
    parity = compare(family, session, job.rows, examples=job.source, int8=job.int8)
    require_within(parity, what)
    config = config_of(family, task=job.task, model=job.identity, int8=job.int8)
    write_json(folder / "config.json", config)
    write_json(folder / "parity.json", parity.to_dict())
    family.tokenizer.save(str(folder / "tokenizer.json"))
    write_text(folder / "README.md", readme(config, parity))
    size = sum(each.stat().st_size for each in folder.glob(f"*{MODEL}*"))
    return Exported(folder, size, parity)


def _described(name: str, family: Family) -> str:
    """Return what is exported, for an error message: the encoder or a guide may be the reason."""
    config = family.model.config
    guides = ", ".join(config.guides) or "no guides"
    return f"{name} (encoder {config.encoder.model_type}, {guides})"
