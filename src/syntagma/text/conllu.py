"""Read and write CoNLL-U and CoNLL-X treebank files, one sentence at a time.

The round trip is lossless: comments, multi-word tokens, empty nodes and unused columns are kept
character for character; only line endings are normalised to line feeds.
Format: https://universaldependencies.org/format.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from syntagma.errors import InputError
from syntagma.files import read_lines
from syntagma.text.conllu_rows import (
    DEPREL,
    DEPS,
    FEATS,
    FORM,
    HEAD,
    ID,
    LEMMA,
    MISC,
    N_COLUMNS,
    UPOS,
    XPOS,
    Row,
    comments_of,
    find_forms,
    join_tokens,
    marked_long,
    rows_of,
    surface_tokens,
    with_own,
)
from syntagma.text.morphology import Morphology
from syntagma.text.sentence import Parse, Sentence

TOKEN = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9})|\.[0-9]{1,9})?")
"""Token ID of a word (``3``), a multi-word token (``3-4``) or an empty node (``5.1``).

Python refuses to read numbers of thousands of digits, and no sentence has that many words.
"""


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
    rows: tuple[Row, ...]
    origin: str = field(default="", repr=False)

    @property
    def words(self) -> list[Row]:
        """Rows of the syntactic words, without multi-word tokens and empty nodes."""
        return [row for row in self.rows if row[ID].isdigit()]

    def comment(self, key: str) -> str | None:
        """Return the value of a comment ``# key = value``, or ``None``."""
        for line in self.comments:
            name, separator, value = line[1:].partition("=")
            if separator and name.strip() == key:
                return value.strip()
        return None

    def with_id(self, identifier: str) -> TreebankSentence:
        """Add ``# sent_id``, after the comments on document and paragraph, unless there is one.

        Args:
            identifier: id of the sentence, without spaces; unique in its file.
        """
        if self.comment("sent_id") is not None:
            return self
        n_before = sum(self._has(key) for key in ("newdoc", "newpar"))
        line = f"# sent_id = {identifier}"
        return replace(self, comments=(*self.comments[:n_before], line, *self.comments[n_before:]))

    @property
    def text(self) -> str:
        """The raw text: the ``# text`` comment, or else forms joined by ``SpaceAfter=No``.

        The comment may spell escaped words as they are in running text (``(`` for ``-LRB-``).  One
        that does not spell the forms of the rows is ignored.
        """
        tokens = surface_tokens(self.rows)
        text = self.comment("text")
        if text is not None and find_forms(text, [form for form, _, _ in tokens]) is not None:
            return text
        return join_tokens(tokens)

    @property
    def touches_next(self) -> bool:
        """Whether the sentence is followed by no space (``SpaceAfter=No`` on its last token)."""
        return [gap for _, gap, _ in surface_tokens(self.rows)][-1:] == [""]

    @property
    def starts_document(self) -> bool:
        """Whether the sentence is the first of a document (``# newdoc``, with an id or without)."""
        return self._has("newdoc")

    @property
    def starts_paragraph(self) -> bool:
        """Whether the sentence is the first of a paragraph (``# newpar``) or document."""
        return self._has("newdoc") or self._has("newpar")

    def _has(self, key: str) -> bool:
        """Whether there is a comment ``# key`` or ``# key id = …``."""
        return any(line[1:].partition("=")[0].split()[:1] == [key] for line in self.comments)

    def sentence(self) -> Sentence:
        """Return the syntactic words with their character offsets into :attr:`text`.

        Words of a multi-word token get their own part of it if their forms spell the token
        (*can't* = *ca* + *n't*), and otherwise all get the offsets of the whole token
        (*du* = *de* + *le*).
        """
        forms = [row[FORM] for row in self.words]
        starts: list[int] = []
        ends: list[int] = []
        tokens = surface_tokens(self.rows)
        multiword: list[tuple[int, int]] = []
        text = self.text
        found = find_forms(text, [surface for surface, _, _ in tokens])
        assert found is not None  # The text is one that spells the tokens.
        for (start, end), (_, _, n_words) in zip(found, tokens, strict=True):
            first = len(starts)
            parts = forms[first : first + n_words]
            spelled = "".join(parts) == text[start:end]
            offset = start
            for part in parts:
                starts.append(offset if spelled else start)
                offset += len(part)
                ends.append(offset if spelled else end)
            if n_words > 1:
                multiword.append((first, first + n_words))
        return Sentence(tuple(forms), tuple(starts), tuple(ends), multiword=tuple(multiword))

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
            morphology=Morphology.of_columns(
                [row[FEATS] for row in words], [row[LEMMA] for row in words]
            ),
        )

    def with_parse(self, parse: Parse) -> TreebankSentence:
        """Replace heads, relations and tags by those of ``parse``; drop enhanced dependencies.

        Lemmas and features are replaced if the parse has some, and kept otherwise.

        Enhanced dependencies extend the old tree and would contradict the new one.  So the column
        DEPS is cleared, and empty nodes are removed if it connected them to the words.

        What is beyond the limits of :mod:`syntagma.text.limits` is marked: a sentence that was
        parsed in parts by the comment ``# parts = 1-300 301-600``, with the first and last word of
        each; a long word by ``LongWord=Yes`` in the last column.

        Phrases are written as the comment ``# constituency = (ROOT …)``; one that is there is
        dropped, since it belongs to the old tree.

        Raises:
            ValueError: the parse has a different number of words.
        """
        if len(parse) != len(self.words):
            raise ValueError(f"expected a parse of {len(self.words)} words, got {len(parse)}")
        values = iter(zip(parse.heads, parse.relations, parse.upos, parse.xpos, strict=True))
        others = [(LEMMA, iter(parse.lemmas or ())), (FEATS, iter(parse.feats or ()))]
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
                for column, known in others:
                    columns[column] = next(known, columns[column])
                columns[MISC] = marked_long(row[FORM], row[MISC])
                row = tuple(columns)
            rows.append(row)
        return replace(self, comments=with_own(self.comments, parse), rows=tuple(rows))

    @classmethod
    def from_parse(
        cls, parse: Parse, *, text: str, comments: tuple[str, ...] = ()
    ) -> TreebankSentence:
        """Build rows from a parse whose offsets index into ``text``.

        Multi-word tokens get a line of their own (:mod:`syntagma.text.tokens`).  Parts, long words
        and phrases are marked as by :meth:`with_parse`.

        Args:
            parse: the parse of one sentence.
            text: the text that contains the sentence.
            comments: comment lines to put before ``# text`` and ``# continues = Yes``.
        """
        rows = rows_of(parse, text)
        return cls(comments_of(parse, text, rows, comments), rows)


def _head(row: Row, n_words: int, origin: str) -> int:
    """Return the head of a word after checking its range."""
    try:
        head = int(row[HEAD])
    except ValueError:
        head = -1
    if not 0 <= head <= n_words:
        raise InputError(
            f"{origin}: word {row[ID]} {row[FORM]!r} has head {row[HEAD]!r:.60}; "
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


def _sentence(comments: list[str], rows: list[Row], name: str, first_line: int) -> TreebankSentence:
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
    rows: list[Row] = []
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
                f"got {columns[ID]!r:.60}"
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
