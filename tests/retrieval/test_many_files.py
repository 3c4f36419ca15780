"""A folder of ten thousand files, some of them broken, is indexed in bounded memory."""

from __future__ import annotations

import io
import random
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from syntagma.extraction.worker import DEFAULT_LIMITS
from syntagma.retrieval.passage_index import PassageIndex
from tests.document_files import paragraph, pdf_file, word_file

N_FILES = 10_000
MOST_BYTES = 1_000_000_000
WORDS = "harbour ferry winter repair engine island council budget notice tenant lease flour".split()

# Linux counts the memory of the process that starts a command as the command's own. That is large
# where earlier tests loaded models, so a small process starts the command and reports its peak.
START = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)
"""


def bomb() -> bytes:
    """A Word document that unpacks to more than is allowed."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("[Content_Types].xml", "<x/>")
        file.writestr("word/document.xml", b"a" * (DEFAULT_LIMITS.unpacked_bytes + 1))
    return packed.getvalue()


BROKEN = {
    "cut.docx": (word_file(paragraph("Cut."))[:200], "is not a Word document"),
    "bomb.docx": (bomb(), "over the limit"),
    "cut.pdf": (b"%PDF-1.4 cut", "is a damaged PDF file"),
    "locked.pdf": (pdf_file([["A secret."]], password="key"), "password"),
    "empty.pdf": (b"", "is empty"),
    "empty.txt": (b"\n", "is empty"),
    "noise.txt": (bytes(range(256)) * 4, "not UTF-8"),
}


def write_documents(root: Path) -> Counter[str]:
    """Write the documents; return how many are broken in which way."""
    draw = random.Random(1)
    written: Counter[str] = Counter()
    for number in range(N_FILES):
        folder = root / f"{number % 97:02d}" / f"{number % 11:02d}"
        folder.mkdir(parents=True, exist_ok=True)
        texts = [" ".join(draw.choices(WORDS, k=40)).capitalize() + "." for _ in range(3)]
        texts.append(f"This is the letter of the house {number}.")
        kind = number % 100
        if kind == 99:
            name = sorted(BROKEN)[number // 100 % len(BROKEN)]
            (folder / f"{number}.{name}").write_bytes(BROKEN[name][0])
            written[name] += 1
        elif kind == 98:
            (folder / f"circle{number}").symlink_to(root)
        elif kind > 94:
            (folder / f"{number}.docx").write_bytes(word_file("".join(map(paragraph, texts))))
        elif kind > 75:
            inner = "".join(f"<p>{text}</p>" for text in texts)
            (folder / f"{number}.html").write_text(f"<html><body>{inner}</body></html>")
        elif kind > 55:
            (folder / f"{number}.md").write_text("# A letter\n\n" + "\n\n".join(texts))
        else:
            (folder / f"{number}.txt").write_text("\n\n".join(texts))
    return written


@pytest.mark.slow
def test_broken_files_are_reported_and_the_others_indexed(tmp_path: Path) -> None:
    broken = write_documents(tmp_path / "documents")
    out = tmp_path / "letters.index"
    arguments = ["index", str(tmp_path / "documents"), "--out", str(out), "--encoder", "none"]
    command = [sys.executable, "-c", START, sys.executable, "-m", "syntagma", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = [x for x in done.stderr.splitlines() if x.startswith(str(tmp_path / "documents"))]
    unit = 1 if sys.platform == "darwin" else 1024
    assert int(done.stdout.splitlines()[-1]) * unit < MOST_BYTES
    assert len(lines) == sum(broken.values())
    for name, number in broken.items():
        about = [line for line in lines if f".{name}:" in line]
        assert len(about) == number
        assert all(BROKEN[name][1] in line for line in about), about[0]
    index = PassageIndex.open(out)
    n_circles = N_FILES // 100
    readable = [document for document in index.documents if not document.problem]
    assert len(readable) == N_FILES - n_circles - sum(broken.values())
    (hits,) = index.search(["the letter of the house 4321"], top=1)
    assert index.passages([hits[0].id])[0].source.endswith("/4321.txt")
