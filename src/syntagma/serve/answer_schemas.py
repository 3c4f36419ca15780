"""The bodies of responses, as OpenAPI describes them; a test checks real responses by them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel


class Problem(BaseModel):
    """Why a request was refused or failed (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str


class Status(BaseModel):
    """How the server is."""

    status: Literal["ok", "ready", "loading", "stopping"]


class Model(BaseModel):
    """A model or index that is served; only its kind is known before it is loaded."""

    name: str
    kind: Literal["reader", "parser", "index", "predictor"]
    task: str
    version: str | None = None
    digest: str | None = None
    inputs: list[str] | None = None
    labels: list[str] | None = None
    phrases: bool | None = None
    documents: int | None = None
    passages: int | None = None


class Models(BaseModel):
    """What is served."""

    models: list[Model]


class Excerpt(BaseModel):
    """A stretch of a text, in characters."""

    text: str
    start: int
    end: int


class Candidate(Excerpt):
    """A possible answer."""

    score: float
    share: float
    paragraph: int | None = None


class Passage(BaseModel):
    """A passage of an index."""

    source: str
    page: int | None
    heading: str
    start: int
    end: int
    text: str
    score: float


class Answer(BaseModel):
    """What the reader makes of a question; docs/outcomes.md describes the fields."""

    question: str
    outcome: Literal["answer", "unsure", "none"]
    text: str
    start: int | None
    end: int | None
    confidence: float
    no_answer: float
    reason: str
    spans: list[Candidate]
    candidates: list[Candidate]
    sentence: Excerpt | None
    calibrated: bool
    mode: Literal["strict", "balanced", "lenient"]
    threshold: float | Literal["inf", "-inf"] | None
    null_odds: float | None
    source: str | None = None
    page: int | None = None
    heading: str | None = None
    passages: list[Passage] | None = None


class Answers(BaseModel):
    """An answer to each question, in order."""

    model: str
    answers: list[Answer]


class FoundPassages(BaseModel):
    """The passages for a question, best first."""

    question: str
    passages: list[Passage]


class Found(BaseModel):
    """Passages for each question, in order."""

    index: str
    results: list[FoundPassages]


class Word(BaseModel):
    """A word; `head` counts words from 1, and is 0 for the root."""

    form: str
    start: int
    end: int
    head: int
    relation: str
    upos: str
    xpos: str
    lemma: str | None = None
    feats: str | None = None
    probability: float | None = None
    long: bool | None = None


class Phrase(BaseModel):
    """A phrase from word `first` to word `last`, counted from 1."""

    label: str
    first: int
    last: int


class Token(BaseModel):
    """A token that stands for the words `first` to `last`, with its characters."""

    first: int
    last: int
    start: int
    end: int


class Part(BaseModel):
    """A part of a sentence that was too long to be parsed as a whole."""

    first: int
    last: int


class Sentence(BaseModel):
    """The tree of a sentence."""

    words: list[Word]
    tokens: list[Token] | None = None
    constituents: list[Phrase] | None = None
    parts: list[Part] | None = None
    continues: bool | None = None


class ParsedText(BaseModel):
    """The sentences of a text."""

    sentences: list[Sentence]


class Parses(BaseModel):
    """The parse of each text, in order."""

    model: str
    texts: list[ParsedText]


class Predictions(BaseModel):
    """A prediction for each input, in order; its fields depend on the task."""

    model: str
    task: str
    predictions: list[dict[str, Any]]
