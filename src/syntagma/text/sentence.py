"""Data classes for words, sentences and parses, used by the whole package."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple

from syntagma.checks import require_several, require_text
from syntagma.errors import InputError, MissingExtraError
from syntagma.reprs import brief, counted, quoted
from syntagma.text.morphology import WordMorphology
from syntagma.views import render

# The CoNLL-U format uses both as separators, so a word that held one could not be written.
BREAKS = frozenset("\t\n")


class Word(NamedTuple):
    """A word with its character offsets: it covers ``text[start:end]``."""

    form: str
    start: int
    end: int


class Constituent(NamedTuple):
    """A phrase over the words ``start`` to ``end`` − 1 of a sentence, numbered from 0."""

    label: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, repr=False)
class Sentence:
    """The words of one sentence, with character offsets into the original text.

    Words of one multi-word token (French *du* as *de* + *le*) may share their offsets.

    Args:
        forms: the words, ``[n_words]``.
        starts: offset of the first character of each word, ``[n_words]``.
        ends: offset after the last character of each word, ``[n_words]``.
        continues: whether the text was cut after the last word because no sentence end was in sight
            (:mod:`syntagma.text.limits`): the next sentence continues this one.
        multiword: the multi-word tokens, each as its first word, from 0, and one after its last, in
            order; ``None`` if nobody has looked for them (:mod:`syntagma.text.tokens` then does).
    """

    forms: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    continues: bool = False
    # Not in `full_repr`, from which fingerprints of data are computed: those of earlier versions
    # stay valid.  Not compared: the words are the same, whoever has looked for tokens.
    multiword: tuple[tuple[int, int], ...] | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not len(self.forms) == len(self.starts) == len(self.ends):
            raise InputError(
                f"a sentence needs as many offsets as words: got {len(self.forms)} words, "
                f"{len(self.starts)} starts and {len(self.ends)} ends"
            )

    @classmethod
    def from_words(cls, forms: Sequence[str], *, offset: int = 0) -> Sentence:
        """Build a sentence from words, with offsets as if they were joined by single spaces.

        Args:
            forms: the words.
            offset: offset of the first word in the text, in characters.

        Raises:
            InputError: ``forms`` is a single string, or a word is blank or contains a tab or line
                break.

        >>> Sentence.from_words(["No", "way", "!"]).starts
        (0, 3, 7)
        """
        require_several(forms, "words")
        forms = tuple(forms)
        for number, form in enumerate(forms, start=1):
            require_text(form, f"word {number}")
            if not BREAKS.isdisjoint(form):
                raise InputError(
                    f"word {number}: expected a word, got {form!r:.60}; replace tabs and line "
                    f"breaks in words with spaces"
                )
        return cls.spaced(forms, offset=offset)

    @classmethod
    def spaced(cls, forms: Sequence[str], *, offset: int = 0) -> Sentence:
        """Do the same as :meth:`from_words` without checks: words from files may be blank."""
        starts, ends = [], []
        position = offset
        for form in forms:
            starts.append(position)
            position += len(form)
            ends.append(position)
            position += 1
        return cls(tuple(forms), tuple(starts), tuple(ends))

    def __len__(self) -> int:
        return len(self.forms)

    def __repr__(self) -> str:
        return brief(self, quoted(" ".join(self.forms)), counted(len(self), "word"))

    @property
    def words(self) -> tuple[Word, ...]:
        """The words, each with its offsets."""
        return tuple(map(Word, self.forms, self.starts, self.ends))

    @property
    def start(self) -> int:
        """Offset of the first character of the sentence; 0 if it has no words."""
        return self.starts[0] if self.starts else 0

    @property
    def end(self) -> int:
        """Offset after the last character of the sentence; 0 if it has no words."""
        return self.ends[-1] if self.ends else 0

    def shift(self, distance: int) -> Sentence:
        """Return the same words with ``distance`` added to all offsets."""
        return Sentence(
            self.forms,
            tuple(start + distance for start in self.starts),
            tuple(end + distance for end in self.ends),
            self.continues,
            self.multiword,
        )


@dataclass(frozen=True, slots=True, repr=False)
class Parse:
    """The syntax of one sentence.

    Args:
        sentence: the words.
        heads: 1-based index of the head of each word, 0 for the root, ``[n_words]``.
        relations: dependency relation of each word to its head, ``[n_words]``.
        upos: universal part-of-speech tags, ``[n_words]``; ``_`` if unknown.
        xpos: treebank-specific part-of-speech tags (Penn tags for English), ``[n_words]``; ``_``
            if unknown.
        probabilities: probability of each arc under the parser, ``[n_words]``; ``None`` if the
            parse source gives none.
        constituents: phrases in pre-order, outer phrases before inner ones, also among phrases
            over the same words; ``None`` if the parse source gives none.
        parts: index of the first word of each part, from 0, if the sentence was too long to be
            parsed as a whole (:mod:`syntagma.text.limits`); otherwise empty.
        morphology: where :attr:`lemmas` and :attr:`feats` come from; ``None`` if the parse source
            gives none.
    """

    sentence: Sentence
    heads: tuple[int, ...]
    relations: tuple[str, ...] = field(default=())
    upos: tuple[str, ...] = field(default=())
    xpos: tuple[str, ...] = field(default=())
    probabilities: tuple[float, ...] | None = None
    constituents: tuple[Constituent, ...] | None = None
    parts: tuple[int, ...] = ()
    # Not in `full_repr`: see Sentence.multiword.
    morphology: WordMorphology | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        n_words = len(self.sentence)
        for name in ("relations", "upos", "xpos"):
            if not getattr(self, name):
                # The documented way to set a field of a frozen dataclass in __post_init__.
                object.__setattr__(self, name, ("_",) * n_words)
        for name in ("heads", "relations", "upos", "xpos", "probabilities"):
            values = getattr(self, name)
            if values is not None and len(values) != n_words:
                raise InputError(f"expected {n_words} {name}, one per word, got {len(values)}")

    def __len__(self) -> int:
        return len(self.heads)

    def __repr__(self) -> str:
        found = self.constituents
        phrases = "" if found is None else counted(len(found), "phrase")
        words = " ".join(self.sentence.forms)
        return brief(self, quoted(words), counted(len(self), "word"), phrases)

    def _repr_svg_(self) -> str | None:
        return render("parse_svg", self)

    def _repr_html_(self) -> str | None:
        return render("parse_html", self)

    @property
    def lemmas(self) -> tuple[str, ...] | None:
        """Lemma of each word, ``[n_words]``; ``None`` if the parse source gives none.

        A parser computes them here: keep the result rather than asking for each word.
        """
        return None if self.morphology is None else self.morphology.lemmas

    @property
    def feats(self) -> tuple[str, ...] | None:
        """Features of each word, such as ``Number=Sing|Person=3``; ``_`` for none, ``[n_words]``.

        ``None`` if the parse source gives none.
        """
        return None if self.morphology is None else self.morphology.feats

    @property
    def part_bounds(self) -> list[tuple[int, int]]:
        """The words of each part: first, from 0, and one after the last; empty without parts."""
        return list(pairwise([*self.parts, len(self)])) if self.parts else []

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, see :func:`syntagma.text.json_format.parse_values`."""
        from syntagma.text.json_format import parse_values

        return parse_values(self)

    def to_json(self) -> str:
        """Return :meth:`to_dict` as one line of JSON, as ``syntagma parse --to json`` writes it."""
        from syntagma.text.json_format import format_json

        return format_json(self)

    def to_conllu(self, text: str | None = None) -> str:
        """Return CoNLL-U lines, with the blank line that ends a sentence.

        Args:
            text: the text that the offsets refer to; without it, the words are written with single
                spaces between those that do not touch.

        Raises:
            InputError: without ``text``, words share their characters (French *du* as *de* + *le*),
                so that nothing says how these are written.
        """
        from syntagma.text.conllu import TreebankSentence, format_conllu
        from syntagma.text.surface import respelled

        parse = self
        if text is None:
            text, sentence = respelled(self.sentence)
            parse = replace(self, sentence=sentence)
        return format_conllu(TreebankSentence.from_parse(parse, text=text))

    def to_brackets(self) -> str:
        """Return the phrases in Penn brackets on one line: ``(TOP (S (NP (PRP We)) …))``.

        Raises:
            InputError: the parse has no phrases.
        """
        from syntagma.text.brackets import format_brackets

        phrases = self._phrases("to_brackets")
        return format_brackets(self.sentence.forms, self.xpos, phrases)

    def to_nltk(self) -> Any:
        """Return the phrases as an ``nltk.Tree``; brackets in words are escaped, as Penn's are.

        Raises:
            InputError: the parse has no phrases.
            MissingExtraError: NLTK is not installed.
        """
        from syntagma.text.brackets import build_tree

        phrases = self._phrases("to_nltk")
        try:
            from nltk import Tree
        except ImportError as error:
            raise MissingExtraError("Parse.to_nltk", "nltk") from error
        # Not from a string: NLTK reads some backslashes in words as its own escapes.
        return build_tree(self.sentence.forms, self.xpos, phrases, Tree)

    def _phrases(self, wanted: str) -> tuple[Constituent, ...]:
        if self.constituents is None:
            raise InputError(
                f"{wanted}: this parse has no phrases; load the parser with "
                f"load_parser(…, decoding='separate'), or 'joint'"
            )
        return self.constituents
