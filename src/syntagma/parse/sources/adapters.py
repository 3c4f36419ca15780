"""spaCy and Stanza pipelines as parse sources.

Both use their own tokenization; pieces are aligned with their words by character offsets.  Both
libraries are optional and only imported when a pipeline is loaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Self

from syntagma.batches import batched
from syntagma.errors import InputError, MissingExtraError
from syntagma.text.alignment import encodable
from syntagma.text.sentence import Parse, Sentence

BATCH_SIZE = 256
"""Number of texts that are passed to a pipeline together."""


def single_root(heads: Sequence[int]) -> tuple[int, ...]:
    """Attach all roots but the first to the first one.

    Args:
        heads: 1-based, 0 for a root, ``[n_words]``.

    >>> single_root([0, 1, 0, 3])
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
    """Parses texts with a spaCy pipeline.

    Args:
        pipeline: a loaded ``spacy.Language`` with a dependency parser.
        name: name for messages and the fingerprint; the pipeline's own name by default.
    """

    def __init__(self, pipeline: Any, name: str = "") -> None:
        self.pipeline = pipeline
        self.name = name or str(pipeline.meta["name"])

    @classmethod
    def load(cls, name: str) -> Self:
        """Load an installed pipeline.

        Args:
            name: a package such as ``en_core_web_sm``, or a folder.

        Raises:
            InputError: there is no such pipeline.
            MissingExtraError: spaCy is not installed.
        """
        try:
            import spacy
        except ImportError as error:
            raise MissingExtraError("parsing with spaCy", "parsers") from error
        try:
            return cls(spacy.load(name), name)
        except OSError as error:
            raise InputError(
                f"parser 'spacy:{name}': no such pipeline; install it with "
                f"`python -m spacy download {name}`, or give its folder"
            ) from error

    @property
    def fingerprint(self) -> str:
        """Name, language and version of the pipeline, and the version of spaCy."""
        meta = self.pipeline.meta
        return ":".join(
            str(part)
            for part in ("spacy", self.name, meta.get("lang"), meta.get("version"),
                         meta.get("spacy_version"))
        )  # fmt: skip

    def parse_texts(self, texts: Iterable[str]) -> Iterator[list[Parse]]:
        """Parse texts; white space tokens are dropped.

        Args:
            texts: running texts.

        Raises:
            InputError: the pipeline has no dependency parser, or a text is too long for it.
        """
        for document in self.pipeline.pipe(map(self._check_length, texts), batch_size=BATCH_SIZE):
            if not document.has_annotation("DEP"):
                raise InputError(f"spacy:{self.name} has no dependency parser")
            yield [parse for span in document.sents if len(parse := parse_of_span(span))]

    def parse_sentences(self, sentences: Sequence[Sentence]) -> list[Parse]:
        """Parse sentences whose words are given; the pipeline does not tokenize or split them.

        Args:
            sentences: the sentences.
        """
        vocabulary = self.pipeline.vocab
        documents = self.pipeline.pipe(
            (document_of(vocabulary, sentence) for sentence in sentences), batch_size=BATCH_SIZE
        )
        return [
            replace(parse_of_span(document[:]), sentence=sentence)
            for document, sentence in zip(documents, sentences, strict=True)
        ]

    def _check_length(self, text: str) -> str:
        limit = getattr(self.pipeline, "max_length", len(text))
        if len(text) > limit:
            raise InputError(
                f"spacy:{self.name} reads texts of up to {limit:,} characters, got one of "
                f"{len(text):,}; split it into parts"
            )
        return encodable(text)


def document_of(vocabulary: Any, sentence: Sentence, **annotations: Any) -> Any:
    """Return a spaCy document that is one sentence with the given words.

    Args:
        vocabulary: the ``vocab`` of a pipeline.
        sentence: the words.
        annotations: further arguments of ``spacy.tokens.Doc``, such as ``tags``.
    """
    from spacy.tokens import Doc

    n_words = len(sentence)
    # Words touch if there is nothing between them in the text.
    spaces = [end < start for end, start in zip(sentence.ends, sentence.starts[1:], strict=False)]
    return Doc(
        vocabulary,
        words=list(sentence.forms),
        spaces=[*spaces, False][:n_words],
        # The parser keeps bounds of sentences that are set.
        sent_starts=[place == 0 for place in range(n_words)],
        **annotations,
    )


def parse_of_span(span: Any) -> Parse:
    """Convert a sentence of a spaCy document; tokens of white space are dropped.

    Args:
        span: the sentence, a ``spacy.tokens.Span`` with heads.
    """
    tokens = _words(span)
    # spaCy numbers tokens through the document, white space tokens included.
    number = {token.i: index for index, token in enumerate(tokens, start=1)}
    heads = []
    for token in tokens:
        head = token.head
        # Words attached to a dropped white space token are attached to its head instead.
        while head.is_space and head.head.i != head.i:
            head = head.head
        heads.append(0 if head.i == token.i else number.get(head.i, 0))
    heads = list(single_root(heads))
    return Parse(
        sentence_of_span(span),
        tuple(heads),
        tuple(
            "root" if head == 0 else token.dep_ or "_"
            for token, head in zip(tokens, heads, strict=True)
        ),
        tuple(token.pos_ or "_" for token in tokens),
        tuple(token.tag_ or "_" for token in tokens),
    )


def sentence_of_span(span: Any) -> Sentence:
    """Convert the words of a sentence of a spaCy document; tokens of white space are dropped.

    Args:
        span: the sentence, a ``spacy.tokens.Span``.
    """
    tokens = _words(span)
    return Sentence(
        tuple(token.text for token in tokens),
        tuple(token.idx for token in tokens),
        tuple(token.idx + len(token.text) for token in tokens),
    )


def _words(span: Any) -> list[Any]:
    return [token for token in span if not token.is_space]


class StanzaSource:
    """Parses texts with a Stanza pipeline.

    Args:
        pipeline: a loaded ``stanza.Pipeline`` with the processors ``tokenize,pos,lemma,depparse``.
        name: name for messages and the fingerprint.
    """

    def __init__(self, pipeline: Any, name: str) -> None:
        self.pipeline = pipeline
        self.name = name

    @classmethod
    def load(cls, language: str, *, processors: str = "tokenize,pos,lemma,depparse") -> Self:
        """Load the pipeline of a language; its models must have been downloaded before.

        Args:
            language: language code, such as ``en``.
            processors: what the pipeline does.

        Raises:
            InputError: the models are missing.
            MissingExtraError: Stanza is not installed.
        """
        try:
            import stanza
        except ImportError as error:
            raise MissingExtraError("parsing with Stanza", "parsers") from error
        try:
            pipeline = stanza.Pipeline(
                language,
                processors=processors,
                # Never download anything without being asked to.
                download_method=None,
                verbose=False,
            )
        except Exception as error:
            # Stanza reports missing models by many exception classes, plain `Exception` included.
            raise InputError(
                f"parser 'stanza:{language}': no models; get them with "
                f"`python -c \"import stanza; stanza.download('{language}')\"`"
            ) from error
        return cls(pipeline, language)

    @property
    def fingerprint(self) -> str:
        """Name of the pipeline, and the version of Stanza."""
        from importlib.metadata import version

        return f"stanza:{self.name}:{version('stanza')}"

    def parse_texts(self, texts: Iterable[str]) -> Iterator[list[Parse]]:
        """Parse texts.

        Args:
            texts: running texts.

        Raises:
            InputError: the pipeline has no dependency parser.
        """
        for batch in batched(texts, BATCH_SIZE):
            for document in self.pipeline.bulk_process(batch):
                yield [self._parse(sentence) for sentence in document.sentences]

    def cut(self, texts: Iterable[str]) -> Iterator[list[Sentence]]:
        """Yield the sentences of texts, without trees.

        Args:
            texts: running texts.
        """
        for batch in batched(texts, BATCH_SIZE):
            for document in self.pipeline.bulk_process(batch):
                yield [_sentence_of_stanza(sentence) for sentence in document.sentences]

    def _parse(self, sentence: Any) -> Parse:
        words = sentence.words
        if any(word.head is None for word in words):
            raise InputError(f"stanza:{self.name} has no dependency parser")
        return Parse(
            _sentence_of_stanza(sentence),
            single_root([int(word.head) for word in words]),
            tuple(word.deprel or "_" for word in words),
            tuple(word.upos or "_" for word in words),
            tuple(word.xpos or "_" for word in words),
        )


def _sentence_of_stanza(sentence: Any) -> Sentence:
    """Convert the words of a sentence of Stanza.

    If the words of a multi-word token spell it ("ca" + "n't"), each gets its own part of the
    characters.  Otherwise ("de" + "le" for French "du") each gets all of them.
    """
    forms: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    ranges: list[tuple[int, int]] = []
    for token in sentence.tokens:
        parts = [word.text for word in token.words]
        # The text of a token may lack whitespace that its offsets cover.
        length = token.end_char - token.start_char
        spelled = len(token.text) == length and "".join(parts) == token.text
        if len(parts) > 1:
            ranges.append((len(forms), len(forms) + len(parts)))
        position = token.start_char
        for part in parts:
            starts.append(position if spelled else token.start_char)
            position += len(part)
            ends.append(position if spelled else token.end_char)
        forms += parts
    return Sentence(tuple(forms), tuple(starts), tuple(ends), multiword=tuple(ranges))
