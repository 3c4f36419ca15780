"""CoNLL-U and CoNLL-X treebank files in and out, one sentence at a time.

Lines are reproduced character for character: comments, multi-word tokens, empty nodes and every
column that the package does not use are kept as they came; lines end with a line feed alone.
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
from syntagma.text.sentence import Parse, Sentence

__all__ = ["TreebankSentence", "format_conllu", "parse_conllu", "read_conllu"]

N_COLUMNS = 10
ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(N_COLUMNS)
TOKEN = re.compile(r"([0-9]+)(?:-([0-9]+)|\.[0-9]+)?")
"""The number of a word, of the words of a multi-word token, or of an empty node."""


@dataclass(frozen=True, slots=True)
class TreebankSentence:
    """A sentence as a treebank file writes it.

    Args:
        comments: the lines that begin with ``#``, as they are.
        rows: all token lines in order, split into their ten columns; those of multi-word tokens
            (``3-4``) and empty nodes (``5.1``) among them.
        origin: file and first line, for messages.
    """

    comments: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    origin: str = field(default="", repr=False)

    @property
    def words(self) -> list[tuple[str, ...]]:
        """The rows of syntactic words: no multi-word tokens, no empty nodes."""
        return [row for row in self.rows if row[ID].isdigit()]

    def comment(self, key: str) -> str | None:
        """The value of a comment ``# key = value``, or ``None``."""
        for line in self.comments:
            name, separator, value = line[1:].partition("=")
            if separator and name.strip() == key:
                return value.strip()
        return None

    @property
    def text(self) -> str:
        """The raw text: the ``# text`` comment, else rebuilt from forms and ``SpaceAfter=No``.

        It is rebuilt too where the comment has other words than the rows.
        """
        tokens = [(form, gap) for form, gap, _ in self._surface_tokens()]
        text = self.comment("text")
        if text is not None and _is_written(text, [form for form, _ in tokens]):
            return text
        rebuilt = "".join(form + gap for form, gap in tokens)
        return rebuilt[: len(rebuilt) - len(tokens[-1][1])] if tokens else ""

    @property
    def touches_next(self) -> bool:
        """Whether no space stands behind the sentence."""
        gaps = [gap for _, gap, _ in self._surface_tokens()]
        return gaps[-1:] == [""]

    def _surface_tokens(self) -> Iterator[tuple[str, str, int]]:
        """Surface form, the space after it, and how many words it stands for."""
        inside_until = 0
        for row in self.rows:
            first, dash, last = row[ID].partition("-")
            if "." in row[ID] or (not dash and int(first) <= inside_until):
                continue
            n_words = 1
            if dash:
                inside_until = int(last)
                n_words = int(last) - int(first) + 1
            yield row[FORM], "" if "SpaceAfter=No" in row[MISC].split("|") else " ", n_words

    def sentence(self) -> Sentence:
        """The syntactic words with their character offsets into :attr:`text`.

        Words inside a multi-word token get their part of it where their forms spell it, and the
        whole token's interval where they do not (*du* = *de* + *le*).
        """
        text = self.text
        forms = [row[FORM] for row in self.words]
        starts: list[int] = []
        ends: list[int] = []
        position = 0
        for surface, _, n_words in self._surface_tokens():
            start = text.index(surface, position)
            position = start + len(surface)
            parts = forms[len(starts) : len(starts) + n_words]
            spelled = sum(map(len, parts)) == len(surface)
            offset = start
            for part in parts:
                starts.append(offset if spelled else start)
                offset += len(part)
                ends.append(offset if spelled else position)
        return Sentence(tuple(forms), tuple(starts), tuple(ends))

    def parse(self) -> Parse:
        """The tree and tags as a parse.

        Raises:
            InputError: a head is missing, not a number or out of range, there is not exactly one
                root, or the arcs form a cycle; the sentence is named.
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
        """The same rows with heads, relations and tags of ``parse``; enhanced arcs are cleared.

        Raises:
            ValueError: the parse has another number of words.
        """
        if len(parse) != len(self.words):
            raise ValueError(f"expected a parse of {len(self.words)} words, got {len(parse)}")
        values = iter(zip(parse.heads, parse.relations, parse.upos, parse.xpos, strict=True))
        rows = []
        for row in self.rows:
            if row[ID].isdigit():
                head, relation, upos, xpos = next(values)
                columns = list(row)
                columns[UPOS], columns[XPOS] = upos, xpos
                columns[HEAD], columns[DEPREL], columns[DEPS] = str(head), relation, "_"
                row = tuple(columns)
            rows.append(row)
        return replace(self, rows=tuple(rows))

    @classmethod
    def from_parse(
        cls, parse: Parse, *, text: str, comments: tuple[str, ...] = ()
    ) -> TreebankSentence:
        """Rows for a parse whose offsets index into ``text``.

        Words that share an interval are those of a multi-word token.
        """
        sentence = parse.sentence
        places = list(zip(sentence.starts, sentence.ends, strict=True))
        touching = [after <= end for (_, end), (after, _) in pairwise(places)]
        gaps = ["SpaceAfter=No" if touches else "_" for touches in (*touching, False)]
        rows: list[tuple[str, ...]] = []
        for (start, end), group in groupby(range(len(parse)), key=places.__getitem__):
            words = list(group)
            is_token = len(words) > 1 and end > start
            if is_token:
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
                        "_" if is_token else gaps[index],
                    )
                )
        surface = " ".join(text[sentence.start : sentence.end].split())
        return cls((*comments, f"# text = {surface}"), tuple(rows))


def _is_written(text: str, forms: Iterable[str]) -> bool:
    """Whether a text is these forms one after another, with white space between them or none."""
    position = 0
    for form in forms:
        while not text.startswith(form, position):
            if not text[position : position + 1].isspace():
                return False
            position += 1
        position += len(form)
    return not text[position:].strip()


def _head(row: tuple[str, ...], n_words: int, origin: str) -> int:
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
    roots = [index for index, head in enumerate(heads, start=1) if head == 0]
    if heads and len(roots) != 1:
        raise InputError(f"{origin}: expected one root (a word with head 0), found {len(roots)}")
    settled = {0}
    for word in range(1, len(heads) + 1):
        path = []
        while word not in settled:
            settled.add(word)
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
            f"{sentence.origin}: a multi-word token reaches to word {max(ends)} of a sentence of "
            f"{len(sentence.words)} words"
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
        lines: lines without line ends.
        name: what to call the source in messages.
        first_line: number of the first line, for messages.

    Raises:
        InputError: a line has not ten columns, a token has no form, or words are not numbered from
            1; the line is named.
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
                f"second column, or _ where it is not known"
            )
        token = TOKEN.fullmatch(columns[ID])
        if token is None:
            raise InputError(
                f"{name}, line {number}: {columns[ID]!r} is no token number "
                f"(expected 3, 3-4 or 3.1)"
            )
        first, last = token.groups()
        if first == columns[ID]:
            n_words += 1
            if int(first) != n_words:
                raise InputError(
                    f"{name}, line {number}: expected word {n_words}, got {first!r}; "
                    f"words are numbered from 1 in each sentence, a blank line ends it"
                )
        elif last is not None:
            if not max(n_words, token_end) < int(first) == n_words + 1 <= int(last):
                raise InputError(
                    f"{name}, line {number}: {columns[ID]!r} is not where it belongs; a multi-word "
                    f"token stands before its words, the next of which is {n_words + 1}"
                )
            token_end = int(last)
        rows.append(columns)
    if rows:
        yield _sentence(comments, rows, name, first_line)


def read_conllu(path: str | Path) -> Iterator[TreebankSentence]:
    """Yield the sentences of a treebank file (``.gz`` and ``-`` too), in constant memory.

    Raises:
        InputError: as :func:`parse_conllu`; or the file is missing, not UTF-8 or without words.
    """
    empty = True
    for sentence in parse_conllu(read_lines(path), name=str(path)):
        empty = False
        yield sentence
    if empty:
        raise InputError(f"{path}: no sentences; expected CoNLL-U (ten columns a word)")


def format_conllu(sentence: TreebankSentence) -> str:
    """The lines of a sentence, a blank line behind them."""
    lines = [*sentence.comments, *("\t".join(row) for row in sentence.rows)]
    return "\n".join(lines) + "\n\n"
