"""Penn treebank brackets in and out: ``(S (NP (PRP We)) (VP (VBP read)))``.

Read without recursion, one tree at a time, in constant memory.  What is not part of a phrase tree's
skeleton is taken off on the way in: traces (``-NONE-``) and the phrases that they leave empty,
function tags and indices (``NP-SBJ-1`` is ``NP``), and the outermost bracket whose label says only
that a tree begins (``TOP``, ``ROOT``, ``S1`` or none).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from syntagma.errors import InputError
from syntagma.files import read_lines
from syntagma.text.sentence import Constituent, Sentence

__all__ = [
    "BracketedSentence",
    "format_brackets",
    "parse_brackets",
    "read_brackets",
    "unescape",
    "without_functions",
]

ROOTS = frozenset({"", "TOP", "ROOT", "S1"})
TRACE = "-NONE-"
TOKEN = re.compile(r"[()]|[^ \t\r\n()]+")
"""A no-break space is part of a word."""

BRACKETS = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
}
ESCAPED = re.compile("|".join(BRACKETS))
QUOTES = {"``": '"', "''": '"'}


@dataclass(frozen=True, slots=True)
class BracketedSentence:
    """A phrase tree as a treebank file writes it, without traces and function tags.

    Args:
        forms: the words as written, brackets and quotes escaped (``-LRB-``), ``[n_words]``.
        tags: part-of-speech tag of each word, ``[n_words]``.
        constituents: the phrases in pre-order; see :class:`syntagma.text.sentence.Parse`.
        origin: file and first line, for messages.
    """

    forms: tuple[str, ...]
    tags: tuple[str, ...]
    constituents: tuple[Constituent, ...]
    origin: str = field(default="", repr=False)

    def __len__(self) -> int:
        return len(self.forms)

    def sentence(self) -> Sentence:
        """The words as people write them: ``(`` for ``-LRB-``, ``"`` for Penn's two quotes."""
        return Sentence.from_words([unescape(form) for form in self.forms])


def unescape(form: str) -> str:
    """A word of a treebank as people write it.

    >>> unescape("-LRB-"), unescape("``"), unescape("1\\\\/2")
    ('(', '"', '1/2')
    """
    if form in QUOTES:
        return QUOTES[form]
    form = ESCAPED.sub(lambda match: BRACKETS[match.group()], form)
    return form.replace("\\/", "/").replace("\\*", "*")


def _escape(form: str) -> str:
    """As one word of a tree: no round brackets, no spaces."""
    return "_".join(form.replace("(", "-LRB-").replace(")", "-RRB-").split()) or "_"


def without_functions(label: str) -> str:
    """A phrase label without function tags, indices and gaps.

    >>> [without_functions(label) for label in ("NP-SBJ-1", "PP=2", "-LRB-", "WHNP")]
    ['NP', 'PP', '-LRB-', 'WHNP']
    """
    if label.startswith("-"):
        return label
    return re.split("[-=]", label, maxsplit=1)[0] or label


class _Draft:
    """A tree that is being read: its open brackets and what is known so far."""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.forms: list[str] = []
        self.tags: list[str] = []
        # Label and first word of each bracket in the order in which they open; end once closed.
        self.phrases: list[list[str | int]] = []
        self.open: list[int] = []
        self.leaf: tuple[str, str] | None = None

    def finish(self) -> BracketedSentence:
        """The tree without empty phrases and without the bracket around it all."""
        found = [
            Constituent(without_functions(str(label)), int(start), int(end))
            for label, start, end in self.phrases
            if int(end) > int(start)
        ]
        while found and found[0].label in ROOTS:
            del found[0]
        return BracketedSentence(tuple(self.forms), tuple(self.tags), tuple(found), self.origin)


def parse_brackets(lines: Iterable[str], *, name: str = "input") -> Iterator[BracketedSentence]:
    """Yield the trees of lines; a tree may take one line or many.

    Args:
        lines: lines without line ends.
        name: what to call the source in messages.

    Raises:
        InputError: a bracket closes that was not opened, a tree does not end, or a word stands
            where none can; the line is named.
    """
    draft: _Draft | None = None
    number = 0
    before = ""
    for number, line in enumerate(lines, start=1):
        for match in TOKEN.finditer(line):
            token = match.group()
            if draft is None:
                if token != "(":
                    raise InputError(
                        f"{name}, line {number}: expected a bracket that opens a tree, "
                        f"got {token!r}"
                    )
                draft = _Draft(f"{name}, line {number}")
            complaint = _take(draft, token, before)
            if complaint:
                raise InputError(f"{name}, line {number}: {complaint}")
            before = token
            if not draft.open:
                yield draft.finish()
                draft = None
    if draft is not None:
        raise InputError(
            f"{draft.origin}: the tree that begins here has {len(draft.open)} brackets open at the "
            f"end of the file (line {number})"
        )


def _take(draft: _Draft, token: str, before: str) -> str:
    """Add a token to a tree; returns what is wrong with it, or nothing."""
    if token == "(":
        if draft.leaf is not None:
            return f"a bracket opens inside the word {' '.join(draft.leaf)!r}"
        draft.open.append(len(draft.phrases))
        draft.phrases.append(["", len(draft.forms), len(draft.forms)])
    elif token == ")":
        phrase = draft.open.pop()
        if draft.leaf is not None:
            # A bracket with a tag and a word is a leaf, not a phrase.
            tag, form = draft.leaf
            draft.leaf = None
            del draft.phrases[phrase]
            if tag != TRACE:
                draft.tags.append(tag)
                draft.forms.append(form)
        else:
            draft.phrases[phrase][2] = len(draft.forms)
    elif before == "(":
        draft.phrases[draft.open[-1]][0] = token
    elif draft.open[-1] == len(draft.phrases) - 1 and draft.leaf is None and before != ")":
        draft.leaf = (str(draft.phrases[-1][0]), token)
    else:
        return f"the word {token!r} has no bracket with a tag of its own, as in (NN {token})"
    return ""


def read_brackets(path: str | Path) -> Iterator[BracketedSentence]:
    """Yield the trees of a file (``.gz`` and ``-`` too), in constant memory.

    Raises:
        InputError: as :func:`parse_brackets`; or the file is missing, not UTF-8 or without trees.
    """
    empty = True
    for sentence in parse_brackets(read_lines(path), name=str(path)):
        empty = False
        yield sentence
    if empty:
        raise InputError(f"{path}: no trees; expected Penn brackets, as in (S (NP (PRP We)) …)")


def format_brackets(
    forms: Sequence[str],
    tags: Sequence[str],
    constituents: Sequence[Constituent],
    *,
    root: str = "TOP",
) -> str:
    """A tree on one line.

    Args:
        forms: ``[n_words]``; round brackets are escaped, a space inside a word becomes ``_``.
        tags: ``[n_words]``.
        constituents: in pre-order.
        root: label of the bracket around it all.

    >>> format_brackets(["We", "read"], ["PRP", "VBP"], [Constituent("S", 0, 2)])
    '(TOP (S (PRP We) (VBP read)))'
    """
    parts = [f"({root}"]
    open_until: list[int] = []
    following = iter(constituents)
    phrase = next(following, None)
    for position, (form, tag) in enumerate(zip(forms, tags, strict=True)):
        while phrase is not None and phrase.start == position:
            parts.append(f" ({phrase.label}")
            open_until.append(phrase.end)
            phrase = next(following, None)
        parts.append(f" ({_escape(tag)} {_escape(form)})")
        while open_until and open_until[-1] == position + 1:
            open_until.pop()
            parts.append(")")
    return "".join(parts) + ")"
