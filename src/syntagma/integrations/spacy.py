"""The spaCy component ``syntagma``: trees, tags and phrases on the tokens of a document.

spaCy finds the component by the entry point ``syntagma`` of the group ``spacy_factories``, and
imports this module for every pipeline, also for those without the component.  So importing it loads
no model, and changes nothing but spaCy's registry.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from syntagma.errors import DamagedFileError, InputError, MissingExtraError
from syntagma.files import read_json
from syntagma.outputs import write_json

try:
    import srsly
    from spacy.language import Language
    from spacy.pipeline import Pipe
    from spacy.tokens import Doc, Span
    from spacy.training import Example
    from spacy.util import minibatch
except ImportError as error:
    raise MissingExtraError("the component of spaCy", "parsers") from error

if TYPE_CHECKING:
    from syntagma.integrations.spacy_docs import TokenSentence
    from syntagma.parse.parser import JointParser

log = logging.getLogger(__name__)

NAME = "syntagma"
DEFAULT_PARSER = "default-parser"
Decoding = Literal["dependencies", "separate", "joint"]

ABOUT = "parser.json"
"""File with the name, version and digest of the parser that a pipeline was saved with."""
WEIGHTS = "parser"
"""Folder with the parser, unless it has a name by which any installation finds it."""

EXTENSIONS = ("constituents", "parse_string")
"""Attributes of ``Span._`` that show phrases."""


def set_extensions() -> None:
    """Define ``Span._.constituents`` and ``Span._.parse_string``.

    The component does so itself.  Call it to read stored documents without the component.

    Raises:
        InputError: another package has defined one of them.
    """
    from syntagma.integrations.spacy_docs import parse_string, phrases_of

    for name, getter in zip(EXTENSIONS, (phrases_of, parse_string), strict=True):
        if not Span.has_extension(name):
            Span.set_extension(name, getter=getter)
        elif Span.get_extension(name)[2] is not getter:
            raise InputError(
                f"Span._.{name} is already defined, by another package or your program; remove "
                f"that one with Span.remove_extension({name!r}), or add syntagma with the config "
                f"{{'decoding': 'dependencies'}}, which defines none"
            )


def make_component(
    nlp: Language,
    name: str,
    parser: str,
    decoding: Decoding | None,
    device: str,
    precision: str | None,
) -> SyntagmaComponent:
    """Make the component, for ``nlp.add_pipe("syntagma", config={…})``.

    Args:
        nlp: the pipeline.
        name: name of the component in the pipeline.
        parser: a shipped parser, a folder of the task ``parsing``, or a hub name.
        decoding: ``dependencies``, ``separate`` or ``joint``, see
            :class:`syntagma.parse.parser.JointParser`; by default ``separate``, or
            ``dependencies`` if the parser was trained without phrases.
        device: device to compute on.
        precision: as for :class:`syntagma.parse.parser.JointParser`.

    Raises:
        InputError: there is no such parser or device, or the parser finds no phrases.
    """
    component = SyntagmaComponent(
        name, parser=parser, decoding=decoding, device=device, precision=precision
    )
    if not component.is_deferred:
        component.load()
    return component


Language.factory(
    NAME,
    assigns=[
        "token.head", "token.dep", "token.tag", "token.pos", "token.is_sent_start", "doc.sents",
        "span._.constituents", "span._.parse_string",
    ],
    default_config={
        "parser": DEFAULT_PARSER, "decoding": None, "device": "cpu", "precision": None,
    },
    default_score_weights={
        "tag_acc": 0.0, "pos_acc": 0.0, "dep_uas": 0.0, "dep_las": 0.0, "sents_f": 0.0,
    },
    func=make_component,
)  # fmt: skip


class SyntagmaComponent(Pipe):
    """Parses documents with a Syntagma parser.

    Args:
        name: name of the component in its pipeline.
        parser: name or folder of the parser.
        decoding: see :func:`make_component`.
        device: device to compute on.
        precision: precision of the numbers.
    """

    def __init__(
        self,
        name: str = NAME,
        *,
        parser: str = DEFAULT_PARSER,
        decoding: Decoding | None = None,
        device: str = "cpu",
        precision: str | None = None,
    ) -> None:
        self.name = name
        self.cfg: dict[str, Any] = {
            "parser": parser, "decoding": decoding, "device": device, "precision": precision,
        }  # fmt: skip
        self._parser: JointParser | None = None
        # The process in which torch has started threads.
        self._process = os.getpid()
        # Set if the parser came with a saved pipeline.
        self._folder: Path | None = None
        # Whether any installation finds the parser by its name; known once it is loaded.
        self._is_named = True
        self._unpacked: tempfile.TemporaryDirectory[str] | None = None
        if decoding != "dependencies":
            set_extensions()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the loaded model, as spaCy does where it cannot fork processes."""
        return _unpickle, (self.name, self.cfg, self.to_bytes())

    @property
    def is_deferred(self) -> bool:
        """Whether the parser is loaded when it is first needed, and not with the pipeline.

        A folder may be missing on the machine where a saved pipeline is loaded.  That pipeline has
        a copy of the parser, which :meth:`from_disk` reads after the component was made.
        """
        from syntagma.encoders.named_models import NAMED_MODELS
        from syntagma.parse.sources.load import read_language

        name, _ = read_language(self.cfg["parser"])
        return name not in NAMED_MODELS and not Path(name).is_dir()

    @property
    def parser(self) -> JointParser:
        """The parser, loaded when it is first needed.

        Raises:
            InputError: there is no such parser.
        """
        if self._process != os.getpid():
            _compute_alone()
            self._process = os.getpid()
        if self._parser is None:
            self.load()
        assert self._parser is not None
        return self._parser

    def load(self) -> None:
        """Load the parser.

        Raises:
            InputError: there is no such parser or device, or the parser finds no phrases.
        """
        from syntagma.parse.sources.load import load_parser, read_language

        options = {key: self.cfg[key] for key in ("decoding", "precision") if self.cfg[key]}
        name, lang = read_language(self.cfg["parser"])
        options |= {"lang": lang} if lang else {}
        place = self._folder or name
        parser = load_parser(place, device=self.cfg["device"], **options)
        self._parser = parser if self.cfg["decoding"] else parser.with_phrases()
        self._is_named = not Path(place).is_dir()

    def __call__(self, doc: Doc) -> Doc:
        """Parse one document in place.

        Args:
            doc: the document; its tokens, and the sentence starts that it has, are kept.
        """
        self._parse([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Parse a stream of documents, the sentences of many at a time.

        Args:
            stream: the documents.
            batch_size: number of documents whose sentences are batched together.
        """
        for batch in minibatch(stream, batch_size):
            docs = list(batch)
            try:
                self._parse(docs)
            except Exception as error:
                self.get_error_handler()(self.name, self, docs, error)
            else:
                yield from docs

    def _parse(self, docs: list[Doc]) -> None:
        from syntagma.integrations.spacy_docs import read_sentences, write_parses

        parser = self.parser
        read: list[list[TokenSentence]] = [read_sentences(doc, parser.languages) for doc in docs]
        parses = iter(parser.parse(part.sentence for parts in read for part in parts))
        phrases = parser.decoding != "dependencies"
        for doc, parts in zip(docs, read, strict=True):
            write_parses(doc, parts, [next(parses) for _ in parts], phrases=phrases)

    def score(self, examples: Iterable[Example], **options: Any) -> dict[str, Any]:
        """Score trees, tags and sentence starts, as spaCy scores its own parser and tagger.

        Args:
            examples: predicted and gold documents.
            options: not used.
        """
        from spacy.pipeline.dep_parser import parser_score
        from spacy.pipeline.tagger import tagger_score
        from spacy.scorer import Scorer

        examples = list(examples)
        return {
            **tagger_score(examples),
            **Scorer.score_token_attr(examples, "pos"),
            **parser_score(examples),
        }

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write what the config does not say: the parser, unless it has a name.

        Args:
            path: folder of the component.
            exclude: not used.
        """
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        write_json(folder / ABOUT, self._identity())
        if not self._is_named:
            self.parser.model.save_pretrained(folder / WEIGHTS)
        elif (folder / WEIGHTS).exists():
            # That of an earlier pipeline in the same folder.
            shutil.rmtree(folder / WEIGHTS)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> SyntagmaComponent:
        """Read what :meth:`to_disk` wrote.

        Args:
            path: folder of the component.
            exclude: not used.

        Raises:
            InputError: the parser cannot be loaded.
        """
        folder = Path(path)
        if (folder / WEIGHTS).is_dir():
            self._folder = folder / WEIGHTS
            self.load()
        elif (folder / ABOUT).is_file():
            self._compare(read_json(folder / ABOUT))
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Return what :meth:`to_disk` writes.

        Args:
            exclude: not used.
        """
        with tempfile.TemporaryDirectory() as folder:
            self.to_disk(folder)
            files = {
                file.relative_to(folder).as_posix(): file.read_bytes()
                for file in sorted(Path(folder).rglob("*"))
                if file.is_file()
            }
        packed: bytes = srsly.msgpack_dumps(files)
        return packed

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> SyntagmaComponent:
        """Read what :meth:`to_bytes` returned.

        Args:
            data: the bytes.
            exclude: not used.

        Raises:
            InputError: the parser cannot be loaded.
        """
        # The parser reads files of its folder again when it is saved.
        self._unpacked = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        folder = Path(self._unpacked.name)
        for name, content in srsly.msgpack_loads(data).items():
            file = folder / name
            if not file.resolve().is_relative_to(folder.resolve()):
                raise DamagedFileError(f"{self.name}: the bytes name a file outside: {name!r}")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        return self.from_disk(folder)

    def _identity(self) -> dict[str, str]:
        """Return name, version and digest of the parser."""
        source = self.parser.model.source
        identity: dict[str, str] = {"name": self.cfg["parser"], "version": "", "digest": ""}
        if source is not None:
            identity |= {key: source.identity()[key] for key in ("version", "digest")}
        return identity

    def _compare(self, saved: Any) -> None:
        """Warn if a name stands for another parser now than when the pipeline was saved."""
        if not isinstance(saved, dict) or not saved.get("digest"):
            return
        mine = self._identity()
        if mine["digest"] != saved["digest"]:
            log.warning(
                "%s: the pipeline was saved with %s %s (sha256 %.12s…), and this installation has "
                "another one (%s, sha256 %.12s…); its trees may differ",
                self.name, saved.get("name"), saved.get("version"), saved["digest"],
                mine["version"] or "no version", mine["digest"],
            )  # fmt: skip


def _unpickle(name: str, cfg: dict[str, Any], data: bytes) -> SyntagmaComponent:
    """Make a component from its pickled parts."""
    if multiprocessing.parent_process() is not None:
        _compute_alone()
    return SyntagmaComponent(name, **cfg).from_bytes(data)


def _compute_alone() -> None:
    """Compute with one thread in a worker process.

    A forked process has none of the OpenMP threads of its parent, and would wait for them forever.
    One that was started anew would compete with the other workers.
    """
    import torch

    torch.set_num_threads(1)
