"""Features of the places inside runs of characters where a token may end.

A run is a maximal sequence of characters without whitespace; a place is between two characters of a
run.  A feature of a place is a number of 64 bits: what it looks at (its template) and what is
there, hashed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from syntagma.text.segmentation.learned.hashes import ODD, Booleans, Hashes, Integers, mix, position
from syntagma.text.segmentation.learned.pieces import Pieces
from syntagma.text.segmentation.words import cut_run, whole_parts

LEFT, RIGHT = 4, 4
"""Characters before and after a place that are looked at one by one."""
LONGEST = 8
"""Longest known word that is looked for, in characters."""
_PAD = 0x110000
"""Stands for what is outside the run; no character has this number."""
_N_CLASSES = 16
_NGRAMS = ((-2, 0), (-1, 1), (0, 2), (-3, 0), (-2, 1), (-1, 2), (0, 3), (-4, 0), (0, 4), (-2, 2))
"""Start and end of the sequences of characters that are looked at, relative to the place."""
_FIRST_RULE = LEFT + RIGHT + len(_NGRAMS)
RULE_COLUMNS = (_FIRST_RULE, _FIRST_RULE + 1, _FIRST_RULE + 2)
"""Columns of :func:`place_features` that a new word has too: the classes of the characters around a
place, and what the rules for English say.  They come after single characters and sequences."""

_CLASSES = {
    "Lu": 1, "Lt": 1, "Ll": 2, "Lm": 3, "Lo": 3, "Mn": 4, "Mc": 4, "Me": 4, "Nd": 5, "Nl": 6,
    "No": 6, "Pd": 7, "Ps": 8, "Pi": 8, "Pe": 9, "Pf": 9, "Pc": 10, "Po": 11, "Sm": 12, "Sc": 13,
    "Sk": 14, "So": 14,
}  # fmt: skip
"""Classes of characters by their Unicode category; all others are 0."""
_LETTERS = (1, 2, 3, 4)
_UNCASED = (3, 4)
"""Letters of scripts without capitals, and marks on letters."""


_KNOWN: dict[int, tuple[int, int]] = {_PAD: (_N_CLASSES - 1, _PAD)}
"""The class and the lower-case form of the characters seen so far."""


def _read(codes: Integers) -> tuple[Integers, Hashes]:
    """Return the class and the lower-case form of each character."""
    found, places = np.unique(codes, return_inverse=True)
    for code in found.tolist():
        if code not in _KNOWN:
            character = chr(code)
            small = character.lower()
            kind = _CLASSES.get(unicodedata.category(character), 0)
            _KNOWN[code] = kind, ord(small) if len(small) == 1 else code
    pairs = np.array([_KNOWN[code] for code in found.tolist()], np.int64).reshape(-1, 2)
    return pairs[places, 0], pairs[places, 1].astype(np.uint64)


def word_hashes(forms: Sequence[str]) -> Hashes:
    """Hash each word as a sequence of lower-case characters, ``[n_forms]``."""
    runs = Runs.of(forms)
    return runs.sums(runs.begins, runs.begins + runs.lengths)


@dataclass(frozen=True, slots=True)
class Runs:
    """The characters of some runs, one after the other with padding between them.

    Args:
        codes: the lower-case characters, ``[n_padded]``.
        classes: the class of each character, ``[n_padded]``.
        cuts: 1 before characters where the rules for English end a word, else 0, ``[n_padded]``.
        whole: whether a place before a character is inside a link, an address or a long word,
            ``[n_padded]``.
        begins: index of the first character of each run, ``[n_runs]``.
        lengths: length of each run, ``[n_runs]``.
        prefix: sums of the characters' hashes weighted by powers, ``[n_padded + 1]``, from which
            :meth:`sums` takes the hash of any sequence.
        inverse: the inverse of those powers, ``[n_padded + 1]``.
        piece_ends: whether a piece of the encoder ends before each character, ``[n_padded]``;
            ``None`` if pieces are not looked at.
    """

    codes: Hashes
    classes: Integers
    cuts: Integers
    whole: Booleans
    begins: Integers
    lengths: Integers
    prefix: Hashes
    inverse: Hashes
    piece_ends: Booleans | None = None

    @classmethod
    def of(cls, runs: Sequence[str], pieces: Pieces | None = None) -> Runs:
        """Read some runs.

        Args:
            runs: each has at least one character.
            pieces: cuts them into pieces; only for scripts without spaces.
        """
        gap = chr(0) * LONGEST
        text = gap + gap.join(runs) + gap
        raw = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.int64)
        lengths = np.fromiter(map(len, runs), np.int64, len(runs))
        begins = LONGEST + np.concatenate([[0], np.cumsum(lengths + LONGEST)[:-1]])
        inside = np.zeros(len(raw) + 1, np.int64)
        inside[begins] += 1
        inside[begins + lengths] -= 1
        raw = np.where(np.cumsum(inside)[:-1] > 0, raw, _PAD)
        classes, lower = _read(raw)
        codes = mix(lower, 0)
        # A polynomial hash: the powers wrap around at 64 bits, and odd numbers have an inverse.
        powers = np.full(len(codes) + 1, ODD, np.uint64)
        powers[0] = 1
        powers = np.cumprod(powers, dtype=np.uint64)
        inverse = np.full(len(codes) + 1, pow(int(ODD), -1, 1 << 64), np.uint64)
        inverse[0] = 1
        inverse = np.cumprod(inverse, dtype=np.uint64)
        prefix = np.zeros(len(codes) + 1, np.uint64)
        np.cumsum(codes * powers[:-1], out=prefix[1:], dtype=np.uint64)
        cuts = np.zeros(len(codes), np.int64)
        whole = np.zeros(len(codes), np.bool_)
        for begin, run in zip(begins.tolist(), runs, strict=True):
            cuts[[begin + end for end in cut_run(run)]] = 1
            for start, end in whole_parts(run):
                whole[begin + start + 1 : begin + end] = True
        piece_ends = None
        if pieces is not None:
            piece_ends = np.zeros(len(codes), np.bool_)
            for begin, ends in zip(begins.tolist(), pieces(runs), strict=True):
                piece_ends[[begin, *(begin + end for end in ends)]] = True
        return cls(codes, classes, cuts, whole, begins, lengths, prefix, inverse, piece_ends)

    def sums(self, starts: Integers, ends: Integers) -> Hashes:
        """Hash the characters between indices of the padded array, whatever their place."""
        found: Hashes = (self.prefix[ends] - self.prefix[starts]) * self.inverse[starts]
        return found

    @property
    def places(self) -> Integers:
        """Index in the padded array of the character after each place, ``[n_places]``."""
        counts = self.lengths - 1
        first = np.repeat(self.begins + 1 - (np.cumsum(counts) - counts), counts)
        return first + np.arange(counts.sum())

    @property
    def is_uncased(self) -> Booleans:
        """Whether each place is between letters of scripts without capitals, ``[n_places]``."""
        uncased = np.isin(self.classes, _UNCASED)
        places = self.places
        between: Booleans = uncased[places - 1] & uncased[places]
        return between

    @property
    def rule(self) -> Integers:
        """1 at places where a rule ends a token, else −1, ``[n_places]``.

        The rules are those for English; between letters without capitals a piece is the rule, if
        pieces were given.
        """
        cuts = self.cuts[self.places]
        if self.piece_ends is not None:
            cuts = np.where(self.is_uncased, self.piece_ends[self.places], cuts)
        signs: Integers = 2 * cuts - 1
        return signs

    @property
    def run_of_place(self) -> Integers:
        """Index of the run of each place, ``[n_places]``."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths - 1)


def place_features(runs: Runs, words: Hashes) -> Hashes:
    """Return the features of all places, ``[n_places, n_templates]``.

    Args:
        runs: the runs.
        words: hashes of known words, ascending (:func:`word_hashes`).
    """
    places, run = runs.places, runs.run_of_place
    begins, ends = runs.begins[run], (runs.begins + runs.lengths)[run]
    columns = [runs.codes[places + shift] for shift in range(-LEFT, RIGHT)]
    columns += [runs.sums(places + start, places + end) for start, end in _NGRAMS]
    kinds = runs.classes
    window = np.zeros(len(places), np.int64)
    for shift in range(-3, 3):
        window = window * _N_CLASSES + kinds[places + shift]
    columns.append(window.astype(np.uint64))
    cuts = runs.cuts
    near = cuts[places - 1] + 2 * cuts[places] + 4 * cuts[places + 1]
    columns.append(near.astype(np.uint64))
    beside = (kinds[places - 1] * _N_CLASSES + kinds[places]) * 2 + cuts[places]
    columns.append(beside.astype(np.uint64))
    left, right = _same_class(runs)
    lefts, rights = left[places - 1], right[places]
    columns.append(runs.sums(lefts, places))
    columns.append(runs.sums(places, rights))
    columns.append(runs.codes[lefts - 1] * np.uint64(3) + runs.codes[rights])
    columns.append(runs.sums(begins, places))
    columns.append(runs.sums(places, ends))
    columns.append(runs.sums(begins, ends) + (places - begins).astype(np.uint64))
    columns.append(np.minimum(places - begins, 9).astype(np.uint64))
    columns.append(np.minimum(ends - places, 9).astype(np.uint64))
    columns += [each.astype(np.uint64) for each in _longest_words(runs, words, places)]
    if runs.piece_ends is not None:
        columns += _piece_columns(runs, runs.piece_ends)
    return np.stack([mix(each, number + 1) for number, each in enumerate(columns)], axis=1)


def _piece_columns(runs: Runs, piece_ends: Booleans) -> list[Hashes]:
    """Return the features of the pieces around each place.

    They are: at which of the seven nearest places pieces end; the piece before the place, what
    follows up to the next end, and both, each with whether a piece ends here; and their lengths.
    """
    places = runs.places
    index = np.arange(len(piece_ends))
    last = np.maximum.accumulate(np.where(piece_ends, index, 0))
    next_ = np.minimum.accumulate(np.where(piece_ends, index, len(index) - 1)[::-1])[::-1]
    left, right = last[places - 1], np.minimum(next_[places + 1], places + LONGEST)
    near = np.zeros(len(places), np.int64)
    for shift in range(-3, 4):
        near = 2 * near + piece_ends[places + shift]
    lengths = 16 * np.minimum(places - left, 5) + 2 * np.minimum(right - places, 5)
    here = piece_ends[places].astype(np.uint64)
    around = (
        runs.sums(start, end) for start, end in ((left, places), (places, right), (left, right))
    )
    return [
        near.astype(np.uint64),
        here,
        *(np.uint64(2) * each + here for each in around),
        lengths.astype(np.uint64) + here,
    ]


def _same_class(runs: Runs) -> tuple[Integers, Integers]:
    """Return where the characters of the same class around each one start and end.

    Letters are one class here.

    Returns:
        Two arrays ``[n_padded]``: the index of the first of them, and the index after the last.
    """
    kinds = np.where(np.isin(runs.classes, _LETTERS), _LETTERS[0], runs.classes)
    index = np.arange(len(kinds))
    changes = np.flatnonzero(np.diff(kinds, prepend=-1))
    number = np.searchsorted(changes, index, side="right") - 1
    ends = np.append(changes[1:], len(kinds))
    return changes[number], ends[number]


def _longest_words(runs: Runs, words: Hashes, places: Integers) -> list[Integers]:
    """Return the lengths of the longest known words that end, start, or continue at each place."""
    n_padded = len(runs.codes)
    ending, starting, across = (np.zeros(n_padded + 1, np.int64) for _ in range(3))
    index = np.arange(n_padded)
    for length in range(1, LONGEST + 1):
        starts = index[: n_padded - length + 1]
        known = starts[position(words, runs.sums(starts, starts + length)) > 0]
        # Lengths ascend, so that the last word written is the longest.
        starting[known] = length
        ending[known + length] = length
        for inside in range(1, length):
            across[known + inside] = length
    return [ending[places], starting[places], across[places]]
