"""The sizes of encoders, so that a result says how far ours is from the paper's."""

from __future__ import annotations

from dataclasses import dataclass

from syntagma.encoders.default import CONFIG
from syntagma.encoders.load import load_encoder_config
from syntagma.encoders.reference import find_model
from syntagma.errors import SyntagmaError


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of an encoder.

    Args:
        layers: number of layers.
        width: width of the states.
        heads: attention heads of a layer.
        inner: inner width of a layer.
        vocabulary: number of pieces.
        dropout: dropout probability of states.
        attention_dropout: dropout probability of attention weights.
        shared: whether all layers have the same weights.
    """

    layers: int
    width: int
    heads: int
    inner: int
    vocabulary: int
    dropout: float
    attention_dropout: float
    shared: bool = False

    def __str__(self) -> str:
        layers = f"{self.layers} {'shared ' if self.shared else ''}layers"
        return (
            f"{layers}, width {self.width:,}, {self.heads} heads, inner width {self.inner:,}, "
            f"{self.vocabulary:,} pieces, dropout {self.dropout:g}, attention dropout "
            f"{self.attention_dropout:g}"
        )


# From the config.json of each model.
PAPERS = {
    "google-bert/bert-large-cased-whole-word-masking": Shape(24, 1024, 16, 4096, 28996, 0.1, 0.1),
    "google-bert/bert-base-uncased": Shape(12, 768, 12, 3072, 30522, 0.1, 0.1),
    "albert/albert-base-v2": Shape(12, 768, 12, 3072, 30000, 0.0, 0.0, shared=True),
    "albert/albert-xxlarge-v2": Shape(12, 4096, 64, 16384, 30000, 0.0, 0.0, shared=True),
    "FacebookAI/roberta-large": Shape(24, 1024, 16, 4096, 50265, 0.1, 0.1),
}
"""The papers' encoders, which are only on the hub."""


def shape_of(name: str) -> Shape | None:
    """Return the shape of an encoder; ``None`` if its configuration is not on this machine.

    Args:
        name: ``default``, a folder, or a hub name.
    """
    if name in PAPERS:
        return PAPERS[name]
    ref = find_model(name)
    # A plan needs no network.
    if ref.kind != "model" and not (ref.folder / CONFIG).is_file():
        return None
    try:
        config = load_encoder_config(ref)
    except SyntagmaError:
        return None
    found = {
        key: getattr(config, name, None)
        for key, name in (
            ("layers", "num_hidden_layers"),
            ("width", "hidden_size"),
            ("heads", "num_attention_heads"),
            ("inner", "intermediate_size"),
            ("vocabulary", "vocab_size"),
            ("dropout", "hidden_dropout_prob"),
            ("attention_dropout", "attention_probs_dropout_prob"),
        )
    }
    if any(not isinstance(value, int | float) for value in found.values()):
        return None
    shared = config.model_type == "albert"
    return Shape(**found, shared=shared)  # type: ignore[arg-type]
