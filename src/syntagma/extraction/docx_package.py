"""Open a ``.docx`` file, which is a zip archive of XML files, without trusting it."""

from __future__ import annotations

import io
import lzma
import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from syntagma.errors import InputError
from syntagma.extraction.limits import ExtractionLimits, megabytes
from syntagma.extraction.source import Source

_ENTRY = b"PK\x01\x02"
"""Begins each entry of the directory at the end of a zip archive."""
_COMPOUND_FILE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""Begins ``.doc`` files, and what Word makes of a ``.docx`` that has a password."""
_CHUNK = 2**16
_BROKEN = (
    zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, lzma.LZMAError, EOFError, OSError,
    NotImplementedError, RuntimeError, ValueError, OverflowError,
)  # fmt: skip
"""What :mod:`zipfile` raises for damaged archives."""
_FORMER = frozenset(
    """
    numberingChange pPrChange rPrChange sectPrChange tblGridChange tblPrChange tblPrExChange
    tcPrChange trPrChange
    """.split()
)
"""Elements with the properties that a tracked change replaced."""


class DocxPackage:
    """The XML files in a Word document.

    Args:
        source: the file.
        limits: how many files it may contain, and how much may be read of them.

    Raises:
        InputError: it is not a zip archive, or it has too many files.
    """

    def __init__(self, source: Source, limits: ExtractionLimits) -> None:
        self.name = source.name
        self._limits = limits
        self._n_read = 0
        if source.data.startswith(_COMPOUND_FILE):
            raise InputError(
                f"{self.name}: has a password, or is an old .doc file; open it in a word "
                f"processor, and save it as .docx without a password"
            )
        # Counted before the directory is read, whatever the archive says of its length.
        if (n_members := source.data.count(_ENTRY)) > limits.members:
            raise InputError(
                f"{self.name}: contains {n_members} files, more than the limit of "
                f"{limits.members}; give a Word document, or raise members of ExtractionLimits"
            )
        with self._damage():
            self._archive = zipfile.ZipFile(io.BytesIO(source.data))
            self._names = set(self._archive.namelist())
        declared = sum(
            info.file_size for info in self._archive.infolist() if info.filename.endswith(".xml")
        )
        if declared > limits.unpacked_bytes:
            raise self._too_large(declared)

    @contextmanager
    def _damage(self) -> Iterator[None]:
        """Turn errors of a damaged archive in the block into one-line messages."""
        from lxml import etree

        try:
            yield
        except InputError:
            raise
        except etree.XMLSyntaxError as error:
            raise InputError(self._damaged(str(error))) from error
        except _BROKEN as error:
            raise InputError(self._damaged(str(error) or type(error).__name__)) from error

    def _damaged(self, reason: str) -> str:
        return (
            f"{self.name}: is not a Word document, or is damaged "
            f"({' '.join(reason.split()):.100}); open it in a word processor, and save it as .docx"
        )

    def _too_large(self, size: int) -> InputError:
        return InputError(
            f"{self.name}: unpacks to {megabytes(size)} or more, over the limit of "
            f"{megabytes(self._limits.unpacked_bytes)}; give a Word document, or raise "
            f"unpacked_bytes of ExtractionLimits"
        )

    def __contains__(self, member: str) -> bool:
        return member in self._names

    def read(self, member: str, target: Any) -> None:
        """Send the tags and texts of a file to a target, as it is unpacked.

        Args:
            member: name of the file in the archive.
            target: has the methods ``start``, ``end`` and ``data``, and ``close``.

        Raises:
            InputError: the file is missing or damaged, has a document type (which Word never
                writes, and which could define entities without end), or is too large.
        """
        from lxml import etree

        parser = etree.XMLParser(
            target=_Guarded(target, self._damaged("it has a document type")),
            resolve_entities=False,
            no_network=True,
            # The limits of libxml2 are lower than ours; those of the depth are not needed, since
            # no tree is made.
            huge_tree=True,
        )
        if member not in self._names:
            raise InputError(self._damaged(f"{member} is missing"))
        with self._damage(), self._archive.open(member) as file:
            while chunk := file.read(_CHUNK):
                # The sizes in the directory may lie.
                self._n_read += len(chunk)
                if self._n_read > self._limits.unpacked_bytes:
                    raise self._too_large(self._n_read)
                parser.feed(chunk)
            parser.close()

    def main_part(self) -> str:
        """Return the name of the file with the document's text.

        Raises:
            InputError: the archive is not a Word document.
        """
        found = _Relations()
        if "_rels/.rels" in self:
            self.read("_rels/.rels", found)
        targets = found.targets
        return next(
            (target.lstrip("/") for kind, target in targets if kind == "officeDocument"),
            "word/document.xml",
        )

    def parts_of(self, main: str) -> dict[str, str]:
        """Return the names of the files that belong to the main one, by their kinds (*styles*)."""
        folder, file = posixpath.split(main)
        relations = posixpath.join(folder, "_rels", f"{file}.rels")
        found = _Relations()
        if relations in self:
            self.read(relations, found)
        parts = {
            kind: posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
            for kind, target in found.targets
        }
        return {kind: part for kind, part in parts.items() if part in self}


class _Guarded:
    """Passes what the parser finds to another target, with names without their namespaces.

    Word writes the same names in two namespaces, of which the "strict" one is rare.  Properties
    before a tracked change are left out: they have the names of those that hold now.
    """

    def __init__(self, target: Any, when_typed: str) -> None:
        self._target = target
        self._when_typed = when_typed
        self._n_former = 0
        """How many elements are open, from the outermost one with former properties on."""
        self.data = target.data

    def doctype(self, name: str, public: str, system: str) -> None:
        raise InputError(self._when_typed)

    def start(self, tag: str, attributes: Any) -> None:
        tag = tag.rpartition("}")[2]
        if self._n_former or tag in _FORMER:
            self._n_former += 1
            return
        named = {key.rpartition("}")[2]: value for key, value in attributes.items()}
        self._target.start(tag, named)

    def end(self, tag: str) -> None:
        if self._n_former:
            self._n_former -= 1
            return
        self._target.end(tag.rpartition("}")[2])

    def close(self) -> None:
        self._target.close()


class XmlTarget:
    """Receives the tags and texts of an XML file, and does nothing with them."""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Begin an element.  Neither its name nor those of its attributes have a namespace."""

    def end(self, tag: str) -> None:
        """End an element."""

    def data(self, text: str) -> None:
        """Receive text."""

    def close(self) -> None:
        """End the file."""


class _Relations(XmlTarget):
    """The targets of a file with relations, with the last part of their types."""

    def __init__(self) -> None:
        self.targets: list[tuple[str, str]] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "Relationship" and attributes.get("TargetMode") != "External":
            kind = attributes.get("Type", "").rpartition("/")[2]
            self.targets.append((kind, attributes.get("Target", "")))
