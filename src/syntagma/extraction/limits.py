"""How much of a machine the extraction of one document may use."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from syntagma.checks import require_number
from syntagma.errors import InputError


@dataclass(frozen=True, slots=True)
class ExtractionLimits:
    """The largest documents that are read; larger ones are errors that name the limit.

    The defaults are far above what people write: the King James Bible has 4.3 million characters.

    Args:
        file_bytes: size of the file.
        characters: length of the extracted text.
        unpacked_bytes: what is read of the parts of a ``.docx``, which is a zip archive, after
            unpacking, in bytes.
        members: files in such an archive.
        memory_bytes: address space of the process in which :class:`syntagma.extraction.worker
            .Extractor` reads documents, where the platform can limit it (Linux).
        seconds: the time that it may take for one document.

    Raises:
        InputError: a limit is not a finite number above 0, or not a whole number, except
            ``seconds``.
    """

    file_bytes: int = 2**28
    characters: int = 2**26
    unpacked_bytes: int = 2**28
    members: int = 10_000
    memory_bytes: int = 2**31
    seconds: float = 120.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            require_number(value, field.name)
            if not 0 < value < math.inf:
                raise InputError(f"{field.name}: expected a finite number above 0, got {value}")
            if field.name != "seconds" and not isinstance(value, int):
                raise InputError(f"{field.name}: expected a whole number, got {value}")


DEFAULT_LIMITS = ExtractionLimits()


def megabytes(size: float) -> str:
    """Write a size in bytes for people.

    >>> megabytes(2**28), megabytes(700)
    ('256 MB', '0.0007 MB')
    """
    return f"{size / 2**20:.0f} MB" if size >= 2**20 else f"{size / 2**20:.1g} MB"
