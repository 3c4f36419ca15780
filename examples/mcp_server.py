"""Give an agent the documents of some folders: answers, passages and trees, with citations.

    pip install -e '.[documents]' mcp
    python examples/mcp_server.py FOLDER... [--index KEPT] [--reader accurate-reader]

It speaks the Model Context Protocol on standard input and output, so that a program for agents can
start it itself; docs/deploy.md shows how.  Its tools are `answer`, `search` and `parse`.  They see
the documents that the folders of the command line held at the start, and nothing else: a file in a
request is looked up among these, and is never used as a path.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Annotated, Any, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel, Field, ValidationError

from syntagma import Index, InputError, SyntagmaError, load_parser
from syntagma.extraction.find import find_documents
from syntagma.retrieval.retriever import Passage
from syntagma.text.json_format import parse_values

LONGEST_QUESTION, LONGEST_TEXT, MOST_PASSAGES = 2_000, 20_000, 20
INSTRUCTIONS = (
    "Answers come from the documents of the user, word for word, or not at all: the outcome "
    "'answer' is sure, 'unsure' is to be checked in its sentence, 'none': nothing fits. Cite the "
    "file with its page or heading. Offsets count characters in the text of the file."
)


class Place(BaseModel):
    """Where something stands in a document."""

    file: str
    page: int | None = Field(description="From 1; null in formats without pages.")
    heading: str = Field(description="The headings above, joined by ›.")
    start: int
    end: int


class Sentence(BaseModel):
    """The sentence around an answer."""

    text: str
    start: int
    end: int


class Citation(Place):
    """Where an answer stands."""

    sentence: Sentence


class Answered(BaseModel):
    """What the documents say."""

    outcome: Literal["answer", "unsure", "none"]
    text: str
    confidence: float = Field(description="The probability that the text is right.")
    reason: str = Field(description="Why there is no sure answer; empty otherwise.")
    citation: Citation | None


class Found(Place):
    """A passage that bears on a question."""

    text: str
    score: float


class FoundPassages(BaseModel):
    """Passages, best first."""

    passages: list[Found]


class Trees(BaseModel):
    """The trees of a text."""

    sentences: list[dict[str, Any]] = Field(
        description="Each with words: form, start, end, head (counted from 1, 0 for the root), "
        "relation, upos, xpos."
    )


class Library:
    """The documents of folders, and the models that read them.

    They are loaded in the background, since a client waits for the server's first message only
    for seconds.

    Args:
        folders: of documents; the last parts of their paths, which must differ, begin the names
            of files.
        index: folder in which the index is kept for the next start; by default none.
        reader: name or folder of a reader.

    Raises:
        InputError: a folder does not exist, or two have the same name.
    """

    def __init__(
        self, folders: Sequence[Path], *, index: Path | None = None, reader: str = "default-reader"
    ) -> None:
        self.folders: dict[str, Path] = {}
        for folder in map(Path.resolve, folders):
            if not folder.is_dir():
                raise InputError(f"{folder}: expected a folder of documents that exists")
            if self.folders.setdefault(folder.name, folder) != folder:
                raise InputError(
                    f"{folder}: {self.folders[folder.name]} has the same name {folder.name!r}; "
                    f"give a folder above one of them, or rename it"
                )
        # An index that is not kept ends with the process.
        self._scratch = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._folder = index or Path(self._scratch.name) / "index"
        self._reader_name = reader
        self._parsing = threading.Lock()
        self._loaded: Future[Index] = Future()
        threading.Thread(target=self._load, daemon=True).start()

    def _load(self) -> None:
        try:
            index = Index.build(self._files(), self._folder, on_problem=_complain)
            self.reader = index.reader(self._reader_name)
            self.parser = load_parser("default-parser")
            self.files = {self._shown(each.path): each for each in index.documents}
            self._loaded.set_result(index)
        except Exception as error:
            # Every call of a tool says so, too.
            _complain(f"the documents cannot be loaded: {error}")
            self._loaded.set_exception(error)

    def _files(self) -> list[str]:
        """Return the documents, without those to which links lead out of the folders."""
        paths = []
        roots = list(self.folders.values())
        for found in find_documents(roots, on_problem=_complain):
            if any(Path(found.path).resolve().is_relative_to(root) for root in roots):
                paths.append(found.path)
            else:
                _complain(f"{found.path}: is a link out of the folders; left out")
        if not paths:
            raise InputError(f"{', '.join(self.folders)}: expected documents, found none")
        return paths

    def _shown(self, path: str) -> str:
        """Return the name of a document: that of its folder, and the path below it."""
        for name, folder in self.folders.items():
            if Path(path).is_relative_to(folder):
                return (Path(name) / Path(path).relative_to(folder)).as_posix()
        raise AssertionError(path)

    @property
    def index(self) -> Index:
        """The index, once it is there."""
        return self._loaded.result()

    def answer(self, question: str, mode: Literal["strict", "balanced", "lenient"]) -> Answered:
        """Answer a question."""
        _ = self.index
        found = self.reader.answer(question, mode=mode)
        citation = None
        passage, sentence = found.passage, found.sentence
        if passage is not None and sentence is not None and found.start is not None:
            citation = Citation(
                **self._place(passage) | {"start": found.start, "end": found.end},
                sentence=Sentence(text=sentence.text, start=sentence.start, end=sentence.end),
            )
        return Answered(
            outcome=found.outcome,
            text=found.text,
            confidence=found.confidence,
            reason=found.reason,
            citation=citation,
        )

    def search(self, question: str, top: int) -> FoundPassages:
        """Find passages."""
        (hits,) = self.index.search([question], top=top)
        passages = self.index.passages([hit.id for hit in hits])
        return FoundPassages(
            passages=[
                Found(**self._place(passage), text=passage.text, score=hit.score)
                for passage, hit in zip(passages, hits, strict=True)
            ]
        )

    def parse(self, text: str | None, file: str | None, start: int, end: int | None) -> Trees:
        """Parse a text, or a part of a document."""
        if (text is None) == (file is None):
            raise ToolError("expected either text or file, got " + ("both" if text else "neither"))
        index = self.index
        if file is not None:
            if file not in self.files:
                raise ToolError(
                    f"file: {file!r:.80} is not among the documents; use one that search returned"
                )
            whole = index.store.text(self.files[file])
            end = len(whole) if end is None else end
            if not start < end <= len(whole):
                raise ToolError(
                    f"start {start}, end {end}: expected a part of 0 to {len(whole)}, the length "
                    f"of {file}"
                )
            text = whole[start:end]
        elif start or end is not None:
            raise ToolError("start and end are for a file; omit them")
        assert text is not None
        if not text.strip() or len(text) > LONGEST_TEXT:
            raise ToolError(
                f"expected 1 to {LONGEST_TEXT:,} characters to parse, got {len(text.strip()):,}; "
                f"give a part of it"
            )
        with self._parsing:
            sentences = [parse_values(parse) for parse in self.parser.parse_text(text)]
        for sentence in sentences:
            for word in sentence["words"]:
                word["start"] += start
                word["end"] += start
        return Trees(sentences=sentences)

    def _place(self, passage: Passage) -> dict[str, Any]:
        return {
            "file": self._shown(passage.source),
            "page": passage.page,
            "heading": passage.heading,
            "start": passage.start,
            "end": passage.end,
        }


class OneLineServer(MCPServer):
    """A server that says in one line what is wrong with a call."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """Call a tool, as the SDK does; keys that it does not know are refused."""
        known = {tool.name: tool.input_schema["properties"] for tool in await self.list_tools()}
        for key in arguments:
            if name in known and key not in known[name]:
                raise ToolError(f"{key!r:.60}: unknown argument; expected {', '.join(known[name])}")
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            cause = error.__cause__
            if isinstance(cause, ValidationError):
                first = cause.errors()[0]
                where = ".".join(map(str, first["loc"])) or name
                raise ToolError(f"{where}: {first['msg']}") from None
            if isinstance(cause, ToolError):
                raise ToolError(str(cause)) from None
            if isinstance(cause, SyntagmaError):
                raise ToolError(" ".join(str(cause).split())) from None
            raise


Question = Annotated[
    str, Field(min_length=1, max_length=LONGEST_QUESTION, pattern=r"\S", description="A question.")
]


def make_server(library: Library) -> MCPServer:
    """Return a server whose tools use a library."""
    server = OneLineServer("syntagma", instructions=INSTRUCTIONS, log_level="WARNING")

    @server.tool()
    def answer(
        question: Question, mode: Literal["strict", "balanced", "lenient"] = "balanced"
    ) -> Answered:
        """Answer a question from the documents, in their words, with a citation."""
        return library.answer(question, mode)

    @server.tool()
    def search(
        question: Question, top: Annotated[int, Field(ge=1, le=MOST_PASSAGES)] = 5
    ) -> FoundPassages:
        """Find the passages of the documents that bear on a question or on keywords."""
        return library.search(question, top)

    @server.tool()
    def parse(
        text: Annotated[str | None, Field(description="A text.")] = None,
        file: Annotated[
            str | None, Field(description="Instead of a text, a file as search names it.")
        ] = None,
        start: Annotated[int, Field(ge=0, description="Offset in the file.")] = 0,
        end: Annotated[int | None, Field(ge=1, description="Offset in the file.")] = None,
    ) -> Trees:
        """Parse sentences into dependency trees: who does what to whom."""
        return library.parse(text, file, start, end)

    return server


def _complain(line: str) -> None:
    # Standard output belongs to the protocol.
    print(f"mcp_server.py: {' '.join(line.split())}", file=sys.stderr)


def main() -> int:
    """Read the arguments and serve until standard input ends."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path, help="folders of documents")
    parser.add_argument("--index", type=Path, help="folder in which the index is kept")
    parser.add_argument("--reader", default="default-reader", help="name or folder of a reader")
    options = parser.parse_args()
    try:
        library = Library(options.folders, index=options.index, reader=options.reader)
    except SyntagmaError as error:
        _complain(str(error))
        return 2
    make_server(library).run("stdio")
    return 0


if __name__ == "__main__":
    sys.exit(main())
