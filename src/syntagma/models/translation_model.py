"""An encoder-decoder whose encoder is guided (SG-Net, journal version, section 3.4.3).

The decoder, the search and the loss are those of Transformers; guides act on the encoder alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import AutoModelForSeq2SeqLM, GenerationConfig, MarianConfig, PretrainedConfig
from transformers.modeling_outputs import BaseModelOutput

from syntagma.encoders import hub
from syntagma.encoders.config import SyntagmaConfig
from syntagma.encoders.cpu.cross_entropy import cross_entropy
from syntagma.encoders.load import quiet
from syntagma.encoders.reference import ModelRef
from syntagma.encoders.sites import change_input
from syntagma.errors import InputError
from syntagma.models.guided_encoder import GuidedEncoder

SCRATCH = "scratch"
"""The name of an encoder that is not pretrained."""

IGNORED = -100
SCORED = 2**26
"""Logits that are held at once when hypotheses are scored, a quarter of a GiB in float32."""


@dataclass(frozen=True)
class TranslationHead:
    """Settings of translation; the first ones only for a model that is trained from scratch.

    The defaults are those of the paper (Transformer base of Vaswani et al. 2017).

    Args:
        hidden_size: of the states.
        num_hidden_layers: of the encoder, and of the decoder.
        num_attention_heads: of the attention.
        intermediate_size: inside a layer.
        dropout: on states.
        attention_dropout: on the weights of attention; it costs processors their fast kernels.
        vocabulary: ``bpe``, byte pairs learnt from both languages together, or ``words``.
        vocab_size: the most entries.
        max_length: pieces of a text; longer pairs are left out of the training, longer sources cut.
        tokenized: whether the references are words with spaces between them, as BLEU wants them.
        label_smoothing: share of the probability that goes to all pieces alike.
        num_beams: of the search.
        length_penalty: power of the length that a hypothesis' score is divided by.
        source_language: its code, for a pretrained model of several languages (``en_XX``).
        target_language: the same (``de_DE``; ``>>deu<<`` of a Marian model).
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
        for name in (
            "hidden_size",
            "num_hidden_layers",
            "num_attention_heads",
            "intermediate_size",
            "vocab_size",
            "num_beams",
        ):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.max_length < 4:
            raise InputError(f"max_length must be at least 4, got {self.max_length}")
        if self.hidden_size % self.num_attention_heads:
            raise InputError(
                f"hidden_size {self.hidden_size} does not divide into {self.num_attention_heads} "
                f"heads; set num_attention_heads to one of its divisors"
            )
        for name in ("dropout", "attention_dropout", "label_smoothing"):
            if not 0 <= getattr(self, name) < 1:
                raise InputError(f"{name} must lie in [0, 1), got {getattr(self, name)}")


class TranslationScores(NamedTuple):
    """Scores of a batch of sentence pairs.

    Args:
        pieces: logits, ``[batch, n_target, n_pieces]``; in training none, as those of padding are
            not computed.
        loss: where targets were given, the mean over their pieces.
    """

    pieces: Tensor | None
    loss: Tensor | None


def fresh_config(head: TranslationHead, tokenizer: Any) -> PretrainedConfig:
    """The configuration of an encoder-decoder that is trained from scratch.

    Its layers begin as small as those of 512 states do everywhere in Transformers. Twice as large
    ones make all states of a sentence alike within some hundred steps, and a decoder that cannot
    tell them apart learns hardly anything of the source.

    Args:
        head: its sizes.
        tokenizer: of both languages.
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
    """A model of sequences to sequences with guides on its encoder."""

    encoder_class = AutoModelForSeq2SeqLM
    head_class = TranslationHead
    head: TranslationHead

    def __init__(self, config: SyntagmaConfig) -> None:
        super().__init__(config)
        self.post_init()

    def after_encoder_loaded(self, ref: ModelRef) -> None:
        """Take over the pretrained model's generation settings too."""
        super().after_encoder_loaded(ref)
        self._take_generation(ref)

    def _take_generation(self, ref: ModelRef) -> None:
        try:
            with quiet(), hub.access(ref.place):
                found = GenerationConfig.from_pretrained(ref.place)
        except OSError:
            return  # Models from scratch have none, nor do those that never generate.
        self.both_sides.generation_config = found

    @classmethod
    def load_saved(cls, ref: ModelRef, *, task: str | tuple[str, ...] | None = None) -> Self:
        """A saved model, see :meth:`syntagma.encoders.model.SyntagmaModel.load_saved`."""
        model = super().load_saved(ref, task=task)
        model._take_generation(ref)
        return model

    def save_pretrained(  # type: ignore[override]
        self, save_directory: str | Path, *, bits: int | None = None, **options: Any
    ) -> None:
        """Write configuration, weights and generation settings into a folder.

        Raises:
            InputError: differences are to be stored, and the model has no published one.
        """
        if bits is not None and self.config.base == SCRATCH:
            raise InputError(
                "a model that was trained from scratch differs from no published one; keep the run "
                "folder as it is"
            )
        super().save_pretrained(save_directory, bits=bits, **options)
        self.both_sides.generation_config.save_pretrained(save_directory)

    def speak(self, code: int, *, last: bool) -> None:
        """Let every target be of a language, as models of several languages want it.

        Args:
            code: the piece that stands for the language.
            last: whether targets end with it, as those of the first mBART do: then the decoder
                reads it before the first piece; else it is the first piece.
        """
        generation = self.both_sides.generation_config
        generation.forced_bos_token_id = None if last else code
        if last:
            generation.decoder_start_token_id = code

    def _init_weights(self, module: nn.Module) -> None:
        # Embeddings whose vectors are scaled up begin small; the rest as everywhere here.
        self.both_sides._init_weights(module)

    @property
    def both_sides(self) -> Any:
        """Encoder and decoder, a model of Transformers."""
        return self.encoder

    @property
    def trunk(self) -> nn.Module:
        """The encoder of the two."""
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
            input_ids: source, ``[batch, n]``.
            attention_mask: 0 at padding, ``[batch, n]``.
            labels: target, negative at padding, ``[batch, n_target]``.
            decoder_input_ids: what the decoder reads, ``[batch, n_target]``; the target, shifted,
                where it is not given.
            tensors: syntax of the source, see :meth:`GuidedEncoder.encode`.
        """
        if decoder_input_ids is None:
            assert labels is not None
            decoder_input_ids = self._shifted(labels)
        wanted = labels != IGNORED if labels is not None and self.training else None
        with self._scored(wanted):
            states = self.encode(input_ids, attention_mask, **tensors).last_hidden_state
            scores = self.both_sides(
                encoder_outputs=BaseModelOutput(last_hidden_state=states),
                attention_mask=attention_mask,
                decoder_input_ids=decoder_input_ids,
                use_cache=False,
            ).logits
        if labels is None:
            return TranslationScores(scores.float(), None)
        if wanted is not None:
            smoothing = self.head.label_smoothing
            return TranslationScores(
                None, cross_entropy(scores, labels[wanted], smoothing=smoothing)
            )
        # Label smoothing is for learning; scores are compared without.
        scores, given = scores.float(), labels != IGNORED
        return TranslationScores(scores, cross_entropy(scores[given], labels[given]))

    @contextmanager
    def _scored(self, wanted: Tensor | None) -> Iterator[None]:
        """Let the decoder's states at some places alone be scored, as ``[n_wanted, n_pieces]``.

        Args:
            wanted: ``[batch, n_target]``; ``None`` for all as they are.
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
        """What the decoder reads to give the targets, ``[batch, n_target]``."""
        model = self.both_sides
        if hasattr(model, "prepare_decoder_input_ids_from_labels"):
            shifted: Tensor = model.prepare_decoder_input_ids_from_labels(labels)
            return shifted
        begin = torch.full_like(labels[:, :1], model.config.decoder_start_token_id)
        before = labels[:, :-1].masked_fill(labels[:, :-1] == IGNORED, model.config.pad_token_id)
        return torch.cat([begin, before], dim=1)

    def search(
        self, input_ids: Tensor, attention_mask: Tensor, **tensors: Any
    ) -> tuple[Tensor, Tensor]:
        """The best targets that beam search finds, at most twice as long as the longest source.

        Args:
            input_ids: source, ``[batch, n]``.
            attention_mask: 0 at padding, ``[batch, n]``.
            tensors: syntax of the source.

        Returns:
            Pieces, ``[batch, n_target]``, and their log-probabilities over the length's power,
            ``[batch]``.
        """
        states = self.encode(input_ids, attention_mask, **tensors).last_hidden_state
        encoded = BaseModelOutput(last_hidden_state=states)
        several = {"early_stopping": True, "length_penalty": self.head.length_penalty}
        # The scores of each step would take far more memory than all else.
        pieces = self.both_sides.generate(
            encoder_outputs=encoded,
            attention_mask=attention_mask,
            num_beams=self.head.num_beams,
            # A model that has not learnt to end would go on to the last piece.
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
        """Log-probabilities of targets over the length's power, ``[batch]``."""
        logits = self.both_sides(
            encoder_outputs=BaseModelOutput(last_hidden_state=states),
            attention_mask=attention_mask,
            decoder_input_ids=pieces[:, :-1],
            use_cache=False,
        ).logits
        targets = pieces[:, 1:]
        scores = -F.cross_entropy(logits.float().flatten(0, 1), targets.flatten(), reduction="none")
        # What ends early is filled up, with padding or with further ends.
        ends = targets == self.both_sides.config.eos_token_id
        ended = ends.cumsum(-1) - ends.long() > 0
        inside = ~ended & (targets != self.both_sides.config.pad_token_id)
        lengths = inside.sum(-1).clamp(min=1)
        return (scores.view_as(targets) * inside).sum(-1) / lengths**self.head.length_penalty
