"""Morphology that a parser predicts: kept as codes, turned into strings when somebody reads it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntagma.errors import DamagedFileError
from syntagma.parse.edit_scripts import apply_script, is_script
from syntagma.parse.lexicon import Key, is_line, key_of, read_lexicon
from syntagma.text.alignment import ABSENT
from syntagma.text.escapes import spelled_for_lemmas
from syntagma.text.morphology import UNKNOWN, Morphology
from syntagma.text.sentence import Sentence

MAX_CACHED = 100_000
"""Words whose lemma is remembered: about nine in ten words of a text are among them."""


class Lemmatizer(dict[tuple[str, str, int], str]):
    """Lemma of each form with a universal tag and the code of an edit script, filled on demand.

    The lexicon comes first; other words get the lemma that the script makes of them.

    Args:
        scripts: edit scripts, in the order of their codes.
        lexicon: lines of :func:`syntagma.parse.lexicon.learn_lexicon`.
    """

    def __init__(self, scripts: Sequence[str], lexicon: Iterable[str]) -> None:
        super().__init__()
        self._scripts = scripts
        self._lines = lexicon

    @cached_property
    def _lexicon(self) -> dict[Key, str]:
        # Read with the first word: whoever wants trees only never needs it.
        return read_lexicon(self._lines)

    def __missing__(self, word: tuple[str, str, int]) -> str:
        form, upos, code = word
        lemma = UNKNOWN if code == ABSENT else self._lexicon.get(key_of(form, upos))
        if lemma is None:
            lemma = apply_script(self._scripts[code], form)
        # Starting over is cheaper than tracking use, and frequent words come back at once.
        if len(self) >= MAX_CACHED:
            self.clear()
        self[word] = lemma
        return lemma


class MorphologyLabels:
    """What the codes of a parser's morphology stand for; shared by all its parses.

    Args:
        labels: label sets of the parser: ``feats``, ``lemmas`` (edit scripts) and ``lexicon``, each
            only if it predicts them.
    """

    def __init__(self, labels: Mapping[str, list[str]]) -> None:
        self.feats = np.array(labels.get("feats", []), object)
        scripts, lexicon = labels.get("lemmas", []), labels.get("lexicon", [])
        for name, value in (
            *(("lemmas", script) for script in scripts if not is_script(script)),
            *(("lexicon", line) for line in lexicon if not is_line(line)),
        ):
            raise DamagedFileError(
                f"labels.{name}: expected an edit script such as lower|0-0+|0-3+y, in the lexicon "
                f"behind a tag and before forms, got {value!r:.60}; save or download the model "
                f"again"
            )
        self.lemmas = Lemmatizer(scripts, lexicon)

    def of_codes(
        self,
        sentence: Sentence,
        upos: tuple[str, ...],
        feats: NDArray[np.int64] | None,
        scripts: NDArray[np.int64] | None,
    ) -> PredictedMorphology:
        """Return the morphology of a sentence; no string is made yet.

        Args:
            sentence: the words.
            upos: universal tags, ``[n_words]``.
            feats: codes of features, ``[n_words]``; ``None`` if the parser predicts none.
            scripts: codes of edit scripts, ``[n_words]``; ``None`` if the parser predicts none.
        """
        return PredictedMorphology(self, sentence.forms, upos, feats, scripts)


class PredictedMorphology:
    """Lemmas and features as codes, see :class:`syntagma.text.morphology.WordMorphology`.

    Args:
        labels: what the codes stand for.
        forms: the words, ``[n_words]``.
        upos: universal tags, ``[n_words]``.
        feats_codes: codes of features, ``[n_words]``; ``None`` if the parser predicts none.
        script_codes: codes of edit scripts, :data:`syntagma.text.alignment.ABSENT` for a word
            without a lemma of its own, ``[n_words]``; ``None`` if the parser predicts none.
    """

    __slots__ = ("feats_codes", "forms", "labels", "script_codes", "upos")

    def __init__(
        self,
        labels: MorphologyLabels,
        forms: tuple[str, ...],
        upos: tuple[str, ...],
        feats_codes: NDArray[np.int64] | None,
        script_codes: NDArray[np.int64] | None,
    ) -> None:
        self.labels = labels
        self.forms = forms
        self.upos = upos
        self.feats_codes = feats_codes
        self.script_codes = script_codes

    @property
    def feats(self) -> tuple[str, ...] | None:
        """Features of each word, ``[n_words]``."""
        if self.feats_codes is None:
            return None
        return tuple(self.labels.feats[self.feats_codes])

    @property
    def lemmas(self) -> tuple[str, ...] | None:
        """Lemma of each word, ``[n_words]``."""
        if self.script_codes is None:
            return None
        # The parser has read what Penn's escapes stand for: the lemma of -LRB- is that of (.
        spelled = spelled_for_lemmas(self.forms)
        words = zip(spelled, self.upos, self.script_codes.tolist(), strict=True)
        return tuple(map(self.labels.lemmas.__getitem__, words))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PredictedMorphology | Morphology):
            return NotImplemented
        return (self.feats, self.lemmas) == (other.feats, other.lemmas)

    def __hash__(self) -> int:
        return hash((self.feats, self.lemmas))

    def __reduce__(self) -> tuple[Any, ...]:
        # The labels are the same for all parses: other processes get the strings instead.
        return Morphology, (self.feats, self.lemmas)
