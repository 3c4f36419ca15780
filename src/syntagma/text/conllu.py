"""Read and write CoNLL-U and CoNLL-X treebank files, one sentence at a time.

The round trip is lossless: comments, multi-word tokens, empty nodes and unused columns are kept
character for character; only line endings are normalised to line feeds.
Format: https://universaldependencies.org/format.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise
from pathlib import Path

from syntagma.errors import InputError
from syntagma.files import read_lines
from syntagma.text.brackets import format_brackets
from syntagma.text.escapes import spellings
from syntagma.text.limits import is_long
from syntagma.text.sentence import Parse, Sentence

N_COLUMNS = 10
ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(N_COLUMNS)
LONG_WORD, CONTINUES = "LongWord=Yes", "# continues = Yes"
_PARTS = re.compile(r"#\s*parts\s*=")
_PHRASES = re.compile(r"#\s*constituency\s*=")
CONSTITUENCY = "constituency"
"""Key of the comment with the phrases of a sentence, as Stanza writes it."""
TOKEN = re.compile(r"([0-9]+)(?:-([0-9]+)|\.[0-9]+)?")
"""Token ID of a word (``3``), a multi-word token (``3-4``) or an empty node (``5.1``)."""


@dataclass(frozen=True, slots=True)
class TreebankSentence:
    """A sentence with all its lines as written in a treebank file.

    Args:
        comments: lines that begin with ``#``, unchanged.
        rows: all token lines in order, each split into ten columns, including multi-word tokens
            (``3-4``) and empty nodes (``5.1``).
        origin: file and first line, for error messages.
    """

    comments: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    origin: str = field(default="", repr=False)

    @property
    def words(self) -> list[tuple[str, ...]]:
        """Rows of the syntactic words, without multi-word tokens and empty nodes."""
        return [row for row in self.rows if row[ID].isdigit()]

    def comment(self, key: str) -> str | None:
        """Return the value of a comment ``# key = value``, or ``None``."""
        for line in self.comments:
            name, separator, value = line[1:].partition("=")
            if separator and name.strip() == key:
                return value.strip()
        return None

    @property
    def text(self) -> str:
        """The raw text: the ``# text`` comment, or else forms joined by ``SpaceAfter=No``.

        The comment may spell escaped words as they are in running text (``(`` for ``-LRB-``).  One
        that does not spell the forms of the rows is ignored.
        """
        tokens = [(form, gap) for form, gap, _ in self._surface_tokens()]
        text = self.comment("text")
        if text is not None and _find(text, [form for form, _ in tokens]) is not None:
            return text
        # The space after the last token separates sentences and is not part of this one.
        rebuilt = "".join(form + gap for form, gap in tokens)
        return rebuilt[: len(rebuilt) - len(tokens[-1][1])] if tokens else ""

    @property
    def touches_next(self) -> bool:
        """Whether the sentence is followed by no space (``SpaceAfter=No`` on its last token)."""
        gaps = [gap for _, gap, _ in self._surface_tokens()]
        return gaps[-1:] == [""]

    def _surface_tokens(self) -> Iterator[tuple[str, str, int]]:
        """Yield each surface form, the space after it, and the number of words it covers."""
        inside_until = 0
        for row in self.rows:
            first, dash, last = row[ID].partition("-")
            # Empty nodes have no surface form; words of a multi-word token have been covered.
            if "." in row[ID] or (not dash and int(first) <= inside_until):
                continue
            n_words = 1
            if dash:
                inside_until = int(last)
                n_words = int(last) - int(first) + 1
            yield row[FORM], "" if "SpaceAfter=No" in row[MISC].split("|") else " ", n_words

    def sentence(self) -> Sentence:
        """Return the syntactic words with their character offsets into :attr:`text`.

        Words of a multi-word token get their own part of it if their forms spell the token
        (*can't* = *ca* + *n't*), and otherwise all get the offsets of the whole token
        (*du* = *de* + *le*).
        """
        forms = [row[FORM] for row in self.words]
        starts: list[int] = []
        ends: list[int] = []
        tokens = list(self._surface_tokens())
        found = _find(self.text, [surface for surface, _, _ in tokens])
        assert found is not None  # The text is one that spells the tokens.
        for (start, end), (_, _, n_words) in zip(found, tokens, strict=True):
            parts = forms[len(starts) : len(starts) + n_words]
            spelled = sum(map(len, parts)) == end - start
            offset = start
            for part in parts:
                starts.append(offset if spelled else start)
                offset += len(part)
                ends.append(offset if spelled else end)
        return Sentence(tuple(forms), tuple(starts), tuple(ends))

    def parse(self) -> Parse:
        """Return the tree and tags as a :class:`Parse`.

        Raises:
            InputError: a head is missing, not a number or out of range, there is not exactly one
                root, or the arcs form a cycle; the message names the sentence.
        """
        words = self.words
        heads = tuple(_head(row, len(words), self.origin) for row in words)
        _check_tree(heads, self.origin)
        return Parse(
            self.sentence(),
            heads,
            tuple(row[DEPREL] for row in words),
            tuple(row[UPOS] for row in words),
            tuple(row[XPOS] for row in words),
        )

    def with_parse(self, parse: Parse) -> TreebankSentence:
        """Replace heads, relations and tags by those of ``parse``; drop enhanced dependencies.

        Enhanced dependencies extend the old tree and would contradict the new one.  So the column
        DEPS is cleared, and empty nodes are removed if it connected them to the words.

        What is beyond the limits of :mod:`syntagma.text.limits` is marked: a sentence that was
        parsed in parts by the comment ``# parts = 1-300 301-600``, with the first and last word of
        each; a long word by ``LongWord=Yes`` in the last column.

        Phrases are written as the comment ``# constituency = (ROOT …)``.

        Raises:
            ValueError: the parse has a different number of words.
        """
        if len(parse) != len(self.words):
            raise ValueError(f"expected a parse of {len(self.words)} words, got {len(parse)}")
        values = iter(zip(parse.heads, parse.relations, parse.upos, parse.xpos, strict=True))
        is_enhanced = any(row[DEPS] != "_" for row in self.rows)
        rows = []
        for row in self.rows:
            if is_enhanced and "." in row[ID]:
                continue
            if row[ID].isdigit():
                head, relation, upos, xpos = next(values)
                columns = list(row)
                columns[UPOS], columns[XPOS] = upos, xpos
                columns[HEAD], columns[DEPREL], columns[DEPS] = str(head), relation, "_"
                if is_long(row[FORM]):
                    columns[MISC] = _marked_long(row[MISC])
                row = tuple(columns)
            rows.append(row)
        comments = _with_phrases(_with_parts(self.comments, parse), parse)
        return replace(self, comments=comments, rows=tuple(rows))

    @classmethod
    def from_parse(
        cls, parse: Parse, *, text: str, comments: tuple[str, ...] = ()
    ) -> TreebankSentence:
        """Build rows from a parse whose offsets index into ``text``.

        Words with the same offsets become a multi-word token.

        Args:
            parse: the parse of one sentence.
            text: the text that contains the sentence.
            comments: comment lines to put before ``# text`` and ``# continues = Yes``.
        """
        sentence = parse.sentence
        offsets = list(zip(sentence.starts, sentence.ends, strict=True))
        touching = [after <= end for (_, end), (after, _) in pairwise(offsets)]
        gaps = ["SpaceAfter=No" if touches else "_" for touches in (*touching, False)]
        rows: list[tuple[str, ...]] = []
        for (start, end), group in groupby(range(len(parse)), key=offsets.__getitem__):
            words = list(group)
            is_multi_word = len(words) > 1 and end > start
            if is_multi_word:
                number = f"{words[0] + 1}-{words[-1] + 1}"
                rows.append((number, text[start:end], *"_______", gaps[words[-1]]))
            for index in words:
                rows.append(
                    (
                        str(index + 1),
                        sentence.forms[index],
                        "_",
                        parse.upos[index],
                        parse.xpos[index],
                        "_",
                        str(parse.heads[index]),
                        parse.relations[index],
                        "_",
                        # SpaceAfter belongs to the multi-word token, not to its words.
                        "_" if is_multi_word else gaps[index],
                    )
                )
        # A comment is a single line, so line breaks inside the sentence become spaces.
        surface = " ".join(text[sentence.start : sentence.end].split())
        comments += (CONTINUES,) if sentence.continues else ()
        return cls(_with_phrases((*comments, f"# text = {surface}"), parse), tuple(rows))


def _with_parts(comments: tuple[str, ...], parse: Parse) -> tuple[str, ...]:
    """Replace the comment about the parts in which a sentence was parsed."""
    kept = tuple(line for line in comments if not _PARTS.match(line))
    if not parse.parts:
        return kept
    parts = " ".join(f"{first + 1}-{end}" for first, end in parse.part_bounds)
    return (*kept, f"# parts = {parts}")


def _with_phrases(comments: tuple[str, ...], parse: Parse) -> tuple[str, ...]:
    """Add the comment with the phrases, if the parse has some, in place of an older one."""
    if parse.constituents is None:
        return comments
    kept = tuple(line for line in comments if not _PHRASES.match(line))
    tree = format_brackets(parse.sentence.forms, parse.xpos, parse.constituents, root="ROOT")
    return (*kept, f"# {CONSTITUENCY} = {tree}")


def _marked_long(misc: str) -> str:
    """Add ``LongWord=Yes`` to the last column of a word."""
    known = [] if misc == "_" else misc.split("|")
    return misc if LONG_WORD in known else "|".join([LONG_WORD, *known])


def _find(text: str, forms: Iterable[str]) -> list[tuple[int, int]] | None:
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


def _head(row: tuple[str, ...], n_words: int, origin: str) -> int:
    """Return the head of a word after checking its range."""
    try:
        head = int(row[HEAD])
    except ValueError:
        head = -1
    if not 0 <= head <= n_words:
        raise InputError(
            f"{origin}: word {row[ID]} {row[FORM]!r} has head {row[HEAD]!r}; "
            f"expected a number from 0 (root) to {n_words}"
        )
    return head


def _check_tree(heads: tuple[int, ...], origin: str) -> None:
    """Check that the heads form a tree: one root, no cycles."""
    roots = [index for index, head in enumerate(heads, start=1) if head == 0]
    if heads and len(roots) != 1:
        raise InputError(f"{origin}: expected one root (a word with head 0), found {len(roots)}")
    # Walk up from each word until a visited one, so that every word is visited only once.
    visited = {0}
    for word in range(1, len(heads) + 1):
        path = []
        while word not in visited:
            visited.add(word)
            path.append(word)
            word = heads[word - 1]
        if word in path:
            cycle = " → ".join(map(str, [*path[path.index(word) :], word]))
            raise InputError(f"{origin}: the heads of words {cycle} form a cycle")


def _sentence(
    comments: list[str], rows: list[tuple[str, ...]], name: str, first_line: int
) -> TreebankSentence:
    sentence = TreebankSentence(tuple(comments), tuple(rows), f"{name}, line {first_line}")
    ends = [int(last) for _, last in (row[ID].split("-") for row in rows if "-" in row[ID])]
    if max(ends, default=0) > len(sentence.words):
        raise InputError(
            f"{sentence.origin}: a multi-word token ends at word {max(ends)}, but the sentence has "
            f"only {len(sentence.words)} words"
        )
    identifier = sentence.comment("sent_id")
    if identifier is None:
        return sentence
    return replace(sentence, origin=f"{sentence.origin}, sentence {identifier}")


def parse_conllu(
    lines: Iterable[str], *, name: str = "input", first_line: int = 1
) -> Iterator[TreebankSentence]:
    """Yield the sentences of CoNLL-U or CoNLL-X lines.

    Args:
        lines: lines without line endings.
        name: name of the source in error messages.
        first_line: number of the first line, for error messages.

    Raises:
        InputError: a line does not have ten columns, a token has no form, or the words are not
            numbered from 1; the message names the line.
    """
    comments: list[str] = []
    rows: list[tuple[str, ...]] = []
    n_words, token_end = 0, 0
    for number, line in enumerate(lines, start=first_line):
        if not line.strip():
            if rows:
                yield _sentence(comments, rows, name, first_line)
            comments, rows, n_words, token_end = [], [], 0, 0
            continue
        if not comments and not rows:
            first_line = number
        # After the first token a line with # is a token line: # can be a word.
        if line.startswith("#") and not rows:
            comments.append(line)
            continue
        columns = tuple(line.split("\t"))
        if len(columns) != N_COLUMNS:
            raise InputError(
                f"{name}, line {number}: expected {N_COLUMNS} columns separated by tabs, "
                f"got {len(columns)}: {line[:60]!r}"
            )
        if not columns[FORM].strip():
            raise InputError(
                f"{name}, line {number}: token {columns[ID]} has no form; write the word in the "
                f"second column, or _ if it is unknown"
            )
        token = TOKEN.fullmatch(columns[ID])
        if token is None:
            raise InputError(
                f"{name}, line {number}: expected a token ID such as 3, 3-4 or 3.1, "
                f"got {columns[ID]!r}"
            )
        first, last = token.groups()
        if first == columns[ID]:
            n_words += 1
            if int(first) != n_words:
                raise InputError(
                    f"{name}, line {number}: expected word {n_words}, got {first!r}; "
                    f"number the words of each sentence from 1 and end it with a blank line"
                )
        elif last is not None:
            # A multi-word token precedes its words and does not overlap the previous one.
            if not max(n_words, token_end) < int(first) == n_words + 1 <= int(last):
                raise InputError(
                    f"{name}, line {number}: multi-word token {columns[ID]!r} is invalid here; "
                    f"it must come directly before its words, and the next word is {n_words + 1}"
                )
            token_end = int(last)
        rows.append(columns)
    if rows:
        yield _sentence(comments, rows, name, first_line)


def read_conllu(path: str | Path) -> Iterator[TreebankSentence]:
    """Yield the sentences of a treebank file (also ``.gz`` or ``-``), in constant memory.

    Raises:
        InputError: as in :func:`parse_conllu`, or the file is missing, not UTF-8 or empty.
    """
    empty = True
    for sentence in parse_conllu(read_lines(path), name=str(path)):
        empty = False
        yield sentence
    if empty:
        raise InputError(f"{path}: no sentences; expected CoNLL-U (ten columns per word)")


def format_conllu(sentence: TreebankSentence) -> str:
    """Format a sentence as CoNLL-U lines, with the blank line that ends it."""
    lines = [*sentence.comments, *("\t".join(row) for row in sentence.rows)]
    return "\n".join(lines) + "\n\n"
