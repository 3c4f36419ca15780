"""A parse as JSON: the format of ``syntagma parse --to json`` and of ``syntagma serve``."""

from __future__ import annotations

import json
from typing import Any

from syntagma.text.limits import is_long
from syntagma.text.sentence import Parse


def format_json(parse: Parse) -> str:
    """Format a parse as one line of JSON, see :func:`parse_values`.

    Args:
        parse: the parse of one sentence.
    """
    return json.dumps(parse_values(parse), ensure_ascii=False)


def parse_values(parse: Parse) -> dict[str, Any]:
    """Return a parse as plain values.

    It has the words with their offsets, heads, relations and tags, lemmas, features and
    probabilities as far as the parse has them, and the phrases.
    A phrase spans the words ``first`` to ``last``, counted from 1 as heads are, and so do the
    ``tokens`` that stand for several words (French *du* for *de* + *le*).  A sentence that was
    parsed in parts has ``parts``, a long word ``"long": true``, and a sentence that the next one
    continues ``"continues": true`` (:mod:`syntagma.text.limits`).

    Args:
        parse: the parse of one sentence.
    """
    sentence = parse.sentence
    words: list[dict[str, Any]] = [
        {
            "form": form,
            "start": start,
            "end": end,
            "head": head,
            "relation": relation,
            "upos": upos,
            "xpos": xpos,
        }
        for form, start, end, head, relation, upos, xpos in zip(
            sentence.forms,
            sentence.starts,
            sentence.ends,
            parse.heads,
            parse.relations,
            parse.upos,
            parse.xpos,
            strict=True,
        )
    ]
    for name, values in (("lemma", parse.lemmas), ("feats", parse.feats)):
        for word, value in zip(words, values or (), strict=values is not None):
            word[name] = value
    if parse.probabilities is not None:
        for word, probability in zip(words, parse.probabilities, strict=True):
            word["probability"] = round(probability, 4)
    for word in words:
        if is_long(word["form"]):
            word["long"] = True
    tree: dict[str, Any] = {"words": words}
    if sentence.multiword:
        tree["tokens"] = [
            {
                "first": first + 1,
                "last": end,
                "start": sentence.starts[first],
                "end": sentence.ends[end - 1],
            }
            for first, end in sentence.multiword
        ]
    if parse.parts:
        tree["parts"] = [{"first": start + 1, "last": end} for start, end in parse.part_bounds]
    if sentence.continues:
        tree["continues"] = True
    if parse.constituents is not None:
        tree["constituents"] = [
            {"label": label, "first": start + 1, "last": end}
            for label, start, end in parse.constituents
        ]
    return tree
