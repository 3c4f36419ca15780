"""Whatever is under a path: one line that names the file and says what to do."""

from __future__ import annotations

import os
import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from syntagma.errors import DiskError, InputError, MissingExtraError
from syntagma.extraction import extract as extract_module
from syntagma.extraction.document import Document
from syntagma.extraction.extract import SUFFIXES, extract, is_supported
from syntagma.extraction.limits import ExtractionLimits
from syntagma.extraction.source import display_name
from tests.document_files import extracted, paragraph, pdf_file, word_file
from tests.messages import naming


def fails(path, words, error=InputError, **settings):
    with pytest.raises(error, match=naming(words)) as found:
        extract(path, **settings)
    assert "\n" not in str(found.value)
    return str(found.value)


def test_suffixes(tmp_path):
    assert is_supported("a.PDF")
    assert is_supported(tmp_path / "b.tar.md")
    assert not is_supported("txt")
    assert not is_supported(".txt")
    for suffix in SUFFIXES:
        assert is_supported(f"a{suffix}")
    fails(tmp_path / "a.png", "a.png .png .docx .pdf")
    fails(tmp_path / "a", "suffix .docx .pdf")


def test_nothing_and_folders(tmp_path):
    fails(tmp_path / "a.txt", "a.txt no such file", DiskError)
    (tmp_path / "b.txt").mkdir()
    fails(tmp_path / "b.txt", "b.txt folder file in it")
    fails(tmp_path, "folder file in it")
    (tmp_path / "c.txt").touch()
    fails(tmp_path / "c.txt" / "d.txt", "d.txt cannot be read", DiskError)
    fails("a\0.txt", "NUL")
    fails(7, "7 path")
    (tmp_path / "circle.txt").symlink_to(tmp_path / "circle.txt")
    fails(tmp_path / "circle.txt", "circle.txt cannot be read", DiskError)


def test_pipes_and_devices(tmp_path):
    os.mkfifo(tmp_path / "a.txt")
    fails(tmp_path / "a.txt", "a.txt pipe file")
    (tmp_path / "b.txt").symlink_to("/dev/zero")
    fails(tmp_path / "b.txt", "b.txt device file")


def test_no_permission(tmp_path, monkeypatch):
    # Root may read every file.
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    fails(tmp_path / "a.txt", "a.txt Permission chmod", DiskError)


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="no file that opens only")
def test_a_file_that_opens_but_cannot_be_read(tmp_path):
    (tmp_path / "a.txt").symlink_to("/proc/self/mem")
    fails(tmp_path / "a.txt", "a.txt cannot be read", DiskError)


def test_size_limits(tmp_path):
    path = tmp_path / "a.txt"
    with open(path, "wb") as file:
        file.truncate(2**30)  # takes no space on the disk
    fails(path, "a.txt 1024 MB 256 file_bytes")
    path.write_text("word " * 100)
    assert len(extract(path, limits=ExtractionLimits(file_bytes=500)).text) == 500
    fails(path, "file_bytes", limits=ExtractionLimits(file_bytes=499))
    few = ExtractionLimits(characters=100)
    fails(path, "a.txt 100 characters", limits=few)
    for name, data in [
        ("a.html", b"<p>" + b"word " * 30),
        ("b.html", b"<table><tr><td>" + b"<p>word" * 30),
        ("a.md", b"word " * 30),
        ("a.docx", word_file(paragraph("word " * 30))),
        ("a.pdf", pdf_file([["word " * 15] * 3])),
    ]:
        (tmp_path / name).write_bytes(data)
        fails(tmp_path / name, f"{name} 100 characters", limits=few)


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), "many", True])
def test_limits_are_numbers(value):
    with pytest.raises(InputError, match=naming("seconds number")):
        ExtractionLimits(seconds=value)
    with pytest.raises(InputError, match=naming("file_bytes whole number 1.5")):
        ExtractionLimits(file_bytes=1.5)


def test_missing_packages_name_the_extra(tmp_path, monkeypatch):
    monkeypatch.setattr(extract_module, "_is_installed", lambda package: False)
    for suffix in (".md", ".html", ".docx", ".pdf"):
        fails(tmp_path / f"a{suffix}", "documents pip install", MissingExtraError)
    assert extracted(tmp_path, "a.txt", "text").text == "text"


def test_other_errors_of_libraries(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("text")
    for error, words in [
        (RecursionError("too\ndeep"), "a.txt RecursionError"),
        (MemoryError(), "a.txt 2048 memory_bytes"),
    ]:

        def broken(*_, error=error):
            raise error

        monkeypatch.setattr("syntagma.extraction.plain_text.extract_text", broken)
        fails(tmp_path / "a.txt", words)


@pytest.mark.parametrize(
    "name", ["two\nlines.txt", "tab\t.txt", "bell\x07.txt", os.fsdecode(b"caf\xe9.txt")]
)
def test_names_that_are_hard_to_print(tmp_path, name):
    assert extracted(tmp_path, name, "text").text == "text"
    (tmp_path / name).write_text("")
    message = fails(tmp_path / name, "empty")
    assert message.isprintable()
    assert display_name(name) in message


def require_sound(document: Document) -> None:
    """What every document promises."""
    document.text.encode()  # no unpaired surrogates
    document.title.encode()
    assert not set(document.text) & {*map(chr, range(9)), "\x0b", "\x0c", "\x1b", "\x7f", "\x85"}
    end = 0
    for block in document.blocks:
        assert document.text[end : block.start].isspace() or block.start == end == 0
        assert block.start < block.end
        text = document.text[block.start : block.end]
        assert text.strip()
        assert text == text.rstrip()
        assert (block.kind == "heading") == (1 <= block.level <= 6)
        end = block.end
    assert document.blocks
    assert not document.text[end:].strip()


def try_extracting(folder, name: str, data: bytes) -> None:
    """Extract a file, which must give a sound document or one line that names the file."""
    message = f"{folder / name}: "
    try:
        require_sound(extracted(folder, name, data))
    except InputError as error:
        message = str(error)
    assert message.startswith(f"{folder / name}: ")
    assert message.isprintable()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_any_bytes(tmp_path_factory, suffix):
    folder = tmp_path_factory.mktemp("any")

    @settings(max_examples=60, deadline=None)
    @given(st.binary(max_size=200))
    @example(b"%PDF-1.4")
    @example(b"PK\x05\x06" + bytes(18))
    @example(b"<table><tr><td>a</tr><td>b")
    def run(data):
        try_extracting(folder, f"a{suffix}", data)

    run()


MARKUP = st.lists(
    st.sampled_from(
        [
            *"<p> </p> <li> <ul> </ul> <ol> <tr> <td> </td> </tr> <table> </table> <h1>".split(),
            "</h1>",
            *"<br> <pre> </pre> </div> <b> </b> <dl> <dd> <q> <title> </title> &shy; &#0;".split(),
            *"word | --- # - 1. > ``` * [x](y) &#xd800; \\".split(),
            *("<div hidden>", "\n", "\n\n", "    "),
        ]
    ),
    max_size=40,
)


@pytest.mark.parametrize("suffix", [".txt", ".md", ".html"])
def test_any_markup(tmp_path_factory, suffix):
    folder = tmp_path_factory.mktemp("markup")

    @settings(max_examples=150, deadline=None)
    @given(MARKUP, st.sampled_from(["", " ", "\n"]))
    def run(parts, between):
        try_extracting(folder, f"a{suffix}", between.join(parts).encode())

    run()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.pdf", pdf_file([["The boat leaves at ten."] * 9, ["Text"]], title="The ferry")),
        ("a.docx", word_file(paragraph("The boat leaves.") * 9)),
    ],
)
def test_damaged_files(tmp_path, name, data):
    """Bytes that are changed, missing or repeated, at random places."""
    for seed in range(60):
        rng = random.Random(seed)
        damaged = bytearray(data)
        for _ in range(rng.randint(1, 8)):
            start = rng.randrange(len(damaged))
            end = start + rng.randint(1, 20)
            damaged[start:end] = rng.choice([b"", rng.randbytes(4), damaged[start:end] * 2])
        try_extracting(tmp_path, name, bytes(damaged))
