"""Sentences and words of other tokenizers, for parsers that do not know how to cut a language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any, Protocol

from syntagma.batches import batched
from syntagma.errors import InputError, MissingExtraError
from syntagma.parse.parser import TEXTS_PER_CHUNK, JointParser
from syntagma.parse.sources.adapters import StanzaSource, sentence_of_span
from syntagma.text.alignment import encodable
from syntagma.text.sentence import Parse, Sentence

KINDS = "spacy:NAME, stanza:LANGUAGE or whitespace"
_WORD = re.compile(r"\S+")
_FINAL = re.compile(r"[.!?…。！？؟۔।॥]+[\"'”’»)\]]*$")


class Tokenizer(Protocol):
    """Cuts texts into sentences and words."""

    @property
    def fingerprint(self) -> str:
        """A string that changes whenever texts may be cut differently."""
        ...

    def cut(self, texts: Iterable[str]) -> Iterator[list[Sentence]]:
        """Yield the sentences of each text; offsets refer to the text."""
        ...


class WhitespaceTokenizer:
    """Words are what whitespace separates; a sentence ends with its line or with final punctuation.

    It is for texts whose words are separated already, punctuation included.
    """

    fingerprint = "whitespace"

    def cut(self, texts: Iterable[str]) -> Iterator[list[Sentence]]:
        """Yield the sentences of each text."""
        for text in texts:
            yield list(_sentences(text))


def _sentences(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a text whose words are separated by whitespace."""
    words: list[re.Match[str]] = []
    for word in _WORD.finditer(text):
        if words and "\n" in text[words[-1].end() : word.start()]:
            yield _sentence(words)
            words = []
        words.append(word)
        if _FINAL.search(word[0]):
            yield _sentence(words)
            words = []
    if words:
        yield _sentence(words)


def _sentence(words: list[re.Match[str]]) -> Sentence:
    columns = zip(*((word[0], word.start(), word.end()) for word in words), strict=True)
    forms, starts, ends = columns
    return Sentence(forms, starts, ends, multiword=())


class SpacyTokenizer:
    """The tokenizer of a spaCy pipeline, and its sentences.

    Args:
        pipeline: a ``spacy.Language`` that finds sentences.
        name: by which it was asked for.
    """

    def __init__(self, pipeline: Any, name: str) -> None:
        self.pipeline = pipeline
        meta = pipeline.meta
        version = meta.get("version"), meta.get("spacy_version")
        self.fingerprint = ":".join(map(str, ("spacy", name, meta.get("lang"), *version)))

    @classmethod
    def load(cls, name: str) -> SpacyTokenizer:
        """Load an installed pipeline, or make an empty one for a language.

        Args:
            name: a package or folder, or the code of a language that spaCy knows; then sentences
                end at final punctuation.

        Raises:
            InputError: there is no such pipeline and no such language.
            MissingExtraError: spaCy is not installed.
        """
        try:
            import spacy
        except ImportError as error:
            raise MissingExtraError("cutting text with spaCy", "parsers") from error
        try:
            pipeline = spacy.load(name, exclude=["ner", "lemmatizer", "tagger", "morphologizer"])
        except OSError:
            try:
                pipeline = spacy.blank(name)
            except ImportError as error:
                raise InputError(
                    f"tokenizer 'spacy:{name}': no installed pipeline and no language of spaCy "
                    f"({' '.join(str(error).split())[:80]}); write a code such as spacy:fr"
                ) from error
            pipeline.add_pipe("sentencizer")
        if not any(each in pipeline.pipe_names for each in ("parser", "senter", "sentencizer")):
            pipeline.add_pipe("sentencizer", first=True)
        return cls(pipeline, name)

    def cut(self, texts: Iterable[str]) -> Iterator[list[Sentence]]:
        """Yield the sentences of each text; tokens of white space are dropped."""
        for document in self.pipeline.pipe(map(encodable, texts)):
            found = (sentence_of_span(span) for span in document.sents)
            yield [sentence for sentence in found if len(sentence)]


class StanzaTokenizer:
    """The tokenizer of Stanza, with words of multi-word tokens where it knows them.

    Args:
        source: a pipeline that cuts text, and does nothing else.
    """

    def __init__(self, source: StanzaSource) -> None:
        self.source = source
        self.fingerprint = f"tokenize:{source.fingerprint}"

    @classmethod
    def load(cls, language: str) -> StanzaTokenizer:
        """Load the tokenizer of a language; its model must have been downloaded before.

        Args:
            language: code of a language, such as ``fr``.

        Raises:
            InputError: its model is missing.
            MissingExtraError: Stanza is not installed.
        """
        return cls(StanzaSource.load(language, processors="tokenize,mwt"))

    def cut(self, texts: Iterable[str]) -> Iterator[list[Sentence]]:
        """Yield the sentences of each text."""
        return self.source.cut(texts)


class TokenizedSource:
    """A parser of ours on the sentences and words of another tokenizer; a parse source.

    Args:
        parser: parses the sentences.
        tokenizer: cuts the texts.
    """

    def __init__(self, parser: JointParser, tokenizer: Tokenizer) -> None:
        self.parser = parser
        self.tokenizer = tokenizer

    @property
    def fingerprint(self) -> str:
        """Those of the parser and of the tokenizer."""
        return f"{self.parser.fingerprint}|{self.tokenizer.fingerprint}"

    def parse_texts(self, texts: Iterable[str]) -> Iterator[list[Parse]]:
        """Cut texts and parse their sentences, many at a time.

        Args:
            texts: running texts.
        """
        for chunk in batched(texts, TEXTS_PER_CHUNK):
            sentences = list(self.tokenizer.cut(chunk))
            parses = iter(self.parser.parse(chain.from_iterable(sentences)))
            for found in sentences:
                yield list(islice(parses, len(found)))


def find_tokenizer(name: str) -> Tokenizer:
    """Load a tokenizer by name.

    Args:
        name: ``whitespace``, ``spacy:NAME`` (a pipeline or a language) or ``stanza:LANGUAGE``.

    Raises:
        InputError: there is none with this name.
        MissingExtraError: its package is not installed.
    """
    kind, _, rest = name.partition(":")
    if name == "whitespace":
        return WhitespaceTokenizer()
    if kind == "spacy" and rest:
        return SpacyTokenizer.load(rest)
    if kind == "stanza" and rest:
        return StanzaTokenizer.load(rest)
    raise InputError(f"tokenizer {name!r}: expected {KINDS}")
