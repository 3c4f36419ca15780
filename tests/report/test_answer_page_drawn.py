"""The answer page in a browser."""

from pathlib import Path

import pytest

SHOWN = """[...document.querySelectorAll("#passage .shown")].map(
  (word) => word.textContent + (word.dataset.note || ""))"""
HIGHLIGHTED = """[...document.querySelectorAll("#passage [data-answers]")]
  .filter((e) => getComputedStyle(e).backgroundColor !== "rgba(0, 0, 0, 0)")
  .map((e) => e.textContent).join("")"""
VISIBLE_CARD = """[...document.querySelectorAll(".card")]
  .filter((e) => e.getClientRects().length).map((e) => e.querySelector("h3").textContent)"""


@pytest.fixture(scope="session")
def page_file(html: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "answers.html"
    path.write_text(html, encoding="utf-8")
    return path


@pytest.mark.chromium
class TestInBrowser:
    def test_the_script_runs_without_errors_or_requests(self, browser, page_file: Path) -> None:
        browser.open(page_file)
        assert browser.run("document.documentElement.className") == "js"
        assert browser.problems() == []
        assert [url.split("#")[0] for url in browser.requests()] == [page_file.as_uri()]

    def test_pointing_at_a_word_shows_its_row(self, browser, page_file: Path) -> None:
        browser.open(page_file)
        browser.point("#word-13")
        assert browser.run(SHOWN) == ["lighthouse2", "repaired1", "1931", "guides3"]
        cells = browser.run("document.getElementById('row').innerText").split()
        assert cells[:4] == ["1931", "NUM", "CD", "obl"]
        assert cells[-1] == "root"
        drawn = browser.run(
            """[...document.querySelectorAll("#sentence-1 .node.in-row .word")]
              .map((word) => word.textContent)"""
        )
        assert drawn == ["lighthouse", "repaired", "1931", "guides"]
        browser.point("h1")
        assert browser.run(SHOWN) == []
        assert browser.problems() == []

    def test_a_click_keeps_the_row_and_links_to_it(self, browser, page_file: Path) -> None:
        browser.open(page_file)
        browser.point("#word-5", click=True)
        browser.point("h1")
        assert browser.run(SHOWN) == ["lighthouse2", "Gull", "Rock1", "guides3"]
        assert browser.run("location.hash") == "#question-2/word-5"
        browser.point("#word-5", click=True)
        browser.point("h1")
        assert browser.run(SHOWN) == []

    def test_a_fragment_selects_word_and_question(self, browser, page_file: Path) -> None:
        browser.open(page_file, "#word-13")
        assert browser.run(SHOWN) == ["lighthouse2", "repaired1", "1931", "guides3"]
        browser.open(page_file, "#question-3/word-26")
        assert browser.run("document.body.dataset.row") == "26"
        assert browser.run(HIGHLIGHTED) == "its beam & bell"
        assert browser.run(VISIBLE_CARD) == ["What do sailors trust?"]
        for wrong in ("#word-999", "#question-77", "#%00<b>"):
            browser.open(page_file, wrong)
            assert browser.run(SHOWN) == []
            assert browser.problems() == []

    def test_choosing_a_question_updates_marks_card_and_trees(
        self, browser, page_file: Path
    ) -> None:
        browser.open(page_file)
        assert browser.run(HIGHLIGHTED) == "1931"
        browser.point("#question-4", click=True)
        assert browser.run(HIGHLIGHTED) == "beam"
        assert browser.run(VISIBLE_CARD) == ["Which part shines?"]
        opened = "[1, 2, 3].map((n) => document.getElementById('sentence-' + n).open)"
        assert browser.run(opened) == [False, True, False]
        underlined = "document.querySelector('#sentence-2 .node.in-answer').textContent"
        assert browser.run(underlined).startswith("beam")
        browser.point("#question-1", click=True)
        assert browser.run(HIGHLIGHTED) == ""
        assert browser.run(opened) == [False, False, False]

    def test_arrow_keys_move_between_words_and_up_to_heads(self, browser, page_file: Path) -> None:
        browser.open(page_file)
        browser.run("document.getElementById('word-13').focus()")
        assert browser.run("document.body.dataset.row") == "13"
        for key, word in (("ArrowUp", 11), ("ArrowUp", 3), ("ArrowRight", 4), ("ArrowLeft", 3)):
            browser.press(key)
            assert browser.run("document.activeElement.id") == f"word-{word}"
        stops = "document.querySelectorAll('#passage [tabindex=\"0\"]').length"
        assert browser.run(stops) == 1
        browser.press("Enter")
        browser.run("document.activeElement.blur()")
        assert browser.run("document.body.dataset.row") == "3"

    def test_pointing_at_a_candidate_marks_it_in_the_passage(
        self, browser, page_file: Path
    ) -> None:
        browser.open(page_file)
        browser.point('[data-span="2-2"]')
        marked = "[...document.querySelectorAll('.candidate-here')].map((e) => e.textContent)"
        assert "".join(browser.run(marked)) == "in 1931"

    @pytest.mark.parametrize("width", [360, 900, 1600])
    def test_page_fits_its_window(self, browser, page_file: Path, width: int) -> None:
        browser.open(page_file, "#word-13", width=width)
        assert browser.run("document.documentElement.scrollWidth") <= width

    def test_text_answers_and_trees_are_shown_without_script(
        self, browser, page_file: Path
    ) -> None:
        browser.send("Emulation.setScriptExecutionDisabled", value=True)
        try:
            browser.open(page_file)
            assert browser.run(HIGHLIGHTED) == "1931"
            browser.point("#question-3", click=True)
            assert browser.run(HIGHLIGHTED) == "its beam & bell"
            assert browser.run(VISIBLE_CARD) == ["What do sailors trust?"]
            tree = "document.querySelector('#sentence-1 svg').getClientRects().length"
            assert browser.run(tree) == 1
            assert browser.run("getComputedStyle(document.getElementById('row')).display") == "none"
        finally:
            browser.send("Emulation.setScriptExecutionDisabled", value=False)
