"""What every model of this package shares: one configuration, one folder format.

A folder holds ``config.json`` (the encoder's own configuration nested in ours),
``model.safetensors`` and the tokenizer.  The weights are stored in full, or *compact*: as
differences to a published encoder (:mod:`syntagma.encoders.compact`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self

import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from transformers import AutoModel, PreTrainedModel

from syntagma.encoders import compact
from syntagma.encoders.config import SyntagmaConfig, read_config, read_dtype
from syntagma.encoders.cpu.dropout import use_fast_dropout
from syntagma.encoders.cpu.recompute import keep_states, recompute_states
from syntagma.encoders.load import (
    build_encoder,
    encoder_weights,
    load_encoder_config,
    load_tokenizer,
)
from syntagma.encoders.saved import (
    CONFIG,
    WEIGHTS,
    find_saved,
    published_encoder,
    saved_weights,
)
from syntagma.encoders.sites import find_sites, layers, set_dropout
from syntagma.errors import DamagedFileError, InputError
from syntagma.outputs import write_file
from syntagma.settings import nearest

__all__ = [
    "SyntagmaModel",
    "saved_tokenizer",
]


SETTINGS = (
    *("guides", "head", "labels", "task", "parser"),
    *("hidden_dropout", "attention_dropout", "dtype"),
)
"""What is set of a new model."""


class SyntagmaModel(PreTrainedModel):  # type: ignore[misc]
    """An encoder with something on it; the base of the parser and of every task model.

    Subclasses build their parts in ``__init__`` after ``super().__init__(config)`` and then call
    ``self.post_init()``.

    Attributes:
        source: the folder that the model was read from; empty for a new one.
    """

    config_class = SyntagmaConfig
    base_model_prefix = "encoder"
    main_input_name = "input_ids"
    _supports_sdpa = True
    _supports_flash_attn = True
    _supports_flex_attn = True
    supports_gradient_checkpointing = True
    # The losses here are means over a batch: Trainer must divide them by the number of
    # accumulated batches (https://github.com/huggingface/transformers/issues/47688).
    accepts_loss_kwargs = False
    encoder_class: ClassVar[Any] = AutoModel
    """The class of Transformers that builds and loads the encoder."""

    def __init__(self, config: SyntagmaConfig) -> None:
        super().__init__(config)
        self.source = ""
        # Batches have many shapes, and oneDNN keeps the compiled code for 1024 of them: gigabytes
        # that are hardly ever used again.  It asks when it first computes.
        os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")
        self.encoder = build_encoder(config.encoder, self.encoder_class)

    def post_init(self) -> None:
        """Give fresh weights their first values, once all parts are there."""
        super().post_init()
        use_fast_dropout(self)

    def _init_weights(self, module: nn.Module) -> None:
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=0.02)
            if isinstance(module, nn.Linear) and module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.LayerNorm):
            nn.init.ones_(module.weight)
            nn.init.zeros_(module.bias)

    @property
    def trunk(self) -> nn.Module:
        """What turns pieces into states: the encoder, or that part of it."""
        trunk: nn.Module = self.encoder
        return trunk

    def gradient_checkpointing_enable(self, *_: Any, **__: Any) -> None:
        """Compute the states of the encoder's layers again for the gradients, to save memory.

        See :mod:`syntagma.encoders.cpu.recompute`; options of Transformers' own have no effect.

        Raises:
            InputError: it is not known where this encoder's layers are.
        """
        recompute_states(self._layers())

    def save_pretrained(self, save_directory: str | Path, **options: Any) -> None:
        """As Transformers has it; the weights go into one file.

        Args:
            save_directory: where to.
            options: those of Transformers but ``max_shard_size`` and ``variant``.

        Raises:
            InputError: one of these.
        """
        if split := sorted({"max_shard_size", "variant"} & options.keys()):
            raise InputError(
                f"save_pretrained: leave out {' and '.join(split)}; the weights of a model of "
                f"Syntagma are one file, {WEIGHTS}"
            )
        super().save_pretrained(save_directory, **options)

    def resize_token_embeddings(self, *args: Any, **kwargs: Any) -> nn.Module:
        """As Transformers has it; the size is the encoder's."""
        table: nn.Module = super().resize_token_embeddings(*args, **kwargs)
        self.config.encoder.vocab_size = self.get_input_embeddings().num_embeddings
        return table

    def gradient_checkpointing_disable(self) -> None:
        """Keep the states of the encoder's layers for the gradients."""
        keep_states(self._layers())

    def _layers(self) -> nn.ModuleList:
        purpose = "computing layers again for the gradients"
        return layers(self.trunk, find_sites(self.config.encoder.model_type, purpose=purpose))

    @classmethod
    def from_pretrained(cls, name: str | Path, **settings: Any) -> Self:  # type: ignore[override]
        """A saved model, or a new one on a plain pretrained encoder.

        Args:
            name: a folder that this package wrote, locally or on the Hugging Face hub; or
                ``default``, the folder, or the hub name of an encoder.
            settings: for a new model, see :meth:`from_encoder`.

        Raises:
            InputError: there is no such model, or settings were given for a saved one.
        """
        folder = find_saved(name)
        if folder is None:
            return cls.from_encoder(str(name), **settings)
        if settings:
            raise InputError(
                f"{name}: a saved model has its settings in {CONFIG}; got {', '.join(settings)}"
            )
        return cls.from_folder(folder)

    @classmethod
    def from_encoder(cls, name: str, **settings: Any) -> Self:
        """A new model on a pretrained encoder.

        Args:
            name: ``default``, a folder, or a hub name; of a model of ours its encoder is taken, and
                the guides that the new model has too.
            settings: fields of :class:`SyntagmaConfig`, ``hidden_dropout`` and
                ``attention_dropout`` of the encoder, and ``dtype`` of the weights among them.

        Raises:
            InputError: there is no such encoder, or a setting is unknown.
        """
        unknown = [key for key in settings if key not in SETTINGS]
        if unknown:
            other = "guides" if unknown[0] == "preset" else unknown[0]
            raise InputError(f"unknown setting {unknown[0]!r}; {nearest(other, SETTINGS)}")
        dtype = settings.pop("dtype", None)
        name = str(find_saved(name) or name)
        encoder = load_encoder_config(name)
        set_dropout(
            encoder,
            hidden=settings.pop("hidden_dropout", None),
            attention=settings.pop("attention_dropout", None),
        )
        model = cls(SyntagmaConfig(encoder=encoder, base=published_encoder(name), **settings))
        pretrained = encoder_weights(name, cls.encoder_class)
        weights = {f"encoder.{key}": weight for key, weight in pretrained.items()}
        missing, unexpected = model.load_weights(weights)
        missing = [key for key in missing if key.startswith("encoder.")]
        if missing or unexpected:
            raise DamagedFileError(
                f"encoder {name!r}: its weights do not fit its configuration ({len(missing)} "
                f"missing, {len(unexpected)} unknown, for example {[*missing, *unexpected][0]!r})"
            )
        model.after_encoder_loaded(name)
        return model.eval().to(read_dtype(dtype))

    def after_encoder_loaded(self, name: str) -> None:
        """Called when the encoder of a new model has its pretrained weights.

        Args:
            name: where they are from, as for :meth:`from_encoder`.
        """

    @classmethod
    def from_folder(cls, folder: str | Path, *, task: str | tuple[str, ...] | None = None) -> Self:
        """A saved model.

        Args:
            folder: a folder that this package wrote.
            task: as for :func:`read_config`.

        Raises:
            InputError: as :func:`read_config`.
            DamagedFileError: the weights are damaged or do not belong to the configuration.
        """
        folder = Path(folder)
        config = read_config(folder, task=task)
        load = partial(encoder_weights, auto=cls.encoder_class)
        return cls.with_weights(config, saved_weights(folder, encoder_weights=load), folder)

    @classmethod
    def with_weights(
        cls, config: SyntagmaConfig, weights: Mapping[str, Tensor], folder: Path
    ) -> Self:
        """A model with weights that were saved.

        Args:
            config: of the model.
            weights: by name, as :meth:`weights` gives them.
            folder: where both are from.

        Raises:
            DamagedFileError: the weights do not belong to the configuration.
        """
        model = cls(config)
        # In memory nothing is left out.
        config.storage = {}
        try:
            missing, unexpected = model.load_weights(weights)
        except RuntimeError as error:
            raise DamagedFileError(
                f"{folder / WEIGHTS}: weights are of other sizes than {CONFIG} says; save the "
                f"model again"
            ) from error
        if missing or unexpected:
            raise DamagedFileError(
                f"{folder / WEIGHTS}: weights do not fit {CONFIG} "
                f"({len(missing)} missing, {len(unexpected)} unknown, "
                f"for example {[*missing, *unexpected][0]!r}); save the model again"
            )
        model.source = str(folder)
        return model.eval()

    def weights(self) -> dict[str, Tensor]:
        """All weights by name, on the processor; one that has several names only by the first."""
        first = self._first_names()
        state = self.state_dict()
        return {
            name: state[name].detach().cpu().contiguous() for name in state if first[name] == name
        }

    def load_weights(self, weights: Mapping[str, Tensor]) -> tuple[list[str], list[str]]:
        """Take over weights.

        Args:
            weights: as :meth:`weights` gives them.

        Returns:
            Names that are missing, and names that are unknown.
        """
        first = self._first_names()
        # Of a weight with several names the first counts: another may be that of an older value.
        one = {
            name: weight
            for name, weight in weights.items()
            if first.get(name, name) == name or first[name] not in weights
        }
        missing, unexpected = self.load_state_dict(one, strict=False)
        return [name for name in missing if first[name] not in weights], list(unexpected)

    def _first_names(self) -> dict[str, str]:
        """For each weight the first of the names under which it appears."""
        places: dict[tuple[int, torch.Size], str] = {}
        return {
            name: places.setdefault((weight.data_ptr(), weight.shape), name)
            for name, weight in self.state_dict().items()
        }

    def save_folder(self, folder: str | Path, *, bits: int | None = None) -> None:
        """Write configuration and weights into a folder.

        Args:
            folder: where to.
            bits: 4 or 8 to store the encoder as differences to its base, 32 to leave out only what
                is equal to it, ``None`` for all weights.

        Raises:
            InputError: another number of bits.
        """
        if bits not in (None, 4, 8, compact.EXACT):
            raise InputError(f"bits: expected 4, 8, {compact.EXACT} or None, got {bits!r}")
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        weights = self.weights()
        storage: dict[str, Any] = {}
        if bits is not None:
            published = encoder_weights(self.config.base, self.encoder_class)
            base = {f"encoder.{name}": weight for name, weight in published.items()}
            weights = compact.compact(weights, base, bits=bits)
            storage = {"format": "differences", "bits": bits, "group": compact.GROUP}
        with write_file(folder / WEIGHTS) as draft:
            save_file(weights, draft, metadata={"format": "pt"})
        values = self.config.to_dict()
        values.update(storage=storage, architectures=[type(self).__name__])
        # The base says where the encoder is from.
        values["encoder"].pop("_name_or_path", None)
        values.pop("_name_or_path", None)
        (folder / CONFIG).write_text(json.dumps(values, indent=2, default=str) + "\n", "utf-8")


def saved_tokenizer(folder: str | Path, config: SyntagmaConfig) -> Any:
    """The tokenizer in a model folder, or that of the encoder which the model is stored beside.

    Raises:
        InputError: there is none.
    """
    if (Path(folder) / "tokenizer.json").is_file():
        return load_tokenizer(str(folder), config.encoder)
    return load_tokenizer(config.base)
