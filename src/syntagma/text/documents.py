"""Raw text as it was before a treebank cut it: what segmentation is trained and scored on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from syntagma.text.conllu import TreebankSentence, read_conllu

__all__ = ["RawDocument", "read_documents"]


@dataclass(slots=True)
class RawDocument:
    """A document and where its sentences and words stand in it.

    Args:
        text: sentences joined with a space, unless the last word says ``SpaceAfter=No``; a blank
            line before each paragraph.
        sentences: offsets of the sentences.
        words: offsets of the syntactic words, those inside multi-word tokens too.
    """

    text: str = ""
    sentences: list[tuple[int, int]] = field(default_factory=list)
    words: list[tuple[int, int]] = field(default_factory=list)

    def _append(self, gap: str, sentence: TreebankSentence) -> None:
        self.text += gap
        start = len(self.text)
        self.text += sentence.text
        self.sentences.append((start, len(self.text)))
        words = sentence.sentence().shift(start)
        self.words.extend(zip(words.starts, words.ends, strict=True))


def read_documents(path: str | Path, *, paragraphs: bool = True) -> Iterator[RawDocument]:
    """Yield the documents of a treebank file as raw text.

    Args:
        path: a CoNLL-U file.
        paragraphs: whether ``# newpar`` becomes a blank line; else it becomes a space.

    Raises:
        InputError: as :func:`syntagma.text.conllu.read_conllu`.
    """
    document = RawDocument()
    gap = ""
    for sentence in read_conllu(path):
        kinds = {comment[1:].split()[0] for comment in sentence.comments if comment[1:].strip()}
        if "newdoc" in kinds:
            if document.sentences:
                yield document
            document, gap = RawDocument(), ""
        elif "newpar" in kinds and paragraphs:
            gap = "\n\n"
        document._append(gap, sentence)
        gap = "" if sentence.touches_next else " "
    if document.sentences:
        yield document
