"""An encoder-decoder whose encoder is guided (SG-Net, journal version, section 3.4.3).

Decoder and beam search are those of Transformers; guides act only on the encoder.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import AutoModelForSeq2SeqLM, GenerationConfig, MarianConfig, PretrainedConfig
from transformers.modeling_outputs import BaseModelOutput
from transformers.utils import ModelOutput

from syntagma.encoders import hub
from syntagma.encoders.config import SyntagmaConfig
from syntagma.encoders.cpu.cross_entropy import cross_entropy
from syntagma.encoders.default import SCRATCH
from syntagma.encoders.model_card import CardKind, class_usage
from syntagma.encoders.quiet import quiet
from syntagma.encoders.reference import ModelRef
from syntagma.encoders.sites import change_input
from syntagma.errors import InputError
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.models.outputs import States
from syntagma.settings import require_at_least

IGNORED = -100
SCORED = 2**26
"""Number of logits computed at once when hypotheses are scored: 256 MiB in float32."""


@dataclass(frozen=True)
class TranslationHead:
    """Settings of translation; sizes, dropout and vocabulary only of models trained from scratch.

    The defaults are those of the paper (Transformer base of Vaswani et al. 2017).

    Args:
        hidden_size: width of the states.
        num_hidden_layers: number of layers, each of encoder and decoder.
        num_attention_heads: number of attention heads.
        intermediate_size: inner width of a layer.
        dropout: dropout probability of states.
        attention_dropout: dropout probability of attention weights; above 0, attention on CPUs
            is slow.
        vocabulary: ``bpe`` for byte-pair encoding trained on both languages together, or ``words``:
            what stands between spaces in ``tokenized`` texts, else the tokens of mteval-v13a.
        vocab_size: maximum size of the vocabulary.
        max_length: tokens per text; longer pairs are omitted from training, and longer source texts
            truncated.
        tokenized: whether texts are tokenized already, as words separated by spaces; BLEU then
            splits at spaces only.
        label_smoothing: share of the probability that is spread over all tokens.
        num_beams: beam size of the search.
        length_penalty: exponent of the length by which the score of a hypothesis is divided.
        source_language: code of the source language for pretrained multilingual models (``en_XX``).
        target_language: code of the target language (``de_DE``; ``>>deu<<`` for Marian).
    """

    hidden_size: int = 512
    num_hidden_layers: int = 6
    num_attention_heads: int = 8
    intermediate_size: int = 2048
    dropout: float = 0.1
    attention_dropout: float = 0.1
    vocabulary: Literal["bpe", "words"] = "bpe"
    vocab_size: int = 40000
    max_length: int = 256
    tokenized: bool = False
    label_smoothing: float = 0.1
    num_beams: int = 5
    length_penalty: float = 1.0
    source_language: str = ""
    target_language: str = ""

    def __post_init__(self) -> None:
        require_at_least(
            self,
            1,
            "hidden_size",
            "num_hidden_layers",
            "num_attention_heads",
            "intermediate_size",
            "vocab_size",
            "num_beams",
        )
        require_at_least(self, 4, "max_length")
        if self.hidden_size % self.num_attention_heads:
            raise InputError(
                f"num_attention_heads: expected a divisor of hidden_size {self.hidden_size}, got "
                f"{self.num_attention_heads}"
            )
        for name in ("dropout", "attention_dropout", "label_smoothing"):
            if not 0 <= getattr(self, name) < 1:
                raise InputError(f"{name} must lie in [0, 1), got {getattr(self, name)}")


@dataclass
class TranslationScores(ModelOutput):  # type: ignore[misc]
    """Scores of a batch of sentence pairs.

    Args:
        loss: mean over the targets' pieces, if targets were given.
        logits: scores of the pieces, ``[batch, n_target, n_pieces]``; ``None`` in training, in
            which those of padding are not computed.
        encoder_hidden_states: as in :class:`syntagma.models.outputs.GuidedStates`.
        encoder_attentions: as in :class:`syntagma.models.outputs.GuidedStates`.
    """

    loss: Tensor | None = None
    logits: Tensor | None = None
    encoder_hidden_states: States | None = None
    encoder_attentions: States | None = None


def fresh_config(head: TranslationHead, tokenizer: Any) -> PretrainedConfig:
    """Return the configuration of an encoder-decoder that is trained from scratch.

    The standard deviation of initial weights is 0.02, Transformers' default, for a width of 512,
    and scaled for other widths.  With twice that, all states of a sentence become alike within a
    few hundred steps, and the decoder learns hardly anything about the source.

    Args:
        head: sizes of the model.
        tokenizer: tokenizer of both languages.
    """
    sizes: dict[str, Any] = {}
    for side in ("encoder", "decoder"):
        sizes |= {
            f"{side}_layers": head.num_hidden_layers,
            f"{side}_attention_heads": head.num_attention_heads,
            f"{side}_ffn_dim": head.intermediate_size,
        }
    return MarianConfig(
        **sizes,
        vocab_size=len(tokenizer),
        d_model=head.hidden_size,
        dropout=head.dropout,
        attention_dropout=head.attention_dropout,
        activation_dropout=0.0,
        activation_function="relu",
        max_position_embeddings=head.max_length + 2,
        scale_embedding=True,
        share_encoder_decoder_embeddings=True,
        init_std=0.02 * (512 / head.hidden_size) ** 0.5,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
        decoder_start_token_id=tokenizer.pad_token_id,
        forced_eos_token_id=None,
    )


class TranslationModel(GuidedEncoder):
    """An encoder-decoder with guides on its encoder."""

    encoder_class = AutoModelForSeq2SeqLM
    default_task = "translation"
    card_kind = CardKind("translation", class_usage("Translator", "model.translate(text).text"))
    head_class = TranslationHead
    head: TranslationHead

    def __init__(self, config: SyntagmaConfig) -> None:
        super().__init__(config)
        self.post_init()

    def after_encoder_loaded(self, ref: ModelRef) -> None:
        """Also load the generation settings of the pretrained model."""
        super().after_encoder_loaded(ref)
        self._take_generation(ref)

    def _take_generation(self, ref: ModelRef) -> None:
        """Load generation settings, which are not part of the configuration."""
        try:
            with quiet(), hub.access(ref.place, ref.options):
                found = GenerationConfig.from_pretrained(ref.place, **ref.hub_arguments)
        except OSError:
            return  # Models from scratch have no file, nor have plain encoders.
        self.both_sides.generation_config = found

    @classmethod
    def load_saved(cls, ref: ModelRef, *, task: str | tuple[str, ...] | None = None) -> Self:
        """Load a saved model, see :meth:`syntagma.encoders.model.SyntagmaModel.load_saved`."""
        model = super().load_saved(ref, task=task)
        model._take_generation(ref)
        return model

    def save_pretrained(  # type: ignore[override]
        self, save_directory: str | Path, *, bits: int | None = None, **options: Any
    ) -> None:
        """Write configuration, weights and generation settings into a folder.

        Args:
            save_directory: the folder.
            bits: as for :meth:`SyntagmaModel.save_pretrained`.
            options: as for :meth:`SyntagmaModel.save_pretrained`.

        Raises:
            InputError: ``bits`` is given, but the model was trained from scratch.
        """
        if bits is not None and self.config.base == SCRATCH:
            raise InputError(
                "a model trained from scratch has no base that differences could be stored to; use "
                "bits=None, or the run folder itself"
            )
        super().save_pretrained(save_directory, bits=bits, **options)
        self.both_sides.generation_config.save_pretrained(save_directory)

    def speak(self, code: int, *, last: bool) -> None:
        """Set the target language of a multilingual model.

        Args:
            code: id of the token that represents the language.
            last: whether targets end with this token, as in the first mBART, whose decoder then
                reads it before the first piece; otherwise it is the first piece.
        """
        generation = self.both_sides.generation_config
        generation.forced_bos_token_id = None if last else code
        if last:
            generation.decoder_start_token_id = code

    def _init_weights(self, module: nn.Module) -> None:
        # Transformers' private method: embeddings that the model scales up need small values.
        self.both_sides._init_weights(module)

    @property
    def both_sides(self) -> Any:
        """The encoder-decoder, a model of Transformers."""
        return self.encoder

    @property
    def trunk(self) -> nn.Module:
        """The encoder of the encoder-decoder."""
        trunk: nn.Module = self.both_sides.get_encoder()
        return trunk

    def forward(  # type: ignore[override]
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        labels: Tensor | None = None,
        decoder_input_ids: Tensor | None = None,
        **tensors: Any,
    ) -> TranslationScores:
        """Score the pieces of the targets.

        Args:
            input_ids: source text, ``[batch, n]``.
            attention_mask: 0 at padding, ``[batch, n]``.
            labels: target text, negative at padding, ``[batch, n_target]``.
            decoder_input_ids: input of the decoder, ``[batch, n_target]``; by default the target
                shifted by one.
            tensors: syntax of the source text, see :meth:`GuidedEncoder.encode`.
        """
        if decoder_input_ids is None:
            assert labels is not None
            decoder_input_ids = self._shifted(labels)
        wanted = labels != IGNORED if labels is not None and self.training else None
        with self._scored(wanted):
            encoded = self.encode(input_ids, attention_mask, **tensors)
            scores = self.both_sides(
                encoder_outputs=BaseModelOutput(last_hidden_state=encoded.last_hidden_state),
                attention_mask=attention_mask,
                decoder_input_ids=decoder_input_ids,
                use_cache=False,
            ).logits
        inner = {f"encoder_{name}": values for name, values in encoded.inner.items()}
        if labels is None:
            return TranslationScores(logits=scores.float(), **inner)
        if wanted is not None:
            smoothing = self.head.label_smoothing
            loss = cross_entropy(scores, labels[wanted], smoothing=smoothing)
            return TranslationScores(loss=encoded.with_guide_loss(loss), **inner)
        # Label smoothing is for training; without it, losses of evaluations can be compared.
        scores, given = scores.float(), labels != IGNORED
        loss = cross_entropy(scores[given], labels[given])
        return TranslationScores(loss=loss, logits=scores, **inner)

    @contextmanager
    def _scored(self, wanted: Tensor | None) -> Iterator[None]:
        """Compute logits only at wanted positions, as ``[n_wanted, n_pieces]``.

        A hook selects the input of the output layer, whose logits need most of the memory.
        """
        if wanted is None:
            yield
            return
        last = self.both_sides.get_output_embeddings()
        hook = change_input(last, lambda states: states[wanted])
        try:
            yield
        finally:
            hook.remove()

    def _shifted(self, labels: Tensor) -> Tensor:
        """Return the input of the decoder for given targets, ``[batch, n_target]``."""
        model = self.both_sides
        # mBART, for example, moves the language token from the end to the beginning.
        if hasattr(model, "prepare_decoder_input_ids_from_labels"):
            shifted: Tensor = model.prepare_decoder_input_ids_from_labels(labels)
            return shifted
        begin = torch.full_like(labels[:, :1], model.config.decoder_start_token_id)
        before = labels[:, :-1].masked_fill(labels[:, :-1] == IGNORED, model.config.pad_token_id)
        return torch.cat([begin, before], dim=1)

    def search(
        self, input_ids: Tensor, attention_mask: Tensor, **tensors: Any
    ) -> tuple[Tensor, Tensor]:
        """Find the best translations with beam search.

        Args:
            input_ids: source text, ``[batch, n]``.
            attention_mask: 0 at padding, ``[batch, n]``.
            tensors: syntax of the source text.

        Returns:
            Pieces, ``[batch, n_target]``, and their log-probabilities divided by a power of the
            length, ``[batch]``.
        """
        states = self.encode(input_ids, attention_mask, **tensors).last_hidden_state
        encoded = BaseModelOutput(last_hidden_state=states)
        several = {"early_stopping": True, "length_penalty": self.head.length_penalty}
        # `output_scores` would keep all logits of every step; hypotheses are scored again below.
        pieces = self.both_sides.generate(
            encoder_outputs=encoded,
            attention_mask=attention_mask,
            num_beams=self.head.num_beams,
            # An untrained model does not end its sentences, and would search up to max_length.
            max_new_tokens=min(self.head.max_length, 2 * input_ids.shape[1] + 20),
            do_sample=False,
            **(several if self.head.num_beams > 1 else {}),
        )
        # All logits of a batch at once would take more memory than the search.
        vocabulary = self.both_sides.get_output_embeddings().weight.shape[0]
        n_rows = max(1, SCORED // (pieces.shape[1] * vocabulary))
        parts = (
            self._score(*some)
            for some in zip(
                states.split(n_rows),
                attention_mask.split(n_rows),
                pieces.split(n_rows),
                strict=True,
            )
        )
        return pieces, torch.cat(list(parts))

    def _score(self, states: Tensor, attention_mask: Tensor, pieces: Tensor) -> Tensor:
        """Compute log-probabilities of targets divided by a power of their length, ``[batch]``."""
        logits = self.both_sides(
            encoder_outputs=BaseModelOutput(last_hidden_state=states),
            attention_mask=attention_mask,
            decoder_input_ids=pieces[:, :-1],
            use_cache=False,
        ).logits
        targets = pieces[:, 1:]
        scores = -F.cross_entropy(logits.float().flatten(0, 1), targets.flatten(), reduction="none")
        # Targets that end early are padded, with the padding token or with further end tokens.
        ends = targets == self.both_sides.config.eos_token_id
        ended = ends.cumsum(-1) - ends.long() > 0
        inside = ~ended & (targets != self.both_sides.config.pad_token_id)
        lengths = inside.sum(-1).clamp(min=1)
        return (scores.view_as(targets) * inside).sum(-1) / lengths**self.head.length_penalty
