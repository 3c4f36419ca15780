"""Parses as flat integer columns, the form in which they are cached and turned into tensors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntagma.errors import InputError
from syntagma.parse.trees import lead_to_roots
from syntagma.reprs import brief, counted
from syntagma.text.sentence import Parse, Sentence
from syntagma.text.tokens import Ranges, unusual_tokens

IntArray = NDArray[np.int32]


class Labels:
    """A growing label vocabulary, with codes in order of first occurrence.

    Args:
        names: initial labels.

    >>> labels = Labels(["nsubj"])
    >>> labels.encode(["root", "nsubj"]), labels.names
    ([1, 0], ['nsubj', 'root'])
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names = list(names)
        self._codes = {name: code for code, name in enumerate(self.names)}

    def encode(self, names: Iterable[str]) -> list[int]:
        """Return the code of each label, adding new labels to the vocabulary."""
        codes = self._codes
        result = []
        for name in names:
            code = codes.get(name)
            if code is None:
                code = codes[name] = len(self.names)
                self.names.append(name)
            result.append(code)
        return result

    def decode(self, codes: Iterable[int]) -> tuple[str, ...]:
        """Return the label of each code."""
        return tuple(map(self.names.__getitem__, codes))


class Unwritten(NamedTuple):
    """What a text and the offsets of its words do not show.

    Args:
        forms: words that their characters do not spell (French *du* as *de* + *le*), by number.
        multiword: multi-word tokens of sentences whose words do not show them, by number.
        continued: numbers of the sentences that the next sentence continues.
    """

    forms: dict[int, str]
    multiword: dict[int, Ranges]
    continued: tuple[int, ...]

    @classmethod
    def of(cls, parses: Sequence[Parse], text: str) -> Unwritten:
        """Collect it from the parses of a text."""
        words = chain.from_iterable(parse.sentence.words for parse in parses)
        return cls(
            {
                number: form
                for number, (form, start, end) in enumerate(words)
                if text[start:end] != form
            },
            {
                number: tokens
                for number, parse in enumerate(parses)
                if (tokens := unusual_tokens(parse)) is not None
            },
            tuple(number for number, parse in enumerate(parses) if parse.sentence.continues),
        )


NOTHING = Unwritten({}, {}, ())


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ParsedText:
    """The parses of one text, as columns of shape ``[n_words]``.

    Args:
        starts: character offset of each word in the text.
        ends: character offset of the end of each word.
        sentences: index of each word's sentence, ascending from 0.
        heads: 1-based index of the head within the sentence, 0 for the root.
        relations: codes in ``relation_labels``.
        upos: codes in ``upos_labels``.
        xpos: codes in ``xpos_labels``.
        parts: number of each word's part, from 0, in a sentence that was parsed in parts
            (:mod:`syntagma.text.limits`); 0 in other sentences.
        relation_labels: dependency relations.
        upos_labels: universal part-of-speech tags.
        xpos_labels: treebank part-of-speech tags.
        unwritten: what the text does not show of the words, for :meth:`parses`.
    """

    starts: IntArray
    ends: IntArray
    sentences: IntArray
    heads: IntArray
    relations: IntArray
    upos: IntArray
    xpos: IntArray
    parts: IntArray
    relation_labels: Labels
    upos_labels: Labels
    xpos_labels: Labels
    unwritten: Unwritten = NOTHING

    def __len__(self) -> int:
        return len(self.heads)

    def __repr__(self) -> str:
        n_sentences = int(self.sentences[-1]) + 1 if len(self) else 0
        return brief(self, counted(n_sentences, "sentence"), counted(len(self), "word"))

    @classmethod
    def from_parses(
        cls,
        parses: Sequence[Parse],
        *,
        text: str | None = None,
        relation_labels: Labels | None = None,
        upos_labels: Labels | None = None,
        xpos_labels: Labels | None = None,
    ) -> ParsedText:
        """Convert the parses of one text to columns.

        Args:
            parses: the sentences in text order.
            text: the text that the offsets refer to; without it, :meth:`parses` takes all words
                from the text.
            relation_labels: relation vocabulary to extend; a new one by default.
            upos_labels: universal tag vocabulary to extend; a new one by default.
            xpos_labels: treebank tag vocabulary to extend; a new one by default.
        """
        relation_labels = relation_labels or Labels()
        upos_labels, xpos_labels = upos_labels or Labels(), xpos_labels or Labels()

        def column(values: Iterable[Iterable[int]]) -> IntArray:
            return np.fromiter(chain.from_iterable(values), np.int32)

        return cls(
            starts=column(parse.sentence.starts for parse in parses),
            ends=column(parse.sentence.ends for parse in parses),
            sentences=np.repeat(
                np.arange(len(parses), dtype=np.int32), [len(parse) for parse in parses]
            ),
            heads=column(parse.heads for parse in parses),
            relations=column(relation_labels.encode(parse.relations) for parse in parses),
            upos=column(upos_labels.encode(parse.upos) for parse in parses),
            xpos=column(xpos_labels.encode(parse.xpos) for parse in parses),
            parts=column(_part_numbers(parse) for parse in parses),
            relation_labels=relation_labels,
            upos_labels=upos_labels,
            xpos_labels=xpos_labels,
            unwritten=NOTHING if text is None else Unwritten.of(parses, text),
        )

    def parses(self, text: str) -> list[Parse]:
        """Convert the columns back to parses.

        Args:
            text: the text that the offsets refer to.
        """
        n_sentences = int(self.sentences[-1]) + 1 if len(self) else 0
        # Sentence numbers ascend, so each sentence is a slice.
        bounds = np.searchsorted(self.sentences, np.arange(n_sentences + 1))
        forms, multiword, continued = self.unwritten
        result = []
        for number, (begin, end) in enumerate(pairwise(bounds)):
            starts, ends = self.starts[begin:end].tolist(), self.ends[begin:end].tolist()
            words = tuple(
                forms.get(word, text[start:stop])
                for word, start, stop in zip(range(begin, end), starts, ends, strict=True)
            )
            tokens = multiword.get(number)
            result.append(
                Parse(
                    Sentence(words, tuple(starts), tuple(ends), number in continued, tokens),
                    tuple(self.heads[begin:end].tolist()),
                    self.relation_labels.decode(self.relations[begin:end].tolist()),
                    self.upos_labels.decode(self.upos[begin:end].tolist()),
                    self.xpos_labels.decode(self.xpos[begin:end].tolist()),
                    parts=_first_words(self.parts[begin:end]),
                )
            )
        return result


def require_trees(parses: Sequence[Parse], text: str) -> None:
    """Check that all heads lead to a root and that the words lie in the text, in order.

    Code that follows heads to the root would loop forever on a cycle.

    Args:
        parses: the sentences of the text.
        text: the text that the offsets refer to.

    Raises:
        InputError: a head points outside its sentence or into a cycle; a word starts before the
            previous sentence ends or before the previous word starts; or a word ends after the
            text.
    """
    heads = np.fromiter(chain.from_iterable(parse.heads for parse in parses), np.int64)
    bounds = np.cumsum([0, *map(len, parses)])
    earliest = 0
    for parse, leads_to_root in zip(parses, lead_to_roots(heads, bounds), strict=True):
        if not leads_to_root:
            raise InputError(
                f"parser: expected a tree for each sentence, got the heads "
                f"{', '.join(map(str, parse.heads))} in {text[:60]!r}"
            )
        if (end := max(parse.sentence.ends, default=0)) > len(text):
            raise InputError(
                f"parser: expected words inside the text {text[:60]!r} of {len(text)} characters, "
                f"got one that ends at {end}"
            )
        # Words may overlap: French "du" is one token that stands for the words "de" and "le".
        for start in parse.sentence.starts:
            if start < earliest:
                raise InputError(
                    f"parser: expected words and sentences in the order of the text "
                    f"{text[:60]!r}, got one that begins at {start}, before {earliest}; offsets "
                    f"count characters of the whole text"
                )
            earliest = start
        earliest = max(earliest, end)


def _part_numbers(parse: Parse) -> Iterator[int]:
    """Yield the number of each word's part."""
    if not parse.parts:
        return iter([0] * len(parse))
    return chain.from_iterable(
        [number] * (end - first) for number, (first, end) in enumerate(parse.part_bounds)
    )


def _first_words(parts: IntArray) -> tuple[int, ...]:
    """Return the first word of each part; nothing for a sentence with one part."""
    starts = np.flatnonzero(np.diff(parts)) + 1
    return (0, *starts.tolist()) if len(starts) else ()
