"""Where a run of characters without whitespace falls apart into words.

The conventions are those of the English treebanks of Universal Dependencies (EWT and GUM):
clitics, most hyphens, slashes and punctuation stand alone; abbreviations, numbers, addresses,
prefixes such as *non-* and emoticons stay whole.  :func:`cut_run` looks at one run at a time, so
that its answer may be remembered.  Every pattern is linear in the length of the run: repeated
parts are possessive or bounded.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from syntagma.text.lexicon import (
    ABBREVIATIONS,
    CAPITAL_ABBREVIATIONS,
    FILE_ENDINGS,
    FUSED,
    HYPHEN_PREFIXES,
    HYPHEN_SUFFIXES,
    MONEY_UNITS,
    NEWSGROUPS,
    SHORT_WORDS,
    TOP_DOMAINS,
    UNITS,
)

__all__ = ["cut_run", "is_abbreviation"]


def _marks() -> str:
    """Combining marks, joiners and selectors, as the inside of a character class.

    ``\\w`` leaves them out, and no word may break before an accent of its own.
    """
    ranges: list[list[int]] = []
    for code in range(0x300, 0x3100):
        if unicodedata.category(chr(code)) in ("Mn", "Mc"):
            if ranges and code == ranges[-1][1] + 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    spelled = "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)
    return spelled + "\u00ad\u200c\u200d\u2060\ufe00-\ufe0f\ufe20-\ufe2f"


_MARK = f"[{_marks()}]"
_HAN = re.compile(
    f"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]{_MARK}*+|"
    "[\u3040-\u30ff\uff66-\uff9f\u3005]++"
)
_LETTERS = rf"(?:[^\W_]|{_MARK})++"
_APOSTROPHE = "['’ʼ＇`´]"
_PICTURE = "[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001f1e5\U0001f200-\U0001faff]"

# Emoticons.  Behind a letter only the frequent ones, or "see:(a)" would hold a sad face.
_FACE = r"""
    (?<![0-9A-Za-z]) (?:
        [:;=]['’]?[-o^]? (?: [DPpOoSX](?!\w) | [)(\]\[|*]{1,9}+ | [/\\](?![/\w]) | 3(?!\d) )
      | [(]{1,9}+ [-o]? [:;=] (?![-\w/(])
      | < /? 3++ (?!\w) | >:[()]++ | \^[_.]*+\^ | -_+-
      | [xX]D+ (?!\w) | [oO]_[oO] (?!\w)
    )
  | (?<=[A-Za-z.!?]) [:;]['’]?-? (?: [DPp](?!\w) | [)(] (?![\w)(]) )
"""
_PHONE = r"""
    (?: \+? \d{1,4}- )? (?: \d{3}[-/] )? \d{3}-\d{4} (?![\w-])
  | x?\d-\d{4} (?![\w-])
  | \+\d{7,12}-\d{4} (?![\w-])
  | \d{5}-\d{4} (?![\w-])
  | \d{1,4}-\d{1,2}-\d{1,4} (?![\w-])
"""
_NUMBER = rf"""
    (?: (?<![\w)\]%]) [+−] (?=\.?\d) )?+
    (?: \d++ (?: (?: [.:] | ,(?=\d{{3}}(?!\d)) ) \d++ )*+ (?: (?<!\d\d\d) (?:/\d++){{1,2}}+ (?![\w/]) )?+
      | (?<!\w) \.\d++ )
    (?P<unit> [apAP]\.[mM](?!\w)\.?+ | [^\W\d_] (?:[^\W_]|{_MARK})*+ )?+
    (?P<plural> (?<=\d) {_APOSTROPHE}s (?!\w) )?+
"""
_DOTTED = r"""
    (?<!\w) (?: (?: [A-Za-z]\. ){2,}+ (?: [A-Za-z] (?!\w) )?+ | [A-Za-z]\.[A-Za-z] (?!\w) \.?+ )
  | (?<!\w) (?: Ph\.?D | M\.Sc | B\.Sc | D\.Phil | Ed\.D ) (?!\w) \.?+
"""
_CHOICE = r"""
    (?<![\w/]) (?: [A-Za-z]/[A-Za-z](?![\w/]) | s/he(?!\w) | w/(?:o(?:ut)?)?(?!\w) | w/(?=[a-z]{3}) )
"""
_ELIDED = r"""
    (?<!\w) ['’‘] (?: \d0s | \d\d | em | till? | cause | cuz | coz | bout | tis | twas | neath
      | nuff ) (?! \w | ['’] )
  | ['’] (?: [sSmMdD] | re | ve | ll ) (?! \w | ['’] )
"""
_WORD = rf"""
    {_LETTERS} (?: (?: {_APOSTROPHE} | \*++ | _++ ) {_LETTERS} )*+
    (?: - (?! \d++[.:,]\d) {_LETTERS} (?: (?: {_APOSTROPHE} | _++ ) {_LETTERS} )*+ )*+
"""
_EMOJI = rf"""
    [\U0001f1e6-\U0001f1ff]{{2}}
  | {_PICTURE} (?: [\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]
      | \u200d{_PICTURE} )*+
"""
# A run of the same mark is one word (----, ***), and so are arrows, !?! and the dots of an ellipsis.
_RUN = r"""
    <[-=]{1,3}+(?![-=]) | [-=]{1,9}+>(?!>) | \.{2,}+ | …[….]*+ | [.,]?[!?]++ | [<>]= | ‘’ | '' | `` | ’’ | ,,
  | (?P<mark> [-–—=~*+_<>|^\#$%\\/•·§] ) (?P=mark)*+
"""
_TOKEN = re.compile(
    "|".join(
        f"(?P<{kind}>{pattern})"
        for kind, pattern in {
            "face": _FACE,
            "phone": _PHONE,
            "number": _NUMBER,
            "money": r"(?<![A-Za-z]) [A-Z]{1,3}[$£€]",
            "dotted": _DOTTED,
            "company": r"(?<![A-Za-z]) [A-Za-z]{1,4}&[A-Za-z]{1,2} (?![A-Za-z])",
            "choice": _CHOICE,
            "elided": _ELIDED,
            "word": _WORD,
            "emoji": _EMOJI,
            "run": _RUN,
            "single": f".{_MARK}*+",
        }.items()
    ),
    re.VERBOSE | re.DOTALL,
)

_ADDRESS = re.compile(
    r"""
    (?P<link> (?<!\w) (?: [A-Za-z][A-Za-z+]{1,9}:// | www\d?\.(?=\w) | mailto:(?=\w) )
        [^\s<>"“”|]++ )
  | (?P<mail> [\w.+%-]{1,64}+ @ [\w-]{1,63} (?: \.[\w-]{1,63} )*+ )
  | (?P<tag> (?<![\w&]) [@\#][A-Za-z_]\w*+ )
  | (?P<name> (?<![\w.-]) [\w-]++ (?: \.[\w-]++ )++ (?P<path> /[^\s<>"“”|]*+ )?+ )
    """,
    re.VERBOSE,
)
_CLITIC = re.compile(rf"(?:[nN]{_APOSTROPHE}[tT]|{_APOSTROPHE}(?:[sSmMdD]|re|ve|ll|RE|VE|LL))\Z")
_STUTTER = re.compile(r"(?i)(?:h?m+-m+|uh-(?:huh|oh)|oh-ho)\Z")


def is_abbreviation(word: str) -> bool:
    """Whether a period behind ``word`` belongs to it: *Dr*, *Inc*, *No*, a single letter.

    >>> is_abbreviation("Dr"), is_abbreviation("no"), is_abbreviation("house")
    (True, False, False)
    """
    if len(word) == 1:
        return word.isalpha() and word.isascii()
    lower = word.lower()
    return lower in ABBREVIATIONS or (
        lower in CAPITAL_ABBREVIATIONS and (word[0].isupper() or lower in ("fig", "eq"))
    )


def cut_run(run: str) -> list[int]:
    """The end of each word in a run of characters without whitespace.

    Args:
        run: characters without whitespace, at least one.

    Returns:
        Ascending offsets; the last is ``len(run)``.

    >>> cut_run("(don't)")
    [1, 3, 6, 7]
    """
    if run.isalpha() and run.isascii():
        return [*_fused(run), len(run)]
    ends: list[int] = []
    position = 0
    if any(hint in run for hint in "@#./:"):
        for start, end in _addresses(run):
            _scan(run, position, start, ends)
            ends.append(end)
            position = end
    _scan(run, position, len(run), ends)
    return ends


def _fused(word: str) -> tuple[int, ...]:
    """Where the further words of *cannot*, *gonna*, *dont* begin; IM and IVE are abbreviations."""
    return () if word in ("IM", "IVE") else FUSED.get(word.lower(), ())


def _addresses(run: str) -> Iterator[tuple[int, int]]:
    """Where links, mail addresses, handles, tags, host and file names stand."""
    for match in _ADDRESS.finditer(run):
        start, end = match.span()
        if match["link"]:
            end = _without_closing_marks(run, start, end)
        elif match["name"]:
            if match["path"]:
                end = _without_closing_marks(run, start, end)
            if not _is_host_or_file(
                run[start : match.start("path")] if match["path"] else match[0]
            ):
                continue
        if end > start:
            yield start, end


def _without_closing_marks(run: str, start: int, end: int) -> int:
    """The end of a link: a full stop or bracket behind it is not part of it."""
    while end > start:
        last = run[end - 1]
        if last in ".,;:!?'’*)]}":
            if last == ")" and run.count("(", start, end) >= run.count(")", start, end):
                break
            end -= 1
        else:
            break
    return end


def _is_host_or_file(name: str) -> bool:
    labels = name.split(".")
    last = labels[-1].lower()
    if last in FILE_ENDINGS or last in TOP_DOMAINS:
        # "the end.So" and "U.S.de" are no hosts; "Gawker.com" and "notes.TXT" are names.
        return len(labels[-2]) > 1 or last in ("com", "org", "net", "doc", "pdf", "txt")
    if labels[0].isdigit():
        return False
    if len(labels) > 2 and all(len(label) > 1 and label.islower() for label in labels):
        return True
    return labels[0] in NEWSGROUPS


def _scan(run: str, position: int, stop: int, ends: list[int]) -> None:
    """Append the ends of the words in ``run[position:stop]``, which holds no address."""
    match_at = _TOKEN.match
    while position < stop:
        match = match_at(run, position, stop)
        assert match is not None, "the last alternative matches any character"
        end = match.end()
        kind = match.lastgroup
        if kind == "word":
            end = _cut_word(run, position, end, stop, ends)
        elif kind == "number":
            unit = match["unit"]
            if unit and _is_unit(unit, match, run):
                ends.append(match.start("unit"))
        ends.append(end)
        position = end


def _is_unit(unit: str, match: re.Match[str], run: str) -> bool:
    lower = unit.lower()
    before = run[: match.start()][-1:]
    if before in ("$", "£", "€", "¥"):
        return lower in UNITS or lower in MONEY_UNITS
    if len(unit) > 3 and unit.isalpha() and unit.islower():
        return True
    return (lower in UNITS and unit != "M") or lower[1:2] == "."


def _cut_word(run: str, start: int, end: int, stop: int, ends: list[int]) -> int:
    """Append the ends inside a word with its hyphens and clitics; return where it ends.

    The last end is left to the caller, and lies behind the period of an abbreviation.
    """
    word = run[start:end]
    if run[end : end + 1] == "-" and end + 1 in (stop, stop - 1) and _is_broken_off(word):
        return end + 1
    if "-" in word:
        part_start = start
        for hyphen in _open_hyphens(word):
            _cut_clitics(run, part_start, start + hyphen, ends)
            ends.append(start + hyphen)
            ends.append(start + hyphen + 1)
            part_start = start + hyphen + 1
        start = part_start
    _cut_clitics(run, start, end, ends)
    if end < stop and run[end] == "." and run[end + 1 : end + 2] != ".":
        last = run[(ends[-1] if ends and ends[-1] > start else start) : end]
        if is_abbreviation(last) and not run[end + 1 : end + 2].islower():
            return end + 1
    return end


def _is_broken_off(word: str) -> bool:
    """Whether a hyphen behind it shows that the speaker stopped in the middle: *th-*."""
    return (
        len(word) <= 2
        and word.isalpha()
        and word[1:].islower() | (len(word) == 1)
        and (word.lower() not in SHORT_WORDS)
    )


def _open_hyphens(word: str) -> Iterator[int]:
    """Offsets of the hyphens that part words."""
    if _STUTTER.match(word):
        return
    parts = word.split("-")
    offset = 0
    for index, part in enumerate(parts[:-1]):
        offset += len(part)
        following = parts[index + 1].lower()
        if part.lower() not in HYPHEN_PREFIXES and following not in HYPHEN_SUFFIXES:
            yield offset
        offset += 1


def _cut_clitics(run: str, start: int, end: int, ends: list[int]) -> None:
    """Append where clitics and fused words begin in ``run[start:end]``."""
    word = run[start:end]
    if word.isalpha() and word.isascii():
        ends.extend(start + cut for cut in _fused(word))
        return
    if not word.isascii():
        ends.extend(_cut_ideographs(word, start))
    cuts: list[int] = []
    length = len(word)
    if word[-2:] in ("ta", "ma") and word[-3:-2] in ("'", "’"):
        # "I'ma", "wasn'ta": a last "a" grown on
        length -= 1
        cuts.append(start + length)
    while (match := _CLITIC.search(word, max(0, length - 4), length)) and match.start() > 0:
        length = match.start()
        cuts.append(start + length)
    ends.extend(reversed(cuts))


def _cut_ideographs(word: str, start: int) -> Iterator[int]:
    """Ideographs are words of their own, a run of kana is one."""
    length = len(word)
    last = 0
    for match in _HAN.finditer(word):
        for cut in match.span():
            if last < cut < length:
                yield start + cut
                last = cut
