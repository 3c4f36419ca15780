"""Reconstruct raw text from treebanks, to train and evaluate segmentation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from syntagma.text.conllu import TreebankSentence, read_conllu
from syntagma.text.sentence import Sentence


@dataclass(slots=True)
class RawDocument:
    """The raw text of a document with the gold offsets of its sentences and words.

    Args:
        text: the sentences, joined by a space unless the last word has ``SpaceAfter=No``; a blank
            line precedes each paragraph.
        sentences: start and end offset of each sentence.
        words: the syntactic words of each sentence, with their offsets into ``text``.
        name: its name in the treebank (``# newdoc id = NAME``); empty if it has none.
    """

    text: str = ""
    sentences: list[tuple[int, int]] = field(default_factory=list)
    words: list[Sentence] = field(default_factory=list)
    name: str = ""

    def _append(self, gap: str, sentence: TreebankSentence) -> None:
        self.text += gap
        start = len(self.text)
        self.text += sentence.text
        self.sentences.append((start, len(self.text)))
        self.words.append(sentence.sentence().shift(start))


def read_documents(path: str | Path, *, paragraphs: bool = True) -> Iterator[RawDocument]:
    """Yield the documents of a treebank file as raw text.

    Args:
        path: a CoNLL-U file.
        paragraphs: turn ``# newpar`` into a blank line; otherwise into a space.

    Raises:
        InputError: as in :func:`syntagma.text.conllu.read_conllu`.
    """
    return raw_documents(read_conllu(path), paragraphs=paragraphs)


def raw_documents(
    sentences: Iterable[TreebankSentence], *, paragraphs: bool = True
) -> Iterator[RawDocument]:
    """Yield the documents of a treebank as raw text.

    Args:
        sentences: the sentences of the treebank, in order.
        paragraphs: as for :func:`read_documents`.
    """
    document = RawDocument()
    gap = ""
    for sentence in sentences:
        if sentence.starts_document:
            if document.sentences:
                yield document
            document, gap = RawDocument(name=sentence.comment("newdoc id") or ""), ""
        elif sentence.starts_paragraph and paragraphs:
            gap = "\n\n"
        document._append(gap, sentence)
        gap = "" if sentence.touches_next else " "
    if document.sentences:
        yield document
