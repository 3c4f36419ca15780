"""Texts as the tensors that a guided encoder reads, in one call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from transformers import BatchEncoding

from syntagma.encoders.default import DEFAULT
from syntagma.encoders.load import load_encoder_config, load_tokenizer, max_pieces
from syntagma.encoders.saved import is_saved_model, saved_settings
from syntagma.encoders.shipped import DEFAULT_PARSER
from syntagma.errors import InputError
from syntagma.parse.load import load_source
from syntagma.parse.source import ParseSource
from syntagma.parse.store import ParseStore
from syntagma.syntax.encode import COLUMNS, PieceMode, encode_texts, piece_mode
from syntagma.syntax.windows import DOMAIN, Part, SequenceBuilder, fit_two

__all__ = ["SyntaxTokenizer"]


class SyntaxTokenizer:
    """Cuts texts into pieces as an encoder's tokenizer does, and gives each its place in the tree.

    Args:
        tokenizer: the encoder's fast tokenizer.
        source: parses the texts.
        longest: pieces that the encoder reads at most, special ones included.
        pieces: how a word's place in the tree reaches its pieces (:mod:`syntagma.syntax.encode`).
        cache: folder where parses are kept; without one none are.
    """

    def __init__(
        self,
        tokenizer: Any,
        source: ParseSource,
        *,
        longest: int = 512,
        pieces: PieceMode = "share",
        cache: Path | None = None,
    ) -> None:
        self.tokenizer = tokenizer
        self.pieces = pieces
        self._store = ParseStore(source, cache)
        self._builder = SequenceBuilder(tokenizer, columns=(*COLUMNS, DOMAIN), longest=longest)

    @classmethod
    def from_pretrained(
        cls,
        name: str | Path = DEFAULT,
        *,
        parser: str = "",
        pieces: PieceMode | None = None,
        device: str = "cpu",
        cache: Path | None = None,
    ) -> Self:
        """For an encoder, or for a saved model with the parser and pieces that it was trained with.

        Args:
            name: ``default``, a folder, or a hub name.
            parser: where trees come from (:func:`syntagma.parse.load.load_source`).
            pieces: as for the class.
            device: where the parser computes.
            cache: as for the class.

        Raises:
            InputError: there is no such encoder or parser.
        """
        name = str(name)
        saved = saved_settings(name) if is_saved_model(name) else {}
        return cls(
            load_tokenizer(name),
            load_source(parser or saved.get("parser") or DEFAULT_PARSER, device=device),
            longest=max_pieces(load_encoder_config(name)),
            pieces=pieces or piece_mode(saved.get("guides", {})),
            cache=cache,
        )

    @classmethod
    def for_model(
        cls, model: Any, *, parser: str = "", device: str = "cpu", cache: Path | None = None
    ) -> Self:
        """For a guided encoder: its tokenizer, its parser, and pieces as its guides read them.

        The tokenizer is the one beside the saved model, or else that of the encoder it began from.

        Args:
            model: a :class:`syntagma.models.guided_encoder.GuidedEncoder`.
            parser: instead of the model's, which is the default parser where none is named.
            device: where the parser computes.
            cache: as for the class.

        Raises:
            InputError: there is no such tokenizer or parser.
        """
        has_own = (Path(model.source) / "tokenizer.json").is_file()
        return cls.from_pretrained(
            model.source if model.source and has_own else model.config.base,
            parser=parser or model.config.parser,
            pieces=piece_mode(model.config.guides),
            device=device,
            cache=cache,
        )

    def __call__(
        self,
        texts: str | Sequence[str],
        others: str | Sequence[str] | None = None,
        *,
        max_length: int | None = None,
    ) -> BatchEncoding:
        """A padded batch, for ``model(**batch)``.

        Args:
            texts: ``[batch]``, or one.
            others: the second text of each sequence, as many.
            max_length: pieces of a sequence, special ones included; the longer of two texts loses
                its end first. The longest that the encoder reads if not given.

        Returns:
            ``input_ids``, ``attention_mask``, ``token_type_ids`` and the integers that guides read
            (:class:`syntagma.models.guide.Syntax`), ``[batch, n_pieces]`` each.

        Raises:
            InputError: the numbers of texts differ, there is none, or ``max_length`` is more than
                the encoder reads or has no room.
        """
        firsts = _listed(texts)
        seconds = [] if others is None else _listed(others)
        if not firsts:
            raise InputError("expected a text or several, got none")
        if others is not None and len(seconds) != len(firsts):
            raise InputError(
                f"expected as many second texts as first ones; got {len(firsts)} and {len(seconds)}"
            )
        longest, n_special = self._builder.longest, self._builder.n_special(2 if seconds else 1)
        if max_length is not None and not n_special < max_length <= longest:
            raise InputError(
                f"max_length: expected more than {n_special} and at most {longest}, what the "
                f"encoder reads; got {max_length}"
            )
        unique = list(dict.fromkeys((*firsts, *seconds)))
        parsed = self._store.parsed(unique)
        encoded = encode_texts(unique, self.tokenizer, parsed, mode=self.pieces)
        pieces = dict(zip(unique, encoded, strict=True))
        room = (max_length or longest) - n_special
        sequences: list[tuple[Part, ...]] = []
        if seconds:
            for first, second in zip(firsts, seconds, strict=True):
                lengths = fit_two(len(pieces[first]), len(pieces[second]), room)
                both = zip((first, second), lengths, strict=True)
                sequences.append(tuple(Part(pieces[text], 0, length) for text, length in both))
        else:
            sequences = [(Part(pieces[t], 0, min(len(pieces[t]), room)),) for t in firsts]
        self._store.forget()
        return BatchEncoding(self._builder.collate(sequences))


def _listed(texts: Any) -> list[str]:
    """Texts as a list.

    Raises:
        InputError: they are none.
    """
    if isinstance(texts, str):
        return [texts]
    found = list(texts) if isinstance(texts, Iterable) and not isinstance(texts, Mapping) else None
    if found is None or not all(isinstance(text, str) for text in found):
        raise InputError(
            f"expected a text or a list of texts, second ones as the next argument; got "
            f"{texts!r:.80}"
        )
    return found
