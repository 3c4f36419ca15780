"""Folders state their format, and one that cannot be read is named before anything else."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from syntagma.errors import DamagedFileError, InputError
from syntagma.formats import check_format, stamp
from tests.messages import naming

PATH = Path("folder") / "run.json"


def test_what_is_stamped_can_be_read():
    check_format(stamp(2), PATH, 2, remedy="-")
    check_format(stamp(1), PATH, 2, remedy="-")


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ({}, InputError, "folder/run.json scripts/convert_to_0_1.py"),
        ({"format_version": "new", "syntagma_version": "0.1.0"}, DamagedFileError, "new train"),
        ({"format_version": True, "syntagma_version": "0.1.0"}, DamagedFileError, "True train"),
        ({"format_version": 1}, DamagedFileError, "format_version None train"),
        ({"format_version": 3, "syntagma_version": "0.9.0"}, InputError, "3 2 syntagma>=0.9.0"),
    ],
)
def test_other_formats_are_named(values, error, message):
    with pytest.raises(error, match=naming(message)):
        check_format(values, PATH, 2, remedy="train again")


ROOT = Path(__file__).parents[1]


def test_the_table_of_renamed_settings_has_what_the_script_renames():
    spec = importlib.util.spec_from_file_location("convert", ROOT / "scripts/convert_to_0_1.py")
    convert = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(convert)
    table = (ROOT / "docs" / "renamed-settings.md").read_text(encoding="utf-8")
    renamed = [convert.TRAINING, *convert.HEADS.values(), *convert.GUIDES.values()]
    for old, new in (pair for names in renamed for pair in names.items()):
        assert f"`{old}` | `{new}` |" in table
