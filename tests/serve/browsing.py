"""The page of a server in Chromium, and what must hold of it in every state."""

from __future__ import annotations

from typing import Any, Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, Route, expect

PHONE = 360
WATCH = """
window.violations = [];
addEventListener("securitypolicyviolation", (event) => violations.push(
  `${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`));
"""
LOADING_MS = 30_000


class ServerPage:
    """The page of a server, opened in a window of its own.

    Args:
        browser: draws it.
        url: of the server, without a slash at its end.
        width: of the window in pixels.
        scheme: ``light`` or ``dark``.
    """

    def __init__(
        self,
        browser: Browser,
        url: str,
        *,
        width: int = 1200,
        scheme: Literal["light", "dark"] = "light",
    ) -> None:
        self.url = url
        self.context = browser.new_context(
            viewport={"width": width, "height": 800},
            color_scheme=scheme,
            permissions=["clipboard-read", "clipboard-write"],
        )
        self.context.add_init_script(WATCH)
        self.page: Page = self.context.new_page()
        self.errors: list[str] = []
        self.requested: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._note)
        self.page.on("request", lambda request: self.requested.append(request.url))
        self.page.goto(url)

    def _note(self, message: Any) -> None:
        # A refusal by the server is noted by the browser, and shown by the page.
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
            self.errors.append(message.text)

    def __getitem__(self, selector: str) -> Locator:
        """Return the elements of a selector."""
        return self.page.locator(selector)

    def texts(self, selector: str) -> list[str]:
        """Return the text of each element."""
        return self[selector].all_inner_texts()

    def ask(self, *questions: str, text: str | None = None, mode: str = "balanced") -> None:
        """Ask by the form, and wait for the answers."""
        if text is not None:
            self["#text"].fill(text)
        for number, question in enumerate(questions, start=1):
            if number > 1:
                self["#add-question"].click()
            self[f"#question-{number}"].fill(question)
        self[f'[name="mode"][value="{mode}"]'].check()
        self["#ask-form .primary"].click()
        expect(self[".card"]).to_have_count(len(questions), timeout=LOADING_MS)
        expect(self["#ask-stop"]).to_be_hidden()

    def ask_example(self) -> None:
        """Ask what the page offers as an example."""
        self["#ask-example"].click()
        self["#ask-form .primary"].click()
        expect(self["#ask-status"]).to_contain_text("3 questions", timeout=LOADING_MS)

    def parse(self, text: str) -> None:
        """Parse by the form, and wait for the trees."""
        self["#parse-link"].click()
        self["#parse-text"].fill(text)
        self["#parse-form .primary"].click()
        expect(self["#parsed"]).to_be_visible(timeout=LOADING_MS)

    def respond(self, path: str, **response: Any) -> None:
        """Let a made-up response stand for the server's; without one, cut the connection."""

        def handle(route: Route) -> None:
            if response:
                route.fulfill(**response)
            else:
                route.abort()

        self.page.route(f"**{path}", handle)

    def focused(self) -> str:
        """Return the id of the element with the focus."""
        return self.page.evaluate("document.activeElement.id")

    def check(self) -> None:
        """Check that it is accessible, fits its window, and broke no rule until now."""
        found = Axe().run(self.page)
        assert found.violations_count == 0, found.generate_report()
        width = self.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert width[0] <= width[1]
        assert self.page.evaluate("violations") == []
        assert self.errors == []
        assert [url for url in self.requested if not url.startswith(self.url)] == []
