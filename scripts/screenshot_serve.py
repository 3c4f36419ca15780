"""Draw ``docs/serve.png``, the page of ``syntagma serve`` with the answers to its example.

    python scripts/screenshot_serve.py docs/serve.png

Needs Chromium, Playwright (extra ``dev``), Pillow and the default models (``syntagma download
default``). It starts a server, asks the example, opens the tree of the first answer, and stops.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright
from screenshot import BROWSERS, shrink

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.served import Server

LOADING_MS = 60_000


def ask_example(page: Page) -> None:
    """Ask what the page offers as an example."""
    page.locator("#ask-example").click()
    page.locator("#ask-form .primary").click()
    expect(page.locator("#ask-status")).to_contain_text("3 questions", timeout=LOADING_MS)
    # Neither the pointer nor the focus is in the picture.
    page.mouse.move(0, 0)
    page.evaluate("document.activeElement.blur()")


def main() -> None:
    """Run the script."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--width", type=int, default=1180)
    given = parser.parse_args()
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise SystemExit(f"found none of {', '.join(BROWSERS)}; install Chromium")
    with tempfile.TemporaryDirectory() as folder, Server(log=Path(folder) / "log") as server:
        url = f"http://127.0.0.1:{server.wait_until()}"
        with sync_playwright() as playwright:
            # Text without coloured edges: it looks the same on every screen.
            flags = ["--no-sandbox", "--disable-lcd-text"]
            opened = playwright.chromium.launch(executable_path=browser, args=flags)
            size = {"width": given.width, "height": 800}
            page = opened.new_page(viewport=size, color_scheme="light")
            page.goto(url)
            ask_example(page)
            page.screenshot(path=given.out, full_page=True)
            opened.close()
    shrink(given.out, colours=48)


if __name__ == "__main__":
    main()
