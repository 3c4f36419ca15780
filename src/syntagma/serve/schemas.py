"""The bodies of requests, checked by pydantic and described by OpenAPI."""

from __future__ import annotations

import re
from itertools import product
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StringConstraints,
)
from pydantic import model_validator as check_together
from pydantic_core import PydanticCustomError

FERRY = "Ada Mensah fitted a coal barge with an engine in 1921. It carried forty people."

Text = Annotated[str, StringConstraints(strict=True, min_length=1, pattern=r"\S")]
Name = Annotated[str, StringConstraints(strict=True, max_length=100)]
Top = Annotated[StrictInt, Field(ge=1, le=50)]
MOST_LEVELS = 10
"""Nested lists and objects of an input; those of our tasks have three."""
_HALF = re.compile("[\ud800-\udfff]")


def _require_plain(value: Any) -> Any:
    """Check what a model will read: no half characters, and no nesting without end."""
    level = [value]
    for _ in range(MOST_LEVELS):
        if any(isinstance(each, str) and _HALF.search(each) for each in level):
            raise PydanticCustomError("string_unicode", "half of a pair")
        level = [
            part
            for each in level
            if isinstance(each, dict | list)
            for part in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return value
    raise ValueError(f"expected at most {MOST_LEVELS} levels of lists and objects, got more")


Input = Annotated[dict[str, Any], AfterValidator(_require_plain)]


def _both(one: str, many: str, body: Any) -> list[Any]:
    """Return what a request gives as one or as several."""
    single, several = getattr(body, one), getattr(body, many)
    return [single] if single is not None else list(several)


def _require_one(body: Any, first: str, second: str) -> None:
    given = [name for name in (first, second) if getattr(body, name) is not None]
    if len(given) != 1:
        raise ValueError(
            f"expected either {first} or {second}, got {' and '.join(given) or 'none'}"
        )


def _described(examples: list[Any], *choices: tuple[str, ...]) -> ConfigDict:
    """Return what OpenAPI says of a schema: examples, and which keys must be there.

    Args:
        examples: bodies that the route accepts.
        choices: keys of which exactly one must be given.
    """
    needed: list[Any] = [{"required": list(keys)} for keys in product(*choices)]
    return ConfigDict(json_schema_extra={"examples": examples, "anyOf": needed})


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class AnswerRequest(_Body):
    """Questions about a text, or to the documents of an index."""

    model_config = _described(
        [
            {"text": FERRY, "question": "Who fitted a coal barge with an engine?"},
            {"text": FERRY, "questions": ["How many people did it carry?"], "mode": "strict"},
        ],
        ("text", "index"),
        ("question", "questions"),
    )
    text: Text | None = Field(None, description="The text to answer from.")
    index: Name | None = Field(None, description="The name of an index, instead of a text.")
    question: Text | None = Field(None, description="A question.")
    questions: Annotated[list[Text], Field(min_length=1)] | None = Field(
        None, description="Several questions, instead of one."
    )
    mode: Literal["strict", "balanced", "lenient"] = Field(
        "balanced", description="How sure the reader must be to answer."
    )
    top: Top = Field(5, description="The most candidates that are shown of an answer.")
    read: Top = Field(10, description="The passages of an index that are read for a question.")
    model: Name | None = Field(None, description="The name of a reader; by default the first.")

    @check_together(mode="after")
    def _check(self) -> Self:
        _require_one(self, "text", "index")
        _require_one(self, "question", "questions")
        if self.text is not None and "read" in self.model_fields_set:
            raise ValueError("read is for an index; omit it")
        return self

    @property
    def all_questions(self) -> list[str]:
        """The questions, whether one was given or several."""
        return _both("question", "questions", self)


class PassagesRequest(_Body):
    """Questions for which an index finds passages."""

    model_config = _described(
        [{"question": "Who chairs the committee?", "top": 3}], ("question", "questions")
    )
    index: Name | None = Field(None, description="The name of an index; by default the first.")
    question: Text | None = Field(None, description="A question.")
    questions: Annotated[list[Text], Field(min_length=1)] | None = Field(
        None, description="Several questions, instead of one."
    )
    top: Top = Field(10, description="The most passages for a question.")
    by: Literal["fused", "bm25", "vectors"] = Field(
        "fused", description="Search by keywords (bm25), by meaning (vectors), or by both."
    )

    @check_together(mode="after")
    def _check(self) -> Self:
        _require_one(self, "question", "questions")
        return self

    @property
    def all_questions(self) -> list[str]:
        """The questions, whether one was given or several."""
        return _both("question", "questions", self)


class ParseRequest(_Body):
    """Texts to parse."""

    model_config = _described(
        [{"text": FERRY}, {"texts": [FERRY, "It sank in May."]}], ("text", "texts")
    )
    text: Text | None = Field(None, description="A text.")
    texts: Annotated[list[Text], Field(min_length=1)] | None = Field(
        None, description="Several texts, instead of one."
    )
    phrases: StrictBool = Field(
        False, description="Whether phrases are found too; in brackets they always are."
    )
    lang: Name | None = Field(
        None,
        description="The language of the texts, as a code of ISO 639, for a parser of several; by "
        "default it is detected for each text.",
    )
    model: Name | None = Field(None, description="The name of a parser; by default the first.")

    @check_together(mode="after")
    def _check(self) -> Self:
        _require_one(self, "text", "texts")
        return self

    @property
    def all_texts(self) -> list[str]:
        """The texts, whether one was given or several."""
        return _both("text", "texts", self)


class PredictRequest(_Body):
    """Inputs of a model, each with the keys that `/v1/models` lists as its inputs."""

    model_config = _described(
        [
            {"input": {"first": "A gull cried.", "second": "A bird was heard."}},
            {"inputs": [{"passage": FERRY, "question": "When?", "options": ["1921", "1912"]}]},
        ],
        ("input", "inputs"),
    )
    input: Input | None = Field(None, description="An input.")
    inputs: Annotated[list[Input], Field(min_length=1)] | None = Field(
        None, description="Several inputs, instead of one."
    )

    @check_together(mode="after")
    def _check(self) -> Self:
        _require_one(self, "input", "inputs")
        return self

    @property
    def all_inputs(self) -> list[dict[str, Any]]:
        """The inputs, whether one was given or several."""
        return _both("input", "inputs", self)


BODIES: dict[str, type[_Body]] = {
    "/v1/answer": AnswerRequest,
    "/v1/passages": PassagesRequest,
    "/v1/parse": ParseRequest,
    "/v1/predict/{name}": PredictRequest,
}
"""The schema of the body of each route."""
