"""Tokenizers of the published Marian models, which have a SentencePiece model for each side.

That of Transformers cannot tell where its pieces stand.  Here both sides are made of the same files
by ``tokenizers``, which can; a saved model keeps the files.
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
from syntagma.errors import InputError, MissingExtraError

SOURCE, TARGET, VOCABULARY = "source.spm", "target.spm", "vocab.json"
UNKNOWN, END, PAD = "<unk>", "</s>", "<pad>"
UNIGRAM = 1
"""The kind of SentencePiece model that the published ones are."""

OTHER_SIDE, MIXED = -1e6, -1e9
"""Scores of pieces that a side does not have.

They are so low that no text which the side's own pieces cover is cut into them.  A character that
it lacks is taken from the other side, though, where that has it, as Marian does.
"""


def marian_files(name: str | Path) -> dict[str, Path] | None:
    """The files that a Marian tokenizer is made of, by their names; nothing where there are none.

    Args:
        name: a folder, or a hub name.
    """
    place = Path(name)
    found: dict[str, Path] = {}
    for file in (SOURCE, TARGET, VOCABULARY):
        if place.is_dir():
            path = place / file
        else:
            with hub.access(name):
                path = cached_file(
                    str(name),
                    file,
                    _raise_exceptions_for_missing_entries=False,
                    _raise_exceptions_for_connection_errors=False,
                )
        if path is None or not Path(path).is_file():
            return None
        found[file] = Path(path)
    return found


class MarianTokenizer(PreTrainedTokenizerFast):  # type: ignore[misc]
    """Pieces of sources with their places, pieces of targets, and texts of these.

    Args:
        files: as :func:`marian_files` finds them.

    Raises:
        InputError: the files are of another kind than those of the published models.
        MissingExtraError: protobuf is not installed, which reads them.
    """

    def __init__(self, files: dict[str, Path]) -> None:
        self.files = files
        ids: dict[str, int] = json.loads(files[VOCABULARY].read_text("utf-8"))
        if sorted(ids.values()) != list(range(len(ids))) or not {UNKNOWN, END, PAD} <= ids.keys():
            raise InputError(
                f"{files[VOCABULARY]}: expected one vocabulary of both sides, numbered from 0 on, "
                f"with {UNKNOWN}, {END} and {PAD}"
            )
        self.codes = tuple(p for p in ids if p.startswith(">>") and p.endswith("<<"))
        self._sides = {name: _side(files[name], ids, self.codes) for name in (SOURCE, TARGET)}
        super().__init__(
            tokenizer_object=self._sides[SOURCE], unk_token=UNKNOWN, eos_token=END, pad_token=PAD
        )
        # Transformers has made a copy, with special pieces of its own.
        self._sides[SOURCE] = self._tokenizer

    def ask_for(self, language: str) -> None:
        """Let sources begin with the code of a target language.

        Args:
            language: its code, such as ``>>deu<<``; empty for a model of one language.

        Raises:
            InputError: the model has no such code, or several and none is named.
        """
        if language not in self.codes and (language or self.codes):
            some = ", ".join(self.codes[:4]) + (", …" if len(self.codes) > 4 else "")
            has = f"the codes {some}; name one" if some else "one target language; leave it out"
            raise InputError(f"head.target_language: got {language!r}; this model has {has}")
        source = self._sides[SOURCE]
        source.post_processor = _template(source, language)

    def _switch_to_target_mode(self) -> None:
        self._tokenizer = self._sides[TARGET]

    def _switch_to_input_mode(self) -> None:
        self._tokenizer = self._sides[SOURCE]

    def save_pretrained(self, save_directory: str | Path, **_: Any) -> tuple[str, ...]:
        """Copy the files into a folder.

        Args:
            save_directory: the folder, which exists.
        """
        kept = [Path(save_directory) / name for name in self.files]
        for path in kept:
            if path.resolve() != self.files[path.name].resolve():
                shutil.copyfile(self.files[path.name], path)
        return tuple(map(str, kept))


def _side(file: Path, ids: dict[str, int], codes: tuple[str, ...]) -> Tokenizer:
    """A side's own pieces under the numbers of the common vocabulary."""
    try:
        proto = import_protobuf().ModelProto()
        from google.protobuf.message import DecodeError
    except ImportError as error:
        raise MissingExtraError("the tokenizer of a Marian model", "mt") from error
    try:
        proto.ParseFromString(file.read_bytes())
    except DecodeError as error:
        raise InputError(
            f"{file}: expected a SentencePiece model ({error}); copy the file of the published "
            f"model again"
        ) from error
    if proto.trainer_spec.model_type != UNIGRAM:
        raise InputError(f"{file}: expected a SentencePiece model of the kind 'unigram'")
    own = {piece.piece: piece.score for piece in proto.pieces}
    known = set("".join(own))
    scores = []
    for piece in sorted(ids, key=lambda piece: ids[piece]):
        lacking = OTHER_SIDE if known.isdisjoint(piece) else MIXED
        scores.append((piece, own.get(piece, lacking)))
    side = Tokenizer(models.Unigram(scores, unk_id=ids[UNKNOWN], byte_fallback=False))
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
