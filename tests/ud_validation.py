"""What the validator of Universal Dependencies checks up to level 2, for output without DEPS.

Written from https://universaldependencies.org/format and https://universaldependencies.org/u.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

UPOS = frozenset(
    "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split()
)
RELATIONS = frozenset(
    "acl advcl advmod amod appos aux case cc ccomp clf compound conj cop csubj dep det discourse "
    "dislocated expl fixed flat goeswith iobj list mark nmod nsubj nummod obj obl orphan parataxis "
    "punct reparandum root vocative xcomp".split()
)
_SUBTYPE = re.compile(r"[a-z]+")
_FEATURE = re.compile(
    r"[A-Z0-9][A-Za-z0-9]*(?:\[[a-z0-9]+\])?=[A-Z0-9][A-Za-z0-9]*(?:,[A-Z0-9][A-Za-z0-9]*)*"
)
_ID = re.compile(r"([1-9][0-9]*)(?:-([1-9][0-9]*))?")
NO_SPACE = "SpaceAfter=No"


def problems(conllu: str) -> list[str]:
    """What is wrong with a CoNLL-U file, each problem with the number of its sentence."""
    if not conllu.endswith("\n\n"):
        return ["the file does not end with a blank line"]
    found, ids = [], set()
    for number, block in enumerate(conllu[:-2].split("\n\n"), start=1):
        lines = block.split("\n")
        comments = [line for line in lines if line.startswith("#")]
        rows = [line.split("\t") for line in lines[len(comments) :]]
        identifier = [each[len("# sent_id = ") :] for each in comments if "sent_id" in each]
        if len(identifier) != 1 or identifier[0] in ids or not re.fullmatch(r"\S+", identifier[0]):
            found.append(f"{number}: sent_id {identifier}")
        ids.update(identifier)
        try:
            found += [f"{number}: {each}" for each in _of_sentence(comments, rows)]
        except (ValueError, IndexError) as error:
            found.append(f"{number}: {error!r}")
    return found


def _of_sentence(comments: list[str], rows: list[list[str]]) -> Iterator[str]:
    if any(len(row) != 10 or not all(row) for row in rows):
        yield "a line does not have ten columns with values"
        return
    words = [row for row in rows if row[0].isdigit()]
    if [row[0] for row in words] != [str(n) for n in range(1, len(words) + 1)]:
        yield "the words are not numbered from 1"
    for row in rows:
        for value in row:
            if value != value.strip() or "  " in value:
                yield f"spaces in {value!r}"
    yield from _tokens(rows, len(words))
    yield from _text(comments, rows)
    for row in words:
        yield from _labels(row)
    yield from _tree([int(row[6]) for row in words], [row[7] for row in words])


def _tokens(rows: list[list[str]], n_words: int) -> Iterator[str]:
    """Multi-word tokens: before their words, apart from each other, without values of their own."""
    until, seen = 0, 0
    for row in rows:
        match = _ID.fullmatch(row[0])
        if match is None:
            yield f"id {row[0]}"
            continue
        first, last = match.groups()
        if last is None:
            seen = int(first)
            if seen <= until and NO_SPACE in row[9]:
                yield f"{row[0]}: SpaceAfter inside a token"
            continue
        if not (int(first) == seen + 1 > until and int(first) < int(last) <= n_words):
            yield f"range {row[0]}"
        if row[2:9] != ["_"] * 7:
            yield f"{row[0]}: a multi-word token has values"
        until = int(last)


def _text(comments: list[str], rows: list[list[str]]) -> Iterator[str]:
    texts = [line[len("# text = ") :] for line in comments if line.startswith("# text = ")]
    if len(texts) != 1 or texts[0] != texts[0].strip():
        yield f"text {texts}"
        return
    spelled, until = "", 0
    for row in rows:
        first, _, last = row[0].partition("-")
        if not last and int(first) <= until:
            continue
        until = int(last or first)
        spelled += row[1] + ("" if NO_SPACE in row[9].split("|") else " ")
    if spelled.rstrip(" ") != texts[0]:
        yield f"text {texts[0]!r}, but the forms spell {spelled!r}"


def _labels(row: list[str]) -> Iterator[str]:
    if row[3] not in UPOS:
        yield f"{row[0]}: UPOS {row[3]}"
    universal, colon, subtype = row[7].partition(":")
    if universal not in RELATIONS or (colon and not _SUBTYPE.fullmatch(subtype)):
        yield f"{row[0]}: relation {row[7]}"
    if (row[6] == "0") != (universal == "root"):
        yield f"{row[0]}: head {row[6]} with {row[7]}"
    if row[8] != "_":
        yield f"{row[0]}: DEPS {row[8]}"
    for name, values in (("FEATS", row[5]), ("MISC", row[9])):
        keys = [] if values == "_" else [each.partition("=")[0] for each in values.split("|")]
        if len({*keys}) < len(keys):
            yield f"{row[0]}: {name} {values}: repeated"
        if name == "FEATS" and keys != sorted(keys, key=str.lower):
            yield f"{row[0]}: FEATS {values}: not sorted"
    for feature in [] if row[5] == "_" else row[5].split("|"):
        several = feature.partition("=")[2].split(",")
        if not _FEATURE.fullmatch(feature) or several != sorted({*several}, key=str.lower):
            yield f"{row[0]}: FEATS {feature}"


def _tree(heads: list[int], relations: list[str]) -> Iterator[str]:
    if heads.count(0) != 1 or not all(0 <= head <= len(heads) for head in heads):
        yield f"heads {heads}"
        return
    for word in range(1, len(heads) + 1):
        steps = 0
        while word and steps <= len(heads):
            word, steps = heads[word - 1], steps + 1
        if word:
            yield f"a cycle in {heads}"
            return
