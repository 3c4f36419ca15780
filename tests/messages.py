"""What an error message must name, whatever its wording."""

from __future__ import annotations

import re


def naming(words: object) -> str:
    """A regular expression for text that contains all of ``words``, in any order.

    List the wrong value and what to write instead (settings, files, numbers, commands), so that
    a message can be reworded without changing its test.

    Args:
        words: separated by spaces. Only whole words match: 3 is not found in 13 or in v3.
    """
    return r"(?s)\A" + "".join(rf"(?=.*{_whole(word)})" for word in str(words).split())


def _whole(word: str) -> str:
    before = r"(?<!\w)" if re.match(r"\w", word) else ""
    after = r"(?!\w)" if re.search(r"\w\Z", word) else ""
    return f"{before}{re.escape(word)}{after}"


def says(text: str, words: object) -> bool:
    """Whether a text contains all of ``words``, as :func:`naming` finds them."""
    return re.search(naming(words), text) is not None


def one_line(stderr: str) -> str:
    """The error message of a command, which must be a single line."""
    lines = [line for line in stderr.splitlines() if line.startswith("syntagma: ")]
    assert len(lines) == 1
    assert "Traceback" not in stderr
    return lines[0]
