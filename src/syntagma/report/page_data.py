"""What the script of an answer page needs to know, as one block of JSON.

Words are numbered through the passage from 1, so that no offsets cross into the script.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from syntagma.tasks.spans.answers import Answer
from syntagma.text.sentence import Parse

__all__ = ["RowWeights", "json_block", "page_data", "sdoi_rows", "sentences_of"]

RowWeights = Sequence[Sequence[Sequence[float]]]
"""Attention weights: for each sentence and word those over its SDOI row, the word itself first."""


def sdoi_rows(heads: Sequence[int]) -> list[tuple[int, ...]]:
    """For each word itself and its syntactic ancestors, from the word up to the root.

    This is the word's row of the SDOI mask (SG-Net, eq. 1), in the order of the path.

    Args:
        heads: 1-based head of each word, 0 for the root, ``[n_words]``.

    Raises:
        ValueError: the heads form a cycle or point out of the sentence.

    >>> sdoi_rows([2, 0, 2])
    [(1, 2), (2,), (3, 2)]
    """
    rows = []
    for word in range(1, len(heads) + 1):
        row = [word]
        while head := heads[row[-1] - 1]:
            if not 0 < head <= len(heads) or len(row) == len(heads):
                raise ValueError(
                    f"expected heads that lead from word {word} to the root, got a cycle or a "
                    f"head out of range: {list(heads)}"
                )
            row.append(head)
        rows.append(tuple(row))
    return rows


def sentences_of(answer: Answer, parses: Sequence[Parse]) -> list[int]:
    """Numbers of the sentences that an answer lies in, from 1; none where there is no answer."""
    return [
        number
        for number, parse in enumerate(parses, start=1)
        if _overlap(answer, parse.sentence.start, parse.sentence.end)
    ]


def page_data(
    parses: Sequence[Parse], answers: Sequence[Answer], attention: Sequence[RowWeights] | None
) -> dict[str, Any]:
    """Words, their rows with the weights, and where the answers are.

    Args:
        parses: the sentences of the passage.
        answers: one a question.
        attention: weights for each question; see ``answer_page``.

    Raises:
        ValueError: heads that are no tree, or weights that do not fit the rows.
    """
    rows: list[list[int]] = []
    words: list[tuple[str, ...]] = []
    places: list[tuple[int, int]] = []
    for parse in parses:
        rows += [[len(words) + word for word in row] for row in sdoi_rows(parse.heads)]
        words += zip(parse.sentence.forms, parse.relations, parse.upos, parse.xpos, strict=True)
        places += zip(parse.sentence.starts, parse.sentence.ends, strict=True)
    if attention is not None and len(attention) != len(answers):
        raise ValueError(
            f"expected attention weights for {len(answers)} questions, got {len(attention)}"
        )
    return {
        "words": words,
        "rows": rows,
        "attention": attention and [_flat_weights(rows, parses, weights) for weights in attention],
        "answers": [
            {
                "sentences": sentences_of(answer, parses),
                "words": [
                    number
                    for number, (start, end) in enumerate(places, start=1)
                    if _overlap(answer, start, end)
                ],
            }
            for answer in answers
        ],
    }


def json_block(data: Any) -> str:
    """JSON that can neither end a ``<script>`` block nor open a tag, comment or entity in it.

    >>> json_block("</script>")
    '"\\\\u003c/script\\\\u003e"'
    """
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _overlap(answer: Answer, start: int, end: int) -> bool:
    """Whether an answer and a stretch of the passage share a character."""
    if answer.start is None or answer.end is None:
        return False
    return answer.start < end and start < answer.end


def _flat_weights(
    rows: Sequence[Sequence[int]], parses: Sequence[Parse], weights: RowWeights
) -> list[list[float]]:
    """The weights of one question in the order of the passage's words."""
    if list(map(len, weights)) != list(map(len, parses)):
        raise ValueError(
            f"expected attention weights for sentences of {list(map(len, parses))} words, got "
            f"{list(map(len, weights))}"
        )
    flat = [[round(float(weight), 4) for weight in row] for by_word in weights for row in by_word]
    for number, (row, row_weights) in enumerate(zip(rows, flat, strict=True), start=1):
        if len(row) != len(row_weights):
            raise ValueError(
                f"expected {len(row)} attention weights for word {number}, one for itself and each "
                f"ancestor, got {len(row_weights)}"
            )
    return flat
