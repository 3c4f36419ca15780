"""Build the JSON block that the script of an answer page reads.

Words are numbered from 1 through the whole passage.  The script gets no character offsets, since
JavaScript counts UTF-16 units.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from syntagma.tasks.spans.answers import Answer
from syntagma.text.sentence import Parse

RowWeights = Sequence[Sequence[Sequence[float]]]
"""Attention weights over the SDOI row of each word, the word itself first,
``[n_sentences][n_words][n_row]``."""


def sdoi_rows(heads: Sequence[int]) -> list[tuple[int, ...]]:
    """Return each word with its syntactic ancestors, in order from the word up to the root.

    These are the nonzero columns in the word's row of the SDOI mask (SG-Net eq. 1).

    Args:
        heads: 1-based index of the head of each word, 0 for the root, ``[n_words]``.

    Raises:
        ValueError: the heads form a cycle or are out of range.

    >>> sdoi_rows([2, 0, 2])
    [(1, 2), (2,), (3, 2)]
    """
    rows = []
    for word in range(1, len(heads) + 1):
        row = [word]
        while head := heads[row[-1] - 1]:
            # A path as long as the sentence that has not reached the root is a cycle.
            if not 0 < head <= len(heads) or len(row) == len(heads):
                raise ValueError(
                    f"expected heads that lead from word {word} to the root, got a cycle or a "
                    f"head out of range: {list(heads)}"
                )
            row.append(head)
        rows.append(tuple(row))
    return rows


def sentences_of(answer: Answer, parses: Sequence[Parse]) -> list[int]:
    """Return the numbers, from 1, of the sentences that overlap an answer; empty if unanswered."""
    return [
        number
        for number, parse in enumerate(parses, start=1)
        if _overlap(answer, parse.sentence.start, parse.sentence.end)
    ]


def page_data(
    parses: Sequence[Parse], answers: Sequence[Answer], attention: Sequence[RowWeights] | None
) -> dict[str, Any]:
    """Collect the words, their SDOI rows with weights, and the positions of the answers.

    Args:
        parses: the parses of the passage.
        answers: the answer to each question.
        attention: attention weights for each question; see ``answer_page``.

    Raises:
        ValueError: the heads are not a tree, or the weights do not match the rows.
    """
    rows: list[list[int]] = []
    words: list[tuple[str, ...]] = []
    offsets: list[tuple[int, int]] = []
    for parse in parses:
        rows += [[len(words) + word for word in row] for row in sdoi_rows(parse.heads)]
        words += zip(parse.sentence.forms, parse.relations, parse.upos, parse.xpos, strict=True)
        offsets += zip(parse.sentence.starts, parse.sentence.ends, strict=True)
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
                    for number, (start, end) in enumerate(offsets, start=1)
                    if _overlap(answer, start, end)
                ],
            }
            for answer in answers
        ],
    }


def json_block(data: Any) -> str:
    """Serialise to JSON that is safe inside a ``<script>`` element.

    Escaping ``<``, ``>`` and ``&`` prevents closing tags, comments and entities.

    >>> json_block("</script>")
    '"\\\\u003c/script\\\\u003e"'
    """
    # NaN is not valid JSON; fail here rather than in the browser.
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _overlap(answer: Answer, start: int, end: int) -> bool:
    """Whether an answer shares a character with a span of the passage."""
    if answer.start is None or answer.end is None:
        return False
    return answer.start < end and start < answer.end


def _flat_weights(
    rows: Sequence[Sequence[int]], parses: Sequence[Parse], weights: RowWeights
) -> list[list[float]]:
    """Flatten the weights of one question over sentences: one row for each word."""
    if list(map(len, weights)) != list(map(len, parses)):
        raise ValueError(
            f"expected attention weights for sentences of {list(map(len, parses))} words, got "
            f"{list(map(len, weights))}"
        )
    # Four decimals keep the page small; it shows two.
    flat = [[round(float(weight), 4) for weight in row] for by_word in weights for row in by_word]
    for number, (row, row_weights) in enumerate(zip(rows, flat, strict=True), start=1):
        if len(row) != len(row_weights):
            raise ValueError(
                f"expected {len(row)} attention weights for word {number}, one for itself and each "
                f"ancestor, got {len(row_weights)}"
            )
    return flat
