"""The syntax-aware layer of SEPREM, before every layer of the encoder (section 4.1, eqs. 1 and 5).

``H ← (1 − α)H + αĤ`` with ``Ĥ = σ(W¹H + W²D̃H)``, where α is one trainable number for the whole
model and σ the encoder's activation.  With α = 0 the states are those of the encoder alone, bit for
bit.  In the paper's model without α (section 5.6), the layers read the sum ``H + Ĥ``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Self

import torch
from torch import Tensor, nn
from transformers import PretrainedConfig
from transformers.activations import ACT2FN

from syntagma.encoders.sites import find_sites, n_layers_of
from syntagma.errors import InputError
from syntagma.models.ancestor_attention import ACTIVATIONS
from syntagma.models.guide import LayerGuide, Syntax
from syntagma.syntax.distances import Direction, normalised_strength, tree_distances
from syntagma.syntax.pieces import PieceMode


@dataclass(frozen=True)
class TreeDistance:
    """SEPREM: tree distances mixed into the states before every layer.

    Args:
        direction: direction of the paths (:mod:`syntagma.syntax.distances`).
        alpha: initial value of α, the share of the mixed states.
        learn_alpha: whether α is trained.
        combination: ``share`` for (1 − α)H + αĤ, or ``sum`` for H + Ĥ, the paper's model without α.
    """

    direction: Direction = "down"
    alpha: float = 0.1
    learn_alpha: bool = True
    combination: Literal["share", "sum"] = "share"

    def __post_init__(self) -> None:
        if self.combination == "sum" and (self.alpha != 0.1 or not self.learn_alpha):
            raise InputError(
                f"combination: sum has no α, got alpha {self.alpha} and learn_alpha "
                f"{str(self.learn_alpha).lower()}; leave both out, or set combination: share"
            )
        if not 0 <= self.alpha <= 1:
            raise InputError(f"alpha must be a share from 0 to 1, got {self.alpha}")


class DistanceLayer(nn.Module):
    """Computes ``W¹H + W²D̃H`` before one layer.

    Args:
        width: width of the states.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.own = nn.Linear(width, width)
        self.related = nn.Linear(width, width, bias=False)

    def forward(self, states: Tensor, strength: Tensor) -> Tensor:
        """Mix each state with those of related words.

        Args:
            states: H, ``[batch, n, width]``.
            strength: D̃, ``[batch, n, n]``.

        Returns:
            ``[batch, n, width]``.
        """
        # Under autocast the product converts both itself.
        if not torch.is_autocast_enabled(states.device.type):
            strength = strength.to(states.dtype)
        mixed: Tensor = self.own(states) + self.related(strength @ states)
        return mixed


class DistanceLayers(LayerGuide):
    """A distance layer before each layer of an encoder.

    If an encoder uses a layer several times (ALBERT), the distance layer is reused too.

    Args:
        settings: settings of the guide.
        n_layers: number of different layers in the encoder.
        width: width of its states.
        activation: Transformers' name of σ.
    """

    name = "tree_distance"
    settings_class = TreeDistance
    columns = ("enter", "exit", "depth", "word")
    shares = ("alpha",)

    def __init__(
        self, settings: TreeDistance, *, n_layers: int, width: int, activation: str = "gelu"
    ) -> None:
        super().__init__()
        self.settings = settings
        self.layers = nn.ModuleList(DistanceLayer(width) for _ in range(n_layers))
        self.activation = ACT2FN[activation]
        if settings.combination == "share":
            self.alpha = nn.Parameter(
                torch.tensor(settings.alpha), requires_grad=settings.learn_alpha
            )

    @classmethod
    def build(cls, settings: TreeDistance, encoder: PretrainedConfig) -> Self:
        """Build as many distance layers as the encoder has layers."""
        # Fails for an encoder whose layers are unknown, before anything is built.
        find_sites(encoder.model_type, purpose="a guide before every layer")
        named = (getattr(encoder, name, None) for name in ACTIVATIONS)
        activation = next((name for name in named if name), "gelu")
        return cls(
            settings,
            n_layers=n_layers_of(encoder),
            width=encoder.hidden_size,
            activation=str(activation),
        )

    @classmethod
    def pieces_of(cls, settings: TreeDistance) -> PieceMode:
        """Return ``share``: distances are between words, and the same for all of their pieces."""
        return "share"

    @classmethod
    def learned_numbers(
        cls, settings: TreeDistance, weights: Mapping[str, Callable[[], list[float]]]
    ) -> dict[str, float]:
        """Return α (SEPREM, Table 6); the sum has none."""
        if settings.combination == "sum":
            return {}
        return {"α, share of the mixed states (tree_distance)": weights["alpha"]()[0]}

    @torch.no_grad()
    def load_trained(self, weights: dict[str, Tensor], trained: TreeDistance) -> None:
        """Load trained layers; α too, unless its initial value was changed."""
        self.require_same(trained, "direction", "combination")
        super().load_trained(weights, trained)
        if trained.alpha != self.settings.alpha:
            self.reset()

    @torch.no_grad()
    def reset(self) -> None:
        """Set α to its initial value; Transformers initialises the linear maps."""
        if self.settings.combination == "share":
            self.alpha.fill_(self.settings.alpha)

    def prepare(self, syntax: Syntax) -> Tensor:
        """Compute D̃ of a batch, once for all layers.

        Args:
            syntax: tensors of the batch; ``distances`` is read, or the columns of the tree.

        Returns:
            ``[batch, n, n]``.

        Raises:
            InputError: syntax tensors are missing.
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
            # Rounded here, so that it is saved once for the backward pass, not once per layer.
            return strength.to(torch.get_autocast_dtype(device))
        return strength

    def before_layer(self, index: int, states: Tensor, prepared: Tensor) -> Tensor:
        """Compute the states that a layer of the encoder reads (eq. 5).

        Args:
            index: index of the layer.
            states: H, ``[batch, n, width]``.
            prepared: D̃, ``[batch, n, n]``.

        Returns:
            ``[batch, n, width]``.
        """
        mixed = self.activation(self.layers[index](states, prepared))
        if self.settings.combination == "sum":
            return (states + mixed).to(states.dtype)
        changed: Tensor = (1 - self.alpha) * states + self.alpha * mixed
        return changed.to(states.dtype)
