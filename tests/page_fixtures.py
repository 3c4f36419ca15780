"""Parses and answers for pages, and a headless browser controlled without further packages."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from syntagma.report.answer_page import answer_page
from syntagma.tasks.spans.answers import Answer, Outcome, Span, SpanPrediction
from syntagma.text.sentence import Parse, Sentence

PASSAGE = (
    "The old lighthouse on Gull Rock, which Ana Reyes repaired in 1931, guides small boats.  "
    "Sailors who know it 🚢 trust its beam & bell.\n\nIt was <dark> for a year."
)

# word, head, relation, universal tag, Penn tag
SENTENCES = (
    """The 3 det DET DT
    old 3 amod ADJ JJ
    lighthouse 15 nsubj NOUN NN
    on 6 case ADP IN
    Gull 6 compound PROPN NNP
    Rock 3 nmod PROPN NNP
    , 11 punct PUNCT ,
    which 11 obj PRON WDT
    Ana 11 nsubj PROPN NNP
    Reyes 9 flat PROPN NNP
    repaired 3 acl:relcl VERB VBD
    in 13 case ADP IN
    1931 11 obl NUM CD
    , 11 punct PUNCT ,
    guides 0 root VERB VBZ
    small 17 amod ADJ JJ
    boats 15 obj NOUN NNS
    . 15 punct PUNCT .""",
    """Sailors 6 nsubj NOUN NNS
    who 3 nsubj PRON WP
    know 1 acl:relcl VERB VBP
    it 3 obj PRON PRP
    🚢 6 discourse SYM SYM
    trust 0 root VERB VBP
    its 8 nmod:poss PRON PRP$
    beam 6 obj NOUN NN
    & 10 cc CCONJ CC
    bell 8 conj NOUN NN
    . 6 punct PUNCT .""",
    """It 3 nsubj PRON PRP
    was 3 cop AUX VBD
    <dark> 0 root ADJ JJ
    for 6 case ADP IN
    a 6 det DET DT
    year 3 obl NOUN NN
    . 3 punct PUNCT .""",
)


def parse_of(rows: str, text: str, offset: int = 0) -> Parse:
    """The parse given by a table of words, which are located in the text from an offset on."""
    forms, heads, relations, upos, xpos = zip(
        *(line.split() for line in rows.strip().splitlines()), strict=True
    )
    starts = []
    for form in forms:
        starts.append(text.index(form, offset))
        offset = starts[-1] + len(form)
    ends = tuple(start + len(form) for start, form in zip(starts, forms, strict=True))
    sentence = Sentence(forms, tuple(starts), ends)
    return Parse(sentence, tuple(map(int, heads)), relations, upos, xpos)


@pytest.fixture(scope="session")
def passage() -> str:
    return PASSAGE


@pytest.fixture(scope="session")
def parses() -> list[Parse]:
    found: list[Parse] = []
    for rows in SENTENCES:
        found.append(parse_of(rows, PASSAGE, found[-1].sentence.end if found else 0))
    return found


class Browser:
    """Chromium, controlled through its DevTools protocol over two pipes."""

    flags = (
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--remote-debugging-pipe",
    )

    def __init__(self, binary: str, profile: Path) -> None:
        browser_in, self.to_browser = os.pipe()
        self.from_browser, browser_out = os.pipe()

        def take_pipes() -> None:
            # The browser reads from descriptor 3 and writes to 4. Either pipe may already have
            # one of these numbers, so both are copied before they are moved.
            copies = os.dup(browser_in), os.dup(browser_out)
            os.dup2(copies[0], 3)
            os.dup2(copies[1], 4)

        self.process = subprocess.Popen(
            [binary, *self.flags, f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=take_pipes,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(browser_in)
        os.close(browser_out)
        self.buffer, self.calls, self.session = b"", 0, ""
        self.events: list[dict[str, Any]] = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def read(self) -> dict[str, Any]:
        deadline = time.monotonic() + 60
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.from_browser], [], [], deadline - time.monotonic())
            assert ready, "the browser does not answer"
            part = os.read(self.from_browser, 1 << 16)
            assert part, "the browser has ended"
            self.buffer += part
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        self.calls += 1
        session = {"sessionId": self.session} if self.session else {}
        message = {"id": self.calls, "method": method, "params": params, **session}
        os.write(self.to_browser, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.calls:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def open(self, path: Path, fragment: str = "", *, width: int = 1200, height: int = 900) -> None:
        """Load a file and wait until it has loaded; ``events`` then has what happened."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        for url in ("about:blank", path.as_uri() + fragment):
            self.events = []
            self.send("Page.navigate", url=url)
            while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
                self.events.append(self.read())

    def run(self, script: str) -> Any:
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def problems(self) -> list[str]:
        """Script errors and policy violations since the page was opened."""
        kinds = ("Runtime.exceptionThrown", "Log.entryAdded")
        return [json.dumps(event) for event in self.events if event.get("method") in kinds]

    def requests(self) -> list[str]:
        """URLs requested since the page was opened."""
        return [
            event["params"]["request"]["url"]
            for event in self.events
            if event.get("method") == "Network.requestWillBeSent"
        ]

    def point(self, selector: str, *, click: bool = False) -> None:
        """Move the mouse onto an element, and click it if ``click`` is true."""
        x, y = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'center'}); const r = e.getClientRects()[0];"
            "return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        kinds = ("mouseMoved", *(("mousePressed", "mouseReleased") if click else ()))
        for kind in kinds:
            button = "none" if kind == "mouseMoved" else "left"
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, clickCount=1)

    def press(self, key: str) -> None:
        codes = {"Enter": 13, "Escape": 27, "ArrowUp": 38, "ArrowLeft": 37, "ArrowRight": 39}
        for kind in ("rawKeyDown", "keyUp"):
            code = codes.get(key, 0)
            self.send(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code
            )

    def close(self) -> None:
        try:
            self.send("Browser.close")
            self.process.wait(30)
        except (AssertionError, OSError, subprocess.TimeoutExpired):
            self.process.kill()
        finally:
            os.close(self.to_browser)
            os.close(self.from_browser)


def chromium() -> str:
    """The path of the browser; without one, the test is skipped."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    binary = next(filter(None, map(shutil.which, names)), None)
    if binary is None:
        pytest.skip(f"no Chromium found (looked for {', '.join(names)})")
    return binary


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    opened = Browser(chromium(), tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


def span_of(passage: str, text: str, *, score: float = 5.0, probability: float = 0.5) -> Span:
    start = passage.index(text)
    return Span(text, start, start + len(text), score, probability)


def answer_of(
    question: str, spans: list[Span], *, null_odds: float, confidence: float = 0.75
) -> Answer:
    """Make an answer: none at odds above 0.5, unsure at a confidence below one half."""
    best = spans[0]
    shown = null_odds <= 0.5
    sure: Outcome = "answer" if confidence >= 0.5 else "unsure"
    prediction = SpanPrediction(
        question=question,
        text=best.text,
        start=best.start,
        end=best.end,
        score=best.score,
        null_score=best.score + null_odds,
        verification=0.0,
        null_odds=null_odds,
        threshold=0.5,
        probability=best.probability,
        spans=tuple(spans),
    )
    return Answer(
        question=question,
        outcome=sure if shown else "none",
        text=best.text if shown else "",
        start=best.start if shown else None,
        end=best.end if shown else None,
        confidence=confidence if shown else 0.0625,
        no_answer=0.125 if shown else 0.875,
        reason="two spans are close" if shown and sure == "unsure" else "",
        spans=(best,) if shown else (),
        candidates=tuple(spans),
        sentence=None,
        calibrated=True,
        mode="balanced",
        threshold=None,
        prediction=prediction,
    )


@pytest.fixture(scope="session")
def answers(passage: str) -> list[Answer]:
    def span(text: str, score: float, probability: float) -> Span:
        return span_of(passage, text, score=score, probability=probability)

    return [
        answer_of("Who built the </script> tower?", [span("Gull Rock", 1.5, 0.75)], null_odds=3.25),
        answer_of(
            "When was it repaired?",
            [span("1931", 9.5, 0.875), span("in 1931", 6.0, 0.0625)],
            null_odds=-7.0,
        ),
        answer_of(
            "What do sailors trust?",
            [span("its beam & bell", 4.0, 0.5), span("beam", 3.0, 0.25)],
            null_odds=-1.25,
        ),
        answer_of("Which part shines?", [span("beam", 3.0, 0.5)], null_odds=-0.5, confidence=0.375),
    ]


def question_parse(answer: Answer) -> list[Parse]:
    words = answer.question[:-1].split()
    heads = (0, *[1] * (len(words) - 1))
    return [Parse(Sentence.from_words(words), heads)]


@pytest.fixture(scope="session")
def html(passage: str, parses: list[Parse], answers: list[Answer]) -> str:
    return answer_page(
        title='Gulls & "boats" </title>',
        passage=passage,
        parses=parses,
        answers=answers,
        question_parses=[question_parse(answer) for answer in answers],
        note="made by <hand>",
    )
