"""Lay out texts in lines, to train the sentence splitter: treebanks have no line breaks."""

from __future__ import annotations

import random

from syntagma.text.documents import RawDocument


def joined(sentences: list[str], separator: str) -> RawDocument:
    """Return a document of sentences, joined by a space or a line break."""
    document = RawDocument()
    for sentence in sentences:
        document.text += separator if document.text else ""
        document.sentences.append((len(document.text), len(document.text) + len(sentence)))
        document.text += sentence
    return document


def under(heading: list[str], body: RawDocument) -> RawDocument:
    """Return a document under its heading, with a line break between them."""
    document = joined(heading, "\n")
    if not heading:
        return body
    shift = len(document.text) + 1
    document.sentences += [(start + shift, end + shift) for start, end in body.sentences]
    document.text += "\n" + body.text
    return document


def wrapped(document: RawDocument, width: int) -> RawDocument:
    """Return a document with line breaks in place of spaces, so that no line exceeds a width."""
    text, line_start, last_space = list(document.text), 0, -1
    for position, character in enumerate(document.text):
        if character == "\n":
            line_start, last_space = position + 1, -1
        elif position - line_start >= width and last_space >= line_start:
            text[last_space] = "\n"
            line_start, last_space = last_space + 1, -1
        if character == " ":
            last_space = position
    return RawDocument("".join(text), document.sentences, document.words, document.name)


def laid_out(document: RawDocument, seed: int) -> RawDocument:
    """Return a document of a treebank as hard-wrapped paragraphs, lines or one-line paragraphs.

    Only spaces become line breaks, so that all offsets stay.

    Args:
        document: whose sentences are separated by spaces or by nothing.
        seed: the same seed gives the same layout.
    """
    draw = random.Random(seed)
    text = document.text
    spaces = [end for _, end in document.sentences[:-1] if text[end] == " "]
    parts: list[str] = []
    begin = 0
    # Some whole documents have one sentence per line.
    by_line = draw.random() < 0.25
    while begin < len(text):
        n_sentences = draw.randint(1, 7)
        inner, spaces = spaces[: n_sentences - 1], spaces[n_sentences - 1 :]
        stop = spaces.pop(0) if spaces else len(text)
        part = text[begin:stop]
        style = 0.6 if by_line else draw.random()
        if style < 0.5:
            width = draw.choice([28, 40, 50, 60, 66, 70, 72, 72, 76, 80, 100])
            part = wrapped(RawDocument(part), width).text
        elif style < 0.8:
            for end in inner:
                part = f"{part[: end - begin]}\n{part[end - begin + 1 :]}"
        # One character, as the space is: a line break, or the mark between paragraphs.
        parts += [part, "\n" if by_line else draw.choice("\n\u2029") if stop < len(text) else ""]
        begin = stop + 1
    return RawDocument("".join(parts), document.sentences, name=document.name)
