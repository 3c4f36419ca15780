"""Find the encoding of an HTML file, and decode it as browsers do."""

from __future__ import annotations

import codecs
import re

from syntagma.errors import InputError
from syntagma.extraction.source import Source, decode_text, marked_encoding

_DECLARED_WITHIN = 4096
"""Bytes in which the encoding must be declared; the standard says 1024."""
_DECLARED = re.compile(
    rb"""<meta[^>]{0,1000}?charset\s*=\s*["']?\s*([A-Za-z0-9_:.-]{1,40})"""
    rb"""|<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9_:.-]{1,40})""",
    re.IGNORECASE,
)
_KNOWN = re.compile(
    r"utf-8|iso8859-\d+|iso2022_jp|cp(?:125\d|866|874|949|932)|koi8-[ru]|mac-(?:roman|cyrillic)"
    r"|gb(?:k|2312|18030)|hz|big5(?:hkscs)?|euc_(?:jp|kr)|shift_jis"
)
"""Python's names of the encodings that pages have; not of all its codecs, some are no encodings."""
_WIDER = {"iso8859-1": "cp1252", "ascii": "cp1252", "iso8859-9": "cp1254", "gb2312": "gb18030"}
"""Encodings that browsers read as a larger one, which many pages use under the name."""
_SEVEN_BIT = ("iso2022_jp", "hz")
_UNDECLARED = "cp1252"
_WORST = 1000
"""A page may have one broken character in so many: then it is the page that is broken, and not the
encoding that is wrong."""


def decode_html(source: Source) -> str:
    """Decode a page: by its byte-order mark, as UTF-8, by its declaration, or as Windows-1252.

    What is valid UTF-8 is UTF-8, whatever the page declares: text in another encoding hardly ever
    is, but many pages declare the wrong one.

    Raises:
        InputError: it is not text, or not in the encoding that it declares.
    """
    if marked_encoding(source.data)[0]:
        return decode_text(source)
    declared = _DECLARED.search(source.data, 0, _DECLARED_WITHIN)
    name = (declared[1] or declared[2]).decode("ascii") if declared else ""
    encoding = _codec(name)
    # A page that declares UTF-16 in ASCII letters is not UTF-16; the standard says UTF-8.
    if encoding is None and source.data.find(b"\0", 0, _DECLARED_WITHIN) >= 0:
        raise InputError(
            f"{source.name}: has NUL characters, so it is not an HTML page; give one, or if it is "
            f"UTF-16, convert it with `iconv -f utf-16 -t utf-8`"
        )
    # The bytes of these are ASCII, and so UTF-8 too.
    order = (encoding, "utf-8") if encoding in _SEVEN_BIT else ("utf-8", encoding)
    for tried in filter(None, order):
        try:
            return source.data.decode(tried)
        except (UnicodeDecodeError, ValueError):
            continue
    page = source.data.decode(encoding or _UNDECLARED, "replace")
    if encoding is not None and page.count("\ufffd") * _WORST > len(page):
        raise InputError(
            f"{source.name}: declares the encoding {name}, but is not in it; correct the charset, "
            f"or convert the page to UTF-8, for example with `iconv -f latin1 -t utf-8`"
        )
    return page


def _codec(name: str) -> str | None:
    """Return Python's name of a declared encoding; ``None`` if it is not one of pages."""
    try:
        found = codecs.lookup(name).name
    except LookupError:
        return None
    found = _WIDER.get(found, found)
    return found if _KNOWN.fullmatch(found) else None
