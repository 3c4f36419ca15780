"""Tokenizers of the published Marian models, which have a SentencePiece model for each language.

The tokenizer of Transformers has no character offsets.  Here both are built from the same files
with ``tokenizers``, which has them; a saved model keeps the files.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, processors
from tokenizers.pre_tokenizers import Metaspace
from transformers import PreTrainedTokenizerFast
from transformers.convert_slow_tokenizer import import_protobuf
from transformers.utils import cached_file

from syntagma.encoders import hub
from syntagma.encoders.hub_options import NONE, HubOptions
from syntagma.errors import InputError, MissingExtraError

SOURCE, TARGET, VOCABULARY = "source.spm", "target.spm", "vocab.json"
UNKNOWN, END, PAD = "<unk>", "</s>", "<pad>"
UNIGRAM = 1
"""Type number of SentencePiece's unigram models, which all published ones are."""

OTHER_SIDE, MIXED = -1e6, -1e9
"""Scores of pieces of the common vocabulary that one language lacks.

They are so low that no text which the language's own pieces cover is split into them.  Still,
characters that only the other language has get their pieces, as in Marian; ``MIXED`` pieces, which
also contain known characters, come last.
"""


def marian_files(name: str | Path, options: HubOptions = NONE) -> dict[str, Path] | None:
    """Return the files of a Marian tokenizer by name, or ``None`` if one is missing.

    Args:
        name: a folder, or a hub name.
        options: how it is loaded from the hub.
    """
    place = Path(name)
    found: dict[str, Path] = {}
    for file in (SOURCE, TARGET, VOCABULARY):
        if place.is_dir():
            path = place / file
        else:
            with hub.access(name, options):
                # Private arguments: the public behaviour is to raise for a missing file.
                path = cached_file(
                    str(name),
                    file,
                    **options.arguments,
                    _raise_exceptions_for_missing_entries=False,
                    _raise_exceptions_for_connection_errors=False,
                )
        if path is None or not Path(path).is_file():
            return None
        found[file] = Path(path)
    return found


class MarianTokenizer(PreTrainedTokenizerFast):  # type: ignore[misc]
    """A fast tokenizer with two sides: source texts with offsets, and target texts.

    Args:
        files: as :func:`marian_files` returns them.

    Raises:
        InputError: the files differ in format from those of the published models.
        MissingExtraError: protobuf is not installed, which reads the files.
    """

    def __init__(self, files: dict[str, Path]) -> None:
        self.files = files
        ids: dict[str, int] = json.loads(files[VOCABULARY].read_text("utf-8"))
        if sorted(ids.values()) != list(range(len(ids))) or not {UNKNOWN, END, PAD} <= ids.keys():
            raise InputError(
                f"{files[VOCABULARY]}: expected one vocabulary for both languages, numbered from "
                f"0, with {UNKNOWN}, {END} and {PAD}; copy the file of the published model again"
            )
        self.codes = tuple(p for p in ids if p.startswith(">>") and p.endswith("<<"))
        self._sides = {name: _side(files[name], ids, self.codes) for name in (SOURCE, TARGET)}
        super().__init__(
            tokenizer_object=self._sides[SOURCE], unk_token=UNKNOWN, eos_token=END, pad_token=PAD
        )
        # Transformers copied the tokenizer and added its special tokens to the copy.
        self._sides[SOURCE] = self._tokenizer

    def ask_for(self, language: str) -> None:
        """Make source texts begin with the code of a target language.

        Args:
            language: code such as ``>>deu<<``; empty for a model with one target language.

        Raises:
            InputError: the model lacks the code, or it has several and none is given.
        """
        if language not in self.codes and (language or self.codes):
            some = ", ".join(self.codes[:4]) + (", …" if len(self.codes) > 4 else "")
            has = f"the codes {some}; use one" if some else "one target language; omit the code"
            raise InputError(f"head.target_language: got {language!r}; this model has {has}")
        source = self._sides[SOURCE]
        source.post_processor = _template(source, language)

    # Hooks of Transformers, which calls them around `tokenizer(text_target=…)`.
    def _switch_to_target_mode(self) -> None:
        self._tokenizer = self._sides[TARGET]

    def _switch_to_input_mode(self) -> None:
        self._tokenizer = self._sides[SOURCE]

    def save_pretrained(self, save_directory: str | Path, **_: Any) -> tuple[str, ...]:
        """Copy the files into an existing folder.

        Args:
            save_directory: the folder.
        """
        kept = [Path(save_directory) / name for name in self.files]
        for path in kept:
            if path.resolve() != self.files[path.name].resolve():
                shutil.copyfile(self.files[path.name], path)
        return tuple(map(str, kept))


def _side(file: Path, ids: dict[str, int], codes: tuple[str, ...]) -> Tokenizer:
    """Build the tokenizer of one language, with the ids of the common vocabulary."""
    try:
        proto = import_protobuf().ModelProto()
        from google.protobuf.message import DecodeError
    except ImportError as error:
        raise MissingExtraError("the tokenizer of a Marian model", "mt") from error
    try:
        proto.ParseFromString(file.read_bytes())
    except DecodeError as error:
        raise InputError(
            f"{file}: not a SentencePiece model ({error}); copy the file of the published model "
            f"again"
        ) from error
    if proto.trainer_spec.model_type != UNIGRAM:
        raise InputError(
            f"{file}: expected a SentencePiece model of type unigram; use a published model"
        )
    own = {piece.piece: piece.score for piece in proto.pieces}
    known = set("".join(own))
    scores = []
    for piece in sorted(ids, key=lambda piece: ids[piece]):
        lacking = OTHER_SIDE if known.isdisjoint(piece) else MIXED
        scores.append((piece, own.get(piece, lacking)))
    side = Tokenizer(models.Unigram(scores, unk_id=ids[UNKNOWN], byte_fallback=False))
    # The steps that SentencePiece runs before it splits a text.
    steps: list[Any] = [
        normalizers.Strip(left=False, right=True),
        normalizers.Replace(Regex(" {2,}"), " "),
    ]
    if proto.normalizer_spec.precompiled_charsmap:
        steps.insert(0, normalizers.Precompiled(proto.normalizer_spec.precompiled_charsmap))
    side.normalizer = normalizers.Sequence(steps)
    side.pre_tokenizer = Metaspace(replacement="▁", prepend_scheme="always")
    side.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    side.add_special_tokens(
        [AddedToken(piece, normalized=False) for piece in (UNKNOWN, END, PAD, *codes)]
    )
    side.post_processor = _template(side, "")
    return side


def _template(side: Tokenizer, language: str) -> processors.TemplateProcessing:
    marks = [mark for mark in (language, END) if mark]
    return processors.TemplateProcessing(
        single=f"{language} $A {END}".strip(),
        special_tokens=[(mark, side.token_to_id(mark)) for mark in marks],
    )
