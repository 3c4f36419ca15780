"""Regular expressions for words.

Every pattern runs in linear time, since all repetitions are possessive (``*+``) or bounded: a very
long run of one character must not stall the tokenizer.
"""

from __future__ import annotations

import re
import unicodedata


def combining_marks() -> str:
    """Return combining marks as the inside of a character class.

    ``\\w`` does not match them, but a word must not be split before a combining accent.
    """
    ranges: list[list[int]] = []
    for code in range(0x300, 0x3100):
        if unicodedata.category(chr(code)) in ("Mn", "Mc"):
            if ranges and code == ranges[-1][1] + 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


# With joiners and variation selectors.
_MARK = f"[{combining_marks()}\u00ad\u200c\u200d\u2060\ufe00-\ufe0f\ufe20-\ufe2f]"
IDEOGRAPH = re.compile(
    f"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]{_MARK}*+|"
    "[\u3040-\u30ff\uff66-\uff9f\u3005]++"
)
_LETTERS = rf"(?:[^\W_]|{_MARK})++"
_APOSTROPHE = "['’ʼ＇`´]"
_PICTURE = "[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001f1e5\U0001f200-\U0001faff]"

# Emoticons.  After a letter only the most frequent ones, or "see:(a)" would contain a sad face.
_FACE = r"""
    (?<![0-9A-Za-z]) (?:
        [:;=]['’]?[-o^]? (?: [DPpOoSX](?!\w) | [)(\]\[|*]{1,9}+ | [/\\](?![/\w]) )
      | [(]{1,9}+ [-o]? [:;=] (?![-\w/(])
      | < /? 3++ (?!\w) | >:[()]++ | \^[_.]*+\^ | -_+-
      | [xX]D+ (?!\w) | [oO]_[oO] (?!\w)
    )
  | (?<=[A-Za-z.!?]) [:;]['’]?-? (?: [DPp](?!\w) | [)(] (?![\w)(]) )
"""
# Phone numbers and other hyphenated numbers that stay whole: "555-1234", "2004-11-16".
_PHONE = r"""
    (?: \+? \d{1,4}- )? (?: \d{3}[-/] )? \d{3}-\d{4} (?![\w-])
  | x?\d-\d{4} (?![\w-])
  | \+\d{7,12}-\d{4} (?![\w-])
  | \d{5}-\d{4} (?![\w-])
  | \d{1,4}-\d{1,2}-\d{1,4} (?![\w-])
"""
# Numbers with signs, separators and fractions ("1,000.50", "11/28/2000"), with the letters that
# follow ("10km", "1980s"); `words.py` decides whether these are a unit to split off.
_NUMBER = rf"""
    (?: (?<![\w)\]%]) [+−] (?=\.?\d) )?+
    (?: \d++ (?: (?: [.:] | ,(?=\d{{3}}(?!\d)) ) \d++ )*+
        (?: (?<!\d\d\d) (?:/\d++){{1,2}}+ (?![\w/]) )?+
      | (?<!\w) \.\d++ )
    (?P<unit> [apAP]\.[mM](?!\w)\.?+ | [^\W\d_] (?:[^\W_]|{_MARK})*+ )?+
    (?P<plural> (?<=\d) {_APOSTROPHE}s (?!\w) )?+
"""
# Initialisms and degrees: "U.S.", "e.g.", "Ph.D.".
_DOTTED = r"""
    (?<!\w) (?: (?: [A-Za-z]\. ){2,}+ (?: [A-Za-z] (?!\w) )?+ | [A-Za-z]\.[A-Za-z] (?!\w) \.?+ )
  | (?<!\w) (?: Ph\.?D | M\.Sc | B\.Sc | D\.Phil | Ed\.D ) (?!\w) \.?+
"""
# Slashes inside a word: "s/he", "w/o".
_CHOICE = r"""
    (?<![\w/]) (?: [A-Za-z]/[A-Za-z](?![\w/]) | s/he(?!\w)
      | w/(?:o(?:ut)?)?(?!\w) | w/(?=[a-z]{3}) )
"""
# Words with an initial apostrophe ("'em", "'60s") and clitics written apart ("'s").
_ELIDED = r"""
    (?<!\w) ['’‘] (?: \d0s | \d\d | em | till? | cause | cuz | coz | bout | tis | twas | neath
      | nuff ) (?! \w | ['’] )
  | ['’] (?: [sSmMdD] | re | ve | ll ) (?! \w | ['’] )
"""
# Letters joined by apostrophes, hyphens and the like; `words.py` cuts these further.
_WORD = rf"""
    {_LETTERS} (?: (?: {_APOSTROPHE} | \*++ | _++ ) {_LETTERS} )*+
    (?: - (?! \d++[.:,]\d) {_LETTERS} (?: (?: {_APOSTROPHE} | _++ ) {_LETTERS} )*+ )*+
"""
# A flag (two regional indicators), or a pictograph with its modifiers and joined pictographs.
_EMOJI = rf"""
    [\U0001f1e6-\U0001f1ff]{{2}}
  | {_PICTURE} (?: [\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]
      | \u200d{_PICTURE} )*+
"""
# A run of one punctuation mark is one word (----, ***), as are arrows, !?!, the dots of an
# ellipsis, and a line that is drawn with several marks (----==, |---+---).
_RUN = r"""
    (?<!\S) [-=~*+_|<>]{3,}+ (?!\S)
  | <[-=]{1,3}+(?![-=]) | [-=]{1,9}+>(?!>) | \.{2,}+ | …[….]*+ | [.,]?[!?]++ | [<>]=
  | ‘’ | '' | `` | ’’ | ,,
  | (?P<mark> [-–—=~*+_<>|^\#$%\\/•·§] ) (?P=mark)*+
"""
# The first alternative that matches wins, so the order of this table is part of the rules: faces
# before punctuation, numbers before words, single characters last.
TOKEN = re.compile(
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

# Links, mail addresses, handles and hash tags, and dotted names that may be hosts or files.
ADDRESS = re.compile(
    r"""
    (?P<link> (?<!\w) (?: [A-Za-z][A-Za-z+]{1,9}:// | www\d?\.(?=\w) | mailto:(?=\w) )
        [^\s<>"“”|]++ )
  | (?P<mail> [\w.+%-]{1,64}+ @ [\w-]{1,63} (?: \.[\w-]{1,63} )*+ )
  | (?P<tag> (?<![\w&]) [@\#][A-Za-z_]\w*+ )
  | (?P<name> (?<![\w.-]) [\w-]++ (?: \.[\w-]++ )++ (?P<path> /[^\s<>"“”|]*+ )?+ )
    """,
    re.VERBOSE,
)
CLITIC = re.compile(rf"(?:[nN]{_APOSTROPHE}[tT]|{_APOSTROPHE}(?:[sSmMdD]|re|ve|ll|RE|VE|LL))\Z")
# Hyphenated interjections that stay whole: "mm-mm", "uh-huh".
STUTTER = re.compile(r"(?i)(?:h?m+-m+|uh-(?:huh|oh)|oh-ho)\Z")
