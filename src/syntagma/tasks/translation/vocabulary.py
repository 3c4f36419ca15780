"""Train joint vocabularies of two languages on parallel text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from syntagma.errors import InputError

PAD, UNKNOWN, END = "<pad>", "⁇", "</s>"
"""The unknown word is a single symbol, since BLEU's tokenisation would split ``<unk>``."""


MARKS = (
    r"[{-~\[-`!-&(-+:-@/]"  # ASCII punctuation except the apostrophe, comma, hyphen and full stop,
    r"|(?<![0-9])[.,]|[.,](?![0-9])"  # commas and full stops, unless they are between digits,
    r"|(?<=[0-9])-"  # and hyphens after a digit.
)
"""What mteval-v13a, with which BLEU is computed, splits off words."""


def learn_vocabulary(
    texts: Iterable[str], *, kind: Literal["bpe", "words"], size: int, tokenized: bool = False
) -> Any:
    """Train a fast tokenizer that appends an end piece to every text.

    Args:
        texts: texts of both languages.
        kind: ``bpe``: byte pair encoding (Sennrich et al. 2016) over bytes, so that no word is
            unknown; ``words``: the most frequent words.
        size: maximum number of entries.
        tokenized: whether words are what stands between spaces.  Otherwise marks are words of their
            own, as in the tokenisation of ``mteval-v13a``: with ``harbour.`` and ``harbour`` as two
            words, most of the vocabulary would be the same words again.

    Raises:
        InputError: ``size`` has no room for the special pieces and all bytes, or one word.
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
        splits = [pre_tokenizers.Split(Regex(r"\s+"), behavior="removed")]
        if not tokenized:
            splits.append(pre_tokenizers.Split(Regex(MARKS), behavior="isolated"))
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(splits)
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
