"""How each kind of model is exported, fed, and read: the same items give a graph's inputs.

A family takes *rows*, what a user gives the model for one prediction, such as a passage and a
question, and turns them into *items*, sequences that go into a batch together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from syntagma.errors import InputError
from syntagma.export.graphs import (
    ChoiceGraph,
    Graph,
    LabelGraph,
    ParserGraph,
    ProbeGraph,
    SpanGraph,
)
from syntagma.export.texts import Passage
from syntagma.parse.dependency import decode_heads
from syntagma.syntax.sequences import Part
from syntagma.tasks.mentions.classifier import MarkedText
from syntagma.tasks.spans.decode import best_spans
from syntagma.tasks.spans.reader import Reader
from syntagma.text.segmentation.segment import segment

Scores = Mapping[str, NDArray[Any]]


class Family(ABC):
    """A kind of model.

    Args:
        model: the model.
        predictor: encodes its inputs.

    Attributes:
        compared: what is compared to say whether two predictions are equal.
        graph: the graph that is exported.
    """

    compared: ClassVar[str]
    graph: Graph

    def __init__(self, model: Any, predictor: Any) -> None:
        self.model = model
        self.predictor = predictor

    @property
    def tokenizer(self) -> Any:
        """The tokenizer as its file describes it, without truncation and padding."""
        own = getattr(self.predictor, "tokenizer", None)
        return (own or self.predictor.encoder.tokenizer).backend_tokenizer

    @abstractmethod
    def made_rows(self, passages: Sequence[Passage]) -> Iterator[Any]:
        """Make rows from passages with questions, to compare two models on; any labels will do."""

    @abstractmethod
    def example_rows(self, examples: Sequence[Any]) -> list[Any]:
        """Return the rows of examples of the model's task."""

    @abstractmethod
    def items(self, rows: Sequence[Any]) -> list[Any]:
        """Encode rows; a row may become several items."""

    @abstractmethod
    def collate(self, items: Sequence[Any]) -> dict[str, Tensor]:
        """Build a padded batch of the graph's inputs."""

    @abstractmethod
    def predictions(self, scores: Scores, batch: Mapping[str, Tensor]) -> list[Hashable]:
        """Return what is compared of each prediction in a batch."""

    def batch(self, items: Sequence[Any]) -> dict[str, Tensor]:
        """Build a padded batch of the graph's inputs, in their types."""
        tensors = self.collate(items)
        return {
            port.name: tensors[port.name].to(getattr(torch, port.dtype))
            for port in self.graph.inputs
        }


class SpanFamily(Family):
    """Readers: a row is a passage with a question, an item a window."""

    compared = "best span of a window, and whether it beats no answer by the fitted threshold"

    def __init__(self, reader: Reader) -> None:
        super().__init__(reader.model, reader)
        self.graph = SpanGraph(reader.model)

    def made_rows(self, passages: Sequence[Passage]) -> Iterator[tuple[str, str]]:
        """Yield the questions with their passages, then with the passages after these."""
        for shift in range(len(passages)):
            for number, (_, questions) in enumerate(passages):
                text = passages[(number + shift) % len(passages)].text
                yield from ((text, question) for question in questions)

    def example_rows(self, examples: Sequence[Any]) -> list[tuple[str, str]]:
        """Return passages with questions; of open-domain questions, each with its paragraphs."""
        return [
            (text, example.question)
            for example in examples
            for text in (
                [each.text for each in example.paragraphs]
                if hasattr(example, "paragraphs")
                else [example.passage]
            )
            if text.strip()
        ]

    def items(self, rows: Sequence[Any]) -> list[Any]:
        """Split passages into windows."""
        return list(self.predictor.encode_pairs(rows))

    def collate(self, items: Sequence[Any]) -> dict[str, Tensor]:
        """Build a padded batch of windows."""
        return dict(self.predictor.collate(items))

    def predictions(self, scores: Scores, batch: Mapping[str, Tensor]) -> list[Hashable]:
        """Return the best span of each window, and whether it beats no answer."""
        head = self.model.head
        start, end = (torch.from_numpy(scores[name]) for name in ("start", "end"))
        best, first, last = best_spans(
            start, end, max_answer_length=head.max_answer_length, n_best_size=1
        )
        odds = head.span_weight * ((start[:, 0] + end[:, 0]) - best[:, 0])
        if "answerability" in scores:
            verified = torch.from_numpy(scores["answerability"])
            odds = odds + head.answerability_weight * (verified[:, 1] - verified[:, 0])
        answered = odds <= head.null_score_diff_threshold
        return list(zip(first[:, 0].tolist(), last[:, 0].tolist(), answered.tolist(), strict=True))


class ChoiceFamily(Family):
    """Multiple choice: a row is a passage, a question and options, an item a question."""

    compared = "chosen option"

    def __init__(self, predictor: Any) -> None:
        super().__init__(predictor.model, predictor)
        self.graph = ChoiceGraph(predictor.model)

    def made_rows(self, passages: Sequence[Passage]) -> Iterator[tuple[str, str, list[str]]]:
        """Yield questions whose options are sentences of their passage."""
        for text, questions in passages:
            sentences = _sentences(text)
            for number, question in enumerate(questions):
                options = [sentences[(number + k) % len(sentences)] for k in range(4)]
                yield text, question, options

    def example_rows(self, examples: Sequence[Any]) -> list[tuple[str, str, tuple[str, ...]]]:
        """Return passages, questions and options."""
        return [(each.passage, each.question, each.options) for each in examples]

    def items(self, rows: Sequence[Any]) -> list[Any]:
        """Encode questions."""
        return list(self.predictor.items(rows))

    def collate(self, items: Sequence[Any]) -> dict[str, Tensor]:
        """Build a padded batch of all options."""
        batch: dict[str, Tensor] = self.predictor.collate(items)
        self._bounds = batch["n_options"].cumsum(0)[:-1].tolist()
        return batch

    def predictions(self, scores: Scores, batch: Mapping[str, Tensor]) -> list[Hashable]:
        """Return the best option of each question of the last batch."""
        return [int(each.argmax()) for each in np.split(scores["options"], self._bounds)]


class LabelFamily(Family):
    """Classifiers of sequences: the best label, or all labels above the threshold."""

    compared = "best label"

    def __init__(self, predictor: Any, graph: Graph) -> None:
        super().__init__(predictor.model, predictor)
        self.graph = graph

    def items(self, rows: Sequence[Any]) -> list[Any]:
        """Encode rows."""
        return list(self.predictor.items(rows))

    def collate(self, items: Sequence[Any]) -> dict[str, Tensor]:
        """Build a padded batch."""
        return dict(self.predictor.collate(items))

    def predictions(self, scores: Scores, batch: Mapping[str, Tensor]) -> list[Hashable]:
        """Return the best label of each item."""
        return list(scores["labels"].argmax(-1).tolist())


class PairFamily(LabelFamily):
    """Classifiers of two texts."""

    def __init__(self, predictor: Any) -> None:
        super().__init__(predictor, LabelGraph(predictor.model))

    def made_rows(self, passages: Sequence[Passage]) -> Iterator[tuple[str, str]]:
        """Yield neighbouring sentences."""
        for text, _ in passages:
            sentences = _sentences(text)
            yield from zip(sentences, sentences[1:], strict=False)

    def example_rows(self, examples: Sequence[Any]) -> list[tuple[str, str]]:
        """Return both texts."""
        return [(each.first, each.second) for each in examples]


class MentionFamily(LabelFamily):
    """Classifiers of mentions: types, and relations between two."""

    def __init__(self, predictor: Any) -> None:
        super().__init__(predictor, LabelGraph(predictor.model))
        self.n_mentions = len(predictor.model.signs)
        if hasattr(self.model.head, "threshold"):
            self.compared = "labels above the threshold"  # type: ignore[misc]

    def made_rows(self, passages: Sequence[Passage]) -> Iterator[MarkedText]:
        """Yield sentences with words in them as mentions."""
        for text, _ in passages:
            for sentence in segment(text):
                n_words, begin = len(sentence), sentence.start
                if n_words >= 2 * self.n_mentions:
                    places = [
                        number * n_words // self.n_mentions for number in range(self.n_mentions)
                    ]
                    mentions = (
                        (sentence.starts[place] - begin, sentence.ends[place] - begin)
                        for place in places
                    )
                    yield MarkedText(text[begin : sentence.end], tuple(mentions))

    def example_rows(self, examples: Sequence[Any]) -> list[MarkedText]:
        """Return texts with their mentions."""
        return [
            MarkedText(each.text, (each.mention,))
            if hasattr(each, "mention")
            else MarkedText(each.text, (each.subject, each.object))
            for each in examples
        ]

    def predictions(self, scores: Scores, batch: Mapping[str, Tensor]) -> list[Hashable]:
        """Return the best label of each item, or its labels above the threshold."""
        threshold = getattr(self.model.head, "threshold", None)
        if threshold is None:
            return super().predictions(scores, batch)
        probabilities = 1 / (1 + np.exp(-scores["labels"]))
        return [tuple(np.flatnonzero(row >= threshold).tolist()) for row in probabilities]


class ProbeFamily(LabelFamily):
    """Probes: a row is a sentence."""

    def __init__(self, predictor: Any) -> None:
        super().__init__(predictor, ProbeGraph(predictor.model))
        if predictor.model.head.chosen is None and len(predictor.model.classifiers) > 1:
            raise InputError(
                "expected a probe with one classifier, got one with "
                f"{len(predictor.model.classifiers)} candidates; finish its training first"
            )

    def made_rows(self, passages: Sequence[Passage]) -> Iterator[str]:
        """Yield sentences, as words with spaces between them."""
        for text, _ in passages:
            yield from (" ".join(sentence.forms) for sentence in segment(text))

    def example_rows(self, examples: Sequence[Any]) -> list[str]:
        """Return the sentences."""
        return [each.text for each in examples]

    def items(self, rows: Sequence[Any]) -> list[Any]:
        """Encode sentences."""
        texts = self.predictor.texts
        room = self.model.head.max_length - texts.builder.n_special(1)
        encoded = texts.encode(rows)
        return [(Part(encoded[row], 0, min(len(encoded[row]), room)),) for row in rows]

    def collate(self, items: Sequence[Any]) -> dict[str, Tensor]:
        """Build a padded batch."""
        return dict(self.predictor.texts.builder.collate(items))


class ParserFamily(Family):
    """Parsers: a row is a segmented sentence."""

    compared = "head and tags of a word, and its relation to that head"

    def __init__(self, parser: Any, *, phrases: bool) -> None:
        super().__init__(parser.model, parser)
        if phrases and parser.model.spans is None:
            raise InputError("--phrases: this parser was trained without phrases; omit it")
        self.graph = ParserGraph(parser.model, phrases=phrases or parser.by_rule)

    def made_rows(self, passages: Sequence[Passage]) -> Iterator[Any]:
        """Yield the sentences of the passages, then those of the questions."""
        languages = self.predictor.languages
        for text, _ in passages:
            yield from segment(text, segmenter=languages.segmenter_for(text))
        for _, questions in passages:
            for question in questions:
                yield from segment(question, segmenter=languages.segmenter_for(question))

    def example_rows(self, examples: Sequence[Any]) -> list[Any]:
        """Return the sentences of a treebank."""
        return [each.gold.sentence for each in examples]

    def items(self, rows: Sequence[Any]) -> list[Any]:
        """Encode sentences; those too long for one sequence are left out."""
        encoded = self.predictor.encoder.encode(rows)
        return [each for each in encoded if 0 < len(each) <= self.predictor.max_content]

    def collate(self, items: Sequence[Any]) -> dict[str, Tensor]:
        """Build a padded batch."""
        return dict(self.predictor.encoder.collate(items))

    def predictions(self, scores: Scores, batch: Mapping[str, Tensor]) -> list[Hashable]:
        """Return head, relation and tags of each word."""
        n_words = batch["n_words"].numpy()
        heads = decode_heads(scores["arcs"], n_words)
        relations = np.take_along_axis(
            scores["relations"], heads[:, :, None, None].clip(min=0), axis=2
        )[:, :, 0].argmax(-1)
        upos, xpos = scores["upos"].argmax(-1), scores["xpos"].argmax(-1)
        return [
            (
                int(heads[row, word]),
                int(relations[row, word]),
                int(upos[row, word]),
                int(xpos[row, word]),
            )
            for row, n in enumerate(n_words)
            for word in range(n)
        ]


FAMILIES: dict[str, type] = {
    "choice": ChoiceFamily,
    "pairs": PairFamily,
    "probing": ProbeFamily,
    "relations": MentionFamily,
    "typing": MentionFamily,
}
REFUSED = {
    "pretraining": "it predicts nothing that a program needs; train a task model from it",
    "structural": "its measure of trees is for analysis",
    "translation": "a translation is made word by word, in a loop that no graph holds",
}
"""Tasks whose models are not exported, and why."""


def family_of(task: Any, *, phrases: bool = False) -> Family:
    """Return the family of an open model.

    Args:
        task: the task around the model.
        phrases: for parsers: export the scores of phrases too.

    Raises:
        InputError: models of the task cannot be exported, or ``phrases`` is for parsers only.
    """
    if task.name == "parsing":
        return ParserFamily(task.parser, phrases=phrases)
    if phrases:
        raise InputError(f"--phrases: is for parsers, got a model for {task.name}; omit it")
    if task.name == "open_qa":
        return SpanFamily(task.reader.reader)
    if task.name == "spans":
        return SpanFamily(task.predictor)
    if task.name in FAMILIES:
        found: Family = FAMILIES[task.name](task.predictor)
        return found
    known = ", ".join(sorted((*FAMILIES, "open_qa", "parsing", "spans")))
    why = REFUSED.get(task.name, "it is not known how to feed it")
    raise InputError(f"models for {task.name} cannot be exported: {why}; expected one for {known}")


def first(rows: Iterator[Any], count: int) -> list[Any]:
    """Return the first rows."""
    return list(islice(rows, count))


def _sentences(text: str) -> list[str]:
    """Return the sentences of a text as they are written."""
    return [text[each.start : each.end] for each in segment(text) if len(each)] or [text]
