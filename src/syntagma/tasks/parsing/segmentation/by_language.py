"""Learn how text is cut from treebanks of one language or several."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Literal

from syntagma.errors import InputError
from syntagma.parse.languages import UNKNOWN, Languages
from syntagma.tasks.parsing.segmentation.learn import segmenter_for
from syntagma.tasks.parsing.treebanks import TreeExample, language_of_file
from syntagma.text.segmentation.learned.pieces import Pieces

log = logging.getLogger(__name__)


def known_languages(examples: Sequence[TreeExample]) -> list[str]:
    """Return the languages that the names of treebank files state, sorted.

    Args:
        examples: the sentences of all files.
    """
    return sorted({example.language for example in examples} - {UNKNOWN})


def by_language(examples: Sequence[TreeExample]) -> dict[str, list[TreeExample]]:
    """Return the sentences of each language, in order.

    Those of a file whose name states none are in the language of the others, if these have one.

    Args:
        examples: the sentences of all files.
    """
    known, parts = known_languages(examples), dict[str, list[TreeExample]]()
    for example in examples:
        code = example.language or (known[0] if len(known) == 1 else UNKNOWN)
        parts.setdefault(code, []).append(example)
    return parts


def warn_of_other_languages(dev: Sequence[str], examples: Sequence[TreeExample]) -> None:
    """Warn of dev files in languages that are not learned, by which weights would be chosen.

    Args:
        dev: the dev files.
        examples: the sentences of the training files.
    """
    known = known_languages(examples)
    for path in dev:
        code = language_of_file(path)
        if known and code not in {UNKNOWN, *known}:
            log.warning(
                "data.dev: %s is in %s, and training in %s: it chooses which weights are kept; "
                "give a file in %s (--set data.dev=FILE), or none (--set data.dev=[]) to keep the "
                "last ones",
                path, code, ", ".join(known), " or ".join(known),
            )  # fmt: skip


def learned_languages(
    examples: Sequence[TreeExample], how: Literal["auto", "learned", "english"], pieces: Pieces
) -> Languages:
    """Learn how each language of the treebanks is cut.

    Files whose name states no language are in the language of the others.

    Args:
        examples: the sentences of all files.
        how: the setting ``head.segmentation``.
        pieces: of the parser's encoder.

    Raises:
        InputError: the others are in several languages; or segmentation is to be learned from
            brackets.
    """
    known, parts = known_languages(examples), by_language(examples)
    if len(known) > 1 and UNKNOWN in parts:
        raise InputError(
            f"data.train: by their names, some files are in {', '.join(known)}, and others state "
            f"no language; name all of them as Universal Dependencies does, as in "
            f"{known[0]}_mine-ud-train.conllu"
        )
    return Languages(
        {
            code: segmenter_for([each.source for each in found], how, pieces, code)
            for code, found in sorted(parts.items())
        }
    )


def extended_languages(
    known: Languages,
    examples: Sequence[TreeExample],
    how: Literal["auto", "learned", "english"],
    pieces: Pieces,
) -> Languages:
    """Learn how the languages are cut that a parser does not know; the others stay.

    Args:
        known: those of the parser.  If it is not known which language that is, nothing is learned.
        examples: the sentences of all files.
        how: the setting ``head.segmentation``.
        pieces: of the parser's encoder.
    """
    new = [each for each in examples if each.language not in {UNKNOWN, *known.codes}]
    if not new or UNKNOWN in known.segmenters:
        return known
    return Languages(known.segmenters | learned_languages(new, how, pieces).segmenters)
