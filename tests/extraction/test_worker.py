"""The process that reads documents: its limits, its end, and what it does not import."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from syntagma.errors import DiskError, InputError, MachineError, MissingExtraError
from syntagma.extraction import worker
from syntagma.extraction.extract import extract
from syntagma.extraction.limits import ExtractionLimits
from syntagma.extraction.worker import Extractor
from tests.document_files import paragraph, pdf_file, word_file
from tests.messages import naming

MEGABYTES = 2**20


@pytest.fixture(scope="module")
def extractor():
    with Extractor() as made:
        yield made


def test_it_reads_as_in_this_process(tmp_path, extractor, monkeypatch):
    files = {
        "a.txt": "Café 🚢\r\n\r\ntext".encode(),
        "b.md": b"# Head\n\n- a\n- b",
        "c.html": "<title>T</title><h1>東京</h1><p>a\u2028b".encode(),
        "d.docx": word_file(paragraph("text")),
        "e.pdf": pdf_file([["page one"], ["page two"]], title="T"),
        os.fsdecode(b"caf\xe9\n.txt"): b"text",
    }
    monkeypatch.chdir(tmp_path)
    for name, data in files.items():
        Path(name).write_bytes(data)
    for name, document in extractor.stream(files):
        assert document == extract(name)


def test_errors_are_those_of_extract(tmp_path, extractor, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_bytes(b"\xff")
    Path("b.txt").write_bytes(b"text")
    found = dict(extractor.stream(["a.txt", "gone.txt", "c.png", "b.txt", "."]))
    for name in ("a.txt", "gone.txt", "c.png", "."):
        with pytest.raises(InputError) as error:
            extract(name)
        assert str(found[name]) == str(error.value)
        assert type(found[name]) is type(error.value)
    assert isinstance(found["gone.txt"], DiskError)
    assert found["b.txt"].text == "text"


def test_missing_packages(tmp_path, extractor, monkeypatch):
    monkeypatch.setattr("syntagma.extraction.extract._is_installed", lambda package: False)
    with pytest.raises(MissingExtraError, match=naming("documents")):
        extractor.extract(tmp_path / "a.pdf")


def test_a_file_that_takes_too_long(tmp_path):
    (tmp_path / "a.md").write_text("*a **b `c [d " * 100_000)
    (tmp_path / "b.txt").write_text("text")
    limits = ExtractionLimits(seconds=2)
    with Extractor(limits=limits) as extractor:
        extractor.extract(tmp_path / "b.txt")
        first = extractor.process_id
        with pytest.raises(InputError, match=naming("a.md 2 seconds")):
            extractor.extract(tmp_path / "a.md")
        assert extractor.extract(tmp_path / "b.txt").text == "text"
        assert extractor.process_id not in (None, first)


def test_this_process_has_a_clock_too(tmp_path, monkeypatch):
    monkeypatch.setattr(worker, "_GRACE_SECONDS", 0.2)
    (tmp_path / "a.txt").write_text("text")
    with Extractor(limits=ExtractionLimits(seconds=0.8)) as extractor:
        extractor._start()
        # A stopped process does not notice its own alarm.
        os.kill(extractor.process_id, signal.SIGSTOP)
        with pytest.raises(InputError, match=naming("a.txt 0.8 seconds")):
            extractor.extract(tmp_path / "a.txt")


@pytest.mark.skipif(sys.platform != "linux", reason="memory cannot be limited")
def test_a_file_that_takes_too_much_memory(tmp_path):
    # One character that takes four bytes makes all of them do so.
    (tmp_path / "a.txt").write_text("word " * 12_000_000 + "🚢")
    (tmp_path / "b.txt").write_text("text")
    with Extractor(limits=ExtractionLimits(memory_bytes=256 * MEGABYTES)) as extractor:
        with pytest.raises(InputError, match=naming("a.txt 256 memory_bytes")):
            extractor.extract(tmp_path / "a.txt")
        assert extractor.extract(tmp_path / "b.txt").text == "text"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
def test_a_process_that_dies_is_replaced(tmp_path, number):
    (tmp_path / "a.txt").write_text("text")

    def end():
        os.kill(extractor.process_id, number)
        os.kill(extractor.process_id, signal.SIGCONT)

    with Extractor() as extractor:
        extractor.extract(tmp_path / "a.txt")
        os.kill(extractor.process_id, signal.SIGSTOP)
        threading.Timer(0.2, end).start()
        with pytest.raises(InputError, match=naming("a.txt memory_bytes")) as raised:
            extractor.extract(tmp_path / "a.txt")
        # Another time there may be memory; a file that makes its reader fail will do so again.
        assert isinstance(raised.value, MachineError) == (number == signal.SIGKILL)
        assert extractor.extract(tmp_path / "a.txt").text == "text"


def test_a_process_that_died_between_two_documents(tmp_path):
    (tmp_path / "a.txt").write_text("text")
    with Extractor() as extractor:
        extractor.extract(tmp_path / "a.txt")
        os.kill(extractor.process_id, signal.SIGKILL)
        os.waitid(os.P_PID, extractor.process_id, os.WEXITED | os.WNOWAIT)
        assert extractor.extract(tmp_path / "a.txt").text == "text"


@pytest.mark.parametrize(
    "answer",
    [
        b"[]",
        b"{}",
        b"nonsense",
        b'{"text": 1}',
        b'{"text":"a","title":"","blocks":[1]}',
        b"[" * 10**6,
    ],
)
def test_answers_of_a_process_that_was_taken_over(answer):
    with pytest.raises(InputError, match=naming("a.pdf confused")):
        worker._document(answer, "a.pdf")


CHILD = """
import json, os, sys
from syntagma.extraction.worker import Extractor
extractor = Extractor()
extractor.extract(sys.argv[1])
print(json.dumps([extractor.process_id, sorted(sys.modules)]), flush=True)
sys.stdin.read()
"""


def run_parent(path: Path, code: str = CHILD) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, str(path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def has_ended(process_id: int) -> bool:
    """Whether a process ends within some seconds; nobody may have waited for it yet."""
    for _ in range(200):
        try:
            if Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
def test_it_ends_with_its_parent_and_imports_nothing_heavy(tmp_path):
    (tmp_path / "a.txt").write_text("text")
    parent = run_parent(tmp_path / "a.txt")
    process_id, modules = json.loads(parent.stdout.readline())
    libraries = Path(f"/proc/{process_id}/maps").read_text()
    assert "libpython" in libraries or "python" in libraries
    assert "torch" not in libraries
    assert "numpy" not in libraries
    assert not {"torch", "transformers", "numpy", "lxml", "pypdfium2"} & set(modules)
    parent.kill()
    parent.wait()
    assert has_ended(process_id)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
def test_a_script_without_a_main_guard_prints_nothing_else(tmp_path):
    (tmp_path / "a.pdf").write_bytes(pdf_file([["text"]]))
    parent = run_parent(tmp_path / "a.pdf", CHILD.replace("sys.stdin.read()", ""))
    out, err = parent.communicate(timeout=60)
    assert out.count("\n") == 1
    assert "Warning" not in err
    assert err == ""
    assert has_ended(json.loads(out)[0])


def test_modules_in_the_working_folder_are_not_imported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("json.py").write_text("raise SystemExit(3)")
    Path("a.txt").write_text("text")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with Extractor() as extractor:
        assert extractor.extract("a.txt").text == "text"


def test_it_is_closed_and_started_again(tmp_path):
    (tmp_path / "a.txt").write_text("text")
    extractor = Extractor()
    assert extractor.process_id is None
    extractor.close()
    assert extractor.extract(tmp_path / "a.txt").text == "text"
    extractor.close()
    assert extractor.process_id is None
    assert extractor.extract(tmp_path / "a.txt").text == "text"
    extractor.close()
