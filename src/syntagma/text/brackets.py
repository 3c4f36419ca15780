"""Read and write Penn Treebank brackets: ``(S (NP (PRP We)) (VP (VBP read)))``.

The reader is iterative and yields one tree at a time, in constant memory.  It normalises trees as
is usual in constituency parsing: it drops traces (``-NONE-``) and the phrases that they leave
empty, function tags and indices (``NP-SBJ-1`` becomes ``NP``), and the outermost bracket if its
label only marks the top of a tree (``TOP``, ``ROOT``, ``S1`` or no label).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from syntagma.errors import InputError
from syntagma.files import read_lines
from syntagma.reprs import brief, counted, quoted
from syntagma.text.escapes import unescape
from syntagma.text.sentence import Constituent, Sentence

ROOTS = frozenset({"", "TOP", "ROOT", "S1"})
TRACE = "-NONE-"
TOKEN = re.compile(r"[()]|[^ \t\r\n()]+")
"""Brackets and symbols; unlike ``\\s``, the pattern keeps a no-break space inside a word."""


@dataclass(frozen=True, slots=True, repr=False)
class BracketedSentence:
    """A phrase tree from a treebank file, without traces and function tags.

    Args:
        forms: the words as written, with escaped brackets and quotes (``-LRB-``), ``[n_words]``.
        tags: part-of-speech tag of each word, ``[n_words]``.
        constituents: the phrases in pre-order; see :class:`syntagma.text.sentence.Parse`.
        origin: file and first line, for error messages.
    """

    forms: tuple[str, ...]
    tags: tuple[str, ...]
    constituents: tuple[Constituent, ...]
    origin: str = field(default="", repr=False)

    def __len__(self) -> int:
        return len(self.forms)

    def __repr__(self) -> str:
        phrases = counted(len(self.constituents), "phrase")
        return brief(self, quoted(" ".join(self.forms)), counted(len(self), "word"), phrases)

    def sentence(self) -> Sentence:
        """Return the words unescaped: ``(`` for ``-LRB-``, ``"`` for Penn's two quotes."""
        return Sentence.from_words([unescape(form) for form in self.forms])


def _escape(form: str) -> str:
    """Escape a word so that it is one symbol: no round brackets, no spaces."""
    return "_".join(form.replace("(", "-LRB-").replace(")", "-RRB-").split()) or "_"


def without_functions(label: str) -> str:
    """Strip function tags, indices and gap indices from a phrase label.

    >>> [without_functions(label) for label in ("NP-SBJ-1", "PP=2", "-LRB-", "WHNP")]
    ['NP', 'PP', '-LRB-', 'WHNP']
    """
    if label.startswith("-"):
        return label
    return re.split("[-=]", label, maxsplit=1)[0] or label


class _Draft:
    """A partially read tree."""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.forms: list[str] = []
        self.tags: list[str] = []
        # [label, start, end] of each bracket in opening order; end is set when it closes.
        self.phrases: list[list[str | int]] = []
        # Indices into `phrases` of the open brackets, innermost last.
        self.open: list[int] = []
        # Tag and word of the innermost bracket, if it is a leaf.
        self.leaf: tuple[str, str] | None = None

    def finish(self) -> BracketedSentence:
        """Return the tree without empty phrases and without its top bracket."""
        found = [
            Constituent(without_functions(str(label)), int(start), int(end))
            for label, start, end in self.phrases
            if int(end) > int(start)
        ]
        while found and found[0].label in ROOTS:
            del found[0]
        return BracketedSentence(tuple(self.forms), tuple(self.tags), tuple(found), self.origin)


def parse_brackets(lines: Iterable[str], *, name: str = "input") -> Iterator[BracketedSentence]:
    """Yield the trees in some lines; a tree may span several lines.

    Args:
        lines: lines without line endings.
        name: name of the source in error messages.

    Raises:
        InputError: brackets are unbalanced, a bracket is empty, or a word is in an invalid position
            or has no tag; the message names the line.
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
                        f"{name}, line {number}: expected '(' at the start of a tree, got {token!r}"
                    )
                draft = _Draft(f"{name}, line {number}")
            problem = _add_token(draft, token, before)
            if problem:
                raise InputError(f"{name}, line {number}: {problem}")
            before = token
            if not draft.open:
                yield draft.finish()
                draft = None
    if draft is not None:
        raise InputError(
            f"{draft.origin}: the tree that starts here is not closed at the end of the file "
            f"(line {number}); add {len(draft.open)} ')'"
        )


def _add_token(draft: _Draft, token: str, before: str) -> str:
    """Add a token to a tree; return what is wrong with it, or an empty string."""
    if token == "(":
        if draft.leaf is not None:
            return f"expected ')' after the word {' '.join(draft.leaf)!r}, got '('"
        draft.open.append(len(draft.phrases))
        draft.phrases.append(["", len(draft.forms), len(draft.forms)])
    elif token == ")":
        phrase = draft.open.pop()
        if draft.leaf is not None:
            # A bracket with a tag and a word is a leaf, not a phrase: forget it as a phrase.
            tag, form = draft.leaf
            draft.leaf = None
            del draft.phrases[phrase]
            if tag != TRACE:
                draft.tags.append(tag)
                draft.forms.append(form)
        elif before != ")" and not _may_be_empty(draft, phrase, before):
            # Nothing was opened in it: one with traces only ends in two brackets.
            label = "" if before == "(" else before
            return (
                f"'({label})' has no word, or its word has no tag; write the tag before the word, "
                f"as (NN {label or 'word'})"
            )
        else:
            draft.phrases[phrase][2] = len(draft.forms)
    elif before == "(":
        draft.phrases[draft.open[-1]][0] = token
    elif draft.open[-1] == len(draft.phrases) - 1 and draft.leaf is None and before != ")":
        # The innermost bracket has a label and no children yet, so this token is its word.
        draft.leaf = (str(draft.phrases[-1][0]), token)
    else:
        return f"the word {token!r} has no tag; write it in brackets with its tag, as (NN {token})"
    return ""


def _may_be_empty(draft: _Draft, phrase: int, before: str) -> bool:
    """Whether a bracket without words is the root, or the inner one of ``(())``.

    Some parsers write that for a sentence that they failed on.
    """
    if phrase == 0:
        return before in ROOTS
    return before == "(" and [label for label, *_ in draft.phrases] == ["", ""] and not draft.forms


def read_brackets(path: str | Path) -> Iterator[BracketedSentence]:
    """Yield the trees of a file (also ``.gz`` or ``-``), in constant memory.

    Raises:
        InputError: as in :func:`parse_brackets`, or the file is missing, not UTF-8 or empty.
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
    """Format a tree in brackets on one line.

    Args:
        forms: the words, ``[n_words]``; round brackets are escaped, spaces inside a word become
            ``_``.
        tags: part-of-speech tags of the words, ``[n_words]``.
        constituents: the phrases in pre-order.
        root: label of the outermost bracket.

    >>> format_brackets(["We", "read"], ["PRP", "VBP"], [Constituent("S", 0, 2)])
    '(TOP (S (PRP We) (VBP read)))'
    """
    parts = [f"({root}"]
    for step in _steps(forms, tags, constituents):
        if step is None:
            parts.append(")")
        elif isinstance(step, str):
            parts.append(f" ({step}")
        else:
            parts.append(f" ({step[0]} {step[1]})")
    return "".join(parts) + ")"


def build_tree(
    forms: Sequence[str],
    tags: Sequence[str],
    constituents: Sequence[Constituent],
    node: Callable[[str, list[Any]], Any],
) -> Any:
    """Build the tree that :func:`format_brackets` writes, of nodes of another library.

    Args:
        forms: as for :func:`format_brackets`.
        tags: as for :func:`format_brackets`.
        constituents: as for :func:`format_brackets`.
        node: returns a node with a label and children, a list to which more are appended.
    """
    open_nodes = [node("TOP", [])]
    for step in _steps(forms, tags, constituents):
        if step is None:
            open_nodes.pop()
        elif isinstance(step, str):
            phrase = node(step, [])
            open_nodes[-1].append(phrase)
            open_nodes.append(phrase)
        else:
            tag, form = step
            open_nodes[-1].append(node(tag, [form]))
    return open_nodes[0]


def _steps(
    forms: Sequence[str], tags: Sequence[str], constituents: Sequence[Constituent]
) -> Iterator[str | tuple[str, str] | None]:
    """Walk through a tree: a label opens a phrase, tag and word are a leaf, ``None`` closes it."""
    open_until: list[int] = []
    following = iter(constituents)
    phrase = next(following, None)
    for position, (form, tag) in enumerate(zip(forms, tags, strict=True)):
        while phrase is not None and phrase.start == position:
            yield phrase.label
            open_until.append(phrase.end)
            phrase = next(following, None)
        yield _escape(tag), _escape(form)
        while open_until and open_until[-1] == position + 1:
            open_until.pop()
            yield None
