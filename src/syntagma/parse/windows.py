"""Score a sentence that is longer than its encoder's input."""

from __future__ import annotations

import torch
from torch import Tensor

from syntagma.parse.encode import EncodedSentence, SentenceEncoder
from syntagma.parse.scorer import ParserModel, WordStates


def score_in_windows(
    model: ParserModel,
    encoder: SentenceEncoder,
    item: EncodedSentence,
    size: int,
    *,
    with_phrases: bool = True,
) -> WordStates:
    """Score a sentence in windows that overlap by half.

    Each piece takes its state from the window in which it is furthest from an edge.

    Args:
        model: the scoring model.
        encoder: makes its batches.
        item: the sentence.
        size: number of pieces in a window, without special pieces.
        with_phrases: whether to compute what phrases are decoded from, too.
    """
    stride = size // 2
    starts = list(range(0, max(len(item) - size, 0) + stride, stride))
    starts[-1] = len(item) - size
    windows = [
        EncodedSentence(item.pieces[s : s + size], item.word_of_piece[s : s + size], item.shapes)
        for s in starts
    ]
    begin = len(encoder.prefix)
    parts: list[tuple[Tensor, Tensor]] = []
    root: Tensor | None = None
    for number, (start, window) in enumerate(zip(starts, windows, strict=True)):
        tensors = encoder.collate([window])
        states, lower = model.encode_pieces(
            tensors["input_ids"].to(model.device), tensors["attention_mask"].to(model.device)
        )
        root = states[:, 0] if root is None else root
        # This window provides the pieces up to the middle of its overlap with the next one.
        left = 0 if number == 0 else (starts[number - 1] + size + start) // 2
        last = number + 1 == len(starts)
        right = len(item) if last else (start + size + starts[number + 1]) // 2
        kept = slice(begin + left - start, begin + right - start)
        parts.append((states[:, kept], lower[:, kept]))
    assert root is not None
    states, lower = (torch.cat(each, 1) for each in zip(*parts, strict=True))
    return model.score_pieces(
        states,
        lower,
        root,
        torch.from_numpy(item.word_of_piece).unsqueeze(0).to(model.device),
        torch.from_numpy(item.shapes).unsqueeze(0).to(model.device),
        torch.tensor([len(item.shapes)], device=model.device),
        with_phrases=with_phrases,
    )
