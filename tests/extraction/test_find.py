"""Finding documents in folders."""

from __future__ import annotations

import os

import pytest

from syntagma.errors import DiskError, InputError
from syntagma.extraction.find import find_documents
from tests.messages import naming


def make(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


def found(*sources):
    """The paths below the first source that are found, and the problems."""
    problems = []
    files = list(find_documents(sources, on_problem=problems.append))
    return [os.path.relpath(file.path, sources[0]) for file in files], problems


def test_folders_are_walked_in_order(tmp_path):
    make(tmp_path, "b.txt", "a/z.md", "a/b/c.PDF", "a.html", "B.docx", ".hidden.txt", ".git/x.txt")
    files, problems = found(tmp_path)
    assert files == ["B.docx", "a/b/c.PDF", "a/z.md", "a.html", "b.txt"]
    assert problems == []


def test_size_and_time(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"12345")
    os.utime(path, ns=(5, 1_234_567_891))
    (file,) = find_documents([tmp_path], on_problem=print)
    assert (file.path, file.size, file.mtime_ns) == (str(path), 5, 1_234_567_891)


def test_other_kinds_are_counted(tmp_path):
    make(
        tmp_path, "a.txt", "1.png", "2.PNG", "c.zip", "Makefile", "d.verylongsuffixindeed", "e.a\nb"
    )
    os.mkfifo(tmp_path / "pipe.txt")
    files, problems = found(tmp_path)
    assert files == ["a.txt"]
    assert len(problems) == 1
    assert problems[0].startswith("7 files of other kinds were skipped: .png, .a\\nb, ")
    for kind in (".zip", "without a suffix", "pipes and devices"):
        assert kind in problems[0]
    (tmp_path / "one").mkdir()
    make(tmp_path, "one/a.png")
    assert found(tmp_path / "one") == ([], ["1 file of another kind was skipped: .png"])


def test_many_kinds_make_one_line(tmp_path):
    make(tmp_path, *(f"a.{number}x" for number in range(100)))
    ((), (line,)) = map(tuple, found(tmp_path))
    assert "100 files" in line
    assert line.endswith("others")
    assert len(line) < 200


def test_links(tmp_path):
    folder = tmp_path / "in"
    make(folder, "a.txt", "sub/b.txt")
    make(tmp_path, "outside/c.txt")
    (folder / "circle").symlink_to(folder)
    (folder / "sub" / "up").symlink_to(tmp_path / "in" / "sub")
    (folder / "other").symlink_to(tmp_path / "outside")
    (folder / "same.txt").symlink_to(folder / "a.txt")
    os.link(folder / "a.txt", folder / "z.txt")
    (folder / "nowhere.txt").symlink_to(folder / "gone")
    (folder / "self.md").symlink_to(folder / "self.md")
    (folder / "nowhere.png").symlink_to(folder / "gone")
    files, problems = found(folder)
    assert files == ["a.txt", "other/c.txt", "sub/b.txt"]
    assert len(problems) == 2
    assert "nowhere.txt" in problems[0]
    assert "self.md" in problems[1]


def test_the_same_file_is_given_once(tmp_path):
    make(tmp_path, "in/a.txt", "in/b.txt")
    files, _ = found(tmp_path / "in", tmp_path / "in" / "b.txt", tmp_path, tmp_path / "in")
    assert files == ["a.txt", "b.txt"]
    files, _ = found(tmp_path / "in" / "b.txt", tmp_path / "in")
    assert files == [".", "../a.txt"]


def test_hidden_sources_that_are_given(tmp_path):
    make(tmp_path, ".notes/a.txt", ".b.txt")
    assert found(tmp_path / ".notes")[0] == ["a.txt"]
    assert len(found(tmp_path / ".b.txt")[0]) == 1


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("gone", DiskError, "gone no such file or folder"),
        ("a.txt/b", DiskError, "no such file or folder"),
        ("a.png", InputError, "a.png .docx .pdf"),
        ("pipe.txt", InputError, "pipe.txt pipe"),
        ("nul\0", DiskError, "cannot be read"),
        ("self.txt", DiskError, "self.txt cannot be read"),
    ],
)
def test_sources_that_cannot_be_used(tmp_path, name, error, words):
    make(tmp_path, "a.txt", "a.png", "b.txt")
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "self.txt").symlink_to("self.txt")
    # Before anything is found: the user mistyped a name.
    with pytest.raises(error, match=naming(words)):
        next(find_documents([tmp_path / "b.txt", f"{tmp_path}/{name}"], on_problem=print))


@pytest.mark.parametrize("sources", ["folder", None, [3]])
def test_sources_must_be_paths(sources):
    with pytest.raises(InputError):
        list(find_documents(sources, on_problem=print))


def test_folders_without_permission(tmp_path, monkeypatch):
    make(tmp_path, "a/x.txt", "b/y.txt", "c/z.txt")
    listed = os.listdir

    def refuse(path):
        if path == str(tmp_path / "b"):
            raise PermissionError(13, "Permission denied")
        return listed(path)

    monkeypatch.setattr(os, "listdir", refuse)
    files, problems = found(tmp_path)
    assert files == ["a/x.txt", "c/z.txt"]
    assert len(problems) == 1
    assert str(tmp_path / "b") in problems[0]
    assert "Permission denied" in problems[0]


def test_files_that_vanish_meanwhile(tmp_path):
    make(tmp_path, "a.txt", "b.txt", "c.txt")
    problems = []
    files = find_documents([tmp_path], on_problem=problems.append)
    next(files)
    (tmp_path / "b.txt").unlink()
    assert [os.path.basename(file.path) for file in files] == ["c.txt"]
    assert len(problems) == 1


def test_names_that_are_not_utf_8(tmp_path):
    name = os.fsdecode(b"caf\xe9\n.txt")
    (tmp_path / name).write_text("text")
    (tmp_path / os.fsdecode(b"\xff")).symlink_to("gone")
    files, _ = found(tmp_path)
    assert files == [name]


def test_deep_folders(tmp_path):
    path = tmp_path
    for _ in range(300):
        path = path / "d"
    path.mkdir(parents=True)
    (path / "a.txt").write_text("text")
    assert len(found(tmp_path)[0]) == 1
