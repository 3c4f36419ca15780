"""Limits, keys and headers: what is refused, with which status, in one clear line."""

from __future__ import annotations

import asyncio
import logging
import threading

import pytest

from syntagma.cli.serve import _host_names
from syntagma.errors import InputError, MachineError
from syntagma.serve.addresses import read_host, read_origin
from syntagma.serve.app import Access
from syntagma.serve.keys import Keys, read_keys
from syntagma.serve.limits import Limits
from syntagma.serve.server import bind
from tests.messages import naming, says

KEY = "0123456789abcdef-and-more"
BODY = {"text": "A gull cried. It was heard.", "question": "Who cried?"}
JSON = {"Content-Type": "application/json"}


def refused(response, status, words):
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert problem["status"] == status
    assert problem["title"]
    assert "\n" not in problem["detail"]
    assert says(problem["detail"], words), problem["detail"]


@pytest.mark.parametrize(
    ("content", "status", "words"),
    [
        (b"", 422, "body expected"),
        (b"{", 400, "JSON"),
        (b'{"text": "a" "b"}', 400, "JSON"),
        (b"\xff\xfe\x00", 400, "JSON"),
        (b"[" * 100_000, 400, "JSON"),
        (b"[]", 422, "object list"),
        (b'"text"', 422, "object string"),
        (b"null", 422, "body object null"),
        (b'{"text": "\\ud800 a", "question": "Who?"}', 422, "text"),
        (b'{"text": "a", "question": "Who?", "top": NaN}', 422, "top"),
        (b'{"text": "a", "question": "Who?", "top": 1e999}', 422, "top"),
        (b'{"text": "a", "question": "Who?", "top": true}', 422, "top true"),
        (b'{"text": {"a": 1}, "question": "Who?"}', 422, "text object"),
    ],
)
def test_malformed_bodies(client, content, status, words):
    refused(client.post("/v1/answer", content=content, headers=JSON), status, words)


def test_null_characters_and_unusual_text_are_answered(client):
    for text in ("a\x00b.", "\u202eabc.", "😀" * 50, "a" * 5000, "\r\n\t x"):
        response = client.post("/v1/answer", json={"text": text, "question": "Who?"})
        assert response.status_code == 200, response.text
        assert client.post("/v1/parse", json={"text": text}).status_code == 200


def test_long_bodies_texts_and_lists(serving):
    client = serving(body_bytes=2000, text_characters=100, question_characters=20, items=3, queue=9)
    refused(client.post("/v1/parse", json={"text": "a " * 2000}), 413, "2,000 --body-bytes")
    refused(client.post("/v1/parse", json={"text": "a " * 60}), 413, "text 100 120")
    refused(client.post("/v1/parse", json={"texts": ["a", "a " * 60]}), 413, "texts.1 100 120")
    refused(client.post("/v1/answer", json=BODY | {"question": "q" * 21}), 413, "question 20 21")
    refused(client.post("/v1/parse", json={"texts": ["a"] * 4}), 422, "texts 3 --items 4")
    wide = {"inputs": [{"first": "a", "second": "b" * 200}]}
    refused(client.post("/v1/predict/pairs", json=wide), 413, "inputs.0 100")


def test_a_body_without_a_length_is_counted(serving):
    client = serving(body_bytes=1000)

    def parts():
        for _ in range(30):
            yield b"a" * 100

    response = client.post("/v1/parse", content=parts(), headers=JSON)
    refused(response, 413, "1,000 --body-bytes")


def test_other_types_paths_and_methods(client):
    refused(client.post("/v1/answer", content=b"a=b", headers={"Content-Type": "text/plain"}),
            415, "application/json text/plain")  # fmt: skip
    refused(client.post("/v1/answer"), 415, "application/json none")
    refused(client.get("/v1/answer"), 405, "/docs GET")
    refused(client.get("/nowhere"), 404, "/docs")
    refused(client.post("/health", json={}), 405, "/docs")


def test_too_many_requests_are_told_when_to_try_again(serving):
    blocked, entered = threading.Event(), threading.Event()

    def wait(payloads):
        entered.set()
        assert blocked.wait(20)

    client = serving(before=wait, requests=2, items=1, queue=1)
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(client.post("/v1/answer", json=BODY)))
        for _ in range(2)
    ]
    threads[0].start()
    assert entered.wait(20)  # The worker has this one; the queue is for the next.
    threads[1].start()
    for _ in range(200):
        if "syntagma_queue_jobs 1.0" in client.get("/metrics").text:
            break
    response = client.post("/v1/answer", json=BODY)
    refused(response, 429, "2 --requests")
    assert int(response.headers["retry-after"]) >= 1
    assert client.get("/health").status_code == 200  # Probes are not counted.
    blocked.set()
    for thread in threads:
        thread.join()
    assert [each.status_code for each in found] == [200, 200]
    assert "syntagma_open_requests 0.0" in client.get("/metrics").text


def test_a_full_queue_refuses_a_whole_request(serving):
    blocked, entered = threading.Event(), threading.Event()

    def wait(payloads):
        entered.set()
        assert blocked.wait(20)

    client = serving(before=wait, items=4, queue=4)
    thread = threading.Thread(target=lambda: client.post("/v1/answer", json=BODY))
    thread.start()
    assert entered.wait(20)
    waiting = threading.Thread(target=lambda: client.post("/v1/parse", json={"text": "a"}))
    waiting.start()
    while "syntagma_queue_jobs 1.0" not in client.get("/metrics").text:
        pass
    response = client.post("/v1/parse", json={"texts": ["a"] * 4})
    refused(response, 429, "1 4 --queue")
    assert response.headers["retry-after"]
    blocked.set()
    thread.join()
    waiting.join()
    assert "syntagma_queue_jobs 0.0" in client.get("/metrics").text


def test_a_request_that_takes_too_long_is_refused(serving):
    blocked = threading.Event()
    client = serving(before=lambda payloads: blocked.wait(20) and None, seconds=1)
    refused(client.post("/v1/answer", json=BODY), 504, "1 --seconds x-ndjson")
    blocked.set()
    assert client.post("/v1/answer", json=BODY).status_code == 200


def test_keys(serving, caplog):
    caplog.set_level(logging.DEBUG)
    client = serving(access=Access(keys=Keys([KEY, "another-key-of-someone"])))
    refused(client.post("/v1/answer", json=BODY), 401, "Authorization Bearer")
    for wrong in ("", KEY[:-1], KEY + "x", "Bearer", "é"):
        header = {"Authorization": f"Bearer {wrong}".encode()}
        response = client.post("/v1/answer", json=BODY, headers=header)
        assert response.status_code == 401
        assert response.headers["www-authenticate"] == "Bearer"
    for header in ({"Authorization": f"Bearer {KEY}"}, {"X-API-Key": "another-key-of-someone"}):
        assert client.post("/v1/answer", json=BODY, headers=header).status_code == 200
    assert client.get("/metrics").status_code == 401
    assert client.get("/health").status_code == client.get("/docs").status_code == 200
    assert KEY not in caplog.text


def test_keys_from_a_file_and_the_environment(tmp_path):
    path = tmp_path / "keys.txt"
    path.write_text(f"# of the office\n{KEY}\n\n")
    keys = read_keys(
        path, {"SYNTAGMA_API_KEYS": "a-key-from-the-environment, and-one-more-of-them"}
    )
    for key in (KEY, "a-key-from-the-environment", "and-one-more-of-them"):
        assert keys.admit(key.encode())
    assert not keys.admit(None)
    assert not keys.admit(b"# of the office")
    assert Keys().admit(None)
    path.write_text("short\n")
    with pytest.raises(InputError, match=naming("5 16 openssl")) as caught:
        read_keys(path, {})
    assert "short" not in str(caught.value).replace("too short", "")
    path.write_text("# none\n")
    with pytest.raises(InputError, match=naming(path)):
        read_keys(path, {})


def test_security_headers_are_on_every_response(client):
    for response in (client.get("/docs"), client.get("/nowhere"), client.post("/v1/answer")):
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["x-frame-options"] == "DENY"
        assert response.headers["referrer-policy"] == "no-referrer"
        assert "default-src 'none'" in response.headers["content-security-policy"]
        assert "access-control-allow-origin" not in response.headers


def test_no_other_site_may_call_unless_named(client, serving):
    origin = {"Origin": "https://a.example", "Access-Control-Request-Method": "POST"}
    assert "access-control-allow-origin" not in client.options("/v1/answer", headers=origin).headers
    named = serving(access=Access(origins=("https://a.example",)))
    preflight = named.options("/v1/answer", headers=origin)
    assert preflight.headers["access-control-allow-origin"] == "https://a.example"
    answer = named.post("/v1/answer", json=BODY, headers={"Origin": "https://a.example"})
    assert answer.headers["access-control-allow-origin"] == "https://a.example"
    other = named.post("/v1/answer", json=BODY, headers={"Origin": "https://b.example"})
    assert other.headers.get("access-control-allow-origin") != "https://b.example"


def test_a_server_answers_to_its_names_only(serving):
    client = serving(access=Access(hosts=("127.0.0.1", "localhost", "::1")))
    for host in ("localhost:8000", "127.0.0.1", "[::1]:8000", "[::1]", "LOCALHOST"):
        assert client.get("/health", headers={"Host": host}).status_code == 200
    response = client.get("/health", headers={"Host": "rebound.example:8000"})
    refused(response, 421, "rebound.example --allowed-host")


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("Read.example.ORG", "read.example.org"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("[::1]", "::1"),
        ("FE80:0::1", "fe80::1"),
        ("10.0.0.7", "10.0.0.7"),
    ],
)
def test_a_server_answers_to_a_name_however_it_is_written(given, name):
    assert read_host(given) == name


@pytest.mark.parametrize(
    "given",
    ["read.example.org:8000", "https://read.example.org", "read.example.org/", "[::1]:80", "*", ""],
)
def test_a_name_that_no_request_has_is_refused(given):
    with pytest.raises(InputError, match=naming("--allowed-host read.example.org port")) as raised:
        read_host(given)
    assert repr(given) in str(raised.value)


@pytest.mark.parametrize(
    ("given", "origin"),
    [
        ("https://A.example/", "https://a.example"),
        ("http://localhost:3000", "http://localhost:3000"),
        ("https://a.example:443", "https://a.example"),
        ("https://bücher.example:8443", "https://xn--bcher-kva.example:8443"),
        ("http://[::1]:8000", "http://[::1]:8000"),
        ("*", "*"),
    ],
)
def test_a_site_is_named_as_browsers_do(given, origin):
    assert read_origin(given) == origin


@pytest.mark.parametrize("given", ["a.example", "https://a.example/page", "https://", "//a", ""])
def test_a_site_that_no_browser_names_is_refused(given):
    with pytest.raises(InputError, match=naming("--cors https://example.org")) as raised:
        read_origin(given)
    assert repr(given) in str(raised.value)


def test_the_names_of_a_server_are_those_of_requests():
    assert _host_names("127.0.0.1", ["Read.example.org"])[-1] == "read.example.org"
    with pytest.raises(InputError):
        _host_names("127.0.0.1", ["read.example.org:8000"])


@pytest.mark.parametrize("host", ["a..b", "a" * 70 + ".example"])
def test_a_host_that_is_no_name_is_refused(host):
    with pytest.raises(MachineError, match=naming(f"--host {host} --port 8000")):
        bind(host, 8000)


def test_texts_are_not_logged_unless_asked(serving, caplog):
    caplog.set_level(logging.DEBUG)
    logging.getLogger("httpx2").setLevel(logging.WARNING)  # The client's own log.
    secret = {"text": "Mauve herons nest here.", "question": "Which herons nest?"}
    client = serving()
    client.post("/v1/answer", json=secret)
    client.post("/v1/answer", json=secret | {"mauve": "herons"})
    client.get("/v1/answer?text=mauve+herons")
    assert "POST /v1/answer 200" in caplog.text
    assert "erons" not in caplog.text
    serving(access=Access(log_texts=True)).post("/v1/answer", json=secret)
    assert "Mauve herons" in caplog.text


def test_an_internal_error_is_hidden_from_client_and_log(serving, operations, caplog, monkeypatch):
    def fail(*arguments):
        raise RuntimeError("it was Mauve herons")

    monkeypatch.setattr(type(operations), "answer", fail)
    response = serving().post("/v1/answer", json=BODY)
    refused(response, 500, "internal error RuntimeError")
    assert "erons" not in response.text + caplog.text
    assert "test_gate.py" in caplog.text


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"body_bytes": 0}, "--body-bytes 1 0"),
        ({"seconds": float("nan")}, "--seconds nan"),
        ({"seconds": float("inf")}, "--seconds inf"),
        ({"batch_wait_ms": -1}, "--batch-wait-ms 0 -1"),
        ({"queue": 10}, "--queue 10 --items 256"),
    ],
)
def test_impossible_limits(values, words):
    with pytest.raises(InputError, match=naming(words)):
        Limits(**values)


def test_a_client_that_leaves_frees_its_place():
    """Its jobs leave the queue, and the worker is not asked for them."""
    from syntagma.serve.gate import Gate
    from syntagma.serve.metrics import Metrics

    async def run():
        metrics = Metrics()
        started, stopped = asyncio.Event(), asyncio.Event()

        async def app(scope, receive, send):
            started.set()
            try:
                await asyncio.sleep(30)
            finally:
                stopped.set()

        gate = Gate(app, limits=Limits(), metrics=metrics, keys=Keys())
        messages = [{"type": "http.request", "body": b"{}"}]

        async def receive():
            if messages:
                return messages.pop()
            await started.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            raise AssertionError(message)

        headers = [(b"content-type", b"application/json")]
        scope = {"type": "http", "path": "/v1/parse", "method": "POST", "headers": headers}
        await asyncio.wait_for(gate(scope, receive, send), 5)
        assert stopped.is_set()
        assert gate.n_open == 0
        assert b'status="499"' in metrics.text()

    asyncio.run(run())
