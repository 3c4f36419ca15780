"""The syntax-aware layer of SEPREM, before every layer of the encoder (section 4.1, eqs. 1 and 5).

``H ← (1 − α)H + α·σ(W¹H + W²D̃H)``; α is one learnable number for the model, σ the encoder's own
activation.  With α = 0 the encoder is the plain one, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor, nn
from transformers import PretrainedConfig
from transformers.activations import ACT2FN

from syntagma.encoders.sites import find_sites
from syntagma.errors import InputError
from syntagma.models.ancestor_attention import ACTIVATIONS
from syntagma.models.guide import LayerGuide, Syntax
from syntagma.syntax.distances import Direction, normalised_strength, tree_distances
from syntagma.syntax.encode import PieceMode


@dataclass(frozen=True)
class TreeDistance:
    """SEPREM: tree distances mixed into the states before every layer.

    Args:
        direction: of the paths that count (:mod:`syntagma.syntax.distances`).
        alpha: initial value of α, the share of the mixed states.
        learn_alpha: whether α is trained.
    """

    direction: Direction = "down"
    alpha: float = 0.1
    learn_alpha: bool = True

    def __post_init__(self) -> None:
        if not 0 <= self.alpha <= 1:
            raise InputError(f"alpha is a share from 0 to 1, got {self.alpha}")


class DistanceLayer(nn.Module):
    """``W¹H + W²D̃H`` of one layer.

    Args:
        width: of the states.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.own = nn.Linear(width, width)
        self.related = nn.Linear(width, width, bias=False)

    def forward(self, states: Tensor, strength: Tensor) -> Tensor:
        """Mix each state with those that it is related to.

        Args:
            states: H, ``[batch, n, width]``.
            strength: D̃, ``[batch, n, n]``.

        Returns:
            ``[batch, n, width]``.
        """
        if not torch.is_autocast_enabled(states.device.type):
            strength = strength.to(states.dtype)
        mixed: Tensor = self.own(states) + self.related(strength @ states)
        return mixed


class DistanceLayers(LayerGuide):
    """A distance layer before each layer of an encoder.

    Layers that an encoder uses several times (ALBERT) share theirs.

    Args:
        settings: of the guide.
        n_layers: layers of the encoder.
        width: of its states.
        activation: name of σ, as Transformers names it.
    """

    name = "tree_distance"
    settings_class = TreeDistance
    columns = ("enter", "exit", "depth", "word")

    def __init__(
        self, settings: TreeDistance, *, n_layers: int, width: int, activation: str = "gelu"
    ) -> None:
        super().__init__()
        self.settings = settings
        self.layers = nn.ModuleList(DistanceLayer(width) for _ in range(n_layers))
        self.activation = ACT2FN[activation]
        self.alpha = nn.Parameter(torch.tensor(settings.alpha), requires_grad=settings.learn_alpha)

    @classmethod
    def build(cls, settings: TreeDistance, encoder: PretrainedConfig) -> Self:
        """As many layers as the encoder has."""
        find_sites(encoder.model_type, purpose="a guide before every layer")
        n_layers = getattr(encoder, "num_hidden_groups", None) or encoder.num_hidden_layers
        named = (getattr(encoder, name, None) for name in ACTIVATIONS)
        activation = next((name for name in named if name), "gelu")
        return cls(
            settings, n_layers=n_layers, width=encoder.hidden_size, activation=str(activation)
        )

    @classmethod
    def pieces_of(cls, settings: TreeDistance) -> PieceMode:
        """Distances are between words, and the same for all of their pieces."""
        return "share"

    @classmethod
    def learned_numbers(
        cls, settings: TreeDistance, weights: Mapping[str, Callable[[], list[float]]]
    ) -> dict[str, float]:
        """α (SEPREM, Table 6)."""
        return {"α, share of the mixed states (tree_distance)": weights["alpha"]()[0]}

    @torch.no_grad()
    def load_trained(self, weights: dict[str, Tensor], trained: TreeDistance) -> None:
        """Take over trained layers; α too, unless it is to begin elsewhere."""
        if trained.direction != self.settings.direction:
            raise InputError(
                f"guides.tree_distance.direction: the layers were trained on paths "
                f"{trained.direction!r}, not {self.settings.direction!r}"
            )
        super().load_trained(weights, trained)
        if trained.alpha != self.settings.alpha:
            self.reset()

    @torch.no_grad()
    def reset(self) -> None:
        """Small weights, and α as it is set."""
        self.alpha.fill_(self.settings.alpha)

    def prepare(self, syntax: Syntax) -> Tensor:
        """D̃ of a batch, once for all layers, ``[batch, n, n]``.

        Raises:
            InputError: the syntax tensors are missing.
        """
        distances = syntax.distances
        if distances is None:
            distances = tree_distances(
                *(syntax.require(name) for name in ("enter", "exit", "depth", "word")),
                direction=self.settings.direction,
            )
        strength = normalised_strength(distances)
        device = strength.device.type
        if torch.is_autocast_enabled(device):
            # Rounded here, and kept for the backward half once instead of once a layer.
            return strength.to(torch.get_autocast_dtype(device))
        return strength

    def before_layer(self, index: int, states: Tensor, prepared: Tensor) -> Tensor:
        """The states that the encoder's layer reads.

        Args:
            index: of the layer.
            states: H, ``[batch, n, width]``.
            prepared: D̃, ``[batch, n, n]``.
        """
        mixed = self.activation(self.layers[index](states, prepared))
        changed: Tensor = (1 - self.alpha) * states + self.alpha * mixed
        return changed.to(states.dtype)
