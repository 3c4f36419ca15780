"""Scores of words: co-attention in its turns, and where answers begin and end."""

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
    """The scores of co-attention in each turn; a word's is the mean over its pieces.

    Special pieces stand where they were read, each as a word of its own.

    Args:
        seen: a model with iterative co-attention.
        sentences: of each text that it read, in their order.

    Raises:
        InputError: the model has no iterative co-attention.
    """
    turns = seen.observed.turns
    if turns is None or not len(turns):
        raise InputError(
            f"{seen.name}: has no scores of co-attention; give a model with the guide coattention, "
            f"kind iterative (preset poi-net)"
        )
    scores = turns[:, 0].float().cpu()
    found = []
    for number, (stretch, parts) in enumerate(zip(seen.layout.stretches, sentences, strict=False)):
        forms, pooled = _word_scores(seen, stretch, parts, scores)
        before, after = (
            [(piece, scores[:, place]) for place, piece in around]
            for around in _special_pieces(seen, number)
        )
        columns = [*(s for _, s in before), *pooled.T, *(s for _, s in after)]
        words = (*(piece for piece, _ in before), *forms, *(piece for piece, _ in after))
        rows = torch.stack(columns, 1) if columns else pooled
        found.append(TurnScores(f"{seen.name}: {stretch.name}", words, _rounded(rows)))
    return found


def answer_scores(seen: Observation, sentences: Sequence[Sentence]) -> TurnScores:
    """How probably an answer begins and ends at each word of the passage, inside the window.

    Args:
        seen: a reader.
        sentences: of the passage.

    Raises:
        InputError: the model is no reader.
    """
    if not isinstance(seen.predictor, Reader):
        raise InputError(f"{seen.name}: finds no answers in a passage; give a reader")
    batch, stretch = seen.layout.batch, seen.layout.stretches[0]
    context = torch.zeros_like(batch["input_ids"], dtype=torch.bool)
    context[:, 0] = True
    context[:, stretch.begin : stretch.begin + len(stretch.pieces)] = True
    with torch.inference_mode():
        found = seen.predictor.model(**batch, context=context)
    scores = torch.stack([found.start[0], found.end[0]]).float().softmax(-1).cpu()
    forms, pooled = _word_scores(seen, stretch, sentences, scores, how="sum")
    title = f"{seen.name}: where an answer begins and ends"
    return TurnScores(title, forms, _rounded(pooled), ("start", "end"))


def _word_scores(
    seen: Observation,
    stretch: Stretch,
    sentences: Sequence[Sentence],
    scores: Tensor,
    *,
    how: Literal["mean", "sum"] = "mean",
) -> tuple[tuple[str, ...], Tensor]:
    """The words of sentences, and scores over their pieces, ``[n_rows, n_words]``."""
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


def _special_pieces(
    seen: Observation, number: int
) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """Places and names of the special pieces before the first text, and behind a text."""
    batch = seen.layout.batch
    ids = batch["input_ids"][0, : int(batch["attention_mask"][0].sum())].tolist()
    tokenizer = seen.predictor.tokenizer
    begins = [stretch.begin for stretch in seen.layout.stretches]
    stretch = seen.layout.stretches[number]
    end = stretch.begin + len(stretch.pieces)
    follows = begins[number + 1] if number + 1 < len(begins) else len(ids)

    def named(places: range) -> list[tuple[int, str]]:
        return [
            (place, str(tokenizer.convert_ids_to_tokens(ids[place])))
            for place in places
            if ids[place] in tokenizer.all_special_ids
        ]

    return named(range(0 if number else begins[0])), named(range(end, follows))


def _rounded(scores: Tensor) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(round(score, 4) for score in row) for row in scores.tolist())
