"""Learn from the sentences of a treebank how raw text is cut."""

from __future__ import annotations

import logging
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from syntagma.errors import InputError
from syntagma.tasks.parsing.segmentation.feature_training import train as train_features
from syntagma.tasks.parsing.segmentation.gap_training import (
    BATCH_SIZE,
    GapClassifier,
    find_gaps,
    known_words,
    read_gaps,
    surplus,
)
from syntagma.tasks.parsing.segmentation.gap_training import train as train_gaps
from syntagma.tasks.parsing.segmentation.join_training import learn_joins
from syntagma.tasks.parsing.segmentation.layouts import laid_out
from syntagma.tasks.parsing.segmentation.tokens import Token, tokens_of
from syntagma.text.conllu import TreebankSentence
from syntagma.text.documents import RawDocument, raw_documents
from syntagma.text.segmentation.gaps import UNKNOWN_ROW
from syntagma.text.segmentation.learned.cutter import Cutter
from syntagma.text.segmentation.learned.expansion import Rule, ending, token_features
from syntagma.text.segmentation.learned.features import (
    LONGEST,
    RULE_COLUMNS,
    Runs,
    place_features,
    word_hashes,
)
from syntagma.text.segmentation.learned.hashes import Hashes, Integers
from syntagma.text.segmentation.learned.pieces import Pieces
from syntagma.text.segmentation.runs import LearnedRuns
from syntagma.text.segmentation.saved import SavedSegmenter
from syntagma.text.segmentation.scores import score_segmentation
from syntagma.text.segmentation.segment import segment
from syntagma.text.segmentation.segmenter import Segmenter
from syntagma.text.sentence import Sentence

log = logging.getLogger(__name__)

MIN_STEPS = 1_000
"""Steps of the training of the sentence splitter, at least."""
MIN_HELD, MAX_HELD = 20, 500
"""Sentences on which what was learned is compared with the rules for English."""
MAX_RULES = 300
SCORED = 4096
"""Gaps that are scored together."""
MIN_CANDIDATES = 0.8
"""Share of the sentence ends that are candidate gaps, at least; otherwise every gap becomes one."""
LONG_RUN = 200
"""Characters after which a run ends with its sentence, though no space follows."""
MIN_UNCASED, UNSPACED = 50, 0.1
"""Places between letters without capitals, at least, and the share of them where a token ends: then
a script has no spaces.  It is over a half in Chinese, and nearly zero in Arabic."""
OPEN = 30
"""A rule that training saw with this many tokens is for any token."""

Arrays = dict[str, NDArray[Any]]
Ways = Mapping[str, tuple[int, ...]]
"""How each run is cut: the ends of its tokens."""


def learn_segmenter(
    sentences: Sequence[TreebankSentence], pieces: Pieces | None = None, *, seed: int = 1
) -> SavedSegmenter:
    """Learn how a treebank cuts text.

    The same sentences and seed give the same weights.

    Args:
        sentences: of the treebank, in order.
        pieces: of the parser's encoder; they are looked at if the script has no spaces.
        seed: of everything random.
    """
    begin = time.perf_counter()
    n_threads = torch.get_num_threads()
    # One thread: the matrices are small, and the weights then depend on no number of cores.
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            tokens = list(tokens_of(sentences))
            found = _runs(tokens)
            ways = {run: counts.most_common(1)[0][0] for run, counts in found.items()}
            read = pieces if _is_unspaced(ways) else None
            cutter = _learn_cutter(ways, found, read)
            rules, endings, expander = _learn_expander(tokens)
            splitter = _learn_splitter(sentences, Cutter(cutter, read))
            joiner = learn_joins(tokens)
    finally:
        torch.set_num_threads(n_threads)
    log.info("segmentation: learned in %.0f s", time.perf_counter() - begin)
    return SavedSegmenter(
        splitter,
        cutter,
        expander,
        tuple(rules),
        tuple(endings),
        reads_pieces=read is not None,
        joiner=joiner,
    )


def segmenter_for(
    sources: Sequence[TreebankSentence | None],
    how: Literal["auto", "learned", "english"],
    pieces: Pieces,
    language: str = "",
) -> Segmenter | None:
    """Return what cuts the raw text of a treebank; ``None`` for the rules for English.

    Args:
        sources: the sentences of the treebank, in order; ``None`` for one that has brackets only.
        how: the setting ``head.segmentation``.
        pieces: of the parser's encoder.
        language: ISO 639 code of the treebank's language; empty if it is not known.

    Raises:
        InputError: it is to be learned, and the files have brackets only.
    """
    sentences = [source for source in sources if source is not None]
    if how == "english" or (how == "auto" and not sentences):
        return None
    if not sentences:
        raise InputError(
            "head.segmentation: learned needs CoNLL-U, and the training files have brackets only; "
            "write english"
        )
    if how == "learned":
        saved: SavedSegmenter | None = learn_segmenter(sentences, pieces)
    else:
        saved = learn_if_better(sentences, pieces, language)
    return None if saved is None else saved.segmenter(pieces)


def learn_if_better(
    sentences: Sequence[TreebankSentence],
    pieces: Pieces | None = None,
    language: str = "",
    *,
    seed: int = 1,
) -> SavedSegmenter | None:
    """Learn how a treebank cuts text; ``None`` if the rules for English know it as well.

    Which is better is decided on the last tenth of the sentences, learning from the others: by the
    words, and if they are equal by the sentences.  A small treebank has too few to decide: then the
    rules are for English, and for a language that is not known, and any other one is learned.

    Args:
        sentences: of the treebank, in order.
        pieces: of the encoder, as for :func:`learn_segmenter`.
        language: ISO 639 code of its language; empty if it is not known.
        seed: of everything random.
    """
    n_held = min(len(sentences) // 10, MAX_HELD)
    if n_held < MIN_HELD and language not in ("", "en"):
        return learn_segmenter(sentences, pieces, seed=seed)
    if n_held < MIN_HELD:
        log.warning(
            "segmentation: %d sentences are too few to compare what they teach with the rules for "
            "English, which are used; set head.segmentation to learned to use what they teach",
            len(sentences),
        )
        return None
    part = learn_segmenter(sentences[:-n_held], pieces, seed=seed).segmenter(pieces)
    held = list(raw_documents(sentences[-n_held:]))
    learned, english = (
        tuple(
            round(score.f1, 2)
            for score in score_segmentation(held, partial(_cut, segmenter=segmenter))
        )
        for segmenter in (part, None)
    )
    log.info(
        "segmentation: on %d sentences of training, words and sentences %.2f and %.2f if learned, "
        "%.2f and %.2f by the rules for English",
        n_held,
        *learned,
        *english,
    )
    return learn_segmenter(sentences, pieces, seed=seed) if learned > english else None


def _cut(document: RawDocument, *, segmenter: Segmenter | None) -> list[Sentence]:
    return segment(document.text, segmenter=segmenter)


def _runs(tokens: Sequence[Token]) -> dict[str, Counter[tuple[int, ...]]]:
    """Return the ways in which each run is cut: the ends of its tokens, and how often."""
    found: dict[str, Counter[tuple[int, ...]]] = defaultdict(Counter)
    run, ends, sentence = "", list[int](), 0

    def close() -> None:
        nonlocal run, ends
        if run:
            found[run][tuple(ends)] += 1
        run, ends = "", []

    for token in tokens:
        # Where no text has spaces all of it would be one run, and half of the runs none.
        if token.sentence != sentence and len(run) >= LONG_RUN:
            close()
        sentence = token.sentence
        for number, part in enumerate(token.parts):
            if number:
                close()
            run += part
            ends.append(len(run))
        if not token.joined:
            close()
    close()
    return found


def _is_unspaced(ways: Ways) -> bool:
    """Whether tokens often end between letters of a script without capitals."""
    uncased = Runs.of(list(ways)).is_uncased
    return bool(uncased.sum() >= MIN_UNCASED and _cuts(ways)[uncased].mean() >= UNSPACED)


def _learn_cutter(
    ways: Ways, found: Mapping[str, Counter[tuple[int, ...]]], pieces: Pieces | None
) -> Arrays:
    # Each half is read with the words of the other one: with its own it would learn that all words
    # are known.
    halves = [dict(list(ways.items())[part::2]) for part in (0, 1)]
    # A script without spaces needs every known word.  Elsewhere spaces show most of them, and one
    # that occurs once is rarely needed.
    min_count = 2 if pieces is None else 1
    known = [_words(half, found, min_count) for half in halves]
    features, labels, importance, rule = [], [], [], []
    for half, words in zip(halves, reversed(known), strict=True):
        if not half:
            continue
        runs = Runs.of(list(half), pieces)
        features.append(place_features(runs, words))
        labels.append(_cuts(half))
        counts = np.array([found[run].total() for run in half])
        importance.append(np.log1p(counts)[runs.run_of_place].astype(np.float32))
        rule.append(runs.rule)
    model = train_features(
        np.concatenate(features),
        np.concatenate(labels),
        n_classes=1,
        epochs=8,
        batch_size=1024,
        min_count=3,
        dropout=0.1,
        width=32,
        importance=np.concatenate(importance),
        rule=np.concatenate(rule),
        kept=RULE_COLUMNS,
    )
    characters = np.unique(Runs.of(list(ways)).codes)
    words = _words(ways, found, min_count)
    return {"words": words, "characters": characters} | model.weights()


def _words(ways: Ways, found: Mapping[str, Counter[tuple[int, ...]]], min_count: int) -> Hashes:
    """Return the hashes of the tokens that occur ``min_count`` times or more, ascending."""
    counts = Counter[str]()
    for run, ends in ways.items():
        for start, end in pairwise([0, *ends]):
            counts[run[start:end].lower()] += found[run].total()
    frequent = [
        word for word, count in counts.items() if count >= min_count and len(word) <= LONGEST
    ]
    return np.unique(word_hashes(frequent)) if frequent else np.zeros(0, np.uint64)


def _cuts(ways: Ways) -> Integers:
    """Return 1 for each place of some runs where a token ends, else 0, ``[n_places]``."""
    labels = np.zeros(sum(len(run) - 1 for run in ways), np.int64)
    first = 0
    for run, ends in ways.items():
        labels[[first + end - 1 for end in ends[:-1]]] = 1
        first += len(run) - 1
    return labels


def _learn_expander(tokens: Sequence[Token]) -> tuple[list[Rule], list[str], Arrays]:
    seen: dict[Rule, set[str]] = defaultdict(set)
    counts = Counter[Rule]()
    for token in tokens:
        if token.words:
            rule = Rule.of(token.form, token.words)
            seen[rule].add(token.form.lower())
            counts[rule] += 1
    if not counts:
        return [], [], {}
    numbers = {rule: k for k, (rule, _) in enumerate(counts.most_common(MAX_RULES), start=1)}
    endings = {ending(token.form) for token in tokens if token.words}
    places = [k for k, token in enumerate(tokens) if ending(token.form) in endings]
    labels = [
        numbers.get(Rule.of(token.form, token.words), 0) if token.words else 0
        for token in (tokens[place] for place in places)
    ]
    forms = [token.form for token in tokens]
    model = train_features(
        token_features(forms, places, [token.sentence for token in tokens]),
        np.array(labels, np.int64),
        n_classes=len(numbers) + 1,
        epochs=6,
        batch_size=256,
        min_count=2,
        dropout=0.15,
        width=24,
    )
    rules = [
        rule
        if rule.cuts or len(seen[rule]) >= OPEN
        else replace(rule, tokens=frozenset(seen[rule]))
        for rule in numbers
    ]
    return rules, sorted(endings), model.weights()


def _learn_splitter(sentences: Sequence[TreebankSentence], cutter: Cutter) -> Arrays:
    marked = list(raw_documents(sentences))
    joined = list(raw_documents(sentences, paragraphs=False))
    documents = [*marked, *(laid_out(document, seed) for seed, document in enumerate(joined))]
    if any("\n" in document.text for document in marked):
        documents += joined
    # The larger the treebank, the rarer the words that are worth a vector.
    least = 5 if len(sentences) < 5_000 else 20
    vocabulary = known_words(marked, LearnedRuns({}, cutter), least)
    rows = {number: row for row, number in enumerate(vocabulary, UNKNOWN_ROW + 1)}
    runs = LearnedRuns(rows, cutter)
    everywhere = _few_are_candidates(marked, runs)
    parts = [np.concatenate(part) for part in read_gaps(documents, runs, everywhere=everywhere)]
    windows, contexts, labels = map(torch.from_numpy, parts)
    model = GapClassifier(
        n_words=len(vocabulary) + UNKNOWN_ROW + 1, width=24, hidden_width=128, dropout_prob=0.3
    )
    # A small treebank is read more often.
    epochs = max(6, MIN_STEPS * BATCH_SIZE // max(BATCH_SIZE, len(labels)))
    train_gaps(model, windows, contexts, labels.float(), epochs)
    model.eval()
    if not everywhere:
        return model.weights(vocabulary)
    with torch.no_grad():
        batches = zip(windows.split(SCORED), contexts.split(SCORED), strict=True)
        scores = torch.cat([model(*batch) for batch in batches])
        model.output.bias.sub_(surplus(scores, labels))
    return model.weights(vocabulary) | {"everywhere": np.ones(1, np.uint8)}


def _few_are_candidates(documents: Sequence[RawDocument], runs: LearnedRuns) -> bool:
    """Whether sentences often end where neither punctuation nor capitals show it."""
    found, ends = (
        sum(int(gaps.labels.sum()) for gaps in find_gaps(documents, runs, everywhere=everywhere))
        for everywhere in (False, True)
    )
    return found < MIN_CANDIDATES * ends
