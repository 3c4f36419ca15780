"""Draw attention weights and co-attention scores of models for a passage and a question."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from syntagma.analysis.attention.matrices import GUIDED, attention_matrices
from syntagma.analysis.attention.observation import (
    Predictor,
    Shown,
    observe_reading,
    open_predictor,
    sentences_of,
)
from syntagma.analysis.attention.word_scores import answer_scores, turn_scores
from syntagma.analysis.systems import distinct_names
from syntagma.drawing.attention_svg import attention_svg
from syntagma.drawing.turns_svg import turns_svg
from syntagma.errors import InputError
from syntagma.extraction.source import read_plain_text
from syntagma.files import STANDARD_OUTPUTS
from syntagma.outputs import write_text
from syntagma.tasks.choice.chooser import Chooser
from syntagma.tasks.layout import TextPair
from syntagma.tasks.spans.reader import Reader

SHOWN = ("question", "answer", "both", "all")
SVG = ".svg"


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
    """Draw the attention maps of models side by side.

    For a single guided model without a given layer, the encoder's last layer is drawn next to the
    guided one.

    Args:
        models: ``default-reader`` or folders of models.
        passage: a text file, or ``-`` for standard input; the first text for a model of pairs.
        question: a question about the passage; the second text for a model of pairs.
        out: path of the figure, with the suffix ``.svg``.
        options: options for a multiple-choice model; the figure shows the one that the first model
            chooses.
        layer: number of a layer from 1, or ``guided``; defaults to the last layer of each model.
        head: number of a head from 1; defaults to the mean over all heads.
        show: the words to show: ``question``, ``answer`` (the sentence of the passage with the
            first model's answer), ``both``, the number of a sentence of the passage, or ``all``.
        device: device to run the models on.

    Returns:
        The title of each map.

    Raises:
        InputError: a model, file or option cannot be used.
    """
    _check(out)
    if layer and layer != GUIDED and not layer.isdecimal():
        raise InputError(f"--layer: expected a number from 1, or {GUIDED}, got {layer!r}")
    predictors = [open_predictor(model, device=device) for model in models]
    texts = _texts(predictors[0], read_plain_text(passage), question, options)
    shown, texts = _shown(show, predictors, texts)
    wanted = int(layer) if layer.isdecimal() else layer or None
    seen = [
        observe_reading(name, predictor, texts)
        for name, predictor in zip(_names(models), predictors, strict=True)
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
    """Draw the scores of iterative co-attention in each turn, and of readers' answer boundaries.

    Args:
        models: see :func:`draw_attention`.
        passage: a text file, or ``-`` for standard input.
        question: a question about the passage.
        out: path of the figure, with the suffix ``.svg``.
        options: options for a multiple-choice model.
        device: device to run the models on.

    Returns:
        The title of each text in the figure.

    Raises:
        InputError: a model or file cannot be used; or a model has no co-attention scores, unless it
            is a reader and another model has some.
    """
    _check(out)
    predictors = [open_predictor(model, device=device) for model in models]
    texts = _texts(predictors[0], read_plain_text(passage), question, options)
    observations = [
        observe_reading(name, predictor, texts)
        for name, predictor in zip(_names(models), predictors, strict=True)
    ]
    some = any(seen.observed.turns is not None for seen in observations)
    scores = []
    for seen in observations:
        sentences = [sentences_of(predictors, each.text) for each in seen.layout.stretches]
        is_reader = isinstance(seen.predictor, Reader)
        if is_reader:
            scores.append(answer_scores(seen, sentences_of(predictors, texts.first)))
        # A reader without turns is useful for comparison with one that has some; otherwise
        # `turn_scores` raises an error.
        if seen.observed.turns is not None or not (is_reader and some):
            scores += turn_scores(seen, sentences)
    write_text(out, turns_svg(scores, title=f"Co-attention in turns: {question}"))
    return [text.title for text in scores]


def _names(models: Sequence[str | Path]) -> list[str]:
    paths = list(map(Path, models))
    return distinct_names([path.name for path in paths], paths)


def _check(out: str | Path) -> None:
    if Path(out).suffix != SVG and str(out) not in STANDARD_OUTPUTS:
        raise InputError(f"{out}: expected a picture as {SVG}; rename it")


def _texts(predictor: Predictor, passage: str, question: str, options: Sequence[str]) -> TextPair:
    if not isinstance(predictor, Chooser):
        if options:
            raise InputError("--options: only multiple-choice models read options; omit them")
        return TextPair(passage, question)
    if len(options) == 1:
        options = [option.strip() for option in options[0].split("|")]
    if len(options) < 2:
        raise InputError("a multiple-choice model needs options; give --options 'A | B'")
    chosen = predictor.choose(passage, question, options).chosen
    return TextPair(passage, question, tuple(options), chosen)


def _shown(show: str, predictors: Sequence[Predictor], texts: TextPair) -> tuple[Shown, TextPair]:
    """Return the words to show, and the texts with the span that the window must contain."""
    asked = [(texts.second, sentence) for sentence in sentences_of(predictors, texts.second)]
    if show == "question":
        return asked, texts
    sentences = sentences_of(predictors, texts.first)
    if show == "all":
        return [*((texts.first, sentence) for sentence in sentences), *asked], texts
    number = int(show) if show.isdecimal() else 0
    first = predictors[0]
    if show in ("answer", "both") and isinstance(first, Reader):
        answer = first.answer(texts.first, texts.second, threshold=float("inf"))
        start = answer.start or 0
        number = 1 + next((n for n, each in enumerate(sentences) if each.end > start), 0)
    if not 1 <= number <= len(sentences):
        raise InputError(
            f"--show: expected {', '.join(SHOWN)} ('answer' and 'both' only for readers), or the "
            f"number of a sentence from 1 to {len(sentences)}, got {show!r}"
        )
    sentence = sentences[number - 1]
    shown = [*(asked if show == "both" else ()), (texts.first, sentence)]
    return shown, texts._replace(place=(sentence.start, sentence.end))
