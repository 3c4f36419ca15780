"""Compute scores of words: co-attention in each turn, and answer start and end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor

from syntagma.analysis.attention.observation import Observation, word_places
from syntagma.drawing.turns_svg import TurnScores
from syntagma.errors import InputError
from syntagma.tasks.layout import Stretch
from syntagma.tasks.spans.reader import Reader
from syntagma.text.alignment import pool
from syntagma.text.sentence import Sentence


def turn_scores(seen: Observation, sentences: Sequence[Sequence[Sentence]]) -> list[TurnScores]:
    """Compute the co-attention score of each word in each turn, a mean over its pieces.

    Special tokens appear at their position in the sequence, each as a word.

    Args:
        seen: the observation of a model with iterative co-attention.
        sentences: the sentences of each text, in the order of the texts.

    Returns:
        The scores of each text.

    Raises:
        InputError: the model has no iterative co-attention.
    """
    turns = seen.observed.turns
    if turns is None or not len(turns):
        raise InputError(
            f"{seen.name}: has no co-attention scores; give a model with the guide coattention of "
            f"kind iterative (preset poi-net)"
        )
    scores = turns[:, 0].float().cpu()
    found = []
    for number, (stretch, own) in enumerate(zip(seen.layout.stretches, sentences, strict=False)):
        forms, pooled = _word_scores(seen, stretch, own, scores)
        before, after = (
            [(token, scores[:, index]) for index, token in around]
            for around in _special_tokens(seen, number)
        )
        columns = [*(s for _, s in before), *pooled.T, *(s for _, s in after)]
        words = (*(token for token, _ in before), *forms, *(token for token, _ in after))
        rows = torch.stack(columns, 1) if columns else pooled
        found.append(TurnScores(f"{seen.name}: {stretch.name}", words, _rounded(rows)))
    return found


def answer_scores(seen: Observation, sentences: Sequence[Sentence]) -> TurnScores:
    """Compute the probability that an answer starts or ends at each word of the passage.

    Args:
        seen: the observation of a reader.
        sentences: the sentences of the passage; words outside of the window have no score.

    Raises:
        InputError: the model is not a reader.
    """
    if not isinstance(seen.predictor, Reader):
        raise InputError(f"{seen.name}: expected a reader, which finds answers in a passage")
    batch = seen.layout.batch
    stretch = next(each for each in seen.layout.stretches if each.name == "passage")
    context = torch.zeros_like(batch["input_ids"], dtype=torch.bool)
    # The first piece (CLS) stands for "no answer" and takes its share of the probability.
    context[:, 0] = True
    context[:, stretch.begin : stretch.begin + len(stretch.pieces)] = True
    with torch.inference_mode():
        found = seen.predictor.model(**batch, context=context)
    scores = torch.stack([found.start_logits[0], found.end_logits[0]]).float().softmax(-1).cpu()
    forms, pooled = _word_scores(seen, stretch, sentences, scores, how="sum")
    title = f"{seen.name}: answer start and end"
    return TurnScores(title, forms, _rounded(pooled), ("start", "end"))


def _word_scores(
    seen: Observation,
    stretch: Stretch,
    sentences: Sequence[Sentence],
    scores: Tensor,
    *,
    how: Literal["mean", "sum"] = "mean",
) -> tuple[tuple[str, ...], Tensor]:
    """Return words, and their scores pooled over pieces, ``[n_rows, n_words]``; NaN if unread."""
    words = torch.from_numpy(
        word_places(seen, [(stretch.text, sentence) for sentence in sentences])
    )
    forms = tuple(form for sentence in sentences for form in sentence.forms)
    owners = words.expand(len(scores), -1)
    pooled = pool(scores.unsqueeze(-1), owners, len(forms), how="mean")[..., 0]
    counts = torch.bincount(words[words >= 0], minlength=len(forms))
    if how == "sum":
        pooled = pooled * counts
    return forms, pooled.masked_fill(counts == 0, torch.nan)


def _special_tokens(
    seen: Observation, number: int
) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """Find index and name of special tokens: before the first text, and after the given one."""
    batch = seen.layout.batch
    ids = batch["input_ids"][0, : int(batch["attention_mask"][0].sum())].tolist()
    tokenizer = seen.predictor.tokenizer
    begins = [stretch.begin for stretch in seen.layout.stretches]
    stretch = seen.layout.stretches[number]
    end = stretch.begin + len(stretch.pieces)
    following = begins[number + 1] if number + 1 < len(begins) else len(ids)

    def special(indices: range) -> list[tuple[int, str]]:
        return [
            (index, str(tokenizer.convert_ids_to_tokens(ids[index])))
            for index in indices
            if ids[index] in tokenizer.all_special_ids
        ]

    return special(range(0 if number else begins[0])), special(range(end, following))


def _rounded(scores: Tensor) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(round(score, 4) for score in row) for row in scores.tolist())
