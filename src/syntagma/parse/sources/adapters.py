"""Parsers of other libraries as sources: spaCy and Stanza.

Both keep their own words; pieces are aligned to them by characters.  Neither is needed to import
this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Self

from syntagma.errors import InputError, MissingExtraError
from syntagma.text.alignment import encodable
from syntagma.text.sentence import Parse, Sentence

__all__ = ["SpacySource", "StanzaSource", "one_tree"]

GROUP = 256
"""Texts that are given to a pipeline together."""


def one_tree(heads: Sequence[int]) -> tuple[int, ...]:
    """Heads with exactly one root: of several, the first keeps the sentence.

    >>> one_tree([0, 1, 0, 3])
    (0, 1, 1, 3)
    """
    roots = [word for word, head in enumerate(heads, start=1) if head == 0]
    if len(roots) < 2:
        return tuple(heads)
    return tuple(
        roots[0] if head == 0 and word != roots[0] else head
        for word, head in enumerate(heads, start=1)
    )


class SpacySource:
    """Parses by a spaCy pipeline.

    Args:
        pipeline: a loaded ``spacy.Language`` with a dependency parser.
        name: what it is called.
    """

    def __init__(self, pipeline: Any, name: str = "") -> None:
        self.pipeline = pipeline
        self.name = name or str(pipeline.meta["name"])

    @classmethod
    def load(cls, name: str) -> Self:
        """An installed pipeline, such as ``en_core_web_sm``.

        Raises:
            InputError: there is none of that name.
            MissingExtraError: spaCy is not installed.
        """
        try:
            import spacy
        except ImportError as error:
            raise MissingExtraError("spaCy pipelines", "parsers") from error
        try:
            return cls(spacy.load(name), name)
        except OSError as error:
            raise InputError(
                f"parser 'spacy:{name}': no such pipeline; install it with "
                f"`python -m spacy download {name}`, or give its folder"
            ) from error

    @property
    def fingerprint(self) -> str:
        """Language, name and version of the pipeline, and of spaCy."""
        meta = self.pipeline.meta
        return ":".join(
            str(part)
            for part in ("spacy", self.name, meta.get("lang"), meta.get("version"),
                         meta.get("spacy_version"))
        )  # fmt: skip

    def parse_texts(self, texts: Iterable[str]) -> Iterator[list[Parse]]:
        """The sentences of each text, white space left out.

        Raises:
            InputError: the pipeline has no dependency parser.
        """
        for document in self.pipeline.pipe(map(self._fitting, texts), batch_size=GROUP):
            if not document.has_annotation("DEP"):
                raise InputError(f"spacy:{self.name} has no dependency parser")
            yield [parse for span in document.sents if len(parse := _from_spacy(span))]

    def _fitting(self, text: str) -> str:
        most = getattr(self.pipeline, "max_length", len(text))
        if len(text) > most:
            raise InputError(
                f"spacy:{self.name} reads texts of up to {most:,} characters, got one of "
                f"{len(text):,}; cut it into parts"
            )
        return encodable(text)


def _from_spacy(span: Any) -> Parse:
    tokens = [token for token in span if not token.is_space]
    number = {token.i: index for index, token in enumerate(tokens, start=1)}
    heads = []
    for token in tokens:
        head = token.head
        # White space is no word: what hangs on it hangs on its head.
        while head.is_space and head.head.i != head.i:
            head = head.head
        heads.append(0 if head.i == token.i else number.get(head.i, 0))
    heads = list(one_tree(heads))
    return Parse(
        Sentence(
            tuple(token.text for token in tokens),
            tuple(token.idx for token in tokens),
            tuple(token.idx + len(token.text) for token in tokens),
        ),
        tuple(heads),
        tuple(
            "root" if head == 0 else token.dep_ or "_"
            for token, head in zip(tokens, heads, strict=True)
        ),
        tuple(token.pos_ or "_" for token in tokens),
        tuple(token.tag_ or "_" for token in tokens),
    )


class StanzaSource:
    """Parses by a Stanza pipeline.

    Args:
        pipeline: a loaded ``stanza.Pipeline`` with the processors ``tokenize,pos,lemma,depparse``.
        name: what it is called.
    """

    def __init__(self, pipeline: Any, name: str) -> None:
        self.pipeline = pipeline
        self.name = name

    @classmethod
    def load(cls, language: str) -> Self:
        """The pipeline of a language whose models were downloaded before.

        Raises:
            InputError: its models are not there.
            MissingExtraError: Stanza is not installed.
        """
        try:
            import stanza
        except ImportError as error:
            raise MissingExtraError("Stanza pipelines", "parsers") from error
        try:
            pipeline = stanza.Pipeline(
                language,
                processors="tokenize,pos,lemma,depparse",
                download_method=None,
                verbose=False,
            )
        except Exception as error:
            # Missing models end in errors of many classes, one of them plain `Exception`.
            raise InputError(
                f"parser 'stanza:{language}': no models; get them with "
                f"`python -c \"import stanza; stanza.download('{language}')\"`"
            ) from error
        return cls(pipeline, language)

    @property
    def fingerprint(self) -> str:
        """Language, and version of Stanza."""
        from importlib.metadata import version

        return f"stanza:{self.name}:{version('stanza')}"

    def parse_texts(self, texts: Iterable[str]) -> Iterator[list[Parse]]:
        """The sentences of each text.

        Raises:
            InputError: the pipeline has no dependency parser.
        """
        source = iter(texts)
        while group := list(islice(source, GROUP)):
            for document in self.pipeline.bulk_process(group):
                yield [self._parse(sentence) for sentence in document.sentences]

    def _parse(self, sentence: Any) -> Parse:
        words = sentence.words
        if any(word.head is None for word in words):
            raise InputError(f"stanza:{self.name} has no dependency parser")
        starts: list[int] = []
        ends: list[int] = []
        for token in sentence.tokens:
            # Words inside a token get their part of it where they spell it, else all of it.
            spelled = sum(len(word.text) for word in token.words) == (
                token.end_char - token.start_char
            )
            position = token.start_char
            for word in token.words:
                starts.append(position if spelled else token.start_char)
                position += len(word.text)
                ends.append(position if spelled else token.end_char)
        return Parse(
            Sentence(tuple(word.text for word in words), tuple(starts), tuple(ends)),
            one_tree([int(word.head) for word in words]),
            tuple(word.deprel or "_" for word in words),
            tuple(word.upos or "_" for word in words),
            tuple(word.xpos or "_" for word in words),
        )
