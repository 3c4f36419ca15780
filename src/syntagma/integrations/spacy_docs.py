"""Read sentences from spaCy documents, and write parses into them.

The tokens of a document are kept as they are.  Tokens of white space are not words: a parser never
sees them, and in the tree they depend on the word before them, as in spaCy's own pipelines.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.parts_of_speech import IDS as POS_IDS
from spacy.tokens import Doc, Span, SpanGroup

from syntagma.errors import InputError
from syntagma.parse.languages import Languages
from syntagma.parse.sources.adapters import parse_of_span
from syntagma.text.brackets import format_brackets
from syntagma.text.segmentation.segment import segment
from syntagma.text.sentence import Constituent, Parse, Sentence

PHRASES = "constituents"
"""Key of ``Doc.spans`` with the phrases of a document, in pre-order."""

ROOT = "ROOT"
"""spaCy's name of the relation ``root``."""

SPACE_RELATION, SPACE_TAG, SPACE_POS = "dep", "_SP", "SPACE"
"""Labels of white space, as in spaCy's own pipelines."""

COLUMNS = ["HEAD", "DEP", "TAG", "POS"]
"""Attributes that are written, beside the starts of sentences."""


class TokenSentence(NamedTuple):
    """A sentence of a document.

    Args:
        start: index of its first token.
        end: index after its last token.
        words: index of the token of each word, ``[n_words]``.
        sentence: the words; offsets index into ``doc.text``.
    """

    start: int
    end: int
    words: list[int]
    sentence: Sentence


def read_sentences(doc: Doc, languages: Languages | None = None) -> list[TokenSentence]:
    """Return the sentences of a document, with its tokens as words.

    A sentence starts where the document says so; where it says nothing, the sentence splitter
    decides.

    Args:
        doc: any document; nothing but its tokens is needed.
        languages: those of a parser, whose splitters decide; by default that for English.
    """
    tokens = list(doc)
    texts = [token.text for token in tokens]
    starts = [token.idx for token in tokens]
    first_tokens = np.flatnonzero(_sentence_starts(doc, starts, languages)).tolist()
    sentences = []
    for start, end in pairwise([*first_tokens, len(tokens)]):
        words = [place for place in range(start, end) if texts[place].strip()]
        sentence = Sentence(
            tuple(texts[word] for word in words),
            tuple(starts[word] for word in words),
            tuple(starts[word] + len(texts[word]) for word in words),
        )
        sentences.append(TokenSentence(start, end, words, sentence))
    return sentences


def _sentence_starts(
    doc: Doc, offsets: Sequence[int], languages: Languages | None
) -> NDArray[np.bool_]:
    """Whether each token starts a sentence, ``[n_tokens]``."""
    # 1 for a start, -1 for none, 0 if the document does not say.
    marks = doc.to_array("SENT_START").view(np.int64)
    is_start: NDArray[np.bool_] = marks == 1
    if not marks[1:].all():
        segmenter = None if languages is None else languages.segmenter_for(doc.text)
        bounds = [sentence.start for sentence in segment(doc.text, segmenter=segmenter)]
        # A token that contains a start, such as "end.Then", belongs to the sentence before.
        numbers = np.array([bisect_right(bounds, offset) for offset in offsets])
        # White space before the first word belongs to its sentence.
        numbers = np.maximum(numbers, 1)
        is_new = np.diff(numbers, prepend=0) > 0
        is_start |= is_new & (marks == 0)
    is_start[:1] = True
    return is_start


def write_parses(
    doc: Doc, sentences: Sequence[TokenSentence], parses: Sequence[Parse], *, phrases: bool
) -> None:
    """Write heads, relations, tags, sentence starts and phrases into a document.

    Args:
        doc: the document that the sentences were read from.
        sentences: all its sentences.
        parses: their parses.
        phrases: whether the parser finds phrases.
    """
    if len(doc):
        _write_trees(doc, sentences, parses)
    if phrases:
        spans = list(_phrases(doc, sentences, parses))
        doc.spans[PHRASES] = SpanGroup(doc, name=PHRASES, spans=spans)


def _write_trees(doc: Doc, sentences: Sequence[TokenSentence], parses: Sequence[Parse]) -> None:
    """Write heads, relations and tags."""
    # spaCy wants unsigned integers, in which it reads the negative distances of heads again.
    values = np.zeros((len(doc), len(COLUMNS)), np.int64)
    labels: list[tuple[str, str, str]] = [("", "", "")] * len(doc)
    for part, parse in zip(sentences, parses, strict=True):
        _place_space(part, values, labels)
        rows = zip(part.words, parse.heads, parse.relations, parse.upos, parse.xpos, strict=True)
        for word, head, relation, upos, xpos in rows:
            values[word, 0] = part.words[head - 1] - word if head else 0
            labels[word] = (relation if head else ROOT, xpos, upos)
    add = doc.vocab.strings.add
    ids = {label: add(label) for label in {label for row in labels for label in row[:2]}}
    columns = values.view(np.uint64)
    columns[:, 1] = [ids[relation] for relation, _, _ in labels]
    columns[:, 2] = [ids[tag] for _, tag, _ in labels]
    columns[:, 3] = [int(POS_IDS.get(pos, 0)) for _, _, pos in labels]
    doc.from_array(COLUMNS, columns)
    # spaCy derives sentences from the heads, in ten rounds: too few for a tree of hundreds of words
    # whose arcs cross everywhere, as those of an untrained parser do.
    starts = np.full(len(doc), -1, np.int64)
    starts[[part.start for part in sentences]] = 1
    doc.from_array(["SENT_START"], starts.view(np.uint64))


def _place_space(
    part: TokenSentence, values: NDArray[np.int64], labels: list[tuple[str, str, str]]
) -> None:
    """Attach white space to the word before it, or to the first word of its sentence."""
    if len(part.words) == part.end - part.start:
        return
    head = part.words[0] if part.words else part.start
    words = set(part.words)
    for token in range(part.start, part.end):
        if token in words:
            head = token
            continue
        values[token, 0] = head - token
        labels[token] = (ROOT if head == token else SPACE_RELATION, SPACE_TAG, SPACE_POS)


def _phrases(
    doc: Doc, sentences: Iterable[TokenSentence], parses: Iterable[Parse]
) -> Iterator[Span]:
    for part, parse in zip(sentences, parses, strict=True):
        for label, start, end in parse.constituents or ():
            yield Span(doc, part.words[start], part.words[end - 1] + 1, label=label)


def phrases_of(span: Span) -> list[Span]:
    """Return the phrases inside a span, in pre-order: outer phrases before inner ones.

    This is ``Span._.constituents``.  Each phrase is a span with a label.

    Args:
        span: any span of a document, such as a sentence.

    Raises:
        InputError: the document has no phrases.
    """
    if PHRASES not in span.doc.spans:
        raise InputError(
            f"Span._.{PHRASES}: this document has no phrases; add the component syntagma to its "
            f"pipeline, with a parser that was trained with phrases and decoding 'separate' or "
            f"'joint'"
        )
    group = span.doc.spans[PHRASES]
    # In pre-order the phrases are sorted by their first token.
    first = bisect_left(range(len(group)), span.start, key=lambda place: group[place].start)
    found = []
    for place in range(first, len(group)):
        phrase = group[place]
        if phrase.start >= span.end:
            break
        if phrase.end <= span.end:
            found.append(phrase)
    return found


def parse_string(span: Span) -> str:
    """Return the phrases inside a span in Penn brackets: ``(NP (DT the) (NN ferry))``.

    This is ``Span._.parse_string``.  A span that is not a phrase gives several trees, separated by
    spaces.

    Args:
        span: any span of a document, such as a sentence.

    Raises:
        InputError: the document has no phrases.
    """
    phrases = phrases_of(span)
    words = [token for token in span if token.text.strip()]
    if not words:
        return ""
    forms, tags = [word.text for word in words], [word.tag_ for word in words]
    whole = format_brackets(forms, tags, _numbered(phrases, [word.i for word in words]))
    return whole.removeprefix("(TOP ").removesuffix(")")


def _numbered(phrases: Iterable[Span], words: Sequence[int]) -> tuple[Constituent, ...]:
    """Return phrases with the numbers of their words, from 0, in place of those of tokens.

    Args:
        phrases: the phrases.
        words: index of the token of each word, ascending.
    """
    return tuple(
        Constituent(phrase.label_, bisect_left(words, phrase.start), bisect_left(words, phrase.end))
        for phrase in phrases
    )


def parses_of(doc: Doc) -> list[Parse]:
    """Return the trees of a document, one for each sentence; white space is left out.

    The pipeline that made them may be any.  Phrases are included if the component ``syntagma``
    wrote them.

    Args:
        doc: a document with heads.

    Raises:
        InputError: the document has no heads.
    """
    if not doc.has_annotation("DEP"):
        raise InputError(
            "parses_of: this document has no heads; add a parser to its pipeline, such as "
            'nlp.add_pipe("syntagma")'
        )
    found = []
    for sentence in doc.sents:
        parse = parse_of_span(sentence)
        if len(parse) and PHRASES in doc.spans:
            words = [token.i for token in sentence if not token.is_space]
            parse = replace(parse, constituents=_numbered(phrases_of(sentence), words))
        if len(parse):
            found.append(parse)
    return found
