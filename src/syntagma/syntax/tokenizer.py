"""Texts as the tensors that a guided encoder reads, in one call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor
from transformers import BatchEncoding

from syntagma.encoders.default import DEFAULT, DEFAULT_PARSER
from syntagma.encoders.load import load_encoder_config, load_tokenizer, max_pieces
from syntagma.encoders.reference import ModelName, find_model
from syntagma.errors import InputError
from syntagma.parse.columns import ParsedText, require_trees
from syntagma.parse.sources.cache import ParseCache
from syntagma.parse.sources.load import load_source
from syntagma.parse.sources.source import Mode, ParseSource
from syntagma.syntax.encode import COLUMNS, EncodedText, PieceMode, encode_texts, piece_mode
from syntagma.syntax.sequences import DOMAIN, Part, SequenceBuilder, fit_two
from syntagma.text.sentence import Parse


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
        cache: str | Path | None = None,
    ) -> None:
        self.tokenizer = tokenizer
        self.pieces = pieces
        self._cache = ParseCache(source, None if cache is None else Path(cache))
        self._builder = SequenceBuilder(tokenizer, columns=(*COLUMNS, DOMAIN), longest=longest)

    @classmethod
    def from_pretrained(
        cls,
        name: ModelName = DEFAULT,
        *,
        parser: str = "",
        pieces: PieceMode | None = None,
        mode: Mode = "raw",
        device: str = "cpu",
        cache: str | Path | None = None,
    ) -> Self:
        """For an encoder, or for a saved model with the parser and pieces that it was trained with.

        Args:
            name: ``default``, a folder, or a hub name.
            parser: where trees come from (:func:`syntagma.parse.sources.load.load_source`).
            pieces: as for the class.
            mode: ``raw`` for running text, ``words`` for texts whose words are given.
            device: where the parser computes.
            cache: as for the class.

        Raises:
            InputError: there is no such encoder or parser.
        """
        ref = find_model(name)
        saved = ref.config or {}
        return cls(
            load_tokenizer(ref),
            load_source(parser or saved.get("parser") or DEFAULT_PARSER, device=device, mode=mode),
            longest=max_pieces(load_encoder_config(ref)),
            pieces=pieces or piece_mode(saved.get("guides", {})),
            cache=cache,
        )

    @classmethod
    def for_model(
        cls,
        model: Any,
        *,
        parser: str = "",
        mode: Mode = "raw",
        device: str = "cpu",
        cache: str | Path | None = None,
    ) -> Self:
        """For a guided encoder: its tokenizer, its parser, and pieces as its guides read them.

        The tokenizer is the one beside the saved model, or else that of the encoder it began from.

        Args:
            model: a :class:`syntagma.models.guided_encoder.GuidedEncoder`.
            parser: instead of the model's, which is the default parser where none is named.
            mode: as for :meth:`from_pretrained`.
            device: where the parser computes.
            cache: as for the class.

        Raises:
            InputError: there is no such tokenizer or parser.
        """
        return cls.from_pretrained(
            model.source or model.config.base,
            parser=parser or model.config.parser,
            pieces=piece_mode(model.config.guides),
            mode=mode,
            device=device,
            cache=cache,
        )

    def __call__(
        self,
        texts: str | Sequence[str] | Sequence[Sequence[str]],
        others: str | Sequence[str] | Sequence[Sequence[str]] | None = None,
        *,
        max_length: int | None = None,
        parses: Sequence[Sequence[Parse]] | None = None,
        other_parses: Sequence[Sequence[Parse]] | None = None,
        return_offsets_mapping: bool = False,
    ) -> BatchEncoding:
        """A padded batch, for ``model(**batch)``.

        Args:
            texts: ``[batch]``, or one. Each a text, or a list of its words, which is read as the
                words with a space between them (``mode="words"`` parses these words).
            others: the second text of each sequence, as many.
            max_length: pieces of a sequence, special ones included; the longer of two texts loses
                its end first. The longest that the encoder reads if not given.
            parses: the sentences of each text where they are known, ``[batch]``; offsets index
                into the text. The source is not asked then.
            other_parses: of the second texts.
            return_offsets_mapping: add ``offset_mapping``, ``[batch, n_pieces, 2]``: the characters
                of each piece in its text, 0 and 0 at special pieces and padding. It is not for the
                model: ``pop`` it before.

        Returns:
            ``input_ids``, ``attention_mask``, ``token_type_ids`` and the integers that guides read
            (:class:`syntagma.models.guide.Syntax`), ``[batch, n_pieces]`` each. ``word`` counts the
            words of both texts from 0 on, and is -1 at special pieces and padding; ``domain`` is 0
            in the first text, 1 in the second.

        Raises:
            InputError: the numbers of texts or of parses differ, there is none, a parse does not
                fit its text, or ``max_length`` is more than the encoder reads or has no room.
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
        given = [
            *_given(firsts, parses, "parses"),
            *_given(seconds, other_parses, "other_parses"),
        ]
        encoded = self._encoded([*firsts, *seconds], given)
        room = (max_length or longest) - n_special
        sequences: list[tuple[Part, ...]] = []
        if seconds:
            for both in zip(encoded[: len(firsts)], encoded[len(firsts) :], strict=True):
                lengths = fit_two(len(both[0]), len(both[1]), room)
                parts = zip(both, lengths, strict=True)
                sequences.append(tuple(Part(text, 0, length) for text, length in parts))
        else:
            sequences = [(Part(text, 0, min(len(text), room)),) for text in encoded]
        batch = self._builder.collate(sequences)
        if return_offsets_mapping:
            batch["offset_mapping"] = self._offsets(sequences, width=batch["input_ids"].shape[1])
        return BatchEncoding(batch)

    def _encoded(self, texts: list[str], given: list[Sequence[Parse] | None]) -> list[EncodedText]:
        """Each text as pieces; what comes more than once is cut once."""
        asked = [text for text, parses in zip(texts, given, strict=True) if parses is None]
        parsed = dict(zip(asked, self._cache.parsed(asked), strict=True))
        self._cache.forget()
        keyed = [
            (text, parsed[text] if parses is None else ParsedText.from_parses(parses))
            for text, parses in zip(texts, given, strict=True)
        ]
        unique = {(text, id(parse)): (text, parse) for text, parse in keyed}
        columns = zip(*unique.values(), strict=True)
        unique_texts, unique_parses = map(list, columns)
        cut = encode_texts(unique_texts, self.tokenizer, unique_parses, mode=self.pieces)
        found = dict(zip(unique, cut, strict=True))
        return [found[text, id(parse)] for text, parse in keyed]

    def _offsets(self, sequences: Sequence[Sequence[Part]], *, width: int) -> Tensor:
        """The characters of each piece, ``[batch, width, 2]``."""
        offsets = torch.zeros(len(sequences), width, 2, dtype=torch.int64)
        for row, parts in enumerate(sequences):
            for begin, (text, start, end) in zip(self._builder.begins(parts), parts, strict=True):
                place = slice(begin, begin + end - start)
                offsets[row, place, 0] = torch.from_numpy(text.starts[start:end])
                offsets[row, place, 1] = torch.from_numpy(text.ends[start:end])
        return offsets


def _listed(texts: Any) -> list[str]:
    """Texts as a list; words that are given with a space between them.

    Raises:
        InputError: they are none.
    """
    if isinstance(texts, str):
        return [texts]
    found = list(texts) if isinstance(texts, Iterable) and not isinstance(texts, Mapping) else None
    if found is not None and found and all(isinstance(text, list) for text in found):
        return [_joined(words) for words in found]
    if found is None or not all(isinstance(text, str) for text in found):
        raise InputError(
            f"expected a text or a list of texts, or of lists of words; second ones as the next "
            f"argument; got {texts!r:.80}"
        )
    return found


def _joined(words: Sequence[Any]) -> str:
    """Words with a space between them.

    Raises:
        InputError: one of them is no word.
    """
    for word in words:
        if not isinstance(word, str) or word.split() != [word]:
            raise InputError(f"expected words without white space, got {word!r:.80}")
    return " ".join(words)


def _given(
    texts: list[str], parses: Sequence[Sequence[Parse]] | None, name: str
) -> Sequence[Sequence[Parse] | None]:
    """The parses of each text that are known.

    Raises:
        InputError: they do not fit the texts.
    """
    if parses is None:
        return [None] * len(texts)
    if len(parses) != len(texts):
        raise InputError(
            f"{name}: expected the sentences of each of {len(texts)} texts, got {len(parses)}"
        )
    for text, sentences in zip(texts, parses, strict=True):
        if isinstance(sentences, Parse) or not all(isinstance(part, Parse) for part in sentences):
            raise InputError(
                f"{name}: expected a list of sentences for each text, as `parse_text` gives it; "
                f"got {sentences!r:.60}"
            )
        require_trees(sentences, text)
        _require_words(text, sentences, name)
    return parses


def _require_words(text: str, sentences: Sequence[Parse], name: str) -> None:
    """Refuse the parse of another text; brackets, quotes and dashes may be written otherwise."""
    for parse in sentences:
        for word in parse.sentence.words:
            read = text[word.start : word.end]
            plain = all(part.isascii() and part.isalnum() for part in (read, word.form))
            if plain and len(read) == len(word.form) and read.lower() != word.form.lower():
                raise InputError(
                    f"{name}: the word {word.form!r} is to stand at {word.start}, where the text "
                    f"has {read!r}; offsets count characters of the text, as "
                    f"Sentence.from_words(…, offset={word.start}) does"
                )
