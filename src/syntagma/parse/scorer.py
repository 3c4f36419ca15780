"""The parser's model: scores of arcs, relations, tags and phrases on top of one encoder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers.utils import ModelOutput

from syntagma.encoders.config import SyntagmaConfig
from syntagma.encoders.cpu.int8 import has_int8
from syntagma.encoders.cpu.joined_rows import can_join, join_rows
from syntagma.encoders.model import SyntagmaModel
from syntagma.encoders.model_card import CardKind
from syntagma.encoders.precision import Precision
from syntagma.encoders.qa_models import weights_of
from syntagma.encoders.reference import ModelRef
from syntagma.parse.added_labels import added_to, with_new_rows
from syntagma.parse.biaffine import Biaffine, SharedDropout
from syntagma.parse.head import ParserHead
from syntagma.parse.languages import RESCORED
from syntagma.parse.layer_average import LayerAverage, layers_of
from syntagma.parse.morphology_scorer import MorphologyScorer
from syntagma.parse.sentence_ends import EndScorer
from syntagma.parse.shapes import N_SHAPES
from syntagma.parse.span_scorer import GoldSpans, PhraseDecoding, SpanScorer, margin_loss
from syntagma.text.alignment import ABSENT, pool


class WordStates(NamedTuple):
    """Scores and representations that the decoders read.

    Args:
        arcs: score of each candidate head of each word, position 0 is the root, minus infinity for
            heads outside the sentence, ``[batch, n_words, 1 + n_words]``.
        heads: relation representation of each word as a head,
            ``[batch, 1 + n_words, relation_width]``.
        dependents: relation representation of each word as a dependent,
            ``[batch, n_words, relation_width]``.
        upos: scores of the universal tags, ``[batch, n_words, n_upos]``.
        xpos: scores of the treebank tags, ``[batch, n_words, n_xpos]``.
        posts: representation of the fence posts between words, ``[batch, 1 + n_words,
            span_width]``; ``None`` for a parser without phrases, or if none are asked for.
        feats: scores of the features, ``[batch, n_words, n_feats]``; ``None`` for a parser that
            predicts none.
        lemmas: scores of the edit scripts, ``[batch, n_words, n_scripts]``; ``None`` for a parser
            that predicts no lemmas.
    """

    arcs: Tensor
    heads: Tensor
    dependents: Tensor
    upos: Tensor
    xpos: Tensor
    posts: Tensor | None
    feats: Tensor | None = None
    lemmas: Tensor | None = None


@dataclass
class ParserScores(ModelOutput):  # type: ignore[misc]
    """Output of the parser's model.

    Args:
        loss: the training loss; ``None`` without gold labels.
        states: the scores.
    """

    loss: Tensor | None = None
    states: WordStates = None  # type: ignore[assignment]


class ParserModel(SyntagmaModel):
    """An encoder with biaffine arc and relation scorers, tag classifiers and a span scorer.

    Args:
        config: model configuration.  Its ``labels`` must contain ``relations``, ``upos`` and
            ``xpos``; with ``constituents``, the model has a span scorer; with ``feats`` or
            ``lemmas`` (edit scripts), it has a scorer for them; with ``rescored_languages``, one
            of sentence ends.

    Attributes:
        pretrained_keys: parameters outside the encoder that were loaded from a trained parser.
    """

    default_task = "parsing"
    card_kind = CardKind(
        "token-classification",
        "from syntagma import load_parser\n\n"
        'parser = load_parser("NAME")\n'
        'parser("The ferry left at dawn.")',
    )
    head_class = ParserHead
    head: ParserHead

    def __init__(self, config: SyntagmaConfig) -> None:
        super().__init__(config)
        self.pretrained_keys: set[str] = set()
        head = self.head
        width = config.encoder.hidden_size
        n_states = config.encoder.num_hidden_layers + 1
        self.layer_average = LayerAverage(n_states) if head.layers == "weighted" else None
        self.shape_embeddings = nn.Embedding(N_SHAPES, width)
        self.dropout = SharedDropout(head.dropout)
        arc, relation = head.arc_width, head.relation_width
        # One matrix product computes all four representations: arc head, arc dependent, relation
        # head and relation dependent.
        self.representation = nn.Linear(width, 2 * arc + 2 * relation)
        self.arcs = Biaffine(arc, 1)
        self.relations = Biaffine(relation, len(config.labels["relations"]))
        self.upos = nn.Linear(width, len(config.labels["upos"]))
        self.xpos = nn.Linear(width, len(config.labels["xpos"]))
        phrases = config.labels.get("constituents")
        self.spans = SpanScorer(width, head.span_width, len(phrases)) if phrases else None
        n_feats, n_scripts = (len(config.labels.get(name, ())) for name in ("feats", "lemmas"))
        self.morphology = (
            MorphologyScorer(width, head.morphology_width, n_feats=n_feats, n_scripts=n_scripts)
            if n_feats or n_scripts
            else None
        )
        # It learns when the encoder has, see tasks/parsing/segmentation/end_training.py.
        is_rescored = bool(config.labels.get(RESCORED))
        self.sentence_ends = EndScorer(width).requires_grad_(False) if is_rescored else None
        if head.views == "constituents":
            # These are not trained.  Under DDP each process waits for the gradients of all
            # parameters that require one, so parameters without a loss would hang the run.
            for part in (self.representation, self.arcs, self.relations):
                part.requires_grad_(False)
        self.post_init()

    def continue_from(self, ref: ModelRef) -> None:
        """Load the weights of a saved parser; scorers that it lacks keep their new weights.

        A scorer with more labels than that of the saved parser keeps its new weights for those.

        Args:
            ref: the parser; its labels are the first of this model's.
        """
        saved, own = weights_of(ref), self.state_dict()
        missing, _ = self.load_weights(with_new_rows(saved, own))
        self.pretrained_keys = own.keys() - {*missing, *added_to(saved, own)}
        self._built_on = ref

    @property
    def own_precision(self) -> Precision:
        """The precision that it was saved with, or float32 if it cannot compute in that one."""
        wanted = self.head.precision
        can_int8 = self.device.type == "cpu" and self.dtype == torch.float32 and has_int8()
        return "float32" if wanted == "int8" and not can_int8 else wanted

    @property
    def decoding(self) -> PhraseDecoding:
        """How phrases are trained and, by default, decoded; ``joint`` needs both views."""
        return self.head.decoding if self.head.views == "both" else "separate"

    def _init_weights(self, module: nn.Module) -> None:
        if isinstance(module, Biaffine):
            # Training starts from uniform arc and relation scores.
            nn.init.zeros_(module.weight)
        elif isinstance(module, nn.Linear) and module is getattr(self, "representation", None):
            nn.init.orthogonal_(module.weight)
            nn.init.zeros_(module.bias)
        else:
            super()._init_weights(module)

    def score_words(
        self,
        word_states: Tensor,
        root_states: Tensor,
        n_words: Tensor,
        ends: Tensor | None = None,
        *,
        with_phrases: bool = True,
    ) -> WordStates:
        """Compute scores from word vectors.

        Args:
            word_states: word vectors, ``[batch, n_words, width]``.
            root_states: vector of the artificial root, ``[batch, width]``.
            n_words: number of words of each sentence, ``[batch]``.
            ends: vectors of the words' last pieces, ``[batch, n_words, width]``; only for a model
                with morphology.
            with_phrases: whether to represent the fence posts as well.
        """
        arc, relation = self.head.arc_width, self.head.relation_width
        states = torch.cat([root_states.unsqueeze(1), word_states], 1)
        states = self.dropout(states)
        mixed = F.leaky_relu(self.representation(states), 0.1)
        arc_head, arc_dependent, relation_head, relation_dependent = mixed.split(
            [arc, arc, relation, relation], -1
        )
        arc_head, arc_dependent = self.dropout(arc_head), self.dropout(arc_dependent)
        relation_head = self.dropout(relation_head)
        relation_dependent = self.dropout(relation_dependent)
        arcs = self.arcs.all_pairs(arc_dependent[:, 1:], arc_head)
        position = torch.arange(arcs.shape[2], device=arcs.device)
        # Neither padding nor the word itself can be a head.
        is_padding = (position > n_words.unsqueeze(1)).unsqueeze(1)  # [batch, 1, 1 + n_words]
        is_itself = position[1:].unsqueeze(1) == position  # [n_words, 1 + n_words]
        arcs = arcs.masked_fill(is_padding | is_itself, -torch.inf)
        words = states[:, 1:]
        feats = lemmas = None
        if self.morphology is not None and ends is not None:
            feats, lemmas = self.morphology(words, self.dropout(ends))
        return WordStates(
            arcs,
            relation_head,
            relation_dependent[:, 1:],
            self.upos(words),
            self.xpos(words),
            self.spans.fence_posts(states, n_words) if self.spans and with_phrases else None,
            feats,
            lemmas,
        )

    def encode_pieces(self, input_ids: Tensor, attention_mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return the states that words are read from, and those that morphology reads.

        Args:
            input_ids: piece ids, ``[batch, n_pieces]``.
            attention_mask: 1 for pieces and 0 for padding, ``[batch, n_pieces]``.

        Returns:
            Both ``[batch, n_pieces, width]``; the same tensor unless morphology reads the middle
            layer.
        """
        both = self.morphology is not None and self.head.morphology_layer == "middle"
        needs_layers = both or self.layer_average is not None
        row = None
        if not torch.is_grad_enabled() and can_join(self.encoder, input_ids.device.type):
            row = join_rows(input_ids, attention_mask)
        if row is None:
            found = self.encoder(
                input_ids=input_ids,
                attention_mask=attention_mask,
                output_hidden_states=needs_layers,
            )
        else:
            found = self.encoder(
                input_ids=row.input_ids,
                attention_mask=row.mask,
                position_ids=row.position_ids,
                output_hidden_states=needs_layers,
            )
        layers = layers_of(self.encoder, found) if needs_layers else ()
        read: Tensor = (
            found.last_hidden_state if self.layer_average is None else self.layer_average(layers)
        )
        middle: Tensor = layers[len(layers) // 2] if both else read
        if row is None:
            return read, middle
        shape = input_ids.shape
        read_of_batch = row.separate(read, shape)
        return read_of_batch, row.separate(middle, shape) if both else read_of_batch

    def score_pieces(
        self,
        states: Tensor,
        lower: Tensor,
        root_states: Tensor,
        word_of_piece: Tensor,
        shapes: Tensor,
        n_words: Tensor,
        *,
        with_phrases: bool = True,
    ) -> WordStates:
        """Compute scores from piece vectors.

        Args:
            states: piece vectors, ``[batch, n_pieces, width]``.
            lower: those that morphology reads, of the same shape.
            root_states: vector of the artificial root, ``[batch, width]``.
            word_of_piece: word index of each piece, negative for special pieces,
                ``[batch, n_pieces]``.
            shapes: shape class of each word, ``[batch, n_words]``.
            n_words: number of words of each sentence, ``[batch]``.
            with_phrases: whether to represent the fence posts as well.
        """
        width = shapes.shape[1]
        words = pool(states, word_of_piece, width, how=self.head.pooling)
        ends = None
        if self.morphology is not None:
            ends = pool(lower, word_of_piece, width, how="last")
        words = words + self.shape_embeddings(shapes)
        return self.score_words(words, root_states, n_words, ends, with_phrases=with_phrases)

    def relation_scores(self, states: WordStates, heads: Tensor) -> Tensor:
        """Score the relations between each word and a given head.

        Args:
            states: output of :meth:`score_words`.
            heads: head of each word, 0 for the root, negative for padding, ``[batch, n_words]``.

        Returns:
            Zeros for padding, ``[batch, n_words, n_relations]``.
        """
        batch, n_words = heads.shape
        sentences, words = (heads >= 0).nonzero(as_tuple=True)
        dependents = states.dependents[sentences, words]
        given = self.relations.given_pairs(
            dependents, states.heads[sentences, heads[sentences, words]]
        )
        scores = given.new_zeros(batch, n_words, given.shape[-1])
        return scores.index_put((sentences, words), given)

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        word_of_piece: Tensor,
        shapes: Tensor,
        n_words: Tensor,
        heads: Tensor | None = None,
        relations: Tensor | None = None,
        upos: Tensor | None = None,
        xpos: Tensor | None = None,
        phrases: Tensor | None = None,
        phrase_kinds: Tensor | None = None,
        feats: Tensor | None = None,
        lemmas: Tensor | None = None,
        *,
        with_phrases: bool = True,
    ) -> ParserScores:
        """Score a batch and, given gold labels, compute the loss.

        Gold labels are ``-100`` where the label is unknown.

        Args:
            input_ids: piece ids, ``[batch, n_pieces]``.
            attention_mask: 1 for pieces and 0 for padding, ``[batch, n_pieces]``.
            word_of_piece: word index of each piece, negative for special pieces,
                ``[batch, n_pieces]``.
            shapes: shape class of each word, see :mod:`syntagma.parse.shapes`,
                ``[batch, n_words]``.
            n_words: number of words of each sentence, ``[batch]``.
            heads: gold heads, 0 for the root, ``[batch, n_words]``.
            relations: gold relation codes, ``[batch, n_words]``.
            upos: gold codes of the universal tags, ``[batch, n_words]``.
            xpos: gold codes of the treebank tags, ``[batch, n_words]``.
            phrases: ``spans`` of :class:`syntagma.parse.span_scorer.GoldSpans`,
                ``[n_phrases, 4]``.
            phrase_kinds: ``kinds`` of :class:`syntagma.parse.span_scorer.GoldSpans`, ``[batch]``.
            feats: gold codes of the features, ``[batch, n_words]``.
            lemmas: gold codes of the edit scripts, ``[batch, n_words]``.
            with_phrases: whether to compute what phrases are decoded from, too.
        """
        if self.training and self.head.word_dropout > 0:
            dropped = torch.rand_like(input_ids, dtype=torch.float) < self.head.word_dropout
            input_ids = torch.where(
                dropped & (word_of_piece >= 0), self.head.mask_token_id, input_ids
            )
        states, lower = self.encode_pieces(input_ids, attention_mask)
        scores = self.score_pieces(
            states,
            lower,
            states[:, 0],
            word_of_piece,
            shapes,
            n_words,
            with_phrases=with_phrases,
        )
        if heads is None:
            return ParserScores(states=scores)
        loss = scores.arcs.new_zeros(())
        if self.head.views != "constituents":
            loss = loss + _cross_entropy(scores.arcs, heads)
            if relations is not None:
                loss = loss + _cross_entropy(self.relation_scores(scores, heads), relations)
        if self.spans is not None and phrases is not None and phrase_kinds is not None:
            assert scores.posts is not None
            loss = loss + self.head.span_weight * margin_loss(
                self.spans,
                scores.posts,
                scores.arcs,
                heads,
                n_words,
                GoldSpans(phrases, phrase_kinds),
                decoding=self.decoding,
                span_share=self.head.span_share,
            )
        elif self.spans is not None:
            # Under DDP the span scorer needs a gradient, if a zero one, in every process, even if
            # only the batches of other processes contain phrases.
            loss = loss + 0.0 * sum(weights.sum() for weights in self.spans.parameters())
        for name, gold in (("upos", upos), ("xpos", xpos), ("feats", feats), ("lemmas", lemmas)):
            if (predicted := getattr(scores, name)) is not None and gold is not None:
                loss = loss + _cross_entropy(predicted, gold)
        return ParserScores(loss=loss, states=scores)


def _cross_entropy(scores: Tensor, gold: Tensor) -> Tensor:
    """Mean cross-entropy over the words with a gold label; 0 if there are none."""
    total = F.cross_entropy(
        scores.flatten(0, 1).float(), gold.flatten(), ignore_index=ABSENT, reduction="sum"
    )
    return total / (gold != ABSENT).sum().clamp(min=1)
