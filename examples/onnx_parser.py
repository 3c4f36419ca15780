"""Parse a text with an exported parser, without torch and without Syntagma.

    syntagma export default-parser --to onnx --int8 --out parser
    python examples/onnx_parser.py parser passage.txt > passage.conllu

It needs onnxruntime, tokenizers and numpy.  Sentences and words are found by a few rules here, not
by Syntagma's splitter, so that a few trees differ.  On the same words, one word in a hundred does:
Syntagma also attaches punctuation without crossing arcs, chooses relations that Universal
Dependencies allows, and reads Penn's escapes, names in brackets and emoji as what they stand for
(the README.md of the export says how).
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
from onnx_reader import Model, Word, words_of_pieces

TOKEN = re.compile(
    r"(?:[A-Za-z]\.){2,}|\d+(?:[.,:]\d+)*|\w+?(?=n['’]t\b)|n['’]t\b|['’](?:s|m|d|re|ve|ll)\b"
    r"|\w+(?:[-&]\w+)*|\.{2,}|[^\w\s]",
    re.IGNORECASE,
)
ENDS = re.compile(r"""[.!?]["”’)\]]*$""")
TITLES = frozenset("Mr Mrs Ms Dr Prof St No vs etc e.g i.e Jr Sr Inc Ltd Co".split())


def segment(text: str) -> list[list[tuple[int, int]]]:
    """Return the words of each sentence, as their characters."""
    sentences: list[list[tuple[int, int]]] = []
    words: list[tuple[int, int]] = []
    for token in TOKEN.finditer(text):
        if words:
            gap = text[words[-1][1] : token.start()]
            before = text[words[0][0] : words[-1][1]]
            last = before.rsplit(None, 1)[-1].rstrip(".")
            starts = token[0][0].isupper() or token[0][0].isdigit() or token[0][0] in "\"“'‘(["
            if "\n\n" in gap or (gap and ENDS.search(before) and starts and last not in TITLES):
                sentences.append(words)
                words = []
        words.append(token.span())
    return [*sentences, words] if words else sentences


def shape(form: str) -> int:
    """Return the class of a word's capitals, digits and other characters."""
    upper, lower = sum(map(str.isupper, form)), sum(map(str.islower, form))
    if not upper:
        case = 1 if lower else 0
    elif not lower:
        case = 4 if upper == 1 else 3
    else:
        case = 2 if upper == 1 and form[0].isupper() else 5
    digits = sum(map(str.isdigit, form))
    return 4 * case + 2 * (digits > 0) + (upper + lower + digits < len(form))


class Labels(NamedTuple):
    """What is predicted for a word; ``head`` as in :class:`onnx_reader.Word`."""

    head: int
    relation: str
    upos: str
    xpos: str


def parse_words(model: Model, forms: list[str]) -> list[Labels]:
    """Return the labels of each word of a sentence."""
    ends = np.cumsum([len(form) + 1 for form in forms]) - 1
    words = [
        Word(int(end) - len(form), int(end), 0, "", "", "")
        for form, end in zip(forms, ends, strict=True)
    ]
    ids, offsets = model.cut(" ".join(forms))
    prefix, suffix = model.config["sequence"]["one"]["special"]
    of_piece = words_of_pieces([words], offsets)
    of_piece = np.where(of_piece < 0, -100, of_piece)
    around = [np.full(len(part), -100) for part in (prefix, suffix)]
    input_ids = np.concatenate([prefix, ids, suffix]).astype(np.int64)
    scores = model.run(
        {
            "input_ids": input_ids[None],
            "attention_mask": np.ones_like(input_ids)[None],
            "word_of_piece": np.concatenate([around[0], of_piece, around[1]]).astype(np.int64)[
                None
            ],
            "shapes": np.array([[shape(form) for form in forms]]),
            "n_words": np.array([len(forms)]),
        }
    )
    heads = best_tree(scores["arcs"][0])
    labels = model.config["labels"]
    relations = scores["relations"][0, np.arange(len(forms)), heads]
    is_root = np.array([name == "root" for name in labels["relations"]])
    relations = np.where((heads == 0)[:, None] == is_root, relations, -np.inf)
    return [
        Labels(
            int(head),
            labels["relations"][int(relation.argmax())],
            labels["upos"][int(upos.argmax())],
            labels["xpos"][int(xpos.argmax())],
        )
        for head, relation, upos, xpos in zip(
            heads, relations, scores["upos"][0], scores["xpos"][0], strict=True
        )
    ]


def best_tree(arcs: np.ndarray) -> np.ndarray:
    """Return the heads of the tree with the highest score that has one root, ``[n_words]``.

    Args:
        arcs: score of each head of each word, 0 for the root, ``[n_words, 1 + n_words]``.
    """
    weights = np.full((len(arcs) + 1, len(arcs) + 1), -np.inf)
    weights[1:] = arcs
    # A second root would cost more than any tree can gain.
    weights[1:, 0] -= 1e6
    return _edmonds(weights)[1:]


def _edmonds(weights: np.ndarray) -> np.ndarray:
    """Find the best tree (Chu-Liu/Edmonds) for ``weights[dependent, head]``; the root is 0."""
    weights = weights.copy()
    np.fill_diagonal(weights, -np.inf)
    heads = weights.argmax(1)
    heads[0] = 0
    cycle = _cycle(heads)
    if not cycle:
        return heads
    others = np.array([node for node in range(len(heads)) if node not in cycle])
    inside = np.array(cycle)
    # An arc into the cycle replaces the cycle's own arc to the node that it enters.
    entering = weights[np.ix_(inside, others)] - weights[inside, heads[inside]][:, None]
    leaving = weights[np.ix_(others, inside)]
    size = len(others)
    smaller = np.full((size + 1, size + 1), -np.inf)
    smaller[:size, :size] = weights[np.ix_(others, others)]
    smaller[size, :size] = entering.max(0)
    smaller[:size, size] = leaving.max(1)
    found = _edmonds(smaller)
    for place, node in enumerate(others):
        if node:
            head = found[place]
            heads[node] = others[head] if head < size else inside[leaving[place].argmax()]
    head = found[size]
    heads[inside[entering[:, head].argmax()]] = others[head]
    return heads


def _cycle(heads: np.ndarray) -> list[int]:
    """Return the nodes of a cycle; nothing if there is none."""
    settled = {0}
    for start in range(1, len(heads)):
        path, node = [], start
        while node not in settled and node not in path:
            path.append(node)
            node = int(heads[node])
        if node in path:
            return path[path.index(node) :]
        settled.update(path)
    return []


def parts(model: Model, text: str, words: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Cut a sentence that has more pieces than the model reads, between words."""
    special = model.config["sequence"]["one"]["special"]
    room = model.config["max_pieces"] - sum(map(len, special))
    if len(model.cut(" ".join(read(text[start:end]) for start, end in words))[0]) <= room:
        return [words]
    found: list[list[tuple[int, int]]] = [[]]
    used = 0
    for start, end in words:
        size = len(model.cut(read(text[start:end]))[0])
        if found[-1] and used + size > room:
            found.append([])
            used = 0
        found[-1].append((start, end))
        used += size
    return found


def read(form: str) -> str:
    """Return what is read of a word: all of it, or the start of one that nobody writes."""
    return form[:100] if len(form) > 500 else form


def parse_text(model: Model, text: str) -> list[list[Word]]:
    """Parse a text into sentences of words."""
    return [
        [
            Word(start, end, *labels)
            for (start, end), labels in zip(
                words,
                parse_words(model, [read(text[start:end]) for start, end in words]),
                strict=True,
            )
        ]
        for sentence in segment(text)
        for words in parts(model, text, sentence)
    ]


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="an exported parser")
    parser.add_argument("passage", help="a text file")
    given = parser.parse_args()
    text = Path(given.passage).read_text(encoding="utf-8")
    for sentence in parse_text(Model(given.folder), text):
        for number, word in enumerate(sentence, start=1):
            form = text[word.start : word.end]
            print(
                number,
                form,
                "_",
                word.upos,
                word.xpos,
                "_",
                word.head,
                word.relation,
                "_",
                "_",
                sep="\t",
            )
        print()


if __name__ == "__main__":
    main()
