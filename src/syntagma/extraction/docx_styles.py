"""Styles and numbering of Word documents: which paragraphs are headings or list items."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from syntagma.extraction.docx_package import XmlTarget
from syntagma.extraction.numbering import BULLET, WRITERS

_HEADING = re.compile(r"heading (\d)")
_LIST = re.compile(r"list (?:bullet|number)(?: \d)?")
_PLACEHOLDER = re.compile(r"%([1-9])")
_DEEPEST = 9
"""Levels that numbering and outlines have in Word."""
_N_BASES = 20
"""Styles that a style can be based on, one on the other; Word has at most 11."""


@dataclass(frozen=True, slots=True)
class ParagraphStyle:
    """What decides on the kind of a paragraph, in a style or in the paragraph itself.

    Args:
        name: of the style, in lower case.
        base: id of the style that it is based on.
        outline: level of the heading, from 1; 0 for text, and ``None`` if it is not said.
        list_id: id of the numbering; ``"0"`` for none, and ``None`` if it is not said.
        list_level: level of the numbering, from 0.
    """

    name: str = ""
    base: str = ""
    outline: int | None = None
    list_id: str | None = None
    list_level: int | None = None


def small_number(text: str | None, otherwise: int = 0) -> int:
    """Return a number of at most six digits; anything else is not a number that Word writes."""
    return int(text) if text is not None and re.fullmatch(r"[0-9]{1,6}", text) else otherwise


def with_property(style: ParagraphStyle, tag: str, attributes: dict[str, str]) -> ParagraphStyle:
    """Return the style with a property of paragraphs, if the tag is one of them."""
    value = attributes.get("val", "")
    if tag == "outlineLvl":
        level = small_number(value, _DEEPEST)
        return replace(style, outline=level + 1 if level < _DEEPEST else 0)
    if tag == "numId":
        return replace(style, list_id=value)
    if tag == "ilvl":
        return replace(style, list_level=min(small_number(value), _DEEPEST - 1))
    return style


class Styles(XmlTarget):
    """The paragraph styles of a document (``styles.xml``)."""

    def __init__(self) -> None:
        self._styles: dict[str, ParagraphStyle] = {}
        self._id = ""
        self.default = ""
        """Id of the style of paragraphs that name none."""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "style":
            self._id = attributes.get("styleId", "")
            self._styles[self._id] = ParagraphStyle()
            if attributes.get("type") == "paragraph" and attributes.get("default") in ("1", "true"):
                self.default = self._id
        elif self._id in self._styles:
            style = self._styles[self._id]
            if tag == "name":
                style = replace(style, name=attributes.get("val", "").lower())
            elif tag == "basedOn":
                style = replace(style, base=attributes.get("val", ""))
            self._styles[self._id] = with_property(style, tag, attributes)

    def end(self, tag: str) -> None:
        if tag == "style":
            self._id = ""

    def resolve(self, style_id: str, own: ParagraphStyle) -> ParagraphStyle:
        """Return the properties of a paragraph: its own, else those of its style or of its bases.

        Args:
            style_id: the style that the paragraph names; empty for the default one.
            own: the properties of the paragraph itself.
        """
        found = own
        style_id = style_id or self.default
        for number in range(_N_BASES):
            style = self._styles.get(style_id)
            if style is None:
                break
            found = replace(
                found,
                name=found.name or (style.name if number == 0 or _named_kind(style.name) else ""),
                outline=_level(style) if found.outline is None else found.outline,
                list_id=style.list_id if found.list_id is None else found.list_id,
                list_level=style.list_level if found.list_level is None else found.list_level,
            )
            style_id = style.base
        return found


def _named_kind(name: str) -> bool:
    return bool(_LIST.fullmatch(name)) or name == "title"


def _level(style: ParagraphStyle) -> int | None:
    """Return the level of the headings with a style, by its name or its outline."""
    if named := _HEADING.fullmatch(style.name):
        return int(named[1])
    return style.outline


def is_list_style(style: ParagraphStyle) -> bool:
    """Whether a style is one of Word's for lists, which may have no numbering in the file."""
    return _LIST.fullmatch(style.name) is not None


@dataclass(slots=True)
class _Level:
    """A level of a numbering: its format, the text around its numbers, and the first number."""

    format: str = "decimal"
    text: str = ""
    start: int = 1


@dataclass(slots=True)
class _List:
    """A numbering: its definition, the first numbers that replace those of it, and the counts."""

    definition: str = ""
    starts: dict[int, int] = field(default_factory=dict)


class Numbering(XmlTarget):
    """The numberings of a document (``numbering.xml``), and how far they have counted."""

    def __init__(self) -> None:
        self._definitions: dict[str, dict[int, _Level]] = {}
        self._lists: dict[str, _List] = {}
        self._counts: dict[str, dict[int, int]] = {}
        self._started: set[tuple[str, int]] = set()
        self._definition = ""
        self._list = ""
        self._level = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        value = attributes.get("val", "")
        if tag == "abstractNum":
            self._definition = attributes.get("abstractNumId", "")
            self._definitions[self._definition] = {}
        elif tag == "num":
            self._list = attributes.get("numId", "")
            self._lists[self._list] = _List()
        elif tag in ("lvl", "lvlOverride"):
            self._level = min(small_number(attributes.get("ilvl")), _DEEPEST - 1)
            if not self._list:
                self._definitions.setdefault(self._definition, {})[self._level] = _Level()
        elif self._list:
            self._start_in_list(tag, value)
        elif self._level in (levels := self._definitions.get(self._definition, {})):
            level = levels[self._level]
            if tag == "numFmt":
                level.format = value
            elif tag == "lvlText":
                level.text = value
            elif tag == "start":
                level.start = small_number(value, 1)

    def _start_in_list(self, tag: str, value: str) -> None:
        if tag == "abstractNumId":
            self._lists[self._list].definition = value
        elif tag == "startOverride":
            self._lists[self._list].starts[self._level] = small_number(value, 1)

    def end(self, tag: str) -> None:
        if tag == "abstractNum":
            self._definition = ""
        elif tag == "num":
            self._list = ""

    def next_mark(self, list_id: str, level: int) -> str:
        """Count an item, and return its mark (*2.1*); ``-`` if it has none that can be written.

        Args:
            list_id: id of the numbering.
            level: level of the item, from 0.
        """
        found = self._lists.get(list_id)
        levels = self._definitions.get(found.definition, {}) if found else {}
        if found is None or level not in levels:
            return BULLET
        # Lists with the same definition count on, unless one says where it starts.
        counts = self._counts.setdefault(found.definition, {})
        if (list_id, level) not in self._started:
            self._started.add((list_id, level))
            if level in found.starts:
                counts[level] = found.starts[level] - 1
        counts[level] = counts.get(level, levels[level].start - 1) + 1
        for deeper in [other for other in counts if other > level]:
            del counts[deeper]

        def write(match: re.Match[str]) -> str:
            number = int(match[1]) - 1
            of = levels.get(number, _Level())
            return WRITERS.get(of.format, str)(counts.get(number, of.start))

        if levels[level].format not in WRITERS:
            return BULLET if levels[level].format == "bullet" else ""
        return _PLACEHOLDER.sub(write, levels[level].text).strip()
