"""Which pieces get the tag of their word: alignment by characters and by matching strings.

Matching walks through words and pieces in parallel and compares their letters, as tagging scripts
without offsets do.  Pieces that do not match get the tag ERR until a word with the same beginning
follows.  Words are written as by a Penn tokenizer: straight quotes become backticks or apostrophes.

    SYNTAGMA_BENCH_TEXT=passages.txt python -m benchmarks.tags
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import islice

from benchmarks.tables import show
from benchmarks.text import paragraphs
from syntagma.encoders.load import load_tokenizer
from syntagma.parse.columns import ParsedText
from syntagma.parse.sources.load import load_parser
from syntagma.syntax.encode import encode_texts
from syntagma.syntax.tags import ERR, SPE, TAG_IDS

PARAGRAPHS = 400


def penn_words(forms: list[str]) -> list[str]:
    """Replace straight quotes by those of the Penn Treebank."""
    words, is_open = [], False
    for form in forms:
        if form == '"':
            is_open = not is_open
            form = "``" if is_open else "''"
        words.append(form)
    return words


def match_strings(pieces: list[str], words: list[str], tags: list[int]) -> list[int]:
    """Return the tag of each piece, found by comparing letters."""
    found = []
    word, rest = 0, words[0].lower() if words else ""
    for piece in pieces:
        letters = piece.removeprefix("##").lower()
        if not rest and word + 1 < len(words):
            word += 1
            rest = words[word].lower()
        if rest.startswith(letters):
            found.append(tags[word])
            rest = rest[len(letters) :]
            continue
        # Look ahead for a word with the same beginning; until then nothing matches.
        ahead = next(
            (k for k in range(word + 1, min(word + 4, len(words)))
             if words[k].lower().startswith(letters)), None,
        )  # fmt: skip
        if ahead is None:
            found.append(ERR)
        else:
            word, rest = ahead, words[ahead].lower()[len(letters) :]
            found.append(tags[word])
    return found


def covering(starts: list[int], ends: list[int], begin: int, end: int) -> int:
    """Find the first word that shares characters with a piece, independently of our alignment."""
    word = bisect_right(ends, begin)
    return word if word < len(starts) and starts[word] < end else -1


def main() -> None:
    texts = list(islice(paragraphs(), PARAGRAPHS))
    tokenizer = load_tokenizer("default")
    parses = list(load_parser("default-parser", precision="auto").parse_texts(texts))
    encoded = encode_texts(texts, tokenizer, [ParsedText.from_parses(found) for found in parses])
    counts = {"by characters": [0, 0], "by matching strings": [0, 0]}
    total = 0
    for text, found in zip(encoded, parses, strict=True):
        forms = [form for parse in found for form in parse.sentence.forms]
        starts = [start for parse in found for start in parse.sentence.starts]
        ends = [end for parse in found for end in parse.sentence.ends]
        gold = [TAG_IDS["penn"].get(tag, ERR) for parse in found for tag in parse.xpos]
        assert text.syntax is not None
        ours = text.syntax["tag"].tolist()
        matched = match_strings(
            tokenizer.convert_ids_to_tokens(text.pieces.tolist()), penn_words(forms), gold
        )
        offsets = zip(text.starts.tolist(), text.ends.tolist(), strict=True)
        for piece, mine, theirs in zip(offsets, ours, matched, strict=True):
            word = covering(starts, ends, *piece)
            if word < 0 or gold[word] == ERR:
                continue
            total += 1
            for name, tag in (("by characters", mine), ("by matching strings", theirs)):
                counts[name][0] += tag in (ERR, SPE)
                counts[name][1] += tag not in (ERR, SPE, gold[word])
    rows = [
        {"": name, "lost, %": 100 * lost / total, "another word's tag, %": 100 * wrong / total}
        for name, (lost, wrong) in counts.items()
    ]
    show(f"Tags of {total} pieces of words with a Penn tag", rows)


if __name__ == "__main__":
    main()
