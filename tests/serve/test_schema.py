"""The description of the API is true: a client made from it works, and what fits is answered."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest

from tests.conftest import SENTENCES

jsonschema = pytest.importorskip("jsonschema")

WORK = ("/v1/answer", "/v1/parse", "/v1/passages", "/v1/predict/{name}")


class DescribedClient:
    """A client that knows only what the description of the API says.

    Args:
        http: sends requests.
    """

    def __init__(self, http: Any) -> None:
        self.http = http
        self.api = http.get("/openapi.json").json()
        self.operations = {
            (path, method): operation
            for path, methods in self.api["paths"].items()
            for method, operation in methods.items()
        }

    def schema(self, part: dict[str, Any]) -> dict[str, Any]:
        """A schema with all that it refers to."""
        return {**part, "components": self.api["components"]}

    def body_schema(self, path: str) -> dict[str, Any]:
        body = self.operations[path, "post"]["requestBody"]["content"]["application/json"]
        return self.schema(body["schema"])

    def examples(self, path: str) -> list[Any]:
        name = self.body_schema(path)["$ref"].rpartition("/")[2]
        found: list[Any] = self.api["components"]["schemas"][name]["examples"]
        return found

    def call(self, path: str, method: str, body: Any = None, **parts: str) -> Any:
        """Send a request that fits, and check that the response is one of those described."""
        if body is not None:
            jsonschema.validate(body, self.body_schema(path))
        place = path.format(**{key: quote(value, safe="") for key, value in parts.items()})
        options = {} if body is None else {"json": body}
        return self.check(path, method, self.http.request(method.upper(), place, **options))

    def check(self, path: str, method: str, response: Any) -> Any:
        described = self.operations[path, method]["responses"]
        assert str(response.status_code) in described, (response.status_code, response.text)
        media_type = response.headers["content-type"].partition(";")[0]
        content = described[str(response.status_code)]["content"][media_type]
        if media_type.endswith("json"):
            jsonschema.validate(response.json(), self.schema(content["schema"]))
        return response


@pytest.fixture
def described(client) -> DescribedClient:
    return DescribedClient(client)


def test_every_example_is_answered_as_described(described):
    for path in WORK[:3]:
        examples = described.examples(path)
        assert examples
        for example in examples:
            assert described.call(path, "post", example).status_code == 200
    pair, choice = described.examples(WORK[3])
    assert described.call(WORK[3], "post", pair, name="pairs").status_code == 200
    assert described.call(WORK[3], "post", choice, name="choice").status_code == 200


def test_every_state_is_as_described(described):
    for path, method in described.operations:
        if method == "get":
            assert described.call(path, method).status_code == 200


def test_refusals_are_as_described(described):
    for path in WORK:
        place = path.format(name="pairs")
        for body, status in ((b"{", 400), (b"{}", 422), (b'{"a": 1}', 422)):
            response = described.http.post(
                place, content=body, headers={"Content-Type": "application/json"}
            )
            assert described.check(path, "post", response).status_code == status
        assert described.check(path, "post", described.http.post(place)).status_code == 415
    assert described.call(WORK[3], "post", {"input": {}}, name="nobody").status_code == 404


def test_all_answers_of_indexes_and_predictors_fit_the_description(described):
    for mode in ("strict", "balanced", "lenient"):
        body = {"index": "notes", "questions": SENTENCES[:2], "mode": mode}
        described.call("/v1/answer", "post", body)
    for by in ("fused", "bm25", "vectors"):
        described.call("/v1/passages", "post", {"question": SENTENCES[0], "by": by})
    described.call("/v1/parse", "post", {"text": "word " * 500})
    inputs = {"text": SENTENCES[0], "mention": [0, 5]}
    described.call(WORK[3], "post", {"input": inputs}, name="typing")


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["POSITIVE", "NEGATIVE"])
@pytest.mark.parametrize("path", WORK)
def test_whatever_fits_or_does_not_is_answered_as_described(described, path, mode):
    """A property test: schemathesis makes requests from the description, good or bad."""
    schemathesis = pytest.importorskip("schemathesis")
    from hypothesis import HealthCheck, given, settings

    operation = schemathesis.openapi.from_dict(described.api)[path]["POST"]
    strategy = operation.as_strategy(generation_mode=schemathesis.GenerationMode[mode])
    statuses = set()

    @settings(max_examples=25, deadline=None, database=None, suppress_health_check=[*HealthCheck])
    @given(strategy)
    def check(case):
        name = str((case.path_parameters or {}).get("name", "")) or "pairs"
        place = path.format(name=quote(name, safe=""))
        raw = case.body if isinstance(case.body, bytes) else json.dumps(case.body, default=str)
        headers = {"Content-Type": "application/json"}
        response = described.http.post(place, content=raw, headers=headers)
        statuses.add(response.status_code)
        assert response.status_code < 500, response.text
        if response.status_code not in (404, 405):
            described.check(path, "post", response)

    check()
    assert statuses
