"""An encoder with guides, which bring syntax in at its sites."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import Any, Self

import torch
from torch import Tensor, nn

from syntagma.encoders.config import SyntagmaConfig, read_config
from syntagma.encoders.default import CONFIG
from syntagma.encoders.hub_options import take_hub_options
from syntagma.encoders.load import load_encoder_config
from syntagma.encoders.model import SyntagmaModel
from syntagma.encoders.model_card import CardKind
from syntagma.encoders.observe import watch_attention
from syntagma.encoders.qa_models import weights_of
from syntagma.encoders.reference import ModelName, ModelRef, find_model
from syntagma.encoders.sites import SITES, find_sites, layers
from syntagma.errors import InputError
from syntagma.models.active_copy import active_copy
from syntagma.models.guide import Guide, StateGuide, Syntax
from syntagma.models.guides import GUIDES, preset_on, read_guides, resolve_guides
from syntagma.models.inside import act_inside, guided_inside, respect_hooks, total_loss
from syntagma.models.outputs import GuidedStates, States
from syntagma.models.turns import turns_of


class GuidedEncoder(SyntagmaModel):
    """An encoder with the guides of its configuration; without guides, the encoder alone.

    Attributes:
        pretrained_keys: parameters outside the encoder that were loaded from a trained model.
        learns_trees: whether guides that learn from trees get them, as in a new model; a saved one
            computes without. Only in training mode are their losses computed.
    """

    card_kind = CardKind(
        "feature-extraction",
        "from syntagma import GuidedEncoder, SyntaxTokenizer\n\n"
        'model = GuidedEncoder.from_pretrained("NAME")\n'
        "tokenizer = SyntaxTokenizer.for_model(model)\n"
        'model(**tokenizer(["The ferry left at dawn."])).last_hidden_state',
    )

    def __init__(self, config: SyntagmaConfig) -> None:
        super().__init__(config)
        self.pretrained_keys: set[str] = set()
        self.learns_trees = False
        for name, settings in config.read_guides(read_guides).items():
            self.add_module(name, GUIDES[name].build(settings, config.encoder))
        if act_inside(self.guides):
            respect_hooks()
        # An encoder with one token type would fail on the two that its tokenizer may return.
        self.reads_token_types = "token_type_ids" in _forward_parameters(self.trunk) and (
            getattr(config.encoder, "type_vocab_size", None) not in (0, 1)
        )
        # Task models have further parts, and call it themselves once all parts exist.
        if type(self) is GuidedEncoder:
            self.post_init()

    @property
    def guides(self) -> list[Guide]:
        """The guides in the order in which they act."""
        found = (active_copy(getattr(self, name, None)) for name in self.config.guides)
        return [guide for guide in found if isinstance(guide, Guide)]

    def post_init(self) -> None:
        """Initialise the weights, those of guides last.

        Transformers does not call its hook for modules without own parameters, as guides may be.
        """
        super().post_init()
        for guide in self.guides:
            guide.reset()

    @classmethod
    def from_encoder(cls, name: ModelName, **settings: Any) -> Self:
        """Build a new model on a pretrained encoder.

        Args:
            name: as for :meth:`SyntagmaModel.from_encoder`.
            settings: as for :meth:`SyntagmaModel.from_encoder`; ``guides`` may be settings as in an
                experiment, or the name of a preset.

        Raises:
            InputError: there is no such encoder, or a setting is unknown or invalid.
        """
        guides = settings.pop("guides", {})
        if isinstance(guides, str):
            ref, preset = find_model(name, take_hub_options(settings)), guides
            guides = resolve_guides(preset, {})
            guides, name = preset_on(preset, guides, load_encoder_config(ref)), ref
        if not isinstance(guides, Mapping):
            raise InputError(
                f"guides: expected the name of a preset, or the settings of each guide as in "
                f'{{"tree_distance": {{}}}}; got {guides!r}'
            )
        model = super().from_encoder(name, guides=resolve_guides("none", guides), **settings)
        model.learns_trees = any(guide.taught for guide in model.guides)
        return model

    @classmethod
    def load_saved(cls, ref: ModelRef, *, task: str | tuple[str, ...] | None = None) -> Self:
        """Load a saved model; this class omits the head of a task model.

        Args:
            ref: the model.
            task: the task or tasks that it may have, see :func:`read_config`.

        Raises:
            InputError: as for :func:`read_config`, or the encoder belongs to a translation model.
            DamagedFileError: the weights are damaged or do not fit the configuration.
        """
        config = read_config(ref, task=task)
        if cls is not GuidedEncoder or not config.task:
            return super().load_saved(ref, task=task)
        if config.task == "translation":
            raise InputError(
                f"{ref.name}: the encoder of a model for 'translation' cannot be used without its "
                f"decoder; load it with Translator.from_pretrained"
            )
        weights = weights_of(ref)
        own = ("encoder", *config.guides)
        weights = {name: value for name, value in weights.items() if name.partition(".")[0] in own}
        config.task, config.labels, config.head = "", {}, {}
        return cls.with_weights(config, weights, ref)

    def set_head(self, **values: Any) -> None:
        """Change settings of the task's head, in the model and in its configuration."""
        self.head = self.config.head = replace(self.head, **values)

    def after_encoder_loaded(self, ref: ModelRef) -> None:
        """Initialise new guides from the encoder, and load guides that were trained with it.

        Args:
            ref: the encoder, or the saved model that the encoder was taken from.

        Raises:
            InputError: a trained guide does not fit the settings.
        """
        for guide in self.guides:
            guide.start_from(self.trunk, self.config.encoder)
        if ref.kind == "model" and self.config.guides:
            self._take_guides(ref, weights_of(ref, self.encoder_class))

    def _take_guides(self, ref: ModelRef, weights: Mapping[str, Tensor]) -> None:
        """Load the weights of the guides that a saved model shares with this one."""
        trained, encoder = read_guides(ref.settings["guides"]), load_encoder_config(ref)
        for name in self.config.guides:
            own = {
                key.removeprefix(f"{name}."): weight
                for key, weight in weights.items()
                if key.startswith(f"{name}.")
            }
            guide = self.get_submodule(name)
            if not own or not isinstance(guide, Guide):
                continue
            before = guide.on_encoder(trained[name], encoder)
            self.config.guides[name] = guide.as_trained(self.config.guides[name], before)
            try:
                guide.load_trained(own, before)
            except RuntimeError as error:
                raise InputError(
                    f"guides.{name}: the trained weights in {ref.name} do not fit; use the "
                    f"settings in its {CONFIG}, or start from another encoder"
                ) from error
            self.pretrained_keys |= {f"{name}.{key}" for key in own}

    def take_head(self, ref: ModelRef) -> None:
        """Load the head of a saved model if it has the same task and labels.

        Args:
            ref: the saved model.
        """
        saved = read_config(ref)
        if saved.task != self.config.task or saved.labels != self.config.labels:
            return
        own = self.state_dict()
        head = {
            name: weight
            for name, weight in weights_of(ref, self.encoder_class).items()
            if name.partition(".")[0] not in ("encoder", *saved.guides, *self.config.guides)
            and name in own
            and weight.shape == own[name].shape
        }
        self.load_state_dict(head, strict=False)
        self.pretrained_keys |= head.keys()

    @property
    def syntax_columns(self) -> tuple[str, ...]:
        """Names of the tensors of :class:`Syntax` that the guides read; empty without guides."""
        read = {column for guide in self.guides for column in guide.columns}
        if self.learns_trees:
            read |= {column for guide in self.guides for column in guide.taught}
        return tuple(name for name in Syntax._fields if name in read)

    @property
    def reads_syntax(self) -> bool:
        """Whether a guide needs parses, or words; domains are known without them."""
        return bool(set(self.syntax_columns) - {"domain"})

    @property
    def reads_trees(self) -> bool:
        """Whether a guide reads more of a parse than its sentences and words, as tags or heads."""
        return bool(set(self.syntax_columns) - {"domain", "word", "sentence"})

    @property
    def reads_heads(self) -> bool:
        """Whether a guide reads heads or relations, which a tagger does not give."""
        return bool(set(self.syntax_columns) - {"domain", "word", "sentence", "tag"})

    def _turn(self) -> AbstractContextManager[None]:
        """Admit one thread at a time if the forward pass needs hooks.

        Hooks are attached to the encoder during one forward pass: with a second thread, its states
        would get the guides of both.
        """
        # What is compiled together has no hooks, and could not contain a lock.
        if torch.compiler.is_compiling():
            return nullcontext()
        inside = act_inside(self.guides)
        return self.alone() if inside else turns_of(self.trunk).together()

    def alone(self) -> AbstractContextManager[None]:
        """Exclude other threads from the encoder inside a ``with`` block, to attach hooks to it."""
        return turns_of(self.trunk).alone()

    def _computed_in(self, device: str) -> AbstractContextManager[Any]:
        """Turn autocast off for an encoder that must compute in float32."""
        sites = SITES.get(self.config.encoder.model_type)
        if sites is not None and sites.float32:
            return torch.autocast(device, enabled=False)
        return nullcontext()

    def states_after(
        self, layer: int, input_ids: Tensor, attention_mask: Tensor, **tensors: Any
    ) -> Tensor:
        """Return the output of one of the encoder's layers.

        A hook reads it: not all encoders can return the states of all layers.

        Args:
            layer: number of the layer, from 1.
            input_ids: ``[batch, n]``.
            attention_mask: 0 at padding, ``[batch, n]``.
            tensors: token types and syntax, see :meth:`encode`.

        Returns:
            ``[batch, n, width]``.

        Raises:
            InputError: there is no such layer, or the layers of this encoder are unknown.
        """
        sites = find_sites(self.config.encoder.model_type, purpose="reading the states of a layer")
        # A layer that is used several times (ALBERT) has an output each time.
        left: list[Tensor] = []

        def keep(_: nn.Module, __: tuple[Any, ...], output: Any) -> None:
            states = output[0] if isinstance(output, tuple) else output
            left.append(states[:, : input_ids.shape[1]])

        with self.alone():
            hooks = [part.register_forward_hook(keep) for part in layers(self.trunk, sites)]
            try:
                self.encode(input_ids, attention_mask, **tensors)
            finally:
                for hook in hooks:
                    hook.remove()
        if not 1 <= layer <= len(left):
            raise InputError(f"layer: expected 1 to {len(left)}, got {layer}")
        return left[layer - 1]

    def encode(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        token_type_ids: Tensor | None = None,
        *,
        enter: Tensor | None = None,
        exit: Tensor | None = None,
        point: Tensor | None = None,
        depth: Tensor | None = None,
        sentence: Tensor | None = None,
        word: Tensor | None = None,
        tag: Tensor | None = None,
        parent: Tensor | None = None,
        relation: Tensor | None = None,
        domain: Tensor | None = None,
        distances: Tensor | None = None,
        observe: bool = False,
        output_hidden_states: bool = False,
        output_attentions: bool = False,
    ) -> GuidedStates:
        """Run encoder and guides; :class:`~syntagma.models.outputs.GuidedStates` has the shapes.

        Args:
            input_ids: ``[batch, n]``.
            attention_mask: 0 at padding, ``[batch, n]``.
            token_type_ids: ``[batch, n]``; ignored if the encoder has none.
            enter: start of each piece's interval, ``[batch, n]``; for this and the following see
                :class:`syntagma.models.guide.Syntax`.
            exit: end of the interval, ``[batch, n]``.
            point: position looked up in the intervals, ``[batch, n]``.
            depth: number of arcs to the root, ``[batch, n]``.
            sentence: number of the sentence, ``[batch, n]``.
            word: number of the word, ``[batch, n]``.
            tag: part-of-speech tag, ``[batch, n]``.
            parent: number of the head of the word, ``[batch, n]``.
            relation: relation to that head, ``[batch, n]``.
            domain: 0 for the first text, 1 for the second, ``[batch, n]``.
            distances: tree distances that replace those of the tree, ``[batch, n, n]``.
            observe: whether guides store data for inspection, such as attention weights.
            output_hidden_states: whether to return the states of all layers.
            output_attentions: whether to return the encoder's attention weights.

        Raises:
            InputError: a guide needs syntax tensors that are missing, or the encoder does not
                return what is asked for.
        """
        syntax = Syntax(
            attention_mask,
            enter=enter,
            exit=exit,
            point=point,
            depth=depth,
            sentence=sentence,
            word=word,
            tag=tag,
            parent=parent,
            relation=relation,
            domain=domain,
            distances=distances,
        )
        extra: dict[str, Any] = {}
        if token_type_ids is not None and self.reads_token_types:
            extra["token_type_ids"] = token_type_ids
        if output_hidden_states:
            extra["output_hidden_states"] = True
        model_type, teach = self.config.encoder.model_type, self.learns_trees and self.training
        with (
            self._attentions(output_attentions) as weights,
            guided_inside(self.trunk, model_type, self.guides, syntax, teach=teach) as losses,
            self._computed_in(input_ids.device.type),
        ):
            output = self.trunk(input_ids=input_ids, attention_mask=attention_mask, **extra)
        states = output.last_hidden_state
        layers = self._states_of(output, input_ids.shape[1]) if output_hidden_states else None
        observed: dict[str, Any] | None = {} if observe else None
        for guide in self.guides:
            if isinstance(guide, StateGuide):
                states = guide(states, syntax, observed)
        return GuidedStates(
            last_hidden_state=states,
            hidden_states=layers,
            attentions=None if weights is None else tuple(weights),
            observed=observed,
            guide_loss=total_loss(losses),
        )

    @contextmanager
    def _attentions(self, are_wanted: bool) -> Iterator[list[Tensor] | None]:
        """Admit this thread to the encoder, and record its attention weights if wanted."""
        if not are_wanted:
            with self._turn():
                yield None
            return
        # Fused attention returns no weights: another one is used meanwhile, by this thread alone.
        with self.alone(), watch_attention(self.trunk) as weights:
            yield weights

    def _states_of(self, output: Any, length: int) -> States:
        """Return the states of all layers, without the padding that some encoders add."""
        if (found := getattr(output, "hidden_states", None)) is None:
            raise InputError(
                f"output_hidden_states: an encoder of type {self.config.encoder.model_type!r} does "
                f"not return them; use states_after, or another encoder"
            )
        return tuple(states[:, :length] for states in found)

    def forward(self, input_ids: Tensor, attention_mask: Tensor, **tensors: Any) -> GuidedStates:
        """Run the encoder and its guides, see :meth:`encode`.

        Args:
            input_ids: ``[batch, n]``.
            attention_mask: 0 at padding, ``[batch, n]``.
            tensors: token types and syntax.
        """
        # Transformers' Trainer passes this to every model.
        tensors.pop("num_items_in_batch", None)
        return self.encode(input_ids, attention_mask, **tensors)


def _forward_parameters(encoder: nn.Module) -> set[str]:
    """Return the names of the parameters of an encoder's ``forward``."""
    return set(inspect.signature(encoder.forward).parameters)
