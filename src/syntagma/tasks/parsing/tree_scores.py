"""Scores of predicted trees, which do not depend on a model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from syntagma.parse.bracket_scores import BracketScore
from syntagma.parse.scores import AttachmentScore
from syntagma.tasks.parsing.conll_measures import gold_word_scores
from syntagma.tasks.parsing.treebanks import TreeExample
from syntagma.text.sentence import Parse


def score_trees(examples: Sequence[TreeExample], predictions: Sequence[Parse]) -> dict[str, float]:
    """Return all scores that do not depend on the model."""
    pairs = list(zip(examples, predictions, strict=True))
    attached = [(example.gold, parse) for example, parse in pairs if example.source]
    arcs = total_score(attached)
    no_punctuation = total_score(attached, punctuation=False)
    words = total_score([(example.gold, parse) for example, parse in pairs])
    brackets = sum(
        (
            bracket_score(example, parse)
            for example, parse in pairs
            if example.gold.constituents is not None and parse.constituents is not None
        ),
        BracketScore(),
    )
    values: dict[str, float] = {}
    if arcs.words:
        values |= {"uas": arcs.uas, "las": arcs.las, "upos": arcs.upos}
    values["xpos"] = words.xpos
    if arcs.words:
        values |= {
            "uas_without_punctuation": no_punctuation.uas,
            "las_without_punctuation": no_punctuation.las,
            "las_with_subtypes": arcs.las_subtypes,
            "exact_trees": arcs.exact,
        }
        values |= gold_word_scores(
            (example.source, parse) for example, parse in pairs if example.source is not None
        )
    if brackets.sentences:
        values |= {
            "bracket_f1": brackets.f1,
            "bracket_precision": brackets.precision,
            "bracket_recall": brackets.recall,
            "complete_match": brackets.complete_match,
        }
    return values | {"sentences": float(words.sentences), "words": float(words.words)}


def bracket_score(example: TreeExample, parse: Parse) -> BracketScore:
    """Compare the phrases of a parse with the gold ones."""
    gold = example.gold
    return BracketScore.of(gold.constituents or (), parse.constituents or (), gold.xpos)


def total_score(
    pairs: Iterable[tuple[Parse, Parse]], *, punctuation: bool = True
) -> AttachmentScore:
    """Sum the attachment scores of pairs of gold and predicted parses."""
    scores = (AttachmentScore.of(gold, parse, punctuation=punctuation) for gold, parse in pairs)
    return sum(scores, AttachmentScore())
