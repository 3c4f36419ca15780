"""Turn texts into the tensors that a guided encoder reads, in one call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self, get_args

import torch
from torch import Tensor
from transformers import BatchEncoding

from syntagma.checks import is_count, require_choice
from syntagma.encoders.default import DEFAULT, DEFAULT_PARSER
from syntagma.encoders.hub_options import FIELDS, take_hub_options
from syntagma.encoders.load import load_encoder_config, load_tokenizer, max_pieces
from syntagma.encoders.reference import ModelName, find_model
from syntagma.errors import InputError
from syntagma.parse.columns import ParsedText, require_trees
from syntagma.parse.sources.cache import ParseCache
from syntagma.parse.sources.load import AnyParser, as_source, needed_source
from syntagma.parse.sources.source import Mode, ParseSource
from syntagma.settings import nearest
from syntagma.syntax.encode import EncodedText, encode_texts, piece_mode
from syntagma.syntax.pieces import COLUMNS, PieceMode
from syntagma.syntax.sequences import DOMAIN, Part, SequenceBuilder, fit_two
from syntagma.syntax.tags import TagSet, tag_set_of
from syntagma.text.sentence import Parse


class SyntaxTokenizer:
    """Tokenizes texts as an encoder's tokenizer does, and adds the syntax of each piece.

    Threads may share one: each call returns what it returns alone.

    Args:
        tokenizer: the encoder's fast tokenizer.
        source: parse source for the texts.
        longest: maximum number of pieces that the encoder reads, with special tokens.
        pieces: rule for transferring the tree to pieces (:mod:`syntagma.syntax.pieces`).
        tags: the tag set whose ids the column ``tag`` has.
        cache: folder in which parses are cached; ``None`` for no cache.
        mode: ``raw`` for running text, ``words`` for texts that are tokenized already.

    Raises:
        InputError: the mode, the rule or the tag set is unknown.
    """

    def __init__(
        self,
        tokenizer: Any,
        source: ParseSource,
        *,
        longest: int = 512,
        pieces: PieceMode = "share",
        tags: TagSet = "penn",
        cache: str | Path | None = None,
        mode: Mode = "raw",
    ) -> None:
        require_choice(mode, "mode", get_args(Mode))
        require_choice(pieces, "pieces", get_args(PieceMode))
        require_choice(tags, "tags", get_args(TagSet))
        self.tags = tags
        self.tokenizer = tokenizer
        self.mode = mode
        self.pieces = pieces
        self._cache = ParseCache(source, None if cache is None else Path(cache))
        self._builder = SequenceBuilder(tokenizer, columns=(*COLUMNS, DOMAIN), longest=longest)

    @classmethod
    def from_pretrained(
        cls,
        name: ModelName = DEFAULT,
        *,
        parser: AnyParser = "",
        pieces: PieceMode | None = None,
        mode: Mode = "raw",
        device: str = "cpu",
        cache: str | Path | None = None,
        **options: Any,
    ) -> Self:
        """Build the tokenizer of an encoder, or of a saved model with its parser and rule.

        Args:
            name: ``default``, a folder, or a hub name.
            parser: parse source (:func:`syntagma.parse.sources.load.as_source`); by default that of
                the saved model, or the default parser.
            pieces: rule for transferring the tree to pieces; by default that of the saved model.
            mode: ``raw`` for running text, ``words`` for texts that are tokenized already.
            device: device of the parser.
            cache: folder in which parses are cached.
            options: ``revision``, ``token``, ``cache_dir``, ``local_files_only`` and
                ``subfolder``, as in Transformers
                (:class:`syntagma.encoders.hub_options.HubOptions`).

        Raises:
            InputError: there is no such encoder or parser, or an option is unknown.
        """
        ref = find_model(name, take_hub_options(options))
        if options:
            raise InputError(f"{next(iter(options))}: {nearest(next(iter(options)), FIELDS)}")
        saved = ref.config or {}
        return cls(
            load_tokenizer(ref),
            as_source(
                parser or saved.get("parser") or DEFAULT_PARSER,
                device=device,
                mode=mode,
                options=ref.options.elsewhere(),
            ),
            longest=max_pieces(load_encoder_config(ref)),
            pieces=pieces or piece_mode(saved.get("guides", {})),
            tags=tag_set_of(saved.get("guides", {})),
            cache=cache,
            mode=mode,
        )

    @classmethod
    def for_model(
        cls,
        model: Any,
        *,
        parser: AnyParser = "",
        mode: Mode = "raw",
        device: str = "cpu",
        cache: str | Path | None = None,
    ) -> Self:
        """Build the tokenizer of a guided encoder, with its parser and the rule of its guides.

        Args:
            model: a :class:`syntagma.models.guided_encoder.GuidedEncoder`; if it has no saved
                tokenizer, that of its base encoder is used.
            parser: parse source (:func:`syntagma.parse.sources.load.as_source`), also a tagger for
                a model that reads no trees; by default that of the model, or the default parser.
                For a model with guides that read no trees, no parser is loaded by default.
            mode: ``raw`` for running text, ``words`` for texts that are tokenized already.
            device: device of the parser.
            cache: folder in which parses are cached.

        Raises:
            InputError: there is no such tokenizer or parser, or the model reads trees and the
                parser is a tagger.
        """
        own = model.config.parser or DEFAULT_PARSER
        if model.guides:
            own = needed_source(own, trees=model.reads_trees)
        ref = model.origin or find_model(model.config.base)
        source = as_source(
            parser or own,
            device=device,
            mode=mode,
            heads=model.reads_heads,
            options=ref.options.elsewhere(),
        )
        return cls.from_pretrained(
            ref,
            parser=source,
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
        return_tensors: Literal["pt", "np"] | None = "pt",
    ) -> BatchEncoding:
        """Build a padded batch for ``model(**batch)``.

        Args:
            texts: one text, or several, ``[batch]``.  A text may be a list of words, which are
                joined with spaces (with ``mode="words"`` they are also the words of the parse).
            others: second text of each sequence, ``[batch]``.
            max_length: tokens per sequence, with special tokens; the longer of two texts is
                truncated first.  By default the longest sequence that the encoder reads.
            parses: sentences of each text, ``[batch]``, with offsets into the text; replaces the
                parse source.
            other_parses: sentences of each second text, ``[batch]``.
            return_offsets_mapping: whether to add ``offset_mapping``, ``[batch, n_pieces, 2]``:
                start and end of each piece in its text; zeros for special tokens and padding.  The
                model does not accept it, so ``pop`` it first.
            return_tensors: ``pt`` for tensors of torch, ``np`` for arrays of NumPy, ``None`` for
                lists, as in Transformers.

        Returns:
            ``input_ids``, ``attention_mask``, ``token_type_ids`` and the tensors that guides read
            (:class:`syntagma.models.guide.Syntax`), ``[batch, n_pieces]`` each.  ``word`` numbers
            the words of both texts from 0, and is −1 for special tokens and padding; ``domain`` is
            0 for the first text, 1 for the second.

        Raises:
            InputError: no text is given, the numbers of texts or parses differ, a parse does not
                fit its text, ``max_length`` is too large or too small or no whole number, or there
                is no such kind of tensors.
        """
        if return_tensors not in ("pt", "np", None):
            raise InputError(f"return_tensors: expected pt, np or None, got {return_tensors!r}")
        firsts = _listed(texts)
        seconds = [] if others is None else _listed(others)
        if not firsts:
            raise InputError("expected one text or several, got none")
        if others is not None and len(seconds) != len(firsts):
            raise InputError(
                f"expected as many second texts as first ones; got {len(firsts)} and {len(seconds)}"
            )
        longest, n_special = self._builder.longest, self._builder.n_special(2 if seconds else 1)
        if max_length is not None and not (
            is_count(max_length) and n_special < max_length <= longest
        ):
            raise InputError(
                f"max_length: expected a whole number over {n_special} (special tokens) and of at "
                f"most {longest} (read by the encoder); got {max_length!r:.60}"
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
        if return_tensors == "pt":
            return BatchEncoding(batch)
        arrays = {name: tensor.numpy() for name, tensor in batch.items()}
        if return_tensors == "np":
            return BatchEncoding(arrays)
        return BatchEncoding({name: array.tolist() for name, array in arrays.items()})

    def _encoded(self, texts: list[str], given: list[Sequence[Parse] | None]) -> list[EncodedText]:
        """Encode each text; equal texts with the same parse are encoded once."""
        asked = [text for text, parses in zip(texts, given, strict=True) if parses is None]
        parsed = dict(zip(asked, self._cache.parsed(asked), strict=True))
        # A cache without a folder would grow with every batch.
        self._cache.forget()
        keyed = [
            (text, parsed[text] if parses is None else ParsedText.from_parses(parses))
            for text, parses in zip(texts, given, strict=True)
        ]
        unique = {(text, id(parse)): (text, parse) for text, parse in keyed}
        columns = zip(*unique.values(), strict=True)
        unique_texts, unique_parses = map(list, columns)
        cut = encode_texts(
            unique_texts,
            self.tokenizer,
            unique_parses,
            mode=self.pieces,
            tags=self.tags,
            given_words=self.mode == "words",
        )
        found = dict(zip(unique, cut, strict=True))
        return [found[text, id(parse)] for text, parse in keyed]

    def _offsets(self, sequences: Sequence[Sequence[Part]], *, width: int) -> Tensor:
        """Return start and end of each piece in its text, ``[batch, width, 2]``."""
        offsets = torch.zeros(len(sequences), width, 2, dtype=torch.int64)
        for row, parts in enumerate(sequences):
            for begin, (text, start, end) in zip(self._builder.begins(parts), parts, strict=True):
                place = slice(begin, begin + end - start)
                offsets[row, place, 0] = torch.from_numpy(text.starts[start:end])
                offsets[row, place, 1] = torch.from_numpy(text.ends[start:end])
        return offsets


def _listed(texts: Any) -> list[str]:
    """Return texts as a list of strings; words are joined with spaces."""
    if isinstance(texts, str):
        return [texts]
    found = list(texts) if isinstance(texts, Iterable) and not isinstance(texts, Mapping) else None
    if found is not None and found and all(isinstance(text, list) for text in found):
        return [_joined(words) for words in found]
    if found is None or not all(isinstance(text, str) for text in found):
        raise InputError(
            f"expected a text, a list of texts, or a list of lists of words (second texts are the "
            f"next argument); got {texts!r:.80}"
        )
    return found


def _joined(words: Sequence[Any]) -> str:
    """Join words with spaces."""
    for word in words:
        if not isinstance(word, str) or word.split() != [word]:
            raise InputError(f"expected words without whitespace, got {word!r:.80}")
    return " ".join(words)


def _given(
    texts: list[str], parses: Sequence[Sequence[Parse]] | None, name: str
) -> Sequence[Sequence[Parse] | None]:
    """Check the given parses of texts; ``None`` stands for a text without one."""
    if parses is None:
        return [None] * len(texts)
    if len(parses) != len(texts):
        raise InputError(
            f"{name}: expected the sentences of {len(texts)} texts, got those of {len(parses)}"
        )
    for text, sentences in zip(texts, parses, strict=True):
        if isinstance(sentences, Parse) or not all(isinstance(part, Parse) for part in sentences):
            raise InputError(
                f"{name}: expected a list of sentences for each text, as `parse_text` returns it; "
                f"got {sentences!r:.60}"
            )
        require_trees(sentences, text)
        _require_words(text, sentences, name)
    return parses


def _require_words(text: str, sentences: Sequence[Parse], name: str) -> None:
    """Reject the parse of another text.

    Only letters and digits are compared: parsers may write brackets, quotes and dashes differently.
    """
    for parse in sentences:
        for word in parse.sentence.words:
            read = text[word.start : word.end]
            plain = all(part.isascii() and part.isalnum() for part in (read, word.form))
            if plain and len(read) == len(word.form) and read.lower() != word.form.lower():
                raise InputError(
                    f"{name}: expected {word.form!r} at character {word.start} of the text, got "
                    f"{read!r}; give offsets into the whole text, as "
                    f"Sentence.from_words(…, offset={word.start}) does"
                )
