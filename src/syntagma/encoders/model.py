"""The base class of all models of this package, and the format of their folders.

A folder contains ``config.json`` (with the encoder's configuration nested in it),
``model.safetensors`` and the tokenizer.  The weights are stored in full, or as differences to a
published encoder (:mod:`syntagma.encoders.compact`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from transformers import AutoModel, PreTrainedModel

from syntagma.encoders import compact
from syntagma.encoders.config import SyntagmaConfig, read_config, read_dtype
from syntagma.encoders.cpu.recompute import keep_layers, recompute_layers
from syntagma.encoders.cpu.switch import use_cpu_kernels
from syntagma.encoders.default import CONFIG, WEIGHTS, sha256
from syntagma.encoders.load import (
    build_encoder,
    encoder_weights,
    load_encoder_config,
    save_tokenizer,
)
from syntagma.encoders.qa_models import weights_of
from syntagma.encoders.reference import ModelName, ModelRef, find_model, full_name
from syntagma.encoders.saved import on_meta, require_fit
from syntagma.encoders.saved_config import DIGEST, FORMAT
from syntagma.encoders.sites import find_sites, keep_lowest_layers, layers, set_dropout
from syntagma.errors import DamagedFileError, InputError
from syntagma.formats import stamp
from syntagma.outputs import write_file, write_text
from syntagma.settings import nearest

SETTINGS = (
    *("guides", "head", "labels", "task", "parser"),
    *("hidden_dropout", "attention_dropout", "num_hidden_layers", "dtype"),
)
"""Settings of a new model that :meth:`SyntagmaModel.from_pretrained` accepts."""


DEFAULTS = {
    "max_shard_size": "50GB",
    "push_to_hub": False,
    "safe_serialization": True,
    "save_peft_format": True,
    "save_original_format": True,
}
"""Defaults of ``PreTrainedModel.save_pretrained``, which Transformers passes explicitly."""


class SyntagmaModel(PreTrainedModel):  # type: ignore[misc]
    """An encoder with further parts; the base class of the parser and of every task model.

    Subclasses build their parts in ``__init__`` after ``super().__init__(config)`` and then call
    ``self.post_init()``.

    Attributes:
        head_class: dataclass of the head's settings; ``None`` for models without a head.
        head: the head's settings.
        source: the saved model that this one was loaded from; ``None`` for a new model.
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
    """Class of Transformers that builds and loads the encoder."""
    head_class: ClassVar[type | None] = None
    head: Any

    def __init__(self, config: SyntagmaConfig) -> None:
        super().__init__(config)
        self.source: ModelRef | None = None
        self._built_on: ModelRef | None = None
        self.head = None if self.head_class is None else config.read_head(self.head_class)
        # By default oneDNN caches compiled code for 1024 shapes: gigabytes that are rarely used
        # again, because batches have many shapes.  It reads the variable when it first computes.
        os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")
        self.encoder = build_encoder(config.encoder, self.encoder_class)

    def post_init(self) -> None:
        """Initialise new weights and turn on the CPU kernels; called once all parts exist."""
        super().post_init()
        # After the initialisation, so that all dropout modules exist.
        use_cpu_kernels(self, self.encoder)

    # Transformers calls this for each module whose weights are new.
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
        """The part that turns pieces into states: the encoder, or that of an encoder-decoder."""
        trunk: nn.Module = self.encoder
        return trunk

    def gradient_checkpointing_enable(self, *_: Any, **__: Any) -> None:
        """Recompute the encoder's layers in the backward pass, to save memory.

        See :mod:`syntagma.encoders.cpu.recompute`; the arguments that Transformers passes have no
        effect.

        Raises:
            InputError: the layers of this encoder are unknown.
        """
        recompute_layers(self._layers())

    def resize_token_embeddings(self, *args: Any, **kwargs: Any) -> nn.Module:
        """Resize the embeddings as Transformers does, and record the size for the encoder."""
        table: nn.Module = super().resize_token_embeddings(*args, **kwargs)
        # Transformers changes the outer configuration only.
        self.config.encoder.vocab_size = self.get_input_embeddings().num_embeddings
        return table

    def gradient_checkpointing_disable(self) -> None:
        """Undo :meth:`gradient_checkpointing_enable`."""
        keep_layers(self._layers())

    def _layers(self) -> nn.ModuleList:
        purpose = "gradient checkpointing"
        return layers(self.trunk, find_sites(self.config.encoder.model_type, purpose=purpose))

    @classmethod
    def from_pretrained(cls, name: ModelName, **settings: Any) -> Self:  # type: ignore[override]
        """Load a saved model, or build a new one on a pretrained encoder.

        Args:
            name: a model saved by this package, in a folder or on the Hugging Face hub; or an
                encoder: ``default``, a folder, or a hub name.
            settings: settings of a new model, see :meth:`from_encoder`.

        Raises:
            InputError: there is no such model, or settings were given for a saved one.
        """
        ref = find_model(name)
        if ref.kind != "model":
            return cls.from_encoder(ref, **settings)
        if settings:
            raise InputError(
                f"{ref.name}: a saved model has its settings in {CONFIG}; omit "
                f"{', '.join(settings)}"
            )
        return cls.load_saved(ref)

    @classmethod
    def from_encoder(cls, name: ModelName, **settings: Any) -> Self:
        """Build a new model on a pretrained encoder.

        Args:
            name: ``default``, a folder, or a hub name; a model saved by this package provides its
                encoder, and the weights of the guides that the new model shares with it.
            settings: the settings listed in :data:`SETTINGS`: fields of :class:`SyntagmaConfig`,
                dropout probabilities of the encoder, the number of its lowest layers to keep, and
                the dtype of the weights.

        Raises:
            InputError: there is no such encoder, or a setting is unknown.
        """
        unknown = [key for key in settings if key not in SETTINGS]
        if unknown:
            # Experiments have a setting `preset`; here `guides` accepts the name of one.
            other = "guides" if unknown[0] == "preset" else unknown[0]
            raise InputError(f"unknown setting {unknown[0]!r}; {nearest(other, SETTINGS)}")
        dtype = settings.pop("dtype", None)
        ref = find_model(name)
        encoder = load_encoder_config(ref)
        # Before the model is built: the sizes in a damaged configuration may be absurd.
        pretrained = encoder_weights(ref, cls.encoder_class)
        if ref.kind == "model":  # Others are checked when their weights are loaded.
            blank = on_meta(lambda: build_encoder(encoder, cls.encoder_class), ref.folder / CONFIG)
            require_fit(blank, pretrained, ref.folder)
        n_layers = settings.pop("num_hidden_layers", None)
        if n_layers is not None and cls.encoder_class is not AutoModel:
            raise InputError("num_hidden_layers: is only for encoders, not for encoder-decoders")
        if n_layers is not None:
            pretrained = keep_lowest_layers(encoder, pretrained, n_layers)
        set_dropout(
            encoder,
            hidden=settings.pop("hidden_dropout", None),
            attention=settings.pop("attention_dropout", None),
        )
        base = full_name(ref.published)
        model = cls(SyntagmaConfig(encoder=encoder, base=base, **settings))
        weights = {f"encoder.{key}": weight for key, weight in pretrained.items()}
        missing, unexpected = model.load_weights(weights)
        missing = [key for key in missing if key.startswith("encoder.")]
        if missing or unexpected:
            raise DamagedFileError(
                f"encoder {ref.name!r}: its weights do not fit its configuration ({len(missing)} "
                f"missing, {len(unexpected)} unknown, for example {[*missing, *unexpected][0]!r}); "
                f"download it again"
            )
        model._built_on = ref
        model.after_encoder_loaded(ref)
        return model.eval().to(read_dtype(dtype))

    def after_encoder_loaded(self, ref: ModelRef) -> None:
        """Hook for subclasses, called once the encoder of a new model has its pretrained weights.

        Args:
            ref: the model that the weights come from.
        """

    @classmethod
    def load_saved(cls, ref: ModelRef, *, task: str | tuple[str, ...] | None = None) -> Self:
        """Load a saved model.

        Args:
            ref: the model, or a question-answering model that Transformers saved.
            task: the task or tasks that it may have, see :func:`read_config`.

        Raises:
            InputError: as for :func:`read_config`.
            DamagedFileError: the weights are damaged or do not fit the configuration.
        """
        config = read_config(ref, task=task)
        return cls.with_weights(config, weights_of(ref, cls.encoder_class), ref)

    @classmethod
    def with_weights(
        cls, config: SyntagmaConfig, weights: Mapping[str, Tensor], ref: ModelRef
    ) -> Self:
        """Build a model with saved weights.

        Args:
            config: configuration of the model.
            weights: weights by name, as :meth:`weights` returns them.
            ref: the saved model.

        Raises:
            DamagedFileError: the weights do not fit the configuration.
        """
        # First without memory: the sizes in a damaged configuration may be absurd.
        require_fit(on_meta(lambda: cls(config), ref.folder / CONFIG), weights, ref.folder)
        model = cls(config)
        # In memory the weights are never compacted.
        config.storage = {}
        model.load_weights(weights)
        model.source = ref
        return model.eval()

    def weights(self, state: Mapping[str, Tensor] | None = None) -> dict[str, Tensor]:
        """Return all weights by name, in main memory; tied weights only under their first name.

        Args:
            state: weights to use in place of the model's ``state_dict``.
        """
        first = self._first_names()
        state = self.state_dict() if state is None else state
        return {
            name: state[name].detach().cpu().contiguous() for name in state if first[name] == name
        }

    def load_weights(self, weights: Mapping[str, Tensor]) -> tuple[list[str], list[str]]:
        """Load weights.

        Args:
            weights: weights by name, as :meth:`weights` returns them.

        Returns:
            The missing names, and the unknown names.
        """
        first = self._first_names()
        # Under its other names, a tied weight may have an outdated value.
        one = {
            name: weight
            for name, weight in weights.items()
            if first.get(name, name) == name or first[name] not in weights
        }
        missing, unexpected = self.load_state_dict(one, strict=False)
        return [name for name in missing if first[name] not in weights], list(unexpected)

    def _first_names(self) -> dict[str, str]:
        """Map each name of a weight to the first name of the same weight.

        Compared by address and shape: safetensors refuses tensors that share memory.
        """
        places: dict[tuple[int, torch.Size], str] = {}
        return {
            name: places.setdefault((weight.data_ptr(), weight.shape), name)
            for name, weight in self.state_dict().items()
        }

    def save_pretrained(
        self,
        save_directory: str | Path,
        *,
        bits: int | None = None,
        rank: int = 0,
        state_dict: Mapping[str, Tensor] | None = None,
        is_main_process: bool = True,
        **options: Any,
    ) -> None:
        """Write configuration, weights and tokenizer into a folder, which can then be moved.

        With ``bits``, only the configuration and what differs from the base are written.

        Args:
            save_directory: the folder.
            bits: 4 or 8 to store the encoder as rounded differences to its base, 32 to store only
                weights that differ from it, ``None`` to store all weights.
            rank: store the differences of matrices as products of this rank, where that is smaller;
                exact but for rounding after training with LoRA of at most this rank. 0 stores all
                their values.
            state_dict: weights to write in place of the model's own.
            is_main_process: whether this process writes; false for the others in DDP training.
            options: arguments that Transformers passes; only their defaults are supported.

        Raises:
            InputError: ``bits`` is invalid, or an option has another value than its default.
        """
        changed = sorted(
            key for key, value in options.items() if value not in (None, DEFAULTS.get(key))
        )
        if changed:
            raise InputError(
                f"save_pretrained: omit {' and '.join(changed)}; the weights of a Syntagma model "
                f"are always written to one file, {WEIGHTS}"
            )
        if bits not in (None, 4, 8, compact.EXACT):
            raise InputError(f"bits: expected 4, 8, {compact.EXACT} or None, got {bits!r}")
        if rank < 0 or (rank and bits not in (4, 8)):
            raise InputError(
                f"rank: expected a number from 1, together with 4 or 8 bits, got {rank}"
            )
        if not is_main_process:
            return
        folder = Path(save_directory)
        folder.mkdir(parents=True, exist_ok=True)
        weights = self.weights(state_dict)
        storage: dict[str, Any] = {}
        if bits is not None:
            published = encoder_weights(self.config.base, self.encoder_class)
            base = {f"encoder.{name}": weight for name, weight in published.items()}
            weights = compact.compact(weights, base, bits=bits, rank=rank)
            storage = {"format": "differences", "bits": bits, "group": compact.GROUP}
            storage |= {"rank": rank} if rank else {}
        origin = self.source or self._built_on
        if bits is None and origin is not None:
            save_tokenizer(origin, folder)
        with write_file(folder / WEIGHTS) as draft:
            save_file(weights, draft, metadata={"format": "pt"})
        values = self.config.to_dict()
        values |= {
            "storage": storage,
            "architectures": [type(self).__name__],
            **stamp(FORMAT),
            DIGEST: sha256(folder / WEIGHTS),
        }
        # Transformers' record of the source may be a local path; `base` names the encoder already.
        values["encoder"].pop("_name_or_path", None)
        values.pop("_name_or_path", None)
        # A fitted threshold may be infinite, which `write_json` would turn into null.
        write_text(folder / CONFIG, json.dumps(values, indent=2, default=str) + "\n")
