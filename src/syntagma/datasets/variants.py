"""Make variants of examples: which examples, of which kind, and how many."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from syntagma.errors import InputError
from syntagma.tasks.spans.squad import SpanExample

Vary = Callable[[SpanExample, str, random.Random], SpanExample | None]


def require_kinds(kinds: Sequence[str], known: Sequence[str], *, combined: bool) -> None:
    """Raise an :class:`InputError` unless all kinds are known.

    Args:
        kinds: the kinds to check.
        known: the known ones.
        combined: whether a kind may join several known ones with ``+``, as in ``lower+typos``.
    """
    options = ", ".join(known) + (", or several of them joined by '+'" if combined else "")
    if not kinds:
        raise InputError(f"expected at least one kind, got none; write one of {options}")
    for kind in kinds:
        parts = kind.split("+") if combined else [kind]
        if not set(parts) <= set(known) or len(set(parts)) < len(parts):
            raise InputError(f"expected a known kind, got {kind!r}; write one of {options}")


def make_variants(
    examples: Sequence[SpanExample],
    vary: Vary,
    *,
    count: int,
    kinds: Sequence[str],
    seed: int,
) -> tuple[list[SpanExample], dict[str, int]]:
    """Make variants of examples drawn at random.

    An example is used again, with another kind, only after all others have been used.

    Args:
        examples: the examples.
        vary: returns the variant of an example of a given kind, or none if there is none.
        count: number of variants; fewer are returned if there are not enough examples.
        kinds: kinds to draw from; those that combine several are drawn a third as often.
        seed: random seed.

    Returns:
        The variants, with the ids ``{id}-{kind}``, and the number of each kind.
    """
    draw = random.Random(seed)
    order = draw.sample(examples, len(examples))
    kinds = list(dict.fromkeys(kinds))
    left = [list(kinds) for _ in order]
    variants: list[SpanExample] = []
    counts = dict.fromkeys(kinds, 0)
    for _ in kinds:
        for example, unused in zip(order, left, strict=True):
            if len(variants) >= count:
                break
            weights = [1 if "+" in kind else 3 for kind in unused]
            kind = draw.choices(unused, weights)[0]
            unused.remove(kind)
            variant = vary(example, kind, draw)
            if variant is not None:
                variants.append(replace(variant, id=f"{example.id}-{kind}"))
                counts[kind] += 1
    return variants, counts
