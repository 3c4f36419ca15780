"""Joint vocabularies of two languages, learnt from parallel text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from syntagma.errors import InputError

__all__ = ["learn_vocabulary"]

PAD, UNKNOWN, END = "<pad>", "⁇", "</s>"
"""An unknown word is written so that BLEU's tokenisation leaves it one word."""


def learn_vocabulary(texts: Iterable[str], *, kind: Literal["bpe", "words"], size: int) -> Any:
    """A fast tokenizer that ends every text with a piece of its own.

    Args:
        texts: of both languages.
        kind: ``bpe``: byte pairs (Sennrich et al. 2016) over bytes, so that nothing is unknown;
            ``words``: what stands between spaces, the most frequent ones.
        size: the most entries.

    Raises:
        InputError: there is no room for the marks, and for each byte or a word.
    """
    special = [PAD, UNKNOWN, END]
    units = {"bpe": len(pre_tokenizers.ByteLevel.alphabet()), "words": 1}[kind]
    if size < len(special) + units:
        raise InputError(
            f"head.vocab_size: {kind} need at least {len(special) + units} entries, got {size}"
        )
    tokenizer: Any
    trainer: Any
    if kind == "bpe":
        tokenizer = Tokenizer(models.BPE(unk_token=UNKNOWN))
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
        tokenizer.decoder = decoders.ByteLevel()
        trainer = trainers.BpeTrainer(
            vocab_size=size,
            special_tokens=special,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
    else:
        tokenizer = Tokenizer(models.WordLevel(unk_token=UNKNOWN))
        tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"\s+"), behavior="removed")
        trainer = trainers.WordLevelTrainer(
            vocab_size=size, special_tokens=special, show_progress=False
        )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"$A {END}",
        pair=f"$A {END} $B {END}",
        special_tokens=[(END, tokenizer.token_to_id(END))],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token=PAD, unk_token=UNKNOWN, eos_token=END
    )
