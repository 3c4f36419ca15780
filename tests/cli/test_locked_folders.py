"""Folders that may not be entered."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.messages import one_line, says


@pytest.mark.parametrize(
    "arguments",
    [
        ["answer", "LOCKED/a.txt", "Who?"],
        ["answer", "LOCKED", "Who?"],
        ["index", "SOURCE", "--out", "LOCKED/new"],
    ],
)
def test_a_folder_that_may_not_be_entered_is_named_in_one_line(
    run, tmp_path, monkeypatch, arguments
):
    locked = tmp_path / "locked"
    stat = os.stat

    def refuse(path, *args, **options):
        if locked in Path(os.fsdecode(path)).parents:
            raise PermissionError(13, "Permission denied", str(path))
        return stat(path, *args, **options)

    locked.mkdir()
    source = tmp_path / "a.txt"
    source.write_text("Ann left.")
    monkeypatch.setattr(os, "stat", refuse)
    places = {"LOCKED": str(locked), "SOURCE": str(source)}
    for name, place in places.items():
        arguments = [each.replace(name, place) for each in arguments]
    code, _, err = run(*arguments)
    assert code == 2
    assert says(one_line(err), f"{locked} Permission denied chmod")
