"""Edit a text and keep track of offsets."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace ``text[start:end]`` of the original by ``new``; it is an insertion if both agree."""

    start: int
    end: int
    new: str


class EditedText:
    """A text after some edits, which knows where each span of the original is now.

    Args:
        original: the text before the edits.
        edits: replacements and insertions, in any order; insertions at one place keep theirs.

    Raises:
        ValueError: edits overlap or are outside the text.

    >>> edited = EditedText("Gulls cry.", [Edit(0, 0, "- "), Edit(9, 10, "")])
    >>> edited.text, edited.span(6, 9)
    ('- Gulls cry', (8, 11))
    """

    def __init__(self, original: str, edits: list[Edit]) -> None:
        self.original = original
        self.edits = sorted(edits, key=attrgetter("start", "end"))
        pieces: list[str] = []
        at = 0
        for edit in self.edits:
            if not at <= edit.start <= edit.end <= len(original):
                raise ValueError(
                    f"expected edits in the {len(original)} characters of the text that do not "
                    f"overlap, got {edit} after offset {at}"
                )
            pieces += (original[at : edit.start], edit.new)
            at = edit.end
        self.text = "".join(pieces) + original[at:]

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        """Return where a span of the original is now, or none if an edit crosses its border.

        Text inserted at its border is outside the span.

        Args:
            start: offset of its first character in the original.
            end: offset after its last character.
        """
        before = within = 0
        for edit in self.edits:
            growth = len(edit.new) - (edit.end - edit.start)
            if edit.end <= start:
                before += growth
            elif edit.start >= end:
                break
            elif edit.start < start or edit.end > end:
                return None
            else:
                within += growth
        return start + before, end + before + within
