"""Extract the text of a file, by the reader for its suffix."""

from __future__ import annotations

import importlib
import importlib.util
import os
from functools import cache
from typing import Any, NamedTuple

from syntagma.errors import InputError, MissingExtraError
from syntagma.extraction.document import Document
from syntagma.extraction.limits import DEFAULT_LIMITS, ExtractionLimits, megabytes
from syntagma.extraction.source import display_name, read_source, suffix_of
from syntagma.files import require_path


class _Format(NamedTuple):
    """A format: its name in messages, the function that reads it, and the packages it needs."""

    name: str
    module: str
    function: str
    packages: tuple[str, ...] = ()


_TEXT = _Format("plain text", "plain_text", "extract_text")
_MARKDOWN = _Format("Markdown", "markdown", "extract_markdown", ("markdown_it", "lxml"))
_HTML = _Format("HTML", "html", "extract_html", ("lxml",))
_WORD = _Format("Word documents", "docx", "extract_docx", ("lxml",))
_PDF = _Format("PDF", "pdf", "extract_pdf", ("pypdfium2",))
_FORMATS = {
    ".txt": _TEXT,
    ".text": _TEXT,
    ".md": _MARKDOWN,
    ".markdown": _MARKDOWN,
    ".html": _HTML,
    ".htm": _HTML,
    ".xhtml": _HTML,
    ".docx": _WORD,
    ".pdf": _PDF,
}
SUFFIXES = tuple(_FORMATS)
"""Suffixes of the files that can be read, in lower case."""
EXTRA = "documents"


def is_supported(path: str | os.PathLike[str]) -> bool:
    """Whether a file can be read, by the suffix of its name; upper case is as good as lower."""
    return suffix_of(path) in _FORMATS


def is_formatted(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a document of a format that has more than plain text."""
    return _FORMATS.get(suffix_of(path), _TEXT) is not _TEXT


def require_packages(path: str | os.PathLike[str]) -> None:
    """Check that a file has a suffix that can be read, and that the packages for it are installed.

    Raises:
        MissingExtraError: a package is missing.
        InputError: files with this suffix cannot be read.
    """
    suffix = suffix_of(path)
    if suffix not in _FORMATS:
        # A folder may well have no suffix, or any.
        if os.path.isdir(path):
            raise InputError(f"{display_name(path)}: is a folder; give the path of a file in it")
        raise InputError(
            f"{display_name(path)}: files {f'named {suffix}' if suffix else 'without a suffix'} "
            f"cannot be read; give one of {', '.join(SUFFIXES)}"
        )
    if not all(map(_is_installed, _FORMATS[suffix].packages)):
        raise MissingExtraError(f"reading {_FORMATS[suffix].name}", EXTRA)


@cache
def _is_installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def extract(
    path: str | os.PathLike[str],
    *,
    limits: ExtractionLimits = DEFAULT_LIMITS,
    name: str | None = None,
) -> Document:
    """Extract the text of a file, with its structure.

    The file is read in this process: a hostile one can take as much memory and time as it likes, or
    crash it.  :class:`syntagma.extraction.worker.Extractor` reads in another process.

    Args:
        path: a file with one of :data:`SUFFIXES`.
        limits: how large it may be.  The limits of memory and time are the extractor's.
        name: how messages call it; by default by its path.

    Raises:
        DiskError: it does not exist or cannot be read.
        MissingExtraError: the packages that read it are not installed.
        InputError: it has another suffix, is damaged, encrypted or too large, or has no text.
    """
    require_path(path, "a document")
    name = display_name(path) if name is None else name
    require_packages(path)
    source = read_source(path, name, limits)
    format_ = _FORMATS[suffix_of(path)]
    try:
        module: Any = importlib.import_module(f"syntagma.extraction.{format_.module}")
        document: Document = getattr(module, format_.function)(source, limits)
    except InputError:
        raise
    except MemoryError as error:
        raise InputError(memory_message(name, limits)) from error
    # The packages that read files raise whatever a damaged file leads to.
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(
            f"{name}: cannot be read as {format_.name} ({reason:.200}); open it in the program "
            f"that made it, and save it again"
        ) from error
    return document


def memory_message(name: str, limits: ExtractionLimits) -> str:
    """Return the message for a document that needs too much memory."""
    return (
        f"{name}: needs more than {megabytes(limits.memory_bytes)} of memory to be read; split it, "
        f"or raise memory_bytes of ExtractionLimits"
    )
