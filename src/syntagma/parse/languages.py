"""The languages that a parser was trained on: how text of each is cut, and which a text is in."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from syntagma.encoders.named_models import parsers_of
from syntagma.errors import InputError
from syntagma.text.language import (
    Language,
    can_detect,
    language_of,
    rank_languages,
    same_language,
)
from syntagma.text.segmentation.learned.pieces import pieces_of
from syntagma.text.segmentation.saved import SEGMENTATION, SavedSegmenter
from syntagma.text.segmentation.segmenter import Segmenter, english
from syntagma.text.segmentation.splitter import Rescorer

log = logging.getLogger(__name__)

LABEL = "languages"
"""The entry of the labels in a parser's configuration that has its languages."""
RESCORED = "rescored_languages"
"""The entry that has those whose doubtful sentence ends the encoder decides on."""
UNKNOWN = ""
"""The language of a treebank whose file name states none."""
SURE = 0.6
"""From this probability on, a text counts as being in a language that the parser does not know.

Of 5,000 paragraphs of English encyclopedia articles none is reported then, and of 1,500 single
English sentences at most five; of German, French and Turkish texts of three sentences 97 % or more.
"""
UNLIKELY = 0.001
"""Below this probability of the parser's languages together, it counts as such, too.

Of 3,100 single sentences of English, German, French and Turkish none is reported then, and texts in
languages that are hard to tell apart are.
"""
_CODE = re.compile("[a-z]{2,3}")
MAX_CHECKED = 20
"""Texts that a parser of one language looks at before it trusts that all are in it."""


class Languages:
    """What a parser cuts texts with, by language.

    Args:
        segmenters: of each language, by ISO 639-1 code; ``None`` for the rules for English.  The
            only code is empty if it is not known which language it is.
        chosen: the language of all texts; if not given, and there are several, that of each text
            is detected, and said once.

    Raises:
        InputError: the chosen language is none of them.
    """

    def __init__(self, segmenters: Mapping[str, Segmenter | None], chosen: str = "") -> None:
        self.segmenters = dict(segmenters)
        self.chosen = chosen
        self.rescorer: Rescorer | None = None
        self._rescored: tuple[str, ...] = ()
        self._said: set[str] = set()
        self._n_checked = 0
        if chosen and chosen not in self.segmenters:
            raise InputError(f"language {chosen!r}: {self._instead_of(chosen)}")

    def _instead_of(self, chosen: str) -> str:
        """Say what to write instead of a language that the parser does not know."""
        trained = f"this parser was trained on {self}"
        if not _CODE.fullmatch(chosen):
            return f"expected a code of ISO 639, such as {next(iter(self.codes), 'fr')}; {trained}"
        others = " or ".join(parsers_of(chosen)) or "another parser"
        return (
            f"{trained}; use {others}, or cut the text with another tokenizer, such as "
            f"spacy:{chosen}"
        )

    def __str__(self) -> str:
        *others, last = self.codes or ("a language that its treebank does not state",)
        return f"{', '.join(others)} and {last}" if others else last

    @property
    def codes(self) -> tuple[str, ...]:
        """Their codes; nothing if it is not known which language it is."""
        return tuple(code for code in self.segmenters if code != UNKNOWN)

    @property
    def fingerprint(self) -> str:
        """Identifies how texts are cut; empty if that is by the rules for English alone."""
        known = [f"{key}={each.fingerprint}" for key, each in self.segmenters.items() if each]
        return f"{self.chosen}:{','.join(known)}" if known or self.chosen else ""

    def choose(self, code: str) -> Languages:
        """Return the same, for texts in one language.

        Raises:
            InputError: it is none of them.
        """
        if code in self.codes or UNKNOWN not in self.segmenters:
            chosen = Languages(self.segmenters, code)
            return chosen.rescored_by(self.rescorer, self._rescored)
        # It is not known what the parser was trained on, so it may well be this.
        chosen = Languages({code: self.segmenters[UNKNOWN]}, code)
        return chosen.rescored_by(self.rescorer, [code] if UNKNOWN in self._rescored else [])

    def rescored_by(self, rescorer: Rescorer | None, codes: Sequence[str]) -> Languages:
        """Return the same with another scorer for doubtful sentence ends.

        Args:
            rescorer: the scorer; ``None`` for none.
            codes: the languages that it knows.
        """
        other = Languages(self.segmenters, self.chosen)
        other.rescorer, other._rescored = rescorer, tuple(codes)
        return other

    @cached_property
    def _used(self) -> dict[str, Segmenter | None]:
        """What cuts the text of each language."""
        if self.rescorer is None:
            return self.segmenters
        return {
            code: (segmenter or english()).rescored_by(self.rescorer)
            if code in self._rescored
            else segmenter
            for code, segmenter in self.segmenters.items()
        }

    def segmenter_for(self, text: str) -> Segmenter | None:
        """Return what cuts a text; ``None`` for the rules for English.

        A text that seems to be in another language than those of the parser is reported, once for
        each language.
        """
        if self.chosen:
            return self._used[self.chosen]
        if len(self.segmenters) > 1:
            return self._used[self._detect(text)]
        if self.codes and self._n_checked < MAX_CHECKED:
            self._n_checked += 1
            self._report_foreign(rank_languages(text))
        return next(iter(self._used.values()))

    def _detect(self, text: str) -> str:
        """Return the language of a text among those of the parser, and say so once for each."""
        if not text.strip():
            return self.codes[0]
        likely = rank_languages(text)
        own = same_language(likely[0].code, self.codes) if likely else ""
        found = Language(own, likely[0].probability) if own else language_of(text, self.codes)
        if found is None:
            guess = language_of(text, self.codes, min_bytes=1)
            code = self.codes[0] if guess is None else guess.code
            self._say(
                f"unsure:{code}",
                f"{text.strip()[:30]!r} is too short to tell in which language it is; it is cut as "
                f"{code}. Set the language (--lang, lang=): {' or '.join(self.codes)}",
            )
            return code
        if not self._report_foreign(likely):
            self._say(
                found.code,
                f"a text is in {found.code}, as it seems ({found.probability:.0%}); set the "
                f"language (--lang, lang=) to choose",
            )
        return found.code

    def _report_foreign(self, likely: Sequence[Language]) -> bool:
        """Report a text in a language that the parser was not trained on; whether it is.

        Args:
            likely: the languages that the text may be in, the likeliest first.
        """
        found = next(iter(likely), None)
        if found is None or same_language(found.code, self.codes):
            return False
        if not all(map(can_detect, self.codes)):
            return False
        own = sum(each.probability for each in likely if same_language(each.code, self.codes))
        if found.probability < SURE and own >= UNLIKELY:
            return False
        others = parsers_of(found.code)
        parser = " or ".join(others) if others else f"a parser trained on {found.code}"
        self._say(
            f"foreign:{found.code}",
            f"a text seems to be in {found.code} ({found.probability:.0%}), and this parser was "
            f"trained on {self}: it is cut, tagged and parsed by what holds there. Use {parser}, "
            f"or at least its words (--tokenizer spacy:{found.code}, "
            f"stanza:{found.code} or whitespace)",
        )
        return True

    def _say(self, key: str, message: str) -> None:
        if key not in self._said:
            self._said.add(key)
            log.warning("%s", message)

    def write(self, folder: Path) -> None:
        """Write what was learned about each language into the folder of the parser."""
        for code, segmenter in self.segmenters.items():
            if segmenter is not None:
                segmenter.write(folder / self._file_of(code))

    def _file_of(self, code: str) -> str:
        return file_of(code if len(self.segmenters) > 1 else UNKNOWN)

    @staticmethod
    def _stated(folder: Path, codes: tuple[str, ...] | None) -> tuple[str, ...]:
        if codes is None:
            # Before parsers stated it, those without a file were parsers of English.
            codes = () if (folder / SEGMENTATION).is_file() else ("en",)
        return codes or (UNKNOWN,)

    @classmethod
    def require(cls, lang: str, folder: Path, codes: tuple[str, ...] | None) -> None:
        """Check that a saved parser knows a language, without reading how it cuts text.

        Args:
            lang: the language; empty for none, which is always right.
            folder: as for :meth:`read`.
            codes: as for :meth:`read`.

        Raises:
            InputError: it does not.
        """
        if lang:
            cls(dict.fromkeys(cls._stated(folder, codes))).choose(lang)

    @classmethod
    def read(cls, folder: Path, codes: tuple[str, ...] | None, tokenizer: Any) -> Languages:
        """Read what a saved parser knows.

        Args:
            folder: of the parser.
            codes: its languages; ``None`` for a parser that states none.
            tokenizer: of its encoder.
        """
        codes = cls._stated(folder, codes)
        pieces = pieces_of(tokenizer)
        paths = {code: folder / file_of(code if len(codes) > 1 else UNKNOWN) for code in codes}
        return cls(
            {
                code: SavedSegmenter.read(path).segmenter(pieces) if path.is_file() else None
                for code, path in paths.items()
            }
        )


def file_of(code: str) -> str:
    """Return the name of the file with what was learned about a language.

    Args:
        code: of one among several; empty for the only language of a parser.

    >>> file_of("fr"), file_of("")
    ('segmentation-fr.safetensors', 'segmentation.safetensors')
    """
    stem, _, ending = SEGMENTATION.partition(".")
    return f"{stem}-{code}.{ending}" if code else SEGMENTATION


def files_in(folder: Path) -> list[str]:
    """Return the names of the files of a parser's folder that say how text is cut."""
    stem, _, ending = SEGMENTATION.partition(".")
    return sorted(path.name for path in folder.glob(f"{stem}*.{ending}"))
