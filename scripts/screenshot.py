"""Draw ``docs/answers.png``, the picture in the README, from the page that ``make demo`` writes.

    make demo
    python scripts/screenshot.py demo/ferry.html docs/answers.png

Needs Chromium or Chrome, and Pillow. The picture shows the part of the page that explains itself:
the questions, the passage with one answer marked, and the tree of the sentence with the answer.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from PIL import Image

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
STYLE = """
.cards, #row, .attention-note, footer, details .number { display: none !important; }
.trees > :not(#sentence-SENTENCE) { display: none !important; }
main { grid-template: "questions passage" auto / 20rem minmax(0, 1fr) !important; }
#passage { font-size: .95rem; line-height: 1.5; }
.questions { font-size: .95rem; }
body { padding: 1rem; }
"""


def excerpt(page: str, *, question: int, sentence: int) -> str:
    """The page with one question selected and everything else of the picture hidden.

    Args:
        page: HTML that ``syntagma answer --html`` wrote.
        question: number of the selected question, from 1.
        sentence: number of the sentence whose tree is shown, from 1.
    """
    page = re.sub(r'(name="question" id="question-\d+" value="\d+") checked', r"\1", page)
    page = page.replace(f'value="{question}">', f'value="{question}" checked>', 1)
    page = page.replace(f'id="sentence-{sentence}">', f'id="sentence-{sentence}" open>', 1)
    style = STYLE.replace("SENTENCE", str(sentence))
    return page.replace("</style>", f"{style}</style>", 1)


def screenshot(html: str, out: Path, *, width: int, height: int) -> None:
    """Write a page as PNG.

    Args:
        html: the page.
        out: the file to write.
        width: of the window, in pixels.
        height: of the window, in pixels.
    """
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise SystemExit(f"found none of {', '.join(BROWSERS)}; install Chromium")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        page.write_text(html, encoding="utf-8")
        # Text without coloured edges: it looks the same on every screen, and the file is smaller.
        command = [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        command += ["--disable-lcd-text", f"--window-size={width},{height}"]
        command += [f"--screenshot={out.resolve()}", page.as_uri()]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    shrink(out)


def shrink(picture: Path, colours: int = 256) -> None:
    """Write a PNG again with few colours, which are enough for text and lines.

    Args:
        picture: the file.
        colours: how many.
    """
    with Image.open(picture) as whole:
        # The usual method gives up the colours of small marks first.
        small = whole.convert("RGB").quantize(
            colours, Image.Quantize.MAXCOVERAGE, kmeans=2, dither=Image.Dither.NONE
        )
    small.save(picture, optimize=True)


def main() -> None:
    """Run the script."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("page", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--question", type=int, default=3)
    parser.add_argument("--sentence", type=int, default=9)
    parser.add_argument("--width", type=int, default=920)
    parser.add_argument("--height", type=int, default=972)
    given = parser.parse_args()
    html = excerpt(
        given.page.read_text(encoding="utf-8"), question=given.question, sentence=given.sentence
    )
    screenshot(html, given.out, width=given.width, height=given.height)


if __name__ == "__main__":
    main()
