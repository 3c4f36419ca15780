"""Places that pictures and values are to be written to, checked before there is anything to write.

What takes hours must not fail at its last step.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from syntagma.errors import InputError
from syntagma.files import disk_errors

__all__ = ["require_place"]


def require_place(path: str | Path) -> None:
    """Check that a file can be written, without writing it.

    Folders above it that are not there would be made.

    Args:
        path: of the file.

    Raises:
        InputError: it is a folder, or nothing can be written there.
    """
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path}: is a folder; give the path of a file to write")
    above = next((each for each in path.parents if each.exists()), Path())
    with disk_errors(path), tempfile.TemporaryFile(dir=above):
        pass
