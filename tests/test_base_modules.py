"""Settings, files, outputs and batches."""

from __future__ import annotations

import gzip
import os
from dataclasses import dataclass, field
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntagma.batches import TokenBudgetSampler, token_budget_batches
from syntagma.errors import InputError
from syntagma.files import read_json, read_lines, read_text
from syntagma.outputs import (
    disk_errors,
    portable_name,
    require_absent,
    require_apart,
    write_folder,
    write_json,
    write_text,
)
from syntagma.settings import apply_overrides, build, load_yaml, to_dict
from syntagma.tasks.examples import distinct
from tests.messages import naming


@dataclass(frozen=True)
class Inner:
    rate: float = 0.1
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outer:
    size: int
    inner: Inner = field(default_factory=Inner)
    limit: int | None = None


@dataclass(frozen=True)
class Named:
    id: str


def test_equal_ids_in_two_files_are_distinguished():
    parts = {"a": [Named("1"), Named("2")], "b": [Named("3")]}
    assert distinct(parts) == parts
    parts["b"].append(Named("1"))
    assert [e.id for part in distinct(parts).values() for e in part] == ["a/1", "a/2", "b/3", "b/1"]


def test_settings_round_trip():
    outer = build(Outer, {"size": 3, "inner": {"rate": "1e-5", "names": "one"}, "limit": None})
    assert outer == Outer(3, Inner(1e-5, ("one",)))
    assert build(Outer, to_dict(outer)) == outer


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "settings size `size: …`"),
        ({"size": 3, "inner": {"raet": 1}}, "settings.inner raet rate"),
        ({"size": "3"}, "settings.size number 3"),
        ({"size": True}, "settings.size number True"),
        ({"size": 3, "inner": 4}, "settings.inner `key: value` 4"),
        ({"size": 3, "inner": {"rate": "fast"}}, "settings.inner.rate number fast"),
        ({"size": 3, "inner": {"names": 3.0}}, "settings.inner.names text 3.0"),
        ({"size": 3, "inner": {"rate": None}}, "settings.inner.rate number None"),
        ({"size": 3, "inner": {"rate": float("nan")}}, "settings.inner.rate number nan"),
        ({"size": 3, "inner": {"rate": "nan"}}, "settings.inner.rate number nan"),
        ({"size": 3, "inner": {"rate": 10**400}}, "settings.inner.rate number large"),
    ],
)
def test_invalid_settings_are_reported(values, message):
    with pytest.raises(InputError, match=naming(message)):
        build(Outer, values)


def test_overrides_set_keys_of_sections_but_not_of_values():
    values = {"a": {"b": 1}, "c": 2}
    assert apply_overrides(values, ["a.d.e=x", "c=[1, 2]"]) == {
        "a": {"b": 1, "d": {"e": "x"}}, "c": [1, 2],
    }  # fmt: skip
    assert values == {"a": {"b": 1}, "c": 2}
    with pytest.raises(InputError, match=naming("--set c.d=1 c")):
        apply_overrides(values, ["c.d=1"])
    with pytest.raises(InputError, match=naming("--set key=value training.num_train_epochs=3")):
        apply_overrides(values, ["c"])
    with pytest.raises(InputError, match=naming("list key=value ['c=3']")):
        apply_overrides(values, "c=3")


def test_yaml_errors_name_the_position(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("a: 1\nb: [1, 2\n")
    with pytest.raises(InputError, match=naming("a.yaml YAML line 3")):
        load_yaml(path)
    path.write_text("- 1\n- 2\n")
    with pytest.raises(InputError, match=naming("a.yaml `key: value` list")):
        load_yaml(path)
    path.write_text("data: {train: x}\ntraining:\n  seed: 1\n  seed: 2\n")
    with pytest.raises(InputError, match=naming("a.yaml line 4 column 3 seed")):
        load_yaml(path)
    path.write_text("number: !!int x\n")
    with pytest.raises(InputError, match=naming("a.yaml YAML 'x'")):
        load_yaml(path)
    with pytest.raises(InputError, match=naming("--set a=!!int x YAML")):
        apply_overrides({}, ["a=!!int x"])
    path.write_text("task: pairs\nencoder: {{ENCODER}}\n")
    with pytest.raises(InputError, match=naming("a.yaml YAML line 2 column 11")):
        load_yaml(path)
    path.write_text("a: " + "[" * 3000)
    with pytest.raises(InputError, match=naming("a.yaml YAML")):
        load_yaml(path)
    with pytest.raises(InputError, match=naming("--set a={{ENCODER}} {{ENCODER}} YAML")):
        apply_overrides({}, ["a={{ENCODER}}"])
    path.write_text("base: &b {x: 1, y: 2}\nmore: {<<: *b, y: 3}\n")
    assert load_yaml(path)["more"] == {"x": 1, "y": 3}


@pytest.mark.parametrize("day", ["2024-01-31", "2024-13-45", "2024-01-31 12:00:00"])
def test_what_looks_like_a_date_is_text(day, tmp_path):
    (tmp_path / "a.yaml").write_text(f"encoder: {day}\n")
    assert load_yaml(tmp_path / "a.yaml") == apply_overrides({}, [f"encoder={day}"])
    assert load_yaml(tmp_path / "a.yaml") == {"encoder": day}


def test_text_is_read_unchanged(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\r\ntwo\n\xef\xbb\xbfthree")
    assert read_text(path) == "one\r\ntwo\n\ufeffthree"
    assert list(read_lines(path)) == ["one", "two", "\ufeffthree"]
    packed = tmp_path / "a.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read_text(packed) == read_text(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"ok\nna\xefve\n", "a.txt UTF-8 5 `iconv -f latin1"),
        (b"", "a.txt empty"),
        (b"  \n ", "a.txt empty"),
        (gzip.compress(b"some text here", mtime=0)[:-9], "a.txt damaged gzip"),
    ],
)
def test_unreadable_text_is_reported(tmp_path, content, message):
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=naming(message)):
        read_text(path)


def test_folders_missing_files_and_broken_json_are_reported(tmp_path):
    with pytest.raises(InputError, match=naming(f"{tmp_path} folder")):
        read_text(tmp_path)
    with pytest.raises(InputError, match=naming("none.txt")):
        read_text(tmp_path / "none.txt")
    (tmp_path / "a.json").write_text('{"a": 1,\n "b": }')
    with pytest.raises(InputError, match=naming("a.json JSON line 2 column 7")):
        read_json(tmp_path / "a.json")
    (tmp_path / "a.json").write_text("# newdoc\n1\tWe\n")
    with pytest.raises(InputError, match=naming("a.json JSON # newdoc")):
        read_json(tmp_path / "a.json")
    (tmp_path / "deep.json").write_text("[" * 100_000)
    with pytest.raises(InputError, match=naming("deep.json")):
        read_json(tmp_path / "deep.json")


def test_files_are_written_atomically(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    write_text(path, "first")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match=naming("a.txt No space left on device")):
        write_text(path, "second")
    assert path.read_text() == "first"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_folders_are_written_atomically(tmp_path):
    with write_folder(tmp_path / "new") as draft:
        (draft / "a").write_text("x")
        assert not (tmp_path / "new").exists()
    assert (tmp_path / "new" / "a").read_text() == "x"
    with pytest.raises(RuntimeError, match="oops"), write_folder(tmp_path / "other"):
        raise RuntimeError("oops")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["new"]
    with (
        pytest.raises(InputError, match=naming(f"{tmp_path / 'new'} empty")),
        write_folder(tmp_path / "new"),
    ):
        pass


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("bert-base_v1.5@x+y", "bert-base_v1.5@x+y"),
        ("Łódź 東京", "Łódź 東京"),
        ("conllu:a/b", "conllu_a_b"),
        (r"C:\models\bert", "C_models_bert"),
        ('a<b>|"c"?*', "a_b_c_"),
        ("a\tb\nc\0", "a_b_c_"),
        ("CON", "_CON"),
        ("com1.json", "_com1.json"),
        ("command", "command"),
        ("..", "_"),
        ("", "_"),
        ("ends. ", "ends"),
    ],
)
def test_names_that_files_can_have_on_any_system(text, name):
    assert portable_name(text) == name
    assert portable_name(name) == name


@pytest.mark.parametrize(
    "error",
    [
        OSError(28, "No space left on device"),
        RuntimeError("PytorchStreamWriter failed writing"),
    ],
)
def test_disk_errors_become_input_errors(tmp_path, error):
    with (
        pytest.raises(InputError, match=naming(tmp_path)),
        disk_errors(tmp_path),
    ):
        raise error
    with pytest.raises(KeyError), disk_errors(tmp_path):
        raise KeyError("other")


def test_existing_paths_are_reported(tmp_path):
    write_text(tmp_path / "a.txt", "x")
    with pytest.raises(InputError, match=naming(f"{tmp_path} Is a directory")):
        write_text(tmp_path, "x")
    with pytest.raises(InputError, match=naming("a.txt")):
        require_absent(tmp_path / "a.txt")


def test_written_files_follow_the_umask_or_keep_their_permissions(tmp_path):
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "new", "x")
        with write_folder(tmp_path / "folder") as draft:
            (draft / "a").write_text("x")
        private = tmp_path / "private"
        private.touch(mode=0o600)
        write_text(private, "x")
    finally:
        os.umask(before)
    modes = [(tmp_path / name).stat().st_mode & 0o777 for name in ("new", "folder", "private")]
    assert modes == [0o640, 0o750, 0o600]


def test_symbolic_links_are_followed(tmp_path):
    write_text(tmp_path / "file", "old")
    (tmp_path / "link").symlink_to("file")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "new"
    (tmp_path / "empty").mkdir()
    (tmp_path / "folder").symlink_to("empty")
    with write_folder(tmp_path / "folder") as draft:
        (draft / "a").write_text("x")
    assert (tmp_path / "empty" / "a").is_file()
    assert (tmp_path / "folder").is_symlink()


def test_inputs_are_not_overwritten(tmp_path):
    data = tmp_path / "a.json"
    write_text(data, "x")
    (tmp_path / "link").symlink_to("a.json")
    for name in (data, tmp_path / "link"):
        for read in (
            f"{data}",
            f"{data}+{tmp_path / 'b'}",
            f"{tmp_path / 'b'}+{data}",
            f"{data}#dev",
        ):
            with pytest.raises(InputError, match=naming(name)):
                require_apart(name, [read])
    require_apart(tmp_path / "b", [data])
    require_apart(None, [data])
    write_text(tmp_path / "earlier.json", "an older output may be replaced")
    require_apart(tmp_path / "earlier.json", [data])


@given(st.lists(st.integers(1, 50), max_size=60), st.integers(1, 120))
def test_batches_cover_everything_within_the_budget(lengths, budget):
    batches = token_budget_batches(lengths, budget)
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        longest = max(lengths[index] for index in batch)
        assert len(batch) == 1 or longest * len(batch) <= budget


@given(st.lists(st.integers(1, 50), max_size=60), st.integers(1, 500), st.integers(0, 100))
def test_splitting_a_batch_saves_more_padding_than_the_call_costs(lengths, budget, call_cost):
    def padded(batches):
        return sum(len(batch) * max(lengths[index] for index in batch) for batch in batches)

    whole = token_budget_batches(lengths, budget)
    split = token_budget_batches(lengths, budget, call_cost=call_cost)
    assert [index for batch in split for index in batch] == [i for batch in whole for i in batch]
    n_more = len(split) - len(whole)
    assert padded(whole) - padded(split) >= n_more * (call_cost + 1)
    for batch in split:
        # No single cut of what is left would pay.
        own = [lengths[index] for index in batch]
        saved = [first * (own[-1] - own[first - 1]) for first in range(1, len(own))]
        assert max(saved, default=0) <= call_cost


@given(st.lists(st.integers(1, 20), min_size=1, max_size=60), st.integers(1, 4))
def test_ranks_get_the_same_number_of_batches(lengths, world):
    samplers = [
        TokenBudgetSampler(lengths, budget=40, seed=3, world=world, rank=rank)
        for rank in range(world)
    ]
    shares = [list(sampler) for sampler in samplers]
    assert len({len(share) for share in shares}) == 1 == len({len(s) for s in samplers})
    assert len(shares[0]) == len(samplers[0])
    seen = {index for share in shares for batch in share for index in batch}
    assert seen == set(range(len(lengths)))


def test_epochs_differ_and_are_reproducible():
    lengths = np.random.default_rng(0).integers(3, 9, size=200)
    sampler = TokenBudgetSampler(lengths, budget=40, seed=1)
    first = list(sampler)
    sampler.set_epoch(1)
    second = list(sampler)
    sampler.set_epoch(0)
    assert list(sampler) == first != second
    assert len(first) == len(second) == len(sampler)


def test_json_has_null_in_place_of_infinity_and_nan(tmp_path):
    value = {"a": [1.5, float("inf")], "b": (float("nan"), "x"), "c": {"d": -float("inf")}}
    write_json(tmp_path / "a.json", value)
    text = (tmp_path / "a.json").read_text()
    assert "Infinity" not in text
    assert "NaN" not in text
    assert read_json(tmp_path / "a.json") == {"a": [1.5, None], "b": [None, "x"], "c": {"d": None}}


def test_the_package_is_marked_as_typed():
    assert files("syntagma").joinpath("py.typed").is_file()
