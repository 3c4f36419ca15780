"""The base class of models that read one vector of each sequence."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from syntagma.encoders.config import SyntagmaConfig
from syntagma.encoders.pooler import pooler_weights
from syntagma.encoders.qa_models import weights_of
from syntagma.encoders.reference import ModelRef
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.models.pooling import AnyPooling, find_pooling, pool_states


class Pooler(nn.Module):
    """A linear map and tanh, like BERT's pooler.

    Args:
        width: width of the vector.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.dense = nn.Linear(width, width)

    def forward(self, first: Tensor) -> Tensor:
        """Compute the vector of a sequence.

        Args:
            first: state of the first piece, ``[batch, width]``.

        Returns:
            ``[batch, width]``.
        """
        return torch.tanh(self.dense(first))


class PooledModel(GuidedEncoder):
    """A guided encoder that can pool a sequence, also by the encoder's own pooler.

    Attributes:
        pooling: how a sequence becomes one vector.
        pooler: the encoder's pooler; ``None`` with other ways to pool.
    """

    pooler: Pooler | None

    def set_pooling(
        self, how: AnyPooling, config: SyntagmaConfig, *, where: str = "head.pooling"
    ) -> None:
        """Choose how sequences are pooled; called by the constructor.

        Args:
            how: the setting, see :func:`syntagma.models.pooling.find_pooling`.
            config: configuration of the model.
            where: name of the setting in error messages.

        Raises:
            InputError: sequences cannot be pooled in this way after the model's guides.
        """
        self.pooling = find_pooling(how, config.guides, where=where)
        has_pooler = self.pooling == "pooler"
        self.pooler = Pooler(config.encoder.hidden_size) if has_pooler else None

    def pool(self, states: Tensor, attention_mask: Tensor) -> Tensor:
        """Pool the states of each sequence.

        Args:
            states: ``[batch, n, width]``.
            attention_mask: 0 at padding, ``[batch, n]``.

        Returns:
            ``[batch, width]``.
        """
        how = "first" if self.pooling == "pooler" else self.pooling
        pooled = pool_states(states, attention_mask, how)
        return pooled if self.pooler is None else self.pooler(pooled)

    def after_encoder_loaded(self, ref: ModelRef) -> None:
        """Initialise guides as :class:`GuidedEncoder` does, and load the encoder's pooler.

        Args:
            ref: the encoder, or the saved model that the encoder was taken from; if that has no
                pooler of its own, the pooler of its base encoder is loaded.

        Raises:
            InputError: a guide does not fit, or the encoder has no pretrained pooler.
        """
        super().after_encoder_loaded(ref)
        if self.pooler is None:
            return
        prefix = "pooler.dense."
        trained = weights_of(ref, self.encoder_class) if ref.kind == "model" else {}
        own = {
            name.removeprefix(prefix): weight
            for name, weight in trained.items()
            if name.startswith(prefix)
        }
        self.pooler.dense.load_state_dict(own or pooler_weights(ref.published))
        self.pretrained_keys |= {f"{prefix}{name}" for name in ("weight", "bias")}
