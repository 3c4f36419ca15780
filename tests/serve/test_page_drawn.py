"""The page in a real browser, on real servers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="pip install -e '.[dev]'")

from playwright.sync_api import Browser, Route, expect, sync_playwright

from benchmarks.served import Server
from syntagma.encoders.default import find_default
from tests.page_fixtures import chromium
from tests.serve.browsing import LOADING_MS, PHONE, ServerPage
from tests.serve.documents import save_index

pytestmark = [
    pytest.mark.slow,
    pytest.mark.chromium,
    pytest.mark.skipif(
        find_default() is None, reason="no default encoder: `syntagma download default`"
    ),
]

FORMATS = Path(__file__).parents[1] / "data" / "formats" / "0.1"
LONGEST = 5000
KEY = "a-key-that-was-made-up"
TEXT = "Ana Reyes built the lighthouse in 1931. 🚢🚢 It was built of granite, not of oak."
Open = Callable[..., ServerPage]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    binary = chromium()
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=binary, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def url(browser: Browser, tmp_path_factory, tiny_encoder: str) -> Iterator[str]:
    """The address of a server with the default models and an index."""
    folder = tmp_path_factory.mktemp("page")
    index = save_index(folder, tiny_encoder)
    models = ("default-reader", "default-parser", f"notes={index}")
    options = [*(f"--model={model}" for model in models), f"--text-characters={LONGEST}"]
    with Server(*options, log=folder / "log") as server:
        yield f"http://127.0.0.1:{server.wait_until()}"


@pytest.fixture
def opened(browser: Browser, url: str) -> Iterator[Open]:
    """Open the page; at the end, check it in the state in which the test left it."""
    pages: list[ServerPage] = []

    def open_page(**options) -> ServerPage:
        page = ServerPage(browser, options.pop("at", url), **options)
        pages.append(page)
        return page

    yield open_page
    for page in pages:
        page.check()
        page.context.close()


def looks(**options):
    return pytest.mark.parametrize("options", options.values(), ids=options)


every_look = looks(light={}, dark={"scheme": "dark"}, phone={"width": PHONE})


@every_look
def test_the_example_has_all_three_outcomes(opened: Open, options) -> None:
    page = opened(**options)
    expect(page["#served"]).to_contain_text("default-reader")
    page.check()
    page.ask_example()
    words = [re.sub(r"\W*(?=\w)", "", text, count=1) for text in page.texts(".outcome-word")]
    assert words == ["Answer", "Unsure", "No answer"]
    sentence = "It was built of oak instead of pine and could carry twelve carts."
    assert page.texts(".found bdi") == ["oak", sentence]
    assert "1 answer, 1 unsure, 1 without an answer" in page["#ask-status"].inner_text()
    assert page.texts("mark.shown") == page.texts(".found bdi")
    assert "".join(page.texts(".card.answer .sentence")).strip() == sentence
    assert "yes/no" in page[".card.unsure .reason"].inner_text()
    assert page[".card.none mark, .card.none figure"].count() == 0
    assert "1871" in page[".card.none table"].inner_text()
    for numbers in page.texts(".probabilities dd"):
        assert re.fullmatch(r"[<>]?\d\.\d\d, [a-z ]+", numbers)
    likely = page.texts(".card.none .probabilities dd")
    assert likely[0].endswith("very unlikely")
    assert likely[1].endswith("very likely")


@every_look
def test_the_tree_of_the_sentence_is_drawn_when_asked_for(opened: Open, options) -> None:
    page = opened(**options)
    page.ask("Who built the lighthouse?", text=TEXT)
    assert page[".syntagma-svg"].count() == 0
    page["summary"].filter(has_text="tree").focus()
    page.page.keyboard.press("Enter")
    tree = page[".syntagma-svg"]
    expect(tree).to_have_count(1, timeout=LOADING_MS)
    assert "Reyes" in tree.locator("title").first.text_content()
    assert "nsubj" in tree.text_content()
    assert tree.bounding_box()["width"] > 200


def test_a_single_answer_is_announced_and_marked_at_its_place(opened: Open) -> None:
    page = opened()
    page.ask("What was the lighthouse built of?", text=TEXT)
    assert page["#ask-status"].text_content() == "Answer: granite."
    assert page["#ask-status"].get_attribute("role") == "status"
    # Characters before it take two units of a string of JavaScript.
    assert page.texts("mark.shown") == ["granite"]
    assert page.texts(".sentence")[0].startswith("It was built of ")


def test_a_long_text_is_shown_in_part_and_then_whole(opened: Open) -> None:
    filler = "The keeper wrote the weather into a book. " * 40
    page = opened()
    page.ask("Who built the lighthouse?", text=f"{filler}{TEXT} {filler}")
    excerpt = page["figure blockquote"].inner_text()
    assert excerpt.startswith("… ")
    assert excerpt.endswith(" …")
    assert len(excerpt) < len(filler)
    page["summary"].filter(has_text="whole text").click()
    whole = page["blockquote.whole"]
    expect(whole).not_to_be_empty()
    assert whole.text_content() == f"{filler}{TEXT} {filler}"
    shown = whole.locator("mark.shown")
    assert shown.inner_text() == "Ana Reyes"
    expect(shown).to_be_in_viewport()


def test_modes_decide_how_sure_the_reader_must_be(opened: Open) -> None:
    page = opened()
    bodies = []
    page.page.on("request", lambda request: bodies.append(request.post_data_json))
    page.ask("Who built the lighthouse?", text=TEXT, mode="strict")
    assert bodies[-1] == {
        "questions": ["Who built the lighthouse?"],
        "mode": "strict",
        "text": TEXT,
    }


@looks(wide={}, phone={"width": PHONE})
def test_an_index_answers_with_file_heading_and_passages(opened: Open, options) -> None:
    page = opened(**options)
    page["#source"].select_option("notes")
    expect(page["#text"]).to_be_hidden()
    page.ask("What is on the rock?", mode="lenient")
    assert page["#ask-status"].text_content()
    assert re.search(r"(tides|gulls)\.md", page[".card"].inner_text())
    page["summary"].filter(has_text="that the reader read").click()
    passages = page.texts(".passages li")
    assert len(passages) >= 7
    assert all(re.search(r"(tides|gulls)\.md · .*Part \d", passage) for passage in passages)


def test_lines_that_are_pasted_are_questions(opened: Open) -> None:
    page = opened()
    page["#question-1"].focus()
    page.page.evaluate("navigator.clipboard.writeText('Who?\\nWhen?\\n\\nWhere?')")
    page.page.keyboard.press("Control+v")
    fields = page["#question-list input"]
    expect(fields).to_have_count(3)
    assert [field.input_value() for field in fields.all()] == ["Who?", "When?", "Where?"]
    page["[aria-label='Remove question 2']"].click()
    assert [field.input_value() for field in fields.all()] == ["Who?", "Where?"]
    assert page.focused() == "question-2"


@pytest.mark.parametrize("name", ["keeper.txt", "keeper.md"])
def test_a_file_is_read_in_the_browser(opened: Open, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(f"\ufeff{TEXT}", encoding="utf-8")
    page = opened()
    before = len(page.requested)
    page["#file"].set_input_files(path)
    expect(page["#file-note"]).to_contain_text(name)
    assert page["#text"].input_value() == TEXT
    assert "/v1/answer" not in "".join(page.requested[before:])
    page.ask("Who built the lighthouse?")
    assert page.texts(".found bdi") == ["Ana Reyes"]


@pytest.mark.parametrize(
    ("name", "content", "remedy"),
    [
        ("tower.png", b"\x89PNG", ".txt .md"),
        ("tower.txt", "T\u00fcrme".encode("latin-1"), "UTF-8"),
        ("tower.txt", b"a\0b", "binary .txt .md"),
        ("tower.md", b" \n", "empty"),
        ("tower.txt", b"a" * ((4 << 20) + 1), "4 MB index"),
    ],
)
def test_other_files_are_refused_in_one_line(
    opened: Open, tmp_path: Path, name: str, content: bytes, remedy: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    page = opened()
    page["#text"].fill(TEXT)
    page["#file"].set_input_files(path)
    expect(page["#ask-error"]).to_contain_text(name)
    line = page["#ask-error"].inner_text()
    assert "\n" not in line
    assert page.focused() == "file"
    assert all(word in line for word in remedy.split())
    assert page["#text"].input_value() == TEXT
    assert page["#file"].get_attribute("aria-invalid") == "true"
    page["#ask-form .primary"].click()
    expect(page["#ask-error"]).to_contain_text("no question")
    assert page["#file"].get_attribute("aria-invalid") is None


@looks(wide={}, phone={"width": PHONE})
def test_what_is_missing_is_said_where_it_is_missing(opened: Open, options) -> None:
    page = opened(**options)
    page["#ask-form .primary"].click()
    expect(page["#ask-error"]).to_contain_text("no text")
    assert page.focused() == "text"
    assert page["#text"].get_attribute("aria-invalid") == "true"
    expect(page["#ask-error"]).to_be_in_viewport()
    page.check()
    page["#text"].fill(TEXT)
    assert page["#text"].get_attribute("aria-invalid") is None
    page["#ask-form .primary"].click()
    expect(page["#ask-error"]).to_contain_text("no question")
    assert page.focused() == "question-1"


@every_look
def test_a_refusal_is_shown_as_its_one_line(opened: Open, options) -> None:
    page = opened(**options)
    page["#text"].fill("a" * (LONGEST + 1))
    page["#question-1"].fill("Who?")
    page["#ask-form .primary"].click()
    expect(page["#ask-error"]).to_contain_text("expected at most 5,000 characters, got 5,001")
    assert "\n" not in page["#ask-error"].inner_text()
    assert page["#ask-status"].text_content() == ""


def test_a_question_that_fails_does_not_hide_the_others(opened: Open) -> None:
    page = opened()
    problem = {"type": "about:blank", "title": "", "status": 504, "detail": "not done within 30 s"}
    page.respond("/v1/answer", body=json.dumps({"item": 0, "problem": problem}) + "\n")
    page["#text"].fill(TEXT)
    page["#question-1"].fill("Who?")
    page["#ask-form .primary"].click()
    expect(page[".card .error"]).to_have_text("not done within 30 s")
    assert "1 failed" in page["#ask-status"].inner_text()


def test_a_server_that_is_gone_is_named(opened: Open) -> None:
    page = opened()
    page.respond("/v1/parse")
    page["#parse-link"].click()
    page["#parse-example"].click()
    page["#parse-form .primary"].click()
    expect(page["#parse-error"]).to_contain_text("cannot be reached")


def test_a_key_is_asked_for_and_kept_in_memory_only(
    opened: Open, browser: Browser, tmp_path: Path
) -> None:
    keys = tmp_path / "keys"
    keys.write_text(f"{KEY}\n")
    models = [f"--model={task}={FORMATS / task}" for task in ("spans", "parsing")]
    with Server(*models, f"--api-keys={keys}", log=tmp_path / "log") as server:
        page = ServerPage(browser, f"http://127.0.0.1:{server.wait_until()}")
        expect(page["#key-form"]).to_be_visible()
        assert page.focused() == "key"
        page.check()
        page["#key"].fill("wrong")
        page.page.keyboard.press("Enter")
        expect(page["#key-error"]).to_contain_text("does not take this key")
        page["#key"].fill(KEY)
        page.page.keyboard.press("Enter")
        expect(page["#key-form"]).to_be_hidden()
        expect(page["#served"]).to_contain_text("parsing")
        page.parse("It rained.")
        stored = "[localStorage.length, sessionStorage.length, document.cookie.length]"
        assert page.page.evaluate(stored) == [0, 0, 0]
        assert KEY not in page.page.url
        page.check()
        page.page.reload()
        expect(page["#key-form"]).to_be_visible()
        page.context.close()


@every_look
def test_trees_are_drawn_saved_and_copied(opened: Open, options, tmp_path: Path) -> None:
    page = opened(**options)
    page.parse("The old lighthouse guides small boats. It <never> fails.")
    assert page["#parse-status"].inner_text() == "2 sentences."
    expect(page["#trees .syntagma-svg"]).to_have_count(2)
    assert "<never>" in page["#trees"].text_content().replace(" ", "")
    conllu = page["#conllu"].text_content()
    assert conllu.startswith("# text = The old lighthouse guides small boats.\n1\tThe\t")
    saved = {}
    for button in ("#save-conllu", "#save-svg"):
        with page.page.expect_download() as waiting:
            page[button].click()
        saved[waiting.value.suggested_filename] = Path(waiting.value.path()).read_text("utf-8")
    assert saved["parse.conllu"] == conllu
    assert saved["parse.svg"].startswith("<svg ")
    assert saved["parse.svg"].count('role="img"') == 2
    page["#copy-conllu"].click()
    expect(page["#parse-status"]).to_have_text("Copied.")
    assert page.page.evaluate("navigator.clipboard.readText()") == conllu


def test_phrases_are_drawn_if_they_are_wanted(opened: Open) -> None:
    page = opened()
    page["#parse-link"].click()
    page["#phrases"].check()
    page.parse("The keeper slept.")
    assert "VP" in page["#trees"].text_content()
    assert "# constituency = (ROOT" in page["#conllu"].text_content()


def test_the_keyboard_is_enough(opened: Open) -> None:
    page = opened()
    expect(page["#served"]).to_contain_text("default-reader")
    press = page.page.keyboard.press
    press("Tab")
    skip = page[".skip"]
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    press("Enter")
    assert page.focused() == "main"
    order = []
    for _ in range(7):
        press("Tab")
        focused = "document.activeElement.id || document.activeElement.textContent"
        order.append(page.page.evaluate(focused))
        outline = "getComputedStyle(document.activeElement).outlineStyle"
        assert page.page.evaluate(outline) == "solid", order
    assert order == ["source", "text", "file", "question-1", "add-question", "", "Ask"]
    page["#text"].focus()
    page.page.keyboard.insert_text(TEXT)
    for _ in range(2):
        press("Tab")
    page.page.keyboard.insert_text("Who built the lighthouse?")
    press("Enter")
    expect(page[".found bdi"]).to_have_text("Ana Reyes", timeout=LOADING_MS)


def test_escape_stops_a_request(opened: Open) -> None:
    page = opened()
    page.page.route("**/v1/answer", lambda route: None)  # never answered
    page["#text"].fill(TEXT)
    page["#question-1"].fill("Who?")
    page.page.keyboard.press("Enter")
    expect(page["#ask-stop"]).to_be_visible()
    page.page.keyboard.press("Escape")
    expect(page["#ask-status"]).to_have_text("Stopped.")
    expect(page["#ask-stop"]).to_be_hidden()
    page.page.unroute("**/v1/answer")


def test_asking_again_ends_the_request_before(opened: Open) -> None:
    page = opened()
    held: list[Route] = []
    page.page.route("**/v1/answer", lambda route: held.append(route))
    page["#text"].fill(TEXT)
    page["#question-1"].fill("Who built the lighthouse?")
    for _ in range(2):
        with page.page.expect_request("**/v1/answer"):
            page.page.keyboard.press("Enter")
    expect(page["#ask-stop"]).to_be_visible()
    assert page["#ask-status"].inner_text() == "Reading…"
    held[-1].continue_()
    expect(page[".found bdi"]).to_have_text("Ana Reyes", timeout=LOADING_MS)
    expect(page["#ask-status"]).to_have_text("Answer: Ana Reyes.")
    expect(page["#ask-stop"]).to_be_hidden()


def test_dark_screens_get_a_dark_page(opened: Open) -> None:
    def lightness(page: ServerPage) -> int:
        colour = page.page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(map(int, re.findall(r"\d+", colour)))

    assert lightness(opened(scheme="dark")) < 100 < 600 < lightness(opened())


def test_links_lead_to_each_view(opened: Open) -> None:
    page = opened()
    page["#parse-link"].click()
    expect(page["#parse-view"]).to_be_visible()
    expect(page["#ask-view"]).to_be_hidden()
    assert page["#parse-link"].get_attribute("aria-current") == "page"
    assert page.page.title().startswith("Parse")
    page.page.go_back()
    expect(page["#ask-view"]).to_be_visible()
