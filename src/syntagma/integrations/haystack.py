"""Components for Haystack pipelines, and Haystack's retrievers as retrievers of ours.

:class:`SyntagmaReader` gives answers as Haystack's own extractive reader does,
:class:`SyntagmaSentenceSplitter` documents as its ``DocumentSplitter``.
:class:`HaystackRetriever` is for the other direction: it searches any of Haystack's stores for
:class:`syntagma.tasks.open_qa.documents.DocumentReader`.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from syntagma.checks import require_count
from syntagma.encoders.default import DEFAULT_READER
from syntagma.errors import InputError, MissingExtraError
from syntagma.retrieval.retriever import Hit, Passage
from syntagma.tasks.open_qa.answers import Candidate
from syntagma.tasks.open_qa.data import Paragraph
from syntagma.tasks.open_qa.outcomes import OpenAnswer
from syntagma.tasks.open_qa.reader import OpenReader
from syntagma.tasks.spans.answers import Mode
from syntagma.tasks.spans.outcomes import DEFAULT_MODE, require_mode
from syntagma.text.segmentation.segment import split_sentences

try:
    from haystack import Document, ExtractedAnswer, component, default_from_dict, default_to_dict
    from haystack.utils import ComponentDevice
except ImportError as error:
    raise MissingExtraError("syntagma.integrations.haystack", "haystack") from error

PAGE_BREAK = "\f"
SOURCE_FIELDS = ("file_path", "file_name", "url", "source_id")
"""Fields of a document's ``meta`` that may name where it comes from, best first."""
KEPT_DOCUMENTS = 10_000
"""Documents found last that a :class:`HaystackRetriever` keeps."""


@component
class SyntagmaReader:
    """Finds answers to a query in documents.

    The first answer is what the reader decided (docs/outcomes.md), and each answer's
    ``meta["outcome"]`` says what that was: ``answer``; ``unsure``, with the cause in
    ``meta["reason"]``; or ``none``, and then the first answer has no text.

    Args:
        model: ``default-reader``, ``accurate-reader``, or the folder or hub name of a reader.
        parser: another parse source than in training, for a model that reads syntax.
        mode: how sure the reader must be to answer, ``strict``, ``balanced`` or ``lenient``.
        top_k: the greatest number of answers with text.
        score_threshold: leave out answers with a lower score.
        no_answer: whether to add an answer without text, whose score is the probability that the
            documents hold no answer.
        device: where to compute; by default on the best device of the machine.

    Raises:
        InputError: there is no such mode.
    """

    def __init__(
        self,
        model: str | Path = DEFAULT_READER,
        *,
        parser: str = "",
        mode: Mode = DEFAULT_MODE,
        top_k: int = 20,
        score_threshold: float | None = None,
        no_answer: bool = True,
        device: ComponentDevice | None = None,
    ) -> None:
        self.model = str(model)
        self.parser = parser
        self.mode = require_mode(mode)
        self.top_k = require_count(top_k, "top_k")
        self.score_threshold = score_threshold
        self.no_answer = no_answer
        self.device = device
        self._reader: OpenReader | None = None
        component.set_output_types(self, answers=list[ExtractedAnswer])

    def to_dict(self) -> dict[str, Any]:
        """Return the component's settings, without the model's weights."""
        return default_to_dict(
            self,
            model=self.model,
            parser=self.parser,
            mode=self.mode,
            top_k=self.top_k,
            score_threshold=self.score_threshold,
            no_answer=self.no_answer,
            device=self.device,
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Build a component from what :meth:`to_dict` returned."""
        return default_from_dict(cls, data)

    def warm_up(self) -> None:
        """Load the model, unless it is loaded."""
        if self._reader is None:
            device = ComponentDevice.resolve_device(self.device).to_torch_str()
            self._reader = OpenReader.from_pretrained(self.model, device=device, parser=self.parser)

    def run(
        self,
        query: str,
        documents: list[Document],
        top_k: int | None = None,
        score_threshold: float | None = None,
        no_answer: bool | None = None,
    ) -> dict[str, Any]:
        """Find answers.

        Args:
            query: a question.
            documents: where to look; those without text are skipped.  If all have a score, a reader
                that was calibrated on such scores takes it into account.
            top_k: instead of the component's.
            score_threshold: instead of the component's.
            no_answer: instead of the component's.

        Returns:
            ``answers``: what the reader decided, then the others, highest score first; none
            without a document to read.

        Raises:
            InputError: the query is empty.
        """
        self.warm_up()
        assert self._reader is not None
        readable = [each for each in documents if (each.content or "").strip()]
        if not readable:
            return {"answers": []}
        found = self._reader.answer(query, _paragraphs(readable), mode=self.mode)
        top = self.top_k if top_k is None else require_count(top_k, "top_k")
        answers = list(_with_text(found, readable))[:top]
        if self.no_answer if no_answer is None else no_answer:
            meta = {"outcome": found.outcome}
            answers.append(ExtractedAnswer(query=query, score=found.no_answer, meta=meta))
            # What the reader decided comes first: a mode may answer although no answer is likelier.
            chosen = answers.pop(-1 if found.outcome == "none" else 0)
            answers = [chosen, *sorted(answers, key=lambda each: -each.score)]
        lowest = self.score_threshold if score_threshold is None else score_threshold
        if lowest is not None:
            answers = [each for each in answers if each.score >= lowest]
        return {"answers": answers}


def _paragraphs(documents: Sequence[Document]) -> list[Paragraph]:
    """Return documents as the reader takes them: all with a score, or none."""
    scored = all(each.score is not None and math.isfinite(each.score) for each in documents)
    return [
        Paragraph(each.id, each.content, score=each.score if scored else None) for each in documents
    ]


def _with_text(found: OpenAnswer, documents: Sequence[Document]) -> Iterator[ExtractedAnswer]:
    """Yield the answer that the reader decided on, or the best candidate, and the others.

    The score of the first is the confidence, the probability that it is right.  The others share
    the rest of the probability of an answer, in proportion to their shares of the softmax; none
    gets more than the first.
    """
    if (best := found.best) is None:
        return
    shown = best
    if found.start is not None and found.end is not None:
        shown = replace(found.spans[0], text=found.text, start=found.start, end=found.end)
    yield _answer(found, shown, found.confidence, documents)
    others = [
        each
        for each in found.candidates
        if each.paragraph != shown.paragraph
        or not (each.start < shown.end and shown.start < each.end)
    ]
    unit = found.confidence / best.probability if best.probability else 0.0
    scores = [min(each.probability * unit, found.confidence) for each in others]
    rest = max(1 - found.no_answer - found.confidence, 0.0)
    if (total := sum(scores)) > rest:
        scores = [score * rest / total for score in scores]
    for candidate, score in zip(others, scores, strict=True):
        yield _answer(found, candidate, score, documents)


def _answer(
    found: OpenAnswer, span: Candidate, score: float, documents: Sequence[Document]
) -> ExtractedAnswer:
    """Return a span of a document as an answer of Haystack, with its sentence if it is known."""
    document = documents[span.paragraph]
    meta: dict[str, Any] = {"outcome": found.outcome}
    is_shown = (span.paragraph, span.start, span.end) == (found.paragraph, found.start, found.end)
    if is_shown and found.reason:
        meta["reason"] = found.reason
    if is_shown and len(found.spans) > 1:
        meta["parts"] = [{"data": p.text, "start": p.start, "end": p.end} for p in found.spans]
    if isinstance(page := document.meta.get("page_number"), int):
        # Where a split begins with form feeds, our splitter gives it the page of its first word.
        page = 1 if document.meta.get("split_idx_start") == 0 else page
        meta["answer_page_number"] = page + document.content.count(PAGE_BREAK, 0, span.start)
    around = found.sentence if is_shown else None
    if around is not None and not around.start <= span.start < span.end <= around.end:
        around = None
    return ExtractedAnswer(
        query=found.question,
        data=span.text,
        score=score,
        document=document,
        document_offset=ExtractedAnswer.Span(span.start, span.end),
        context=around and around.text,
        context_offset=around
        and ExtractedAnswer.Span(span.start - around.start, span.end - around.start),
        meta=meta,
    )


@component
class SyntagmaSentenceSplitter:
    """Splits documents between sentences, with the splitter for English that ships.

    Parsers ask their encoder where it is in doubt, so their sentences may differ.

    As with Haystack's ``DocumentSplitter``, the splits of a document hold all of its text: a split
    ends where the next one begins.

    Args:
        split_length: the number of sentences in a split.
        split_overlap: how many sentences at its end the next split begins with.

    Raises:
        InputError: the length is below 1, or the overlap not between 0 and the length.
    """

    def __init__(self, split_length: int = 1, split_overlap: int = 0) -> None:
        self.split_length = require_count(split_length, "split_length")
        if not 0 <= split_overlap < split_length:
            raise InputError(
                f"split_overlap: expected at least 0 and less than split_length ({split_length}), "
                f"got {split_overlap}"
            )
        self.split_overlap = split_overlap
        component.set_output_types(self, documents=list[Document])

    def to_dict(self) -> dict[str, Any]:
        """Return the component's settings."""
        return default_to_dict(
            self, split_length=self.split_length, split_overlap=self.split_overlap
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Build a component from what :meth:`to_dict` returned."""
        return default_from_dict(cls, data)

    def warm_up(self) -> None:
        """Load the weights of the splitter."""
        split_sentences("It splits. It joins.")

    def run(self, documents: list[Document]) -> dict[str, Any]:
        """Split documents.

        Args:
            documents: documents with text; empty ones are skipped.

        Returns:
            ``documents``: the splits of each, in order.  Their ``meta`` is that of the document and
            ``source_id``, its id; ``split_id``, the number of the split, from 0;
            ``split_idx_start``, the character offset of the split in the document;
            ``page_number``, the page on which its first word is, by form feeds; and with an overlap
            ``_split_overlap``, which splits share text with it, and where.

        Raises:
            InputError: a document has no text, but something else, such as a picture.
        """
        splits: list[Document] = []
        for document in documents:
            if document.content is None:
                raise InputError(
                    f"document {document.id}: expected text, but its content is None; convert it "
                    f"to text first"
                )
            splits += self._split(document) if document.content.strip() else []
        return {"documents": splits}

    def _split(self, document: Document) -> list[Document]:
        # A text of zero-width characters alone has no sentence.
        starts = [start for start, _ in split_sentences(document.content)] or [0]
        # White space before the first sentence belongs to it, any other to the sentence before.
        bounds = [0, *starts[1:], len(document.content)]
        step = self.split_length - self.split_overlap
        splits: list[Document] = []
        # A split that would only repeat the end of the one before is left out.
        for first in range(0, max(len(starts) - self.split_overlap, 1), step):
            start, end = bounds[first], bounds[min(first + self.split_length, len(starts))]
            meta = deepcopy(document.meta) | {
                "source_id": document.id,
                "page_number": 1 + document.content.count(PAGE_BREAK, 0, starts[first]),
                "split_id": len(splits),
                "split_idx_start": start,
            }
            splits.append(Document(content=document.content[start:end], meta=meta))
        if self.split_overlap:
            _record_overlaps(splits)
        return splits


def _record_overlaps(splits: Sequence[Document]) -> None:
    """Write into each split which part of the one before or after it the two share."""
    for split in splits:
        split.meta["_split_overlap"] = []
    for one, following in zip(splits, splits[1:], strict=False):
        start = following.meta["split_idx_start"] - one.meta["split_idx_start"]
        end = len(one.content)
        following.meta["_split_overlap"].append({"doc_id": one.id, "range": (start, end)})
        one.meta["_split_overlap"].append({"doc_id": following.id, "range": (0, end - start)})


class HaystackRetriever:
    """Finds passages with a retriever of Haystack, whatever store is behind it.

    It is a :class:`syntagma.retrieval.retriever.Retriever`.

    Args:
        retriever: a component that is run with ``query`` and ``top_k`` and returns ``documents``,
            best first, such as the BM25 retrievers.  For one that is run with an embedding, give a
            ``TextEmbeddingRetriever``, or a ``SuperComponent`` of a pipeline.
        options: further arguments of each run, such as ``filters``.
    """

    def __init__(self, retriever: Any, **options: Any) -> None:
        self.retriever = retriever
        self.options = options
        self._found: OrderedDict[str, Document] = OrderedDict()
        self._alone = threading.Lock()

    def search(self, questions: Sequence[str], *, top: int) -> list[list[Hit]]:
        """Find the best documents for each question, best first.

        Those without text are left out.  One without a score gets minus its rank.

        Args:
            questions: the questions.
            top: the greatest number of documents for each.
        """
        hits = []
        for question in questions:
            given = self.retriever.run(query=question, top_k=top, **self.options)["documents"]
            found = [each for each in given if (each.content or "").strip()][:top]
            scores = [
                -rank if each.score is None else each.score for rank, each in enumerate(found)
            ]
            hits.append(
                [Hit(each.id, float(score)) for each, score in zip(found, scores, strict=True)]
            )
            with self._alone:
                for each in found:
                    self._found[each.id] = each
                    self._found.move_to_end(each.id)
                while len(self._found) > KEPT_DOCUMENTS:
                    self._found.popitem(last=False)
        return hits

    def passages(self, ids: Sequence[str]) -> list[Passage]:
        """Return documents that :meth:`search` found, as passages.

        Where a splitter wrote ``split_idx_start``, offsets are those in the whole document.

        Args:
            ids: their ids.

        Raises:
            InputError: a document is not among the last 10,000 that were found.
        """
        with self._alone:
            if missing := [each for each in ids if each not in self._found]:
                found = f"not among the last {KEPT_DOCUMENTS} that were found"
                raise InputError(f"document {missing[0]!r}: {found}; search for it first")
            return [_passage(self._found[each]) for each in ids]


def _passage(document: Document) -> Passage:
    meta = document.meta
    start, page = meta.get("split_idx_start", 0), meta.get("page_number")
    return Passage(
        id=document.id,
        text=document.content,
        source=str(next((meta[name] for name in SOURCE_FIELDS if meta.get(name)), "")),
        start=start,
        end=start + len(document.content),
        page=page if isinstance(page, int) else None,
    )
