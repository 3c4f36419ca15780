"""Parse files of any size as a stream: text, one sentence per line, words, or CoNLL-U."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from syntagma.batches import batched
from syntagma.encoders.default import DEFAULT_PARSER
from syntagma.errors import InputError
from syntagma.files import BYTE_ORDER_MARK, text_lines
from syntagma.parse.parser import JointParser
from syntagma.parse.sources.source import ParseSource
from syntagma.text.conllu import TreebankSentence, format_conllu, read_conllu
from syntagma.text.language import SAMPLE
from syntagma.text.segmentation.layout import PARAGRAPH_BREAK
from syntagma.text.segmentation.segment import segment_stream
from syntagma.text.sentence import Parse, Sentence

NEW_PARAGRAPH = "# newpar"
MODES = {"text": "raw", "lines": "lines", "words": "words"}
SENTENCES_PER_CHUNK = 1024
"""Number of sentences parsed together: enough to sort by length, few enough to stream."""


class ParsedSentence(NamedTuple):
    """A parse and the treebank sentence that it is printed as.

    Args:
        parse: the parse; its offsets refer to the whole file or, for CoNLL-U, to the sentence.
        source: rows read from a CoNLL-U file, or rows made from the parse.
    """

    parse: Parse
    source: TreebankSentence

    def with_id(self, number: int) -> ParsedSentence:
        """Number the sentence, unless its rows have an id.

        Args:
            number: of the sentence in the output.
        """
        return self._replace(source=self.source.with_id(str(number)))

    def conllu(self) -> str:
        """Format the sentence as CoNLL-U."""
        return format_conllu(self.source.with_parse(self.parse))


def parse_file(
    path: str | Path, parser: JointParser | ParseSource, *, kind: str = "text"
) -> Iterator[ParsedSentence]:
    """Parse a file sentence by sentence, in constant memory.

    Args:
        path: a file, perhaps compressed as ``.gz``, or ``-`` for standard input.
        parser: the parser, or another source of parses, which divides running text itself.
        kind: ``text`` for running text; ``lines`` for one sentence per line; ``words`` for one
            sentence per line with words separated by spaces, which are kept; or ``conllu``, whose
            words are kept.

    Yields:
        The sentences.  The rows of the first one of a text file have the comment ``# newdoc id =
        NAME``, and those of the first one of a paragraph of running text ``# newpar``.

    Raises:
        InputError: the kind is unknown, or the file cannot be read or is not of this kind; or
            other sentences and words are given than running text to a source that keeps none.
    """
    if kind not in (*MODES, "conllu"):
        known = ", ".join((*MODES, "conllu"))
        raise InputError(
            f"--from must be one of {known}, or parquet from `syntagma annotate`; got {kind!r}"
        )
    if not isinstance(parser, JointParser) and kind != "text":
        raise InputError(
            f"--from {kind}: the sentences and words of the input are kept by {DEFAULT_PARSER} and "
            f"other parsers of this package only; use one of them, or --from text"
        )
    if kind == "conllu":
        assert isinstance(parser, JointParser)
        yield from _parse_treebank(read_conllu(path), parser)
        return
    is_empty = True
    document = "# newdoc" if str(path) == "-" else f"# newdoc id = {Path(path).name}"
    for parsed in _parse_lines(text_lines(path, whole=True), parser, kind, document):
        is_empty = False
        yield parsed
    if is_empty:
        raise InputError(f"{path}: is empty; expected text")


def _parse_treebank(
    sentences: Iterable[TreebankSentence], parser: JointParser
) -> Iterator[ParsedSentence]:
    """Parse the words of treebank sentences."""
    for chunk in batched(sentences, SENTENCES_PER_CHUNK):
        parses = parser.parse(sentence.sentence() for sentence in chunk)
        yield from map(ParsedSentence, parses, chunk)


def _parse_lines(
    lines: Iterator[str], parser: JointParser | ParseSource, kind: str, document: str
) -> Iterator[ParsedSentence]:
    """Parse lines.  Line ends and a byte-order mark count as characters in the offsets.

    Args:
        lines: with their line ends.
        parser: the parser, or another source of parses.
        kind: as for :func:`parse_file`, but not ``conllu``.
        document: comment line for the first sentence.
    """
    marks = _Marks(document, paragraphs=kind == "text")
    pending: list[_Pending] = []
    # The byte-order mark is not text, but offsets refer to the file, which contains it.
    first_line = next(lines, "")
    first_text = first_line.removeprefix(BYTE_ORDER_MARK)
    offset = len(first_line) - len(first_text)
    if not isinstance(parser, JointParser):
        yield from _parse_paragraphs(chain([first_text], lines), parser, offset, marks)
        return
    begin, chunks = _peek(chain([first_text], lines))
    segmenter = None if kind == "words" else parser.languages.segmenter_for(begin)
    found = segment_stream(chunks, mode=MODES[kind], segmenter=segmenter)
    for text, sentences in found:
        pending += [_Pending(sentence, text, offset, marks.take()) for sentence in sentences]
        marks.leave(text)
        offset += len(text)
        if len(pending) >= SENTENCES_PER_CHUNK:
            yield from _parse_pending(pending, parser)
            pending = []
    yield from _parse_pending(pending, parser)


def _peek(lines: Iterator[str]) -> tuple[str, Iterator[str]]:
    """Return the beginning of a text, by which its language is known, and all of its lines."""
    read: list[str] = []
    for line in lines:
        read.append(line)
        if sum(map(len, read)) >= SAMPLE:
            break
    return "".join(read), chain(read, lines)


class _Marks:
    """Comment lines of sentences that are the first of a document or paragraph.

    Args:
        document: comment line for the first sentence of all.
        paragraphs: whether paragraphs are marked.
    """

    def __init__(self, document: str, *, paragraphs: bool) -> None:
        self._paragraphs = paragraphs
        self._next = (document, *([NEW_PARAGRAPH] if paragraphs else []))

    def take(self) -> tuple[str, ...]:
        """Return the comment lines of the next sentence."""
        found, self._next = self._next, ()
        return found

    def leave(self, text: str) -> None:
        """Note that a paragraph, or a part of a long one, has been read.

        Args:
            text: of the paragraph, with the whitespace behind it.
        """
        # A long paragraph comes in parts, of which only the last ends with a blank line.
        ends = PARAGRAPH_BREAK.search(text, len(text.rstrip())) is not None
        if ends and self._paragraphs and not self._next:
            self._next = (NEW_PARAGRAPH,)


def _parse_paragraphs(
    lines: Iterable[str], source: ParseSource, offset: int, marks: _Marks
) -> Iterator[ParsedSentence]:
    """Parse running text with a source that divides it itself, paragraph by paragraph."""
    texts: deque[str] = deque()

    def paragraphs() -> Iterator[str]:
        for text, _ in segment_stream(lines, mode="raw"):
            texts.append(text)
            yield text

    # A source may read ahead, but answers in order.
    for parses in source.parse_texts(paragraphs()):
        text = texts.popleft()
        for parse in parses:
            rows = TreebankSentence.from_parse(parse, text=text, comments=marks.take())
            yield ParsedSentence(replace(parse, sentence=parse.sentence.shift(offset)), rows)
        marks.leave(text)
        offset += len(text)


class _Pending(NamedTuple):
    """A sentence that waits to be parsed.

    Args:
        sentence: the words.
        text: what contains them.
        offset: of the text in the file.
        comments: comment lines.
    """

    sentence: Sentence
    text: str
    offset: int
    comments: tuple[str, ...]


def _parse_pending(pending: Sequence[_Pending], parser: JointParser) -> Iterator[ParsedSentence]:
    """Parse sentences and shift their offsets to refer to the file."""
    parses = parser.parse(item.sentence for item in pending)
    for item, parse in zip(pending, parses, strict=True):
        # The rows need offsets within their own text, so they are made before the shift.
        rows = TreebankSentence.from_parse(parse, text=item.text, comments=item.comments)
        yield ParsedSentence(replace(parse, sentence=item.sentence.shift(item.offset)), rows)
