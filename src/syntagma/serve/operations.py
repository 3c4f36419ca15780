"""What a worker does: the models that it holds, and a method for each kind of job.

Each method takes the payloads of a batch, and yields a result for each, as JSON in bytes: then the
process that speaks HTTP has only to join them.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any

from syntagma.drawing.tree_svg import document_svg
from syntagma.errors import InputError
from syntagma.parse.parser import JointParser
from syntagma.serve.loaded import Loaded
from syntagma.serve.payloads import (
    AnswerPayload,
    AskPayload,
    ParsePartPayload,
    ParsePayload,
    PredictPayload,
    SearchPayload,
)
from syntagma.serve.problems import in_log
from syntagma.serve.worker import Outcome, WorkerPlan
from syntagma.tasks.open_qa.documents import DocumentReader, ReadPassage
from syntagma.tasks.recent import Recent
from syntagma.text.brackets import format_brackets
from syntagma.text.conllu import TreebankSentence, format_conllu
from syntagma.text.json_format import parse_values
from syntagma.text.segmentation.segment import segment
from syntagma.text.sentence import Parse, Sentence

log = logging.getLogger(__name__)

KEPT_WORDS = 300_000
"""Words of recent texts whose parses, and whose sentences, are kept."""
_FIRST = re.compile(r"\A(?:pair|question) 1: ")
WARM_TEXT = "The ferry left at noon. Who missed it?"


class Operations:
    """The jobs that a worker can do.

    Args:
        plan: what it loads.

    Raises:
        InputError: a model cannot be loaded.
    """

    def __init__(self, plan: WorkerPlan) -> None:
        self.loaded = Loaded(plan)
        self._parses: Recent[tuple[str, str, bool, str], list[Parse]] = Recent(KEPT_WORDS)
        self._sentences: Recent[tuple[str, str, str], list[Sentence]] = Recent(KEPT_WORDS)
        self._warm_up()

    def describe(self) -> dict[str, Any]:
        """Return what clients may know of each model, by its name."""
        return self.loaded.described

    def _warm_up(self) -> None:
        """Let every model compute once: the first time takes much longer than others."""
        for name in self.loaded.readers:
            self.run("answer", name, [AnswerPayload(WARM_TEXT, "Who?")])
        for name in self.loaded.parsers:
            self.run("parse", name, [ParsePayload(WARM_TEXT)])
        for name, index in self.loaded.indexes.items():
            if len(index):
                self.run("search", name, [SearchPayload("Who?", 1, "fused")])

    def run(self, operation: str, model: str, payloads: Sequence[Any]) -> list[Outcome]:
        """Do a batch; a job that is wrong does not spoil the others.

        Args:
            operation: name of a method of this class.
            model: name of the model.
            payloads: what the method takes.
        """
        do: Callable[[str, Sequence[Any]], Iterable[Any]] = getattr(self, operation)
        try:
            return [Outcome("done", value) for value in do(model, payloads)]
        except Exception as error:
            if len(payloads) > 1:
                # Together they cannot be done; apart all can but the ones at fault.
                return [
                    outcome for each in payloads for outcome in self.run(operation, model, [each])
                ]
            if isinstance(error, InputError):
                # It counts from 1 in a batch that clients do not see.
                return [Outcome("input", _FIRST.sub("", str(error)))]
            log.error("internal error in %s: %s", operation, in_log(error))
            return [Outcome("error", f"internal error: {type(error).__name__}")]

    def answer(self, model: str, payloads: Sequence[AnswerPayload]) -> Iterator[bytes]:
        """Answer questions about texts."""
        reader = self.loaded.readers[model]
        for mode, group in _by(payloads, "mode"):
            answers = reader.stream([(each.text, each.question) for each in group], mode=mode)
            for answer, each in zip(answers, group, strict=True):
                yield _json(_with_top(answer.to_dict(), each.top))

    def ask(self, model: str, payloads: Sequence[AskPayload]) -> Iterator[bytes]:
        """Answer questions from indexes."""
        reader = self.loaded.open_readers[model]
        for (index, mode, read), group in _by(payloads, "index_name", "mode", "read"):
            asked = DocumentReader(self.loaded.indexes[index], reader, top=read)
            answers = asked.stream([each.question for each in group], mode=mode)
            for answer, each in zip(answers, group, strict=True):
                yield _json(_with_top(answer.to_dict(), each.top))

    def search(self, model: str, payloads: Sequence[SearchPayload]) -> Iterator[bytes]:
        """Find passages for questions."""
        index = self.loaded.indexes[model]
        for (top, by), group in _by(payloads, "top", "by"):
            questions = [each.question for each in group]
            for question, hits in zip(
                questions, index.search(questions, top=top, by=by), strict=True
            ):
                passages = index.passages([hit.id for hit in hits])
                found = [
                    ReadPassage(passage, hit.score).to_dict()
                    for passage, hit in zip(passages, hits, strict=True)
                ]
                yield _json({"question": question, "passages": found})

    def predict(self, model: str, payloads: Sequence[PredictPayload]) -> Iterator[bytes]:
        """Predict with the model of any task."""
        predictor = self.loaded.predictors[model]
        names = predictor.inputs
        for (inputs,) in payloads:
            if inputs.keys() != set(names):
                raise InputError(
                    f"expected the keys {', '.join(names)}, got {', '.join(inputs) or 'none'}"
                )
        rows = [tuple(inputs[name] for name in names) for (inputs,) in payloads]
        for found in predictor.stream([row if len(row) > 1 else row[0] for row in rows]):
            yield _json(found.to_dict() if hasattr(found, "to_dict") else found._asdict())

    def parse(self, model: str, payloads: Sequence[ParsePayload]) -> Iterator[bytes]:
        """Parse texts."""
        for (phrases, lang), group in _by(payloads, "phrases", "lang"):
            texts = [each.text for each in group]
            for each, parses in zip(group, self._parsed(model, phrases, lang, texts), strict=True):
                yield _FORMATS[each.to](each.text, parses)

    def parse_part(
        self, model: str, payloads: Sequence[ParsePartPayload]
    ) -> Iterator[tuple[int, list[bytes]]]:
        """Parse some sentences of texts.

        A result is the number of sentences of the whole text, and a line for each of these.
        """
        for (phrases, lang), group in _by(payloads, "phrases", "lang"):
            parser = self._parser(model, phrases, lang)
            parts = []
            for each in group:
                sentences = self._segmented(each.text, model, lang, parser)
                parts.append((len(sentences), sentences[each.first : each.first + each.number]))
            parses = iter(parser.parse(sentence for _, part in parts for sentence in part))
            for n_sentences, part in parts:
                yield n_sentences, [_json(parse_values(next(parses))) for _ in part]

    def _parser(self, model: str, phrases: bool, lang: str) -> JointParser:
        parser = self.loaded.parsers[model]
        if lang:
            parser = parser.for_language(lang)
        if not phrases:
            return parser
        with_phrases = parser.with_phrases()
        if with_phrases.decoding == "dependencies":
            raise InputError(f"{model}: was trained without phrases; ask for another format")
        return with_phrases

    def _parsed(
        self, model: str, phrases: bool, lang: str, texts: Sequence[str]
    ) -> Iterator[list[Parse]]:
        """Yield the parses of texts; those of recent texts are kept."""
        parser = self._parser(model, phrases, lang)
        keys = [(_digest(text), model, phrases, lang) for text in texts]
        found = {key: self._parses.get(key) for key in keys}
        new = {key: text for key, text in zip(keys, texts, strict=True) if found[key] is None}
        for key, fresh in zip(new, parser.parse_texts(new.values()), strict=True):
            found[key] = fresh
            self._parses.add(key, fresh, size=1 + sum(map(len, fresh)))
        for key in keys:
            if (parses := found[key]) is not None:
                yield parses

    def _segmented(self, text: str, model: str, lang: str, parser: JointParser) -> list[Sentence]:
        """Return the sentences of a text, as a parser cuts it; those of recent texts are kept."""
        key = _digest(text), model, lang
        sentences = self._sentences.get(key)
        if sentences is None:
            sentences = list(segment(text, segmenter=parser.languages.segmenter_for(text)))
            self._sentences.add(key, sentences, size=1 + sum(map(len, sentences)))
        return sentences


def _by(payloads: Sequence[Any], *names: str) -> Iterator[tuple[Any, list[Any]]]:
    """Group neighbours that are equal in some parts, and so can be computed together."""
    for value, group in groupby(payloads, attrgetter(*names)):
        yield value, list(group)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _with_top(answer: dict[str, Any], top: int) -> dict[str, Any]:
    answer["candidates"] = answer["candidates"][:top]
    return answer


def _json(values: Any) -> bytes:
    # JSON has no infinity; scores that are infinite are absent.
    return json.dumps(_finite(values), ensure_ascii=False, allow_nan=False).encode("utf-8")


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    is_finite = not isinstance(value, float) or abs(value) < float("inf")
    return value if is_finite else None


def _as_json(_: str, parses: Sequence[Parse]) -> bytes:
    return _json({"sentences": list(map(parse_values, parses))})


def _as_conllu(text: str, parses: Sequence[Parse]) -> bytes:
    rows = (TreebankSentence.from_parse(parse, text=text) for parse in parses)
    return "".join(map(format_conllu, rows)).encode("utf-8")


def _as_brackets(_: str, parses: Sequence[Parse]) -> bytes:
    lines = (
        format_brackets(parse.sentence.forms, parse.xpos, parse.constituents or ()) + "\n"
        for parse in parses
    )
    return "".join(lines).encode("utf-8")


def _as_svg(_: str, parses: Sequence[Parse]) -> bytes:
    return document_svg(parses).encode("utf-8")


_FORMATS: dict[str, Callable[[str, Sequence[Parse]], bytes]] = {
    "json": _as_json,
    "conllu": _as_conllu,
    "brackets": _as_brackets,
    "svg": _as_svg,
}
