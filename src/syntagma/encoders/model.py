"""The base class of all models of this package, and the format of their folders.

A folder contains ``config.json`` (with the encoder's configuration nested in it),
``model.safetensors`` and the tokenizer.  The weights are stored in full, or as differences from a
published encoder (:mod:`syntagma.encoders.compact`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn
from transformers import AutoModel, PreTrainedModel

from syntagma.encoders.config import SyntagmaConfig, read_config
from syntagma.encoders.cpu.recompute import keep_layers, recompute_layers
from syntagma.encoders.cpu.switch import use_cpu_kernels
from syntagma.encoders.default import CONFIG, WEIGHTS
from syntagma.encoders.dropout_settings import set_dropout
from syntagma.encoders.hub_options import take_hub_options
from syntagma.encoders.load import build_encoder, encoder_weights, load_encoder_config
from syntagma.encoders.model_card import CardKind, CardSettings
from syntagma.encoders.model_settings import require_known, with_class_labels
from syntagma.encoders.placement import take_placement
from syntagma.encoders.push import PUSH_OPTIONS, push_model
from syntagma.encoders.qa_models import weights_of
from syntagma.encoders.reference import ModelName, ModelRef, find_model, full_name
from syntagma.encoders.saved import on_meta, require_fit
from syntagma.encoders.saving import require_storage, write_model
from syntagma.encoders.sites import find_sites, keep_lowest_layers, layers
from syntagma.errors import DamagedFileError, InputError
from syntagma.settings import nearest

DEFAULTS = {
    "max_shard_size": "50GB",
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
        card_kind: what the model cards of this class have in common.
        default_task: the task of a new model that is given none.
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
    card_kind: ClassVar[CardKind] = CardKind("", "")
    default_task: ClassVar[str] = ""

    def __init__(self, config: SyntagmaConfig) -> None:
        super().__init__(config)
        self.source: ModelRef | None = None
        self._built_on: ModelRef | None = None
        self.head = None if self.head_class is None else config.read_head(self.head_class)
        # By default oneDNN caches compiled code for 1024 shapes, up to gigabytes.  Most of what the
        # layers of a model need fits in a quarter (syntagma.encoders.cpu.linear).  It reads the
        # variable when it first computes.
        os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "256")
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
    def origin(self) -> ModelRef | None:
        """The model whose tokenizer this one uses; ``None`` for a model with random weights."""
        return self.source or self._built_on

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
            settings: those of Transformers: ``revision``, ``token``, ``cache_dir``,
                ``local_files_only``, ``subfolder`` (:class:`HubOptions`), ``device_map``,
                ``attn_implementation``, ``dtype`` (:class:`Placement`); and the settings of a new
                model, see :meth:`from_encoder`.

        Raises:
            InputError: there is no such model, or settings of a new model were given for a saved
                one.
        """
        ref = find_model(name, take_hub_options(settings))
        if ref.kind != "model":
            return cls.from_encoder(ref, **settings)
        placement = take_placement(settings)
        require_known(settings)
        if settings:
            raise InputError(
                f"{ref.name}: a saved model has its settings in {CONFIG}; omit "
                f"{', '.join(settings)}"
            )
        return placement.apply(cls.load_saved(ref), saved_dtype=ref.saved_dtype)

    @classmethod
    def from_encoder(cls, name: ModelName, **settings: Any) -> Self:
        """Build a new model on a pretrained encoder.

        Args:
            name: ``default``, a folder, or a hub name; a model saved by this package provides its
                encoder, and the weights of the guides that the new model shares with it.
            settings: those in :data:`syntagma.encoders.model_settings.SETTINGS`: fields of
                :class:`SyntagmaConfig` (``labels`` may be ``num_labels`` or ``id2label``), dropout
                probabilities of the encoder, the number of its lowest layers to keep; and the
                options shared with Transformers.

        Raises:
            InputError: there is no such encoder, or a setting is unknown.
        """
        options, placement = take_hub_options(settings), take_placement(settings)
        require_known(settings)
        ref = find_model(name, options)
        encoder = load_encoder_config(ref)
        saved_dtype = encoder.dtype
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
        settings = {"task": cls.default_task} | with_class_labels(settings)
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
        return placement.apply(model.eval(), saved_dtype=saved_dtype)

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
        card: CardSettings | Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        """Write configuration, weights, tokenizer and model card into a folder, which can be moved.

        With ``bits``, only the configuration and what differs from the base are written.

        Args:
            save_directory: the folder.
            bits: 4 or 8 to store the encoder as rounded differences from its base, 32 to store only
                weights that differ from it, ``None`` to store all weights.
            rank: store the differences of matrices as products of this rank, where that is smaller;
                exact but for rounding after training with LoRA of at most this rank. 0 stores all
                their values.
            state_dict: weights to write in place of the model's own.
            is_main_process: whether this process writes; false for the others in DDP training.
            card: settings of the model card, such as ``{"license": "mit"}``
                (:class:`syntagma.encoders.model_card.CardSettings`); without them, a card that is
                there is kept.
            options: ``push_to_hub=True`` with the arguments of :meth:`push_to_hub`; of other
                arguments of Transformers only the defaults.

        Raises:
            InputError: ``bits`` is invalid, or an option has another value than its default.
        """
        push = options.pop("push_to_hub", False)
        asked = ("repo_id", *PUSH_OPTIONS) if push else ("token",)
        pushing = {name: options.pop(name) for name in asked if name in options}
        changed = sorted(
            key for key, value in options.items() if value not in (None, DEFAULTS.get(key))
        )
        if changed:
            raise InputError(
                f"save_pretrained: omit {' and '.join(changed)}; the weights of a Syntagma model "
                f"are always written to one file, {WEIGHTS}"
            )
        require_storage(bits, rank)
        stored: dict[str, Any] = {"bits": bits, "rank": rank, "state_dict": state_dict}
        if is_main_process:
            write_model(self, Path(save_directory), card=card, **stored)
        if is_main_process and push:
            repo_id = pushing.pop("repo_id", None) or Path(save_directory).name
            self.push_to_hub(repo_id, card=card, **stored, **pushing)

    def push_to_hub(  # type: ignore[override]
        self,
        repo_id: str,
        *,
        card: CardSettings | Mapping[str, Any] | None = None,
        bits: int | None = None,
        rank: int = 0,
        state_dict: Mapping[str, torch.Tensor] | None = None,
        **options: Any,
    ) -> str:
        """Upload the model with its tokenizer and card to the Hugging Face hub.

        Args:
            repo_id: ``OWNER/NAME``, or ``NAME`` below the user who is logged in.
            card: settings of the model card, as for :meth:`save_pretrained`; without them, a card
                on the hub is kept.
            bits: as for :meth:`save_pretrained`.
            rank: as for :meth:`save_pretrained`.
            state_dict: as for :meth:`save_pretrained`.
            options: ``token``, ``private``, ``revision``, ``create_pr`` and ``commit_message``, as
                in Transformers (:func:`syntagma.encoders.push.push_model`).

        Returns:
            Address of the commit.

        Raises:
            InputError: the model needs something that only this machine has, or the hub refuses.
        """
        options = {key: value for key, value in options.items() if value != DEFAULTS.get(key)}
        if unknown := [key for key in options if key not in PUSH_OPTIONS]:
            raise InputError(f"push_to_hub: {unknown[0]}: {nearest(unknown[0], PUSH_OPTIONS)}")
        return push_model(
            self, repo_id, card=card, bits=bits, rank=rank, state_dict=state_dict, **options
        )
