"""Token lines and comments of CoNLL-U, made from a parse."""

from __future__ import annotations

import re
from collections.abc import Iterable

from syntagma.text.brackets import format_brackets
from syntagma.text.escapes import spellings
from syntagma.text.limits import SEPARATORS, is_long
from syntagma.text.morphology import UNKNOWN
from syntagma.text.sentence import Parse
from syntagma.text.tokens import multiword_tokens

N_COLUMNS = 10
ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(N_COLUMNS)
NO_SPACE = "SpaceAfter=No"
LONG_WORD, CONTINUES = "LongWord=Yes", "# continues = Yes"
CONSTITUENCY = "constituency"
"""Key of the comment with the phrases of a sentence, as Stanza writes it."""
_OF_PARSE = re.compile(rf"#\s*(?:parts|{CONSTITUENCY})\s*=")

Row = tuple[str, ...]


def rows_of(parse: Parse, text: str) -> tuple[Row, ...]:
    """Return the token lines of a parse, multi-word tokens included.

    Args:
        parse: the parse; its offsets index into ``text``.
        text: the text that contains the sentence.
    """
    sentence = parse.sentence
    touching = [
        after <= end for end, after in zip(sentence.ends, sentence.starts[1:], strict=False)
    ]
    after = text[sentence.end : sentence.end + 1]
    touches_next = bool(after) and not after.isspace() and after not in SEPARATORS
    gaps = [NO_SPACE if touches else "_" for touches in (*touching, touches_next)]
    ends_of_tokens = dict(multiword_tokens(parse))
    lemmas = parse.lemmas or (UNKNOWN,) * len(parse)
    feats = parse.feats or (UNKNOWN,) * len(parse)
    rows: list[Row] = []
    inside_until = 0
    for index, form in enumerate(sentence.forms):
        if (end := ends_of_tokens.get(index)) is not None:
            surface = text[sentence.starts[index] : sentence.ends[end - 1]]
            rows.append((f"{index + 1}-{end}", surface, *"_______", gaps[end - 1]))
            inside_until = end
        rows.append(
            (
                str(index + 1),
                form,
                lemmas[index],
                parse.upos[index],
                parse.xpos[index],
                feats[index],
                str(parse.heads[index]),
                parse.relations[index],
                "_",
                # SpaceAfter belongs to the multi-word token, not to its words.
                marked_long(form, "_" if index < inside_until else gaps[index]),
            )
        )
    return tuple(rows)


def surface_tokens(rows: Iterable[Row]) -> list[tuple[str, str, int]]:
    """Return each surface form, the space after it, and the number of words it covers.

    Args:
        rows: all token lines of a sentence.
    """
    tokens = []
    inside_until = 0
    for row in rows:
        first, dash, last = row[ID].partition("-")
        # Empty nodes have no surface form; words of a multi-word token have been covered.
        if "." in row[ID] or (not dash and int(first) <= inside_until):
            continue
        n_words = 1
        if dash:
            inside_until = int(last)
            n_words = int(last) - int(first) + 1
        gap = "" if NO_SPACE in row[MISC].split("|") else " "
        tokens.append((row[FORM], gap, n_words))
    return tokens


def join_tokens(tokens: Iterable[tuple[str, str, int]]) -> str:
    """Return the text that tokens spell.

    Args:
        tokens: from :func:`surface_tokens`.
    """
    parts = [part for form, gap, _ in tokens for part in (form, gap)]
    # The space after the last token separates sentences and is not part of this one.
    return "".join(parts[:-1])


def comments_of(
    parse: Parse, text: str, rows: Iterable[Row], comments: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the comment lines of a parse.

    Args:
        parse: the parse; its offsets index into ``text``.
        text: the text that contains the sentence.
        rows: its token lines.
        comments: comment lines to put before ``# text`` and ``# continues = Yes``.
    """
    sentence = parse.sentence
    # A comment is a single line, so line breaks inside the sentence become spaces.
    surface = " ".join(text[sentence.start : sentence.end].split())
    tokens = surface_tokens(rows)
    if find_forms(surface, [form for form, _, _ in tokens]) is None:
        # Zero-width characters between words belong to no word: a reader would miss them.
        surface = join_tokens(tokens)
    comments += (CONTINUES,) if sentence.continues else ()
    return with_own((*comments, f"# text = {surface}"), parse)


def with_own(comments: tuple[str, ...], parse: Parse) -> tuple[str, ...]:
    """Add the comments on the parts and the phrases of a parse, if it has some.

    Those of an older parse are dropped in any case: they would contradict the new tree.
    """
    kept = [line for line in comments if not _OF_PARSE.match(line)]
    if parse.parts:
        parts = " ".join(f"{first + 1}-{end}" for first, end in parse.part_bounds)
        kept.append(f"# parts = {parts}")
    if parse.constituents is not None:
        tree = format_brackets(parse.sentence.forms, parse.xpos, parse.constituents, root="ROOT")
        kept.append(f"# {CONSTITUENCY} = {tree}")
    return tuple(kept)


def marked_long(form: str, misc: str) -> str:
    """Add ``LongWord=Yes`` to the last column of a word if it is a long one."""
    if not is_long(form):
        return misc
    known = [] if misc == "_" else misc.split("|")
    return misc if LONG_WORD in known else "|".join([LONG_WORD, *known])


def find_forms(text: str, forms: Iterable[str]) -> list[tuple[int, int]] | None:
    """Return start and end of each form in a text, or ``None`` if the text has other words.

    The forms stand in order, with any whitespace between them.
    """
    found: list[tuple[int, int]] = []
    position = 0
    for form in forms:
        while (end := _end_of(form, text, position)) < 0:
            if not text[position : position + 1].isspace():
                return None
            position += 1
        found.append((position, end))
        position = end
    return None if text[position:].strip() else found


def _end_of(form: str, text: str, start: int) -> int:
    """Return where a form ends that begins at a position of a text; −1 if it does not."""
    if text.startswith(form, start):
        return start + len(form)
    lengths = (len(spelled) for spelled in spellings(form) if text.startswith(spelled, start))
    return start + next(lengths, -1 - start)
