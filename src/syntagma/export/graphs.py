"""The graphs that are exported: a model from integers to scores, with named inputs and outputs.

A graph computes what the model does in evaluation.  Guides are in it: it builds their masks and
distances itself, from the integers of the syntax columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.parse.scorer import ParserModel, WordStates

BATCH, LENGTH, WORDS = "batch", "length", "words"
"""Names of the axes whose size a caller chooses: sequences, pieces of each, and words of each."""
ROOT_AND_WORDS = "1 + words"
"""Name of the axis of the root and the words."""

ElementType = Literal["int64", "bool", "float32"]


@dataclass(frozen=True)
class Port:
    """An input or an output of a graph.

    Args:
        name: its name.
        shape: size of each axis; a name where the caller chooses it.
        meaning: what it is, as a phrase.
        dtype: type of its elements.
    """

    name: str
    shape: tuple[str | int, ...]
    meaning: str
    dtype: ElementType = "int64"


PIECES = (BATCH, LENGTH)

COLUMN_MEANINGS = {
    "enter": "position of the piece's word in a depth-first walk through the trees; of a piece at "
    "position p without a word, -1 - p",
    "exit": "position after the last word below it in that walk; of a piece at position p without "
    "a word, -p",
    "point": "position of the piece in its text; of a piece at position p without a word, -1 - p",
    "depth": "number of arcs between the piece's word and the root of its sentence; 0 without one",
    "sentence": "number of the sentence, from 0; -1 for pieces without a word",
    "word": "number of the piece's word, from 0; -1 for pieces without a word",
    "tag": "id of the word's part-of-speech tag (`tags` in config.json)",
    "parent": "number of the head of the piece's word; of a root, the number before the first word "
    "of its sentence; -1 without a word",
    "relation": "id of the relation to that head (`relations` in config.json); 0 without a word",
    "domain": "0 up to and including the special token that ends the first text, 1 after it, -1 "
    "for padding",
}


def sequence_inputs(model: GuidedEncoder) -> tuple[Port, ...]:
    """Return the inputs that every graph of a guided encoder has.

    Args:
        model: the model.
    """
    ports = [
        Port("input_ids", PIECES, "ids of the pieces, special tokens included"),
        Port("attention_mask", PIECES, "1 for pieces, 0 for padding"),
    ]
    if model.reads_token_types:
        ports.append(Port("token_type_ids", PIECES, "token types (`sequence` in config.json)"))
    ports += [
        Port(name, PIECES, COLUMN_MEANINGS.get(name, "a column of the syntax of pieces"))
        for name in model.syntax_columns
    ]
    return tuple(ports)


class Graph(nn.Module):
    """A model with positional inputs, in the order of :attr:`inputs`.

    Args:
        model: the model, in evaluation mode.
        inputs: its inputs.
        outputs: its outputs.
    """

    def __init__(
        self, model: nn.Module, inputs: tuple[Port, ...], outputs: tuple[Port, ...]
    ) -> None:
        super().__init__()
        self.model: Any = model
        self.inputs = inputs
        self.outputs = outputs

    def scores(self, tensors: Mapping[str, Tensor]) -> tuple[Tensor, ...]:
        """Compute the outputs.

        Args:
            tensors: the inputs by their names.
        """
        raise NotImplementedError

    def forward(self, *tensors: Tensor) -> tuple[Tensor, ...]:
        """Compute the outputs, in the order of :attr:`outputs`.

        Args:
            tensors: the inputs, in the order of :attr:`inputs`.
        """
        names = (port.name for port in self.inputs)
        return self.scores(dict(zip(names, tensors, strict=True)))


class SpanGraph(Graph):
    """A reader: scores of the pieces at which an answer may start and end."""

    def __init__(self, model: Any) -> None:
        context = Port(
            "context",
            PIECES,
            'true for the pieces of the passage, and for the first piece, which means "no answer"',
            "bool",
        )
        outputs = [
            Port(
                "start", PIECES, "logits of the first piece; -inf outside of `context`", "float32"
            ),
            Port("end", PIECES, "logits of the last piece; -inf outside of `context`", "float32"),
        ]
        if model.answerability is not None:
            outputs.append(
                Port("answerability", (BATCH, 2), "logits of answerable, unanswerable", "float32")
            )
        super().__init__(model, (*sequence_inputs(model), context), tuple(outputs))

    def scores(self, tensors: Mapping[str, Tensor]) -> tuple[Tensor, ...]:
        """Score starts and ends, and whether there is an answer if the reader was trained to."""
        found = self.model(**tensors)
        scores = (found.start_logits, found.end_logits, found.answerability_logits)
        return tuple(score for score in scores if score is not None)


class LabelGraph(Graph):
    """A classifier of sequences, or of the mentions in them: the scores of its labels."""

    def __init__(self, model: Any) -> None:
        inputs = sequence_inputs(model)
        if signs := getattr(model, "signs", ()):
            meaning = f"position of the marker before each mention ({' '.join(signs)})"
            inputs = (*inputs, Port("markers", (BATCH, len(signs)), meaning))
        n_labels = len(model.config.labels["labels"])
        labels = Port("labels", (BATCH, n_labels), "logits, in the order of `labels`", "float32")
        super().__init__(model, inputs, (labels,))

    def scores(self, tensors: Mapping[str, Tensor]) -> tuple[Tensor, ...]:
        """Score the labels."""
        return (self.model(**tensors).logits,)


class ProbeGraph(LabelGraph):
    """A probe: the scores of the labels, from the vector of a sentence."""

    def scores(self, tensors: Mapping[str, Tensor]) -> tuple[Tensor, ...]:
        """Score the labels with the classifier that training chose."""
        return (self.model(self.model.sentence_vectors(**tensors)).logits[:, 0],)


class ChoiceGraph(Graph):
    """A model for multiple choice: one score for each sequence of passage, question and option."""

    def __init__(self, model: Any) -> None:
        meaning = "logit of the sequence's option; a softmax over the options of a question"
        output = Port("options", (BATCH,), meaning, "float32")
        super().__init__(model, sequence_inputs(model), (output,))

    def scores(self, tensors: Mapping[str, Tensor]) -> tuple[Tensor, ...]:
        """Score each sequence."""
        states = self.model.encode(**tensors).last_hidden_state
        pooled = self.model.pool(states, tensors["attention_mask"])
        return (self.model.option_score(pooled).squeeze(-1).float(),)


class ParserGraph(Graph):
    """A parser: scores of all arcs, of their relations, of tags and, if wanted, of phrases.

    Args:
        model: the model.
        phrases: whether the best label of every span is computed too.
    """

    def __init__(self, model: ParserModel, *, phrases: bool) -> None:
        self.phrases = phrases
        words, labels = (BATCH, WORDS), model.config.labels
        inputs = (
            Port("input_ids", PIECES, "ids of the pieces, special tokens included"),
            Port("attention_mask", PIECES, "1 for pieces, 0 for padding"),
            Port("word_of_piece", PIECES, "number of the piece's word, from 0; -100 without one"),
            Port("shapes", words, "shape of each word (`shapes` in config.json); 0 for padding"),
            Port("n_words", (BATCH,), "number of words of each sentence"),
        )
        pairs = (BATCH, WORDS, ROOT_AND_WORDS)
        outputs = [
            Port(
                "arcs",
                pairs,
                "logits of each word's head: 0 is the root, k the k-th word; -inf outside of the "
                "sentence",
                "float32",
            ),
            Port(
                "relations",
                (*pairs, len(labels["relations"])),
                "logits of the relation of each word to each possible head",
                "float32",
            ),
            Port("upos", (*words, len(labels["upos"])), "logits of universal tags", "float32"),
            Port("xpos", (*words, len(labels["xpos"])), "logits of Penn tags", "float32"),
        ]
        meanings = {"feats": "logits of feature bundles", "lemmas": "logits of edit scripts"}
        self.morphology = [name for name in meanings if name in labels]
        outputs += [
            Port(name, (*words, len(labels[name])), meanings[name], "float32")
            for name in self.morphology
        ]
        if phrases:
            spans = (BATCH, ROOT_AND_WORDS, ROOT_AND_WORDS)
            outputs += [
                Port(
                    "phrase_scores",
                    spans,
                    "score of the best label of the words from a start to an end, at least 0",
                    "float32",
                ),
                Port("phrase_labels", spans, "that label: 0 for no phrase, k the k-th one"),
            ]
        super().__init__(model, inputs, tuple(outputs))

    def scores(self, tensors: Mapping[str, Tensor]) -> tuple[Tensor, ...]:
        """Score arcs, relations, tags and phrases."""
        states: WordStates = self.model(**tensors).states
        found = [states.arcs, self._relations(states), states.upos, states.xpos]
        found += [getattr(states, name) for name in self.morphology]
        if self.phrases and states.posts is not None:
            spans = states.posts.unsqueeze(1) - states.posts.unsqueeze(2)  # [batch, start, end, …]
            scorer = self.model.spans
            best = scorer.labels(torch.relu(scorer.norm(spans))).max(-1)
            is_phrase = best.values > 0
            found += [best.values.clamp(min=0), (best.indices + 1) * is_phrase]
        return tuple(found)

    def _relations(self, states: WordStates) -> Tensor:
        """Score the relations of all pairs of words, ``[batch, words, 1 + words, relations]``."""
        weight = self.model.relations.weight  # [n_relations, width + 1, width + 1]
        n_relations, width, _ = weight.shape
        dependents = nn.functional.pad(states.dependents, (0, 1), value=1.0)
        heads = nn.functional.pad(states.heads, (0, 1), value=1.0)
        products = dependents @ weight.permute(1, 0, 2).reshape(width, -1)
        products = products.unflatten(-1, (n_relations, width))  # [batch, words, relations, width]
        return (products @ heads.mT.unsqueeze(1)).transpose(2, 3)
