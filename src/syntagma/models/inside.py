"""Let guides act inside of an encoder, with hooks that last for one forward pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from syntagma.encoders.score_bias import add_to_scores, require_additive_mask
from syntagma.encoders.sites import Sites, change_input, find_sites, layers
from syntagma.models.guide import (
    AttentionGuide,
    EmbeddingGuide,
    Guide,
    LayerGuide,
    ScoreGuide,
    Syntax,
)

Losses = dict[str, list[Tensor]]
"""What each guide learns from trees, by its name, for each use of its layer."""


def total_loss(losses: Losses) -> Tensor | None:
    """Return the sum over guides; ``None`` without any.

    A layer that is used several times (ALBERT) counts once, with the mean of its losses.
    """
    if not losses:
        return None
    return torch.stack([torch.stack(uses).mean() for uses in losses.values()]).sum()


def act_inside(guides: Sequence[Guide]) -> bool:
    """Whether one of the guides acts inside of the encoder, and thus needs hooks."""
    inside = EmbeddingGuide | LayerGuide | AttentionGuide | ScoreGuide
    return any(isinstance(guide, inside) for guide in guides)


@contextmanager
def guided_inside(
    encoder: nn.Module, model_type: str, guides: Sequence[Guide], syntax: Syntax, *, teach: bool
) -> Iterator[Losses]:
    """Let guides act inside of an encoder, inside a ``with`` block.

    Args:
        encoder: the encoder.
        model_type: its model type.
        guides: all guides of the model; those after the last layer have no effect here.
        syntax: tensors of the batch.
        teach: whether guides that learn from trees are to compute their losses.

    Yields:
        A dictionary that contains these losses once the encoder has run.

    Raises:
        InputError: the encoder has no such sites, or a tensor that a guide reads is missing.
    """
    losses: Losses = {}
    if not act_inside(guides):
        yield losses
        return
    sites = find_sites(model_type, purpose="a guide inside of the encoder")
    hooks: list[RemovableHandle] = []
    try:
        for attach in (_guide_embeddings, _guide_layers, _guide_attention):
            hooks += attach(encoder, sites, guides, syntax)
        hooks += _guide_scores(encoder, sites, guides, syntax, losses, teach=teach)
        yield losses
    finally:
        for hook in hooks:
            hook.remove()


def _guide_embeddings(
    encoder: nn.Module, sites: Sites, guides: Sequence[Guide], syntax: Syntax
) -> Iterator[RemovableHandle]:
    """Add the summands of guides to the embeddings."""
    own = [guide for guide in guides if isinstance(guide, EmbeddingGuide)]
    if not own:
        return
    # Without a norm over the embeddings, the first layer reads their sum.
    place = sites.embedding_norm
    norm = encoder.get_submodule(place) if place else layers(encoder, sites)[0]

    def add(total: Tensor) -> Tensor:
        for guide in own:
            total = total + guide(syntax)
        return total

    yield change_input(norm, add, n_pieces=syntax.n_pieces)


def _guide_layers(
    encoder: nn.Module, sites: Sites, guides: Sequence[Guide], syntax: Syntax
) -> Iterator[RemovableHandle]:
    """Let guides change the input of each layer."""
    own = [guide for guide in guides if isinstance(guide, LayerGuide)]
    if not own:
        return
    prepared = [guide.prepare(syntax) for guide in own]

    def change(states: Tensor, *, index: int) -> Tensor:
        for guide, tensors in zip(own, prepared, strict=True):
            states = guide.before_layer(index, states, tensors)
        return states

    for index, layer in enumerate(layers(encoder, sites)):
        yield change_input(layer, partial(change, index=index), n_pieces=syntax.n_pieces)


def _guide_attention(
    encoder: nn.Module, sites: Sites, guides: Sequence[Guide], syntax: Syntax
) -> Iterator[RemovableHandle]:
    """Let guides add to the scores of attention in each layer."""
    for guide in guides:
        if not isinstance(guide, AttentionGuide):
            continue
        # The implementation of attention may have been changed since the guide was built.
        require_additive_mask(encoder.config, purpose=f"guides.{guide.name}")
        places, kinds = guide.prepare(syntax)
        for index, layer in enumerate(layers(encoder, sites)):
            yield add_to_scores(layer, places, _of_any(partial(guide.bias, index, kinds)))


def _of_any(bias: Callable[[], Tensor]) -> Callable[[Tensor], Tensor]:
    """Return a bias that is the same for all states."""
    return lambda _: bias()


def _guide_scores(
    encoder: nn.Module,
    sites: Sites,
    guides: Sequence[Guide],
    syntax: Syntax,
    losses: Losses,
    *,
    teach: bool,
) -> Iterator[RemovableHandle]:
    """Let guides add to the scores of their layer what they compute from its input."""

    def bias(states: Tensor, *, guide: ScoreGuide) -> Tensor:
        found = guide(states, syntax, teach=teach)
        if found.loss is not None:
            losses.setdefault(guide.name, []).append(found.loss)
        return found.bias

    for guide in guides:
        if isinstance(guide, ScoreGuide):
            require_additive_mask(encoder.config, purpose=f"guides.{guide.name}")
            layer = layers(encoder, sites)[guide.layer]
            yield add_to_scores(layer, None, partial(bias, guide=guide))


def respect_hooks() -> None:
    """Let compiled code be used only with the hooks that it was compiled with.

    Guides inside an encoder are hooks.  By default torch ignores hooks when it decides whether
    compiled code can be reused, and would run code compiled without guides.  This is set when the
    first model needs it, as an import must not change what other code of the process does.
    """
    import torch._dynamo.config

    torch._dynamo.config.skip_nnmodule_hook_guards = False
