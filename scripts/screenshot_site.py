"""Draw pages of the built site, at the widths of a desk and of a phone, to look at them.

    make docs
    python scripts/screenshot_site.py build/site build/pictures index use api/read

Needs Chromium and Playwright (extra ``dev``). The browser has no network, as a reader who is
offline. The script fails if a page is wider than the phone: such a page has to be dragged sideways.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright
from screenshot import BROWSERS

WIDTHS = {"desk": 1280, "phone": 390}
"""Width of the window in pixels, by its name."""

LIGHT, DARK = "light", "dark"


def draw(browser: Browser, page: Path, out: Path, *, width: int, scheme: str) -> int:
    """Write a picture of a whole page.

    Args:
        browser: an open browser.
        page: an HTML file.
        out: the PNG file to write.
        width: of the window, in pixels.
        scheme: ``light`` or ``dark``.

    Returns:
        Width of the page in pixels; more than the window's if it must be scrolled sideways.
    """
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True
    )
    opened = context.new_page()
    opened.goto(page.resolve().as_uri())
    found = opened.evaluate("document.documentElement.scrollWidth")
    opened.screenshot(path=out, full_page=True)
    context.close()
    return int(found)


def main() -> None:
    """Run the script."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("site", type=Path, help="the folder of the built site")
    parser.add_argument("out", type=Path, help="the folder for the pictures")
    parser.add_argument("pages", nargs="*", help="names without .html; all pages by default")
    parser.add_argument("--scheme", choices=(LIGHT, DARK), default=LIGHT)
    given = parser.parse_args()
    executable = next(filter(None, map(shutil.which, BROWSERS)), None)
    if executable is None:
        raise SystemExit(f"found none of {', '.join(BROWSERS)}; install Chromium")
    pages = [given.site / f"{name}.html" for name in given.pages] or sorted(
        page
        for page in given.site.rglob("*.html")
        if not page.relative_to(given.site).parts[0].startswith("_")
    )
    if missing := [str(page) for page in pages if not page.is_file()]:
        raise SystemExit(f"found no {', '.join(missing)}; build the site first: make docs")
    given.out.mkdir(parents=True, exist_ok=True)
    wide = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        for page in pages:
            name = page.relative_to(given.site).with_suffix("").as_posix().replace("/", "-")
            for kind, width in WIDTHS.items():
                out = given.out / f"{name}-{kind}.png"
                found = draw(browser, page, out, width=width, scheme=given.scheme)
                if found > width:
                    wide.append(f"{name} is {found} pixels wide in a window of {width}")
        browser.close()
    if wide:
        raise SystemExit("\n".join(wide))


if __name__ == "__main__":
    main()
