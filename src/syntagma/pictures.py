"""Look into models while they read, and draw what is seen: attention, turns of co-attention."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from syntagma.errors import InputError
from syntagma.evaluation import open_model
from syntagma.files import read_text, write_text
from syntagma.models.observe import Observed, observe
from syntagma.report.attention_svg import AttentionMatrix, attention_svg
from syntagma.report.turns_svg import TurnScores, turns_svg
from syntagma.tasks.choice.chooser import Chooser
from syntagma.tasks.laid_out import LaidOut, Predictor, Texts, lay_out
from syntagma.tasks.pairs.task import PairClassifier
from syntagma.tasks.spans.reader import Reader
from syntagma.text.pieces import align, pool, word_attention
from syntagma.text.segment import segment
from syntagma.text.sentence import Sentence

__all__ = [
    "GUIDED",
    "Look",
    "Shown",
    "attention_matrices",
    "attention_matrix",
    "draw_attention",
    "draw_turns",
    "look",
    "open_predictor",
    "sentences_of",
    "turn_scores",
]

GUIDED = "guided"
"""The layer that ancestor attention adds."""
SHOWN = ("question", "answer", "all")
SVG = ".svg"

Shown = Sequence[tuple[str, Sentence]]
"""Which words stand on the axes: texts, each with one of its sentences."""


class Look(NamedTuple):
    """What was seen of one model reading two texts.

    Args:
        name: of the model.
        predictor: the model with what it needs.
        laid_out: the sequence that it read.
        observed: what it did.
    """

    name: str
    predictor: Predictor
    laid_out: LaidOut
    observed: Observed


def open_predictor(name: str | Path, *, device: str = "cpu") -> Predictor:
    """A saved reader, chooser or classifier of pairs.

    Args:
        name: ``default-reader`` or the folder of a model or run.
        device: where to compute.

    Raises:
        InputError: there is no such model, or it reads no two texts.
    """
    task: Any = open_model(name, device=device)
    for part in ("reader", "chooser", "classifier"):
        found = getattr(task, part, None)
        if isinstance(found, Reader | Chooser | PairClassifier):
            return found
    raise InputError(f"{name}: a model for {task.name}; expected one for spans, choice or pairs")


def look(name: str, predictor: Predictor, texts: Texts) -> Look:
    """Let a model read two texts and watch it.

    Args:
        name: of the model, for titles.
        predictor: the model.
        texts: what it reads.

    Raises:
        InputError: a text is empty, or the encoder gives no attention weights.
    """
    laid_out = lay_out(predictor, texts)
    return Look(name, predictor, laid_out, observe(predictor.model, laid_out.batch))


def sentences_of(predictors: Sequence[Predictor], text: str) -> list[Sentence]:
    """The sentences of a text as the first of some models that reads syntax has them.

    Where none reads syntax, as our own segmenter has them, so that plain and guided models can be
    drawn with the same words.
    """
    for predictor in predictors:
        if predictor.texts.store is not None:
            parses = predictor.texts.store.parsed([text])[0].parses(text)
            return [parse.sentence for parse in parses]
    return segment(text)


def attention_matrix(
    seen: Look, shown: Shown, *, layer: int | str | None = None, head: int | None = None
) -> AttentionMatrix:
    """The attention between some words in one layer.

    The attention to a word is the sum over its pieces, that from a word the mean over its pieces.

    Args:
        seen: a model.
        shown: the words.
        layer: of the encoder, from 1, or ``guided``; the last one, the guided one where there is
            one, if not given.
        head: from 1; the mean over all heads if not given.

    Raises:
        InputError: there is no such layer or head.
    """
    weights, where = _layer(seen, layer)
    n_heads = weights.shape[1]
    if head is None:
        chosen, which = weights[0].mean(0), f"mean of {n_heads} heads"
    elif 1 <= head <= n_heads:
        chosen, which = weights[0, head - 1], f"head {head} of {n_heads}"
    else:
        raise InputError(f"{seen.name}: expected a head from 1 to {n_heads}, got {head}")
    words = tuple(form for _, sentence in shown for form in sentence.forms)
    matrix = word_attention(chosen.float().cpu().numpy(), _words(seen, shown), len(words))
    rows = tuple(tuple(round(value, 5) for value in row) for row in matrix.tolist())
    return AttentionMatrix(f"{seen.name}: {where}, {which}", words, words, rows)


def attention_matrices(
    seen: Sequence[Look], shown: Shown, *, layer: int | str | None = None, head: int | None = None
) -> list[AttentionMatrix]:
    """The attention of several models over the same words.

    A guided model that stands alone has its encoder's last layer beside the guided one where no
    layer is named.

    Args:
        seen: the models.
        shown: as for :func:`attention_matrix`, and so are the others.
        layer: of each.
        head: of each.

    Raises:
        InputError: there is no such layer or head.
    """
    found = []
    for each in seen:
        if len(seen) == 1 and layer is None and each.observed.guided:
            last = len(each.observed.layers)
            found.append(attention_matrix(each, shown, layer=last, head=head))
        found.append(attention_matrix(each, shown, layer=layer, head=head))
    return found


def _layer(seen: Look, layer: int | str | None) -> tuple[torch.Tensor, str]:
    """The weights of a layer, ``[1, n_heads, n, n]``, and what it is called."""
    observed = seen.observed
    if layer == GUIDED and not observed.guided:
        raise InputError(
            f"{seen.name}: has no guided layer (guides: "
            f"{', '.join(seen.predictor.model.config.guides) or 'none'}); give a layer from 1 to "
            f"{len(observed.layers)}"
        )
    if layer == GUIDED or (layer is None and observed.guided):
        return observed.guided[-1], "guided layer"
    n_layers = len(observed.layers)
    number = n_layers if layer is None else layer
    if not isinstance(number, int) or not 1 <= number <= n_layers:
        guided = f", or {GUIDED}" if observed.guided else ""
        raise InputError(f"{seen.name}: expected a layer from 1 to {n_layers}{guided}, got {layer}")
    return observed.layers[number - 1], f"layer {number} of {n_layers}"


def _words(seen: Look, shown: Shown) -> NDArray[np.int64]:
    """The number of each piece's word among those shown, ``[n]``, negative for others."""
    n_pieces = seen.laid_out.batch["input_ids"].shape[1]
    words = np.full(n_pieces, -1, np.int64)
    before = 0
    for text, sentence in shown:
        for stretch in seen.laid_out.stretches:
            if stretch.text != text:
                continue
            found = align(
                sentence.starts, sentence.ends, stretch.pieces.starts, stretch.pieces.ends
            )
            place = slice(stretch.begin, stretch.begin + len(stretch.pieces))
            words[place] = np.where(found >= 0, found + before, words[place])
            break
        before += len(sentence)
    return words


def turn_scores(seen: Look, sentences: Sequence[Sequence[Sentence]]) -> list[TurnScores]:
    """The scores of co-attention in each turn; a word's is the mean over its pieces.

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
    found = []
    for title, stretch, parts in zip(
        _titles(seen), seen.laid_out.stretches, sentences, strict=False
    ):
        shown = [(stretch.text, sentence) for sentence in parts]
        forms = tuple(form for sentence in parts for form in sentence.forms)
        words = torch.from_numpy(_words(seen, shown))
        scores = turns[:, 0].float().cpu().unsqueeze(-1)  # [n_turns, n, 1]
        pooled = pool(scores, words.expand(len(scores), -1), len(forms), how="mean")[..., 0]
        there = torch.zeros(len(forms), dtype=torch.bool)
        there[words[words >= 0]] = True
        pooled = pooled.masked_fill(~there, torch.nan)
        rows = tuple(tuple(round(score, 4) for score in row) for row in pooled.tolist())
        found.append(TurnScores(f"{seen.name}: {title}", forms, rows))
    return found


def _titles(seen: Look) -> tuple[str, ...]:
    """What the texts that a model reads are."""
    if isinstance(seen.predictor, PairClassifier):
        return "premise", "hypothesis"
    if isinstance(seen.predictor, Chooser) and len(seen.laid_out.stretches) == 2:
        return "passage", "question with option"
    return "passage", "question", "option"


def draw_attention(
    models: Sequence[str | Path],
    passage: str | Path,
    question: str,
    *,
    out: str | Path,
    options: Sequence[str] = (),
    layer: str = "",
    head: int | None = None,
    show: str = "question",
    device: str = "cpu",
) -> list[str]:
    """Draw the attention of one or two models beside one another.

    Of a single guided model the encoder's last layer stands beside the guided one where no layer is
    named.

    Args:
        models: ``default-reader`` or folders.
        passage: a text file, or ``-``; of a model for pairs the first text.
        question: about it; of a model for pairs the second text.
        out: the picture, ``.svg``.
        options: of a model for choice; the one that the first model chooses is read.
        layer: a number from 1, or ``guided``; each model's last one if not given.
        head: from 1; the mean over all heads if not given.
        show: the words on the axes: ``question``, ``answer`` (the sentence of the passage in which
            the first model finds its answer), the number of a sentence of the passage, or ``all``.
        device: where to compute.

    Returns:
        The title of each map.

    Raises:
        InputError: a model, file or choice cannot be used.
    """
    _check(out)
    if layer and layer != GUIDED and not layer.isdigit():
        raise InputError(f"--layer: expected a number from 1, or {GUIDED}, got {layer!r}")
    predictors = [open_predictor(model, device=device) for model in models]
    texts = _texts(predictors[0], read_text(passage), question, options)
    shown, texts = _shown(show, predictors, texts)
    wanted = int(layer) if layer.isdigit() else layer or None
    seen = [
        look(Path(model).name, predictor, texts)
        for model, predictor in zip(models, predictors, strict=True)
    ]
    matrices = attention_matrices(seen, shown, layer=wanted, head=head)
    write_text(out, attention_svg(matrices, title=f"Attention: {question}"))
    return [matrix.title for matrix in matrices]


def draw_turns(
    models: Sequence[str | Path],
    passage: str | Path,
    question: str,
    *,
    out: str | Path,
    options: Sequence[str] = (),
    device: str = "cpu",
) -> list[str]:
    """Draw the scores of iterative co-attention, a row a turn.

    Args:
        models: as for :func:`draw_attention`, and so are the others.
        passage: a text file, or ``-``.
        question: about it.
        out: the picture, ``.svg``.
        options: of a model for choice.
        device: where to compute.

    Returns:
        The title of each text.

    Raises:
        InputError: a model or file cannot be used, or a model has no such scores.
    """
    _check(out)
    predictors = [open_predictor(model, device=device) for model in models]
    texts = _texts(predictors[0], read_text(passage), question, options)
    scores = []
    for model, predictor in zip(models, predictors, strict=True):
        seen = look(Path(model).name, predictor, texts)
        parts = [sentences_of(predictors, each.text) for each in seen.laid_out.stretches]
        scores += turn_scores(seen, parts)
    write_text(out, turns_svg(scores, title=f"Co-attention in turns: {question}"))
    return [part.title for part in scores]


def _check(out: str | Path) -> None:
    if Path(out).suffix != SVG:
        raise InputError(f"{out}: expected a picture as {SVG}; rename it")


def _texts(predictor: Predictor, passage: str, question: str, options: Sequence[str]) -> Texts:
    if not isinstance(predictor, Chooser):
        if options:
            raise InputError("--options: only a model for choice reads options; leave them out")
        return Texts(passage, question)
    if len(options) == 1:
        options = [option.strip() for option in options[0].split("|")]
    if len(options) < 2:
        raise InputError("a model for choice reads options; give --options 'A | B'")
    chosen = predictor.choose(passage, question, options).chosen
    return Texts(passage, question, tuple(options), chosen)


def _shown(show: str, predictors: Sequence[Predictor], texts: Texts) -> tuple[Shown, Texts]:
    """The words on the axes, and the texts with the place that must be in the window."""
    asked = [(texts.second, part) for part in sentences_of(predictors, texts.second)]
    if show == "question":
        return asked, texts
    sentences = sentences_of(predictors, texts.first)
    if show == "all":
        return [*((texts.first, part) for part in sentences), *asked], texts
    number = int(show) if show.isdigit() else 0
    first = predictors[0]
    if show == "answer" and isinstance(first, Reader):
        answer = first.answer(texts.first, texts.second, threshold=float("inf"))
        start = answer.start or 0
        number = 1 + next((n for n, part in enumerate(sentences) if part.end > start), 0)
    if not 1 <= number <= len(sentences):
        raise InputError(
            f"--show: expected {', '.join(SHOWN)} ('answer' of a reader), or the number of a "
            f"sentence from 1 to {len(sentences)}, got {show!r}"
        )
    sentence = sentences[number - 1]
    return [(texts.first, sentence)], texts._replace(place=(sentence.start, sentence.end))
