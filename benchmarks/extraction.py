"""How fast documents are read, beside the bare libraries that read them without structure.

python -m benchmarks.extraction
"""

from __future__ import annotations

import io
import random
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import docx
import pypdfium2
from lxml import etree
from markdown_it import MarkdownIt
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import Flowable, Paragraph, SimpleDocTemplate

from benchmarks.quick import size
from benchmarks.tables import show
from benchmarks.timing import rounds
from syntagma.extraction.extract import extract
from syntagma.extraction.worker import Extractor

PARAGRAPHS = size(400, 20)
REPEATS = size(7, 1)
WORDS = """
    harbour ferry timetable passengers winter repair wooden engine cooperative island morning
    lighthouse maintenance responsibility the of and in a to was by with on for from
""".split()


def made_paragraphs() -> list[str]:
    """Return paragraphs of random words, with a heading before every tenth."""
    rng = random.Random(0)
    return [" ".join(rng.choices(WORDS, k=80)).capitalize() + "." for _ in range(PARAGRAPHS)]


def word_file(paragraphs: list[str]) -> bytes:
    made = docx.Document()
    for number, text in enumerate(paragraphs):
        if number % 10 == 0:
            made.add_heading(f"Part {number // 10}", 1)
        made.add_paragraph(text)
    packed = io.BytesIO()
    made.save(packed)
    return packed.getvalue()


def pdf_file(paragraphs: list[str]) -> bytes:
    styles = getSampleStyleSheet()
    flow: list[Flowable] = []
    for number, text in enumerate(paragraphs):
        if number % 10 == 0:
            flow.append(Paragraph(f"Part {number // 10}", styles["Heading1"]))
        flow.append(Paragraph(text, styles["BodyText"]))
    packed = io.BytesIO()
    SimpleDocTemplate(packed).build(flow)
    return packed.getvalue()


def cpu_seconds(action: Callable[[], object]) -> float:
    """Return the shortest of several times, of the processor: other programs may run too."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return min(times)


def read_pdf(path: Path) -> str:
    pdf = pypdfium2.PdfDocument(path)
    return "".join(page.get_textpage().get_text_range() for page in pdf)


def main() -> None:
    """Print the table."""
    paragraphs = made_paragraphs()
    text = "\n\n".join(paragraphs)
    page = "<h1>Head</h1>" + "".join(f"<p>{text}</p>\n" for text in paragraphs)
    bare: dict[str, tuple[str, bytes, Callable[[Path], object]]] = {
        ".txt": ("read_text", text.encode(), lambda path: path.read_text(encoding="utf-8")),
        ".md": (
            "markdown-it-py", text.encode(),
            lambda path: MarkdownIt().render(path.read_text(encoding="utf-8")),
        ),
        ".html": (
            "lxml, a tree", page.encode(),
            lambda path: etree.fromstring(path.read_bytes(), etree.HTMLParser()),
        ),
        ".docx": (
            "python-docx", word_file(paragraphs),
            lambda path: [each.text for each in docx.Document(str(path)).paragraphs],
        ),
        ".pdf": ("pypdfium2", pdf_file(paragraphs), read_pdf),
    }  # fmt: skip
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder:
        for suffix, (library, data, read) in bare.items():
            path = Path(folder) / f"made{suffix}"
            path.write_bytes(data)
            ours, theirs = cpu_seconds(partial(extract, path)), cpu_seconds(partial(read, path))
            rows.append(
                {
                    "format": suffix,
                    "million characters/s": round(len(text) / ours / 1e6, 2),
                    "library alone": library,
                    "× library": round(ours / theirs, 1),
                }
            )
        tiny = Path(folder) / "tiny.txt"
        tiny.write_text("text")
        with Extractor() as extractor:
            seconds = rounds({"file": partial(extractor.extract, tiny)}, repeat=50)["file"]
    show("Extraction of documents", rows)
    print(f"the process of Extractor adds {1000 * seconds:.2f} ms a file")


if __name__ == "__main__":
    main()
