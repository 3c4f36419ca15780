"""Relative positions in the attention of a layer that is copied from an encoder.

Some encoders add positions to the scores of each layer instead of, or in addition to, the
embeddings.  A copy of such a layer computes the same as the original only with them.  A layer with
random weights does not get them: the states that it reads know their positions.

All of them depend on differences of positions alone, so padding on the left changes nothing.
"""

from __future__ import annotations

from typing import Any, Protocol

import torch
from torch import Tensor, nn
from transformers import PretrainedConfig

from syntagma.encoders.sites import Sites
from syntagma.errors import InputError


class RelativePositions(nn.Module):
    """Base class: positions that change nothing."""

    scale_factor = 1
    """The scores are divided by the square root of the width of a head times this factor."""

    def rotate(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Bring positions into query, key and value, ``[batch, n_heads, n, width]`` each."""
        return query, key, value

    def bias(self, query: Tensor, key: Tensor) -> Tensor | None:
        """Compute the summand of the scores.

        Args:
            query: ``[batch, n_heads, n, width]``.
            key: ``[batch, n_heads, n, width]``.

        Returns:
            Broadcastable to ``[batch, n_heads, n, n]``; ``None`` for no summand.
        """
        return None

    def copy_from(self, encoder: nn.Module, layer: nn.Module) -> None:
        """Copy the weights of an encoder.

        Args:
            encoder: the encoder.
            layer: its layer that is copied.
        """


class PositionBias(RelativePositions):
    """MPNet: a number for each head and difference of positions, in buckets that grow with it.

    Args:
        n_buckets: number of buckets, half of them for each direction.
        n_heads: number of attention heads.
    """

    # Transformers' MPNet fixes both, whatever its configuration says about the size of the table.
    N_BUCKETS = 32
    FARTHEST = 128

    def __init__(self, *, n_buckets: int, n_heads: int) -> None:
        super().__init__()
        self.table = nn.Embedding(n_buckets, n_heads)

    def bias(self, query: Tensor, key: Tensor) -> Tensor:
        """Look up the bias of every pair, ``[1, n_heads, n, n]``."""
        buckets = self._buckets(_differences(query))
        return self.table(buckets).permute(2, 0, 1).unsqueeze(0)  # type: ignore[no-any-return]

    def _buckets(self, differences: Tensor) -> Tensor:
        """Number the bucket of each difference: exact up to 8, then in logarithmic steps to 128."""
        half = self.N_BUCKETS // 2
        exact = half // 2
        distance = differences.abs()
        steps = torch.log(distance.clamp(min=1).float() / exact) / torch.log(
            torch.tensor(self.FARTHEST / exact)
        )
        far = (exact + (steps * (half - exact)).long()).clamp(max=half - 1)
        return (differences < 0) * half + torch.where(distance < exact, distance, far)

    @torch.no_grad()
    def copy_from(self, encoder: nn.Module, layer: nn.Module) -> None:
        """Copy the table, which all layers of the encoder share."""
        self.table.load_state_dict(
            encoder.get_submodule("encoder.relative_attention_bias").state_dict()
        )


class DisentangledPositions(RelativePositions):
    """DeBERTa: products of a piece's query or key with the vector of a difference of positions.

    Args:
        width: width of the hidden states.
        n_heads: number of attention heads.
        kinds: ``c2p``, content to position, and ``p2c``, position to content.
        n_differences: largest difference with a vector of its own; 0 for an encoder whose relative
            attention is off, which still divides its scores by a larger number.
        n_buckets: number of logarithmic buckets for each direction; 0 for one vector a difference.
        farthest: difference that the last bucket begins with.
        dropout_prob: dropout probability of the vectors.
    """

    def __init__(
        self,
        *,
        width: int,
        n_heads: int,
        kinds: tuple[str, ...],
        n_differences: int,
        n_buckets: int = 0,
        farthest: int = 0,
        dropout_prob: float = 0.0,
    ) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.scale_factor = 1 + len(kinds)
        self.span = n_buckets or n_differences
        self.n_buckets, self.farthest = n_buckets, farthest
        kinds = kinds if n_differences else ()
        if kinds:
            self.vectors = nn.Embedding(2 * self.span, width)
            self.dropout = nn.Dropout(dropout_prob)
        self.key = nn.Linear(width, width) if "c2p" in kinds else None
        self.query = nn.Linear(width, width) if "p2c" in kinds else None

    def bias(self, query: Tensor, key: Tensor) -> Tensor | None:
        """Compute both products for every pair, ``[batch, n_heads, n, n]``."""
        if self.key is None and self.query is None:
            return None
        n = query.shape[-2]
        differences = _differences(query)
        if self.n_buckets:
            differences = self._buckets(differences)
        place = (differences + self.span).clamp(0, 2 * self.span - 1)  # [n, n]
        place = place.expand(*query.shape[:2], n, n)
        vectors = self.dropout(self.vectors.weight)
        total = query.new_zeros(())
        if self.key is not None:
            products = query @ self._heads(self.key(vectors)).mT  # [batch, n_heads, n, 2 span]
            total = total + products.gather(-1, place)
        if self.query is not None:
            products = key @ self._heads(self.query(vectors)).mT
            # The row of a key holds its product with every difference; a column is a query.
            total = total + products.gather(-1, place.mT).mT
        return total / (query.shape[-1] * self.scale_factor) ** 0.5

    def _heads(self, vectors: Tensor) -> Tensor:
        return vectors.unflatten(-1, (self.n_heads, -1)).transpose(0, 1)  # [heads, 2 span, width]

    def _buckets(self, differences: Tensor) -> Tensor:
        """Number the bucket of each difference: exact up to half, then in logarithmic steps."""
        middle = self.n_buckets // 2
        distance = differences.abs()
        steps = torch.log(distance.clamp(min=middle) / middle) / torch.log(
            torch.tensor((self.farthest - 1) / middle)
        )
        far = (torch.ceil(steps * (middle - 1)) + middle).long()
        return differences.sign() * torch.where(distance <= middle, distance, far)

    @torch.no_grad()
    def copy_from(self, encoder: nn.Module, layer: nn.Module) -> None:
        """Copy the vectors, which all layers of the encoder share, and the layer's maps of them."""
        if self.key is None and self.query is None:
            return
        self.vectors.weight.copy_(encoder.get_submodule("encoder").get_rel_embedding())  # type: ignore[operator]
        attention = layer.get_submodule("attention.self")
        parts = dict(attention.named_children())
        shared = bool(getattr(attention, "share_att_key", False))
        for own, names in (
            # The second name is that of DeBERTa (1).
            (self.key, ("key_proj",) if shared else ("pos_key_proj", "pos_proj")),
            (self.query, ("query_proj",) if shared else ("pos_query_proj", "pos_q_proj")),
        ):
            if own is not None:
                source = next(parts[name] for name in names if name in parts)
                own.bias.zero_()
                own.load_state_dict(source.state_dict(), strict=False)


class RotaryPositions(RelativePositions):
    """RoFormer, Jina: queries and keys are rotated by angles that grow with the position.

    Args:
        base: base of the angles' frequencies.
        interleaved: whether neighbouring numbers of a head are rotated together (RoFormer), or a
            number of the first half and its partner in the second.
        value: whether values are rotated too.
    """

    def __init__(self, *, base: float, interleaved: bool, value: bool = False) -> None:
        super().__init__()
        self.base = base
        self.interleaved = interleaved
        self.value = value

    def rotate(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Rotate queries and keys, and values if the encoder does."""
        n, width = query.shape[-2:]
        frequencies = self.base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
        angles = torch.outer(torch.arange(n, dtype=torch.float64), frequencies)
        cosine, sine = angles.cos().to(query), angles.sin().to(query)  # [n, width / 2]
        rotated = [
            self._rotate(part, cosine, sine) for part in ((query, key, value)[: 2 + self.value])
        ]
        return (*rotated, value)[:3]  # type: ignore[return-value]

    def _rotate(self, states: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
        if self.interleaved:
            first, second = states[..., ::2], states[..., 1::2]
        else:
            first, second = states.chunk(2, dim=-1)
        turned = (first * cosine - second * sine, second * cosine + first * sine)
        if self.interleaved:
            return torch.stack(turned, -1).flatten(-2)
        return torch.cat(turned, -1)


class _Builder(Protocol):
    def __call__(self, encoder: Any) -> RelativePositions: ...


def _mpnet(encoder: Any) -> RelativePositions:
    return PositionBias(
        n_buckets=encoder.relative_attention_num_buckets, n_heads=encoder.num_attention_heads
    )


def _deberta(encoder: Any) -> RelativePositions:
    if getattr(encoder, "talking_head", False):
        raise InputError(
            "this encoder mixes the heads of its attention (talking_head), so its layers cannot be "
            "copied; set guides.ancestor_attention.initialise=random"
        )
    farthest = encoder.max_relative_positions
    farthest = farthest if farthest >= 1 else encoder.max_position_embeddings
    return DisentangledPositions(
        width=encoder.hidden_size,
        n_heads=encoder.num_attention_heads,
        kinds=tuple(kind for kind in ("c2p", "p2c") if kind in (encoder.pos_att_type or ())),
        n_differences=farthest if encoder.relative_attention else 0,
        n_buckets=max(getattr(encoder, "position_buckets", 0), 0),
        farthest=farthest,
        dropout_prob=encoder.hidden_dropout_prob,
    )


def _roformer(encoder: Any) -> RelativePositions:
    return RotaryPositions(base=10000.0, interleaved=True, value=encoder.rotary_value)


def _jina(encoder: Any) -> RelativePositions:
    rope = encoder.rope_parameters
    if rope["rope_type"] != "default":
        raise InputError(
            f"the frequencies of this encoder's rotary positions depend on the text "
            f"(rope_type {rope['rope_type']!r}), so its layers cannot be copied; set "
            f"guides.ancestor_attention.initialise=random"
        )
    return RotaryPositions(base=rope["rope_theta"], interleaved=False)


_BUILDERS: dict[str, _Builder] = {
    "bias": _mpnet,
    "disentangled": _deberta,
    "rotary_pairs": _roformer,
    "rotary_halves": _jina,
}


def positions_like(encoder: PretrainedConfig, sites: Sites | None) -> RelativePositions | None:
    """Build the relative positions of a copied layer; ``None`` if the encoder's have none.

    Args:
        encoder: the encoder's configuration.
        sites: the encoder's row in the table.

    Raises:
        InputError: the encoder's positions cannot be copied.
    """
    if sites is None or not sites.relative_positions:
        return None
    return _BUILDERS[sites.relative_positions](encoder)


def _differences(states: Tensor) -> Tensor:
    """Return the position of the row minus that of the column, ``[n, n]``."""
    place = torch.arange(states.shape[-2], device=states.device)
    return place.unsqueeze(1) - place
