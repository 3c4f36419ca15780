"""A guided encoder that classifies the relation of two texts (SG-Net section 3.4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn
from torch.nn import functional as F

from syntagma.encoders.config import SyntagmaConfig, class_names
from syntagma.encoders.model_card import CardKind
from syntagma.errors import InputError
from syntagma.models.outputs import LabelScores
from syntagma.models.pooled_model import PooledModel
from syntagma.models.pooling import AnyPooling
from syntagma.settings import require_at_least


@dataclass(frozen=True)
class PairHead:
    """Settings of sentence-pair classification.

    Args:
        max_length: tokens per sequence, with special tokens; the longer text is truncated first.
        pooling: how a sequence becomes one vector; ``pooler`` is the first piece through the
            encoder's own pooler (a linear map and tanh), as in the papers; ``auto`` is ``first``,
            except ``max`` after iterative co-attention, which may set the first piece to 0, and
            ``mean`` after ancestor attention, whose trees do not reach it.
        dropout: dropout probability of that vector.
    """

    max_length: int = 128
    pooling: AnyPooling = "auto"
    dropout: float = 0.1

    def __post_init__(self) -> None:
        require_at_least(self, 8, "max_length")
        if not 0 <= self.dropout < 1:
            raise InputError(f"dropout must lie in [0, 1), got {self.dropout}")


class PairModel(PooledModel):
    """A guided encoder with a classifier of pairs; the labels are ``config.labels["labels"]``."""

    default_task = "pairs"
    card_kind = CardKind(
        "text-classification",
        "from syntagma import SyntaxTokenizer\n"
        "from syntagma.models.pair_model import PairModel\n\n"
        'model = PairModel.from_pretrained("NAME")\n'
        "tokenizer = SyntaxTokenizer.for_model(model)\n"
        "scores = model(**tokenizer(text)).logits  # or tokenizer(text, second_text)\n"
        "model.config.id2label[int(scores.argmax())]",
        {"text": "The ferry left at dawn.", "text_pair": "The ferry left."},
    )
    head_class = PairHead
    head: PairHead

    def __init__(self, config: SyntagmaConfig) -> None:
        super().__init__(config)
        self.set_pooling(self.head.pooling, config)
        self.dropout = nn.Dropout(self.head.dropout)
        self.label_scores = nn.Linear(config.encoder.hidden_size, len(class_names(config)))
        self.post_init()

    def forward(  # type: ignore[override]
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        labels: Tensor | None = None,
        **tensors: Any,
    ) -> LabelScores:
        """Score the labels of a batch of pairs.

        Args:
            input_ids: ``[batch, n]``.
            attention_mask: 0 at padding, ``[batch, n]``.
            labels: gold labels, ``[batch]``.
            tensors: token types and syntax, see :meth:`GuidedEncoder.encode`.
        """
        encoded = self.encode(input_ids, attention_mask, **tensors)
        pooled = self.pool(encoded.last_hidden_state, attention_mask)
        scores = self.label_scores(self.dropout(pooled)).float()
        loss = None if labels is None else F.cross_entropy(scores, labels)
        return LabelScores(loss=encoded.with_guide_loss(loss), logits=scores, **encoded.inner)
