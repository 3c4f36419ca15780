"""An index follows its documents, survives interruption, and reports what cannot be read."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.torch import load_file, save_file

from syntagma.errors import BusyError, DamagedFileError, InputError
from syntagma.extraction.worker import Extractor
from syntagma.outputs import hold_folder
from syntagma.retrieval import build, terms
from syntagma.retrieval.index_folder import INDEX
from syntagma.retrieval.passage_index import PassageIndex
from tests.encoders.fake_hub import serving, use
from tests.messages import naming, says

FERRY = "The ferry leaves the harbour at noon. It carries twelve carts."
BREAD = "The baker sells bread in the market, and cakes on Sundays."
MUSEUM = "The museum opens at nine. Children enter free of charge."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with three documents."""
    place = tmp_path / "documents"
    (place / "town").mkdir(parents=True)
    (place / "ferry.txt").write_text(FERRY)
    (place / "town" / "bread.txt").write_text(BREAD)
    (place / "town" / "museum.txt").write_text(MUSEUM)
    return place


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that are extracted from now on."""
    names: list[str] = []
    extract = Extractor.extract

    def recorded(self: Extractor, path: str):
        names.append(Path(path).name)
        return extract(self, path)

    monkeypatch.setattr(Extractor, "extract", recorded)
    return names


def make(sources: Path | list[Path], out: Path, encoder: str = "", **options) -> PassageIndex:
    sources = [sources] if isinstance(sources, Path) else sources
    return PassageIndex.build(sources, out, encoder=encoder, **options)


def found_in(index: PassageIndex, question: str) -> str:
    hit = index.search([question], top=1)[0][0]
    return Path(index.passages([hit.id])[0].source).name


def change(path: Path, text: str) -> None:
    """Write a file so that its time of change differs, however coarse the clock is."""
    before = path.stat().st_mtime_ns if path.exists() else 0
    path.write_text(text)
    os.utime(path, ns=(before + 10**9, before + 10**9))


def test_documents_are_found_by_what_they_say(folder, tmp_path, tiny_encoder):
    index = make(folder, tmp_path / "index", tiny_encoder)
    assert (len(index), len(index.documents)) == (3, 3)
    assert index.store.vectors.shape == (3, 32)
    for question, name in [
        ("When does the ferry leave?", "ferry.txt"),
        ("Who sells bread?", "bread.txt"),
        ("Is the museum free for children?", "museum.txt"),
    ]:
        (hits,) = index.search([question], by="bm25")
        (passage, *_) = index.passages([hit.id for hit in hits])
        assert Path(passage.source).name == name
        whole = Path(passage.source).read_text()
        assert whole[passage.start : passage.end] == passage.text


def test_only_new_and_changed_documents_are_read(folder, tmp_path, read, tiny_encoder):
    out = tmp_path / "index"
    make(folder, out, tiny_encoder)
    assert sorted(read) == ["bread.txt", "ferry.txt", "museum.txt"]
    read.clear()
    change(folder / "ferry.txt", "The ferry sank, and a bridge was built.")
    (folder / "new.txt").write_text("A new lighthouse.")
    (folder / "town" / "bread.txt").unlink()
    index = PassageIndex.build([folder], out, encoder=tiny_encoder)
    assert sorted(read) == ["ferry.txt", "new.txt"]
    assert (index.report.n_documents, index.report.n_read, index.report.n_removed) == (3, 2, 1)
    assert found_in(index, "What sank?") == "ferry.txt"
    assert found_in(index, "Where is the lighthouse?") == "new.txt"
    assert not index.search(["bread"], by="bm25")[0][0].score


def test_an_updated_index_equals_a_new_one(folder, tmp_path, tiny_encoder):
    make(folder, tmp_path / "updated", tiny_encoder)
    change(folder / "ferry.txt", "The ferry sank, and a bridge was built.")
    updated = make(folder, tmp_path / "updated", tiny_encoder)
    new = make(folder, tmp_path / "new", tiny_encoder)
    assert updated.documents == new.documents
    np.testing.assert_array_equal(updated.store.vectors, new.store.vectors)
    question = ["When did the ferry sink?"]
    assert updated.search(question) == new.search(question)


def test_an_index_without_changes_is_not_written_again(folder, tmp_path):
    make(folder, tmp_path / "index")
    before = (tmp_path / "index" / INDEX).stat().st_mtime_ns
    make(folder, tmp_path / "index")
    assert (tmp_path / "index" / INDEX).stat().st_mtime_ns == before


def test_moved_and_touched_documents_are_not_extracted_again(folder, tmp_path, read):
    make(folder, tmp_path / "index")
    read.clear()
    shutil.move(folder / "ferry.txt", folder / "town" / "boat.txt")
    os.utime(folder / "town" / "bread.txt")
    index = make(folder, tmp_path / "index")
    assert not read
    assert found_in(index, "When does the ferry leave?") == "boat.txt"


def test_a_renamed_or_copied_document_has_the_title_of_its_name(folder, tmp_path, read):
    page = "<title>Timetable</title><p>It leaves at noon.</p>"
    (folder / "budget_2023.txt").write_text("Twelve pounds a month.")
    (folder / "times.html").write_text(page)
    make(folder, tmp_path / "index")
    read.clear()
    (folder / "budget_2023.txt").rename(folder / "lease_contract.txt")
    shutil.copy(folder / "lease_contract.txt", folder / "rent.txt")
    (folder / "times.html").rename(folder / "hours.html")
    index = make(folder, tmp_path / "index")
    assert not read
    titles = {Path(document.path).name: document.title for document in index.documents}
    assert titles["lease_contract.txt"] == "lease contract"
    assert titles["rent.txt"] == "rent"
    assert titles["hours.html"] == "Timetable"
    assert found_in(index, "lease contract") == "lease_contract.txt"
    assert not index.search(["budget"])[0][0].score


def test_a_copy_of_another_format_is_read_as_its_own(tmp_path, read):
    folder = tmp_path / "documents"
    folder.mkdir()
    for name in ("notes.md", "notes.txt", "again.txt"):
        (folder / name).write_text("# The pier\n\nIt was closed in May.\n")
        index = make(folder, tmp_path / "index")
    assert read == ["notes.md", "notes.txt"]
    found = [index.passages([hit.id])[0] for hit in index.search(["May"], top=3)[0]]
    headings = {Path(passage.source).name: passage.heading for passage in found}
    assert headings == {"notes.md": "The pier", "notes.txt": "", "again.txt": ""}


def test_other_settings_read_everything_again(folder, tmp_path, read, tiny_encoder):
    make(folder, tmp_path / "index")
    read.clear()
    index = make(folder, tmp_path / "index", tiny_encoder)
    assert len(read) == 3
    assert index.store.vectors is not None


def test_an_open_index_stays_as_it_is(folder, tmp_path):
    opened = make(folder, tmp_path / "index")
    change(folder / "ferry.txt", "Nothing of the kind.")
    make(folder, tmp_path / "index")
    assert opened.passages(["0"])[0].text == FERRY
    assert PassageIndex.open(tmp_path / "index").passages(["0"])[0].text == "Nothing of the kind."
    assert len(list((tmp_path / "index").glob("generation-*"))) == 1


def test_what_cannot_be_read_is_said_each_time_and_the_rest_is_done(folder, tmp_path, read):
    (folder / "empty.txt").write_text("")
    (folder / "broken.txt").write_bytes(b"caf\xe9")
    (folder / "photo.png").write_bytes(b"\x89PNG")
    problems: list[str] = []
    for _ in range(2):
        problems.clear()
        index = PassageIndex.build(
            [folder], tmp_path / "index", encoder="", on_problem=problems.append
        )
        assert (index.report.n_documents, index.report.n_problems) == (3, 2)
        assert len(index) == 3
        assert any(says(line, "empty.txt") for line in problems)
        assert any(says(line, "broken.txt UTF-8") for line in problems)
        assert any(says(line, ".png") for line in problems)
    assert read.count("broken.txt") == 1


def test_a_file_that_may_be_readable_later_is_tried_again(folder, tmp_path, monkeypatch):
    digest = build._digest
    locked = True

    def refuse(path: str) -> str:
        if locked and path.endswith("ferry.txt"):
            raise build.MachineError(f"{path}: cannot be read (Permission denied)")
        return digest(path)

    monkeypatch.setattr(build, "_digest", refuse)
    problems: list[str] = []
    index = make(folder, tmp_path / "index", on_problem=problems.append)
    assert (len(index), len(problems), index.report.n_problems) == (2, 1, 1)
    locked = False
    assert len(make(folder, tmp_path / "index", on_problem=problems.append)) == 3
    assert len(problems) == 1


def test_an_interrupted_build_goes_on(folder, tmp_path, read, monkeypatch, tiny_encoder):
    monkeypatch.setattr(build, "BATCH_PASSAGES", 1)
    extract = Extractor.extract

    def interrupted(self: Extractor, path: str):
        if path.endswith("museum.txt"):
            raise KeyboardInterrupt
        return extract(self, path)

    with monkeypatch.context() as patch:
        patch.setattr(Extractor, "extract", interrupted)
        with pytest.raises(KeyboardInterrupt):
            make(folder, tmp_path / "index", tiny_encoder)
    read.clear()
    with pytest.raises(InputError, match=naming("index.json syntagma index")):
        PassageIndex.open(tmp_path / "index")
    index = make(folder, tmp_path / "index", tiny_encoder)
    assert read == ["museum.txt"]
    assert len(index) == 3
    assert sorted(path.name for path in (tmp_path / "index").iterdir()) == [
        "generation-000001",
        "index.json",
    ]


def test_an_interrupted_build_survives_a_call_with_nothing_to_read(
    folder, tmp_path, read, monkeypatch
):
    monkeypatch.setattr(build, "BATCH_PASSAGES", 1)
    out = tmp_path / "index"
    with monkeypatch.context() as patch:
        patch.setattr(build, "_write_generation", None)
        with pytest.raises(TypeError):
            make(folder, out)
    parts = sorted(out.iterdir())
    (tmp_path / "empty.txt").write_text("")
    with pytest.raises(InputError, match=naming("nothing empty.txt")):
        make(tmp_path / "empty.txt", out)
    assert sorted(out.iterdir()) == parts
    read.clear()
    make(folder, out)
    assert not read


@pytest.mark.parametrize(
    "name",
    [
        "part-1/a.txt",
        "part-000001/a.txt",
        "generation-000001/keep.bin/a.txt",
        ".git/config",
        ".env",
        "part-000002",
    ],
)
def test_folders_of_the_user_are_never_removed(folder, tmp_path, name):
    out = tmp_path / "book"
    kept = out / name
    kept.parent.mkdir(parents=True)
    kept.write_text("A chapter.")
    for source in (folder, out, tmp_path / "book" / name):
        with pytest.raises(InputError, match=naming(f"index empty {name.split('/')[0]} new")):
            make(source, out)
    assert kept.read_text() == "A chapter."


def test_an_index_keeps_what_is_not_its_own(folder, tmp_path):
    out = tmp_path / "index"
    make(folder, out)
    kept = [out / "part-1" / "a.txt", out / "part-000001" / "a.txt", out / "generation-2" / "a.txt"]
    for path in kept:
        path.parent.mkdir()
        path.write_text("A chapter.")
    elsewhere = shutil.copytree(out / "generation-000001", tmp_path / "elsewhere")
    (out / "part-000009").symlink_to(elsewhere, target_is_directory=True)
    change(folder / "ferry.txt", "Something else.")
    make(folder, out)
    assert all(path.is_file() for path in kept)
    assert (out / "part-000009").is_symlink()
    assert len(list(elsewhere.iterdir())) > 3


@pytest.mark.parametrize("is_there", [True, False])
def test_a_folder_is_removed_only_by_the_call_that_made_it(tmp_path, is_there):
    out = tmp_path / "index"
    if is_there:
        out.mkdir()
    (tmp_path / "empty.txt").write_text("")
    with pytest.raises(InputError, match=naming("nothing")):
        make(tmp_path / "empty.txt", out)
    assert out.exists() == is_there
    assert not is_there or not list(out.iterdir())


def test_whoever_fails_while_writing_leaves_the_old_index(folder, tmp_path, monkeypatch):
    make(folder, tmp_path / "index")
    change(folder / "ferry.txt", "Something else.")
    for place in ("KeywordScorer", "write_state", "os"):
        with monkeypatch.context() as patch:
            patch.setattr(build, place, None)
            with pytest.raises((TypeError, AttributeError)):
                make(folder, tmp_path / "index")
        assert PassageIndex.open(tmp_path / "index").passages(["0"])[0].text == FERRY
    assert make(folder, tmp_path / "index").passages(["0"])[0].text == "Something else."


def test_places_and_sources_that_cannot_be_used(folder, tmp_path):
    with pytest.raises(InputError, match=naming("documents ferry.txt")):
        make(folder, folder)
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match=naming("file new folder")):
        make(folder, tmp_path / "file")
    with pytest.raises(InputError, match=naming("nowhere")):
        make(tmp_path / "nowhere", tmp_path / "index")
    with pytest.raises(InputError, match=naming("write")):
        PassageIndex.build(str(folder), tmp_path / "index")
    (tmp_path / "nothing").mkdir()
    with pytest.raises(InputError, match=naming("nothing docx pdf")):
        make(tmp_path / "nothing", tmp_path / "index")
    with pytest.raises(BusyError), hold_folder(tmp_path / "index"):
        make(folder, tmp_path / "index")


@pytest.mark.parametrize("name", ["keywords", "keywords/vocab.index.json", "text.bin"])
def test_an_index_without_one_of_its_files_is_reported_and_built_again(
    folder, tmp_path, name, caplog
):
    out = tmp_path / "index"
    make(folder, out)
    path = out / "generation-000001" / name
    path.rename(tmp_path / "gone")
    with pytest.raises(DamagedFileError, match=naming("build the index again")):
        PassageIndex.open(out)
    assert len(make(folder, out)) == len(PassageIndex.open(out))
    assert says(caplog.text, "index damaged")
    assert {each.name for each in out.glob("*")} == {"generation-000002", INDEX}


def test_an_index_of_an_earlier_version_gets_new_keywords_only(folder, tmp_path, read, caplog):
    out = tmp_path / "index"
    (folder / "gang.txt").write_text("渡轮中午离开港口。")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(terms, "_words", lambda text: text.rstrip("。.?").split())
        make(folder, out)
    path = out / INDEX
    values = json.loads(path.read_text())
    values["settings"]["extraction"] = 1
    path.write_text(json.dumps(values))
    index = PassageIndex.open(out)
    assert says(caplog.text, "index another version syntagma index --out")
    assert not index.search(["港口"])[0][0].score
    caplog.clear()
    read.clear()
    index = make(folder, out)
    assert says(caplog.text, "index another version keywords")
    assert not read
    assert found_in(index, "港口在哪里？") == "gang.txt"
    caplog.clear()
    make(folder, out)
    assert not caplog.text


@pytest.mark.parametrize(
    "changes",
    [
        {"format_version": 99},
        {"generation": "../../elsewhere"},
        {"generation": "generation-000007"},
        {"settings": {"colour": "blue"}},
        {"sources": 3},
    ],
)
def test_a_broken_index_is_reported(folder, tmp_path, changes):
    make(folder, tmp_path / "index")
    path = tmp_path / "index" / INDEX
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(InputError):
        PassageIndex.open(tmp_path / "index")
    if "format_version" in changes:
        with pytest.raises(InputError, match=naming("99")):
            make(folder, tmp_path / "index")
    else:
        assert len(make(folder, tmp_path / "index")) == 3


def test_vectors_of_other_weights_are_refused(folder, tmp_path, encoder_folders):
    own = shutil.copytree(encoder_folders["bert"], tmp_path / "encoder")
    index = make(folder, tmp_path / "index", str(own))
    path = tmp_path / "index" / INDEX
    values = json.loads(path.read_text())
    values["settings"]["encoder_digest"] = "0" * 64
    path.write_text(json.dumps(values))
    assert index.search(["ferry"])
    with pytest.raises(DamagedFileError, match=naming("weights build again")):
        PassageIndex.open(tmp_path / "index").search(["ferry"])


def test_other_weights_of_an_encoder_on_the_hub_are_noticed(
    folder, tmp_path, encoder_folders, monkeypatch
):
    own = Path(shutil.copytree(encoder_folders["bert"], tmp_path / "encoder"))
    with serving({"someone/encoder": own}) as hub:
        use(monkeypatch, hub.address, tmp_path / "cache")
        make(folder, tmp_path / "index", "someone/encoder")
        assert PassageIndex.open(tmp_path / "index").search(["ferry"])
        weights = load_file(own / "model.safetensors")
        first = next(iter(weights))
        save_file(weights | {first: weights[first] + 1}, own / "model.safetensors")
        use(monkeypatch, hub.address, tmp_path / "other_cache")
        with pytest.raises(DamagedFileError, match=naming("someone/encoder weights build again")):
            PassageIndex.open(tmp_path / "index").search(["ferry"])


def test_an_encoder_in_a_folder_is_found_from_elsewhere(
    folder, tmp_path, encoder_folders, monkeypatch, read
):
    shutil.copytree(encoder_folders["bert"], tmp_path / "here" / "encoder")
    monkeypatch.chdir(tmp_path / "here")
    PassageIndex.build([folder], tmp_path / "index", encoder=Path("encoder"))
    monkeypatch.chdir(tmp_path)
    assert PassageIndex.open(tmp_path / "index").search(["ferry"])
    # The same encoder by another name: nothing is read again.
    read.clear()
    make(folder, tmp_path / "index", "here/encoder")
    assert not read


def test_wrong_searches_are_refused(folder, tmp_path):
    index = make(folder, tmp_path / "index")
    for wrong in ("ferry", [""], [3], None):
        with pytest.raises(InputError):
            index.search(wrong)  # type: ignore[arg-type]
    for top in (0, 2.5, "3", True, None):
        with pytest.raises(InputError, match=naming(f"top whole 1 {top}")):
            index.search(["ferry"], top=top)
    with pytest.raises(InputError, match=naming("passage_words 20 20.5")):
        make(folder, tmp_path / "index", passage_words=20.5)
    for wrong in ("9", "-1", "x"):
        with pytest.raises(InputError, match=naming("search")):
            index.passages([wrong])
