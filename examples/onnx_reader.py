"""Answer a question about a text with an exported reader, without torch and without Syntagma.

    syntagma export default-reader --to onnx --int8 --out reader
    python examples/onnx_reader.py reader passage.txt "Who built the ferry?"

It needs onnxruntime, tokenizers and numpy.  A reader whose guides read trees needs them too: from
an exported parser (``--parser``; ``onnx_parser.py`` beside this file runs it), or as CoNLL-U
(``--trees``), as ``syntagma parse passage.txt`` writes it.

The best span is that of Syntagma's own reader, before it is tidied.  The three outcomes use the
same weights and limits; features that depend on the words of the question are computed in a simpler
way than there, so in some cases *answer* and *unsure* differ.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnxruntime
from tokenizers import Tokenizer


class Word(NamedTuple):
    """A word of a tree; ``head`` is 0 for the root, else the number of a word of the sentence."""

    start: int
    end: int
    head: int
    relation: str
    upos: str
    xpos: str


class Span(NamedTuple):
    """A candidate: its score, and its characters."""

    score: float
    start: int
    end: int


class Totals(NamedTuple):
    """Of all windows of a text: the scores of no answer, and the number of windows."""

    null_score: float
    verification: float
    n_windows: int


class Model:
    """An exported folder: its settings, its tokenizer and its graph."""

    def __init__(self, folder: str | Path) -> None:
        folder = Path(folder)
        self.config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        # Text that spells a special token, such as "[SEP]", must not become one.
        self.tokenizer.encode_special_tokens = True
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        self.session = onnxruntime.InferenceSession(str(folder / "model.onnx"))

    def cut(self, text: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the ids of the pieces of a text, and their characters, ``[n_pieces, 2]``."""
        encoding = self.tokenizer.encode(text, add_special_tokens=False)
        return np.array(encoding.ids, np.int64), np.array(encoding.offsets, np.int64).reshape(-1, 2)

    def run(self, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        names = [output.name for output in self.session.get_outputs()]
        wanted = {each.name: inputs[each.name] for each in self.session.get_inputs()}
        return dict(zip(names, self.session.run(names, wanted), strict=True))


# Syntax: trees as integers for each piece.


def read_conllu(path: str, text: str) -> list[list[Word]]:
    """Read trees, and find their words in the text."""
    sentences: list[list[Word]] = []
    words: list[Word] = []
    position = 0
    for line in [*Path(path).read_text(encoding="utf-8").splitlines(), ""]:
        fields = line.split("\t")
        if line.startswith("#") or "-" in fields[0] or "." in fields[0]:
            continue
        if len(fields) < 8:
            sentences += [words] if words else []
            words = []
            continue
        start = text.find(fields[1], position)
        if start < 0:
            sys.exit(f"{path}: expected the words of the passage in their order, got {fields[1]!r}")
        position = start + len(fields[1])
        words.append(Word(start, position, int(fields[6]), fields[7], fields[3], fields[4]))
    return sentences


def walk(heads: list[int]) -> tuple[list[int], list[int], list[int]]:
    """Walk through a tree depth first: position of each word, position after its subtree, depth."""
    children: list[list[int]] = [[] for _ in range(len(heads) + 1)]
    for word, head in enumerate(heads):
        children[head].append(word)
    enter, leave, depth = ([0] * len(heads) for _ in range(3))
    stack, position = [(word, 0) for word in reversed(children[0])], 0
    order = []
    while stack:
        word, level = stack.pop()
        enter[word], depth[word] = position, level
        position += 1
        order.append(word)
        stack += [(child, level + 1) for child in reversed(children[word + 1])]
    for word in reversed(order):
        leave[word] = max([enter[word] + 1, *(leave[child] for child in children[word + 1])])
    return enter, leave, depth


def word_table(sentences: list[list[Word]], config: dict[str, Any]) -> dict[str, np.ndarray]:
    """Return the columns of all words of a text, numbered through the text."""
    rows: dict[str, list[int]] = {
        name: [] for name in ("enter", "exit", "depth", "word", "sentence", "parent")
    }
    tags, relations = config.get("tags"), config.get("relations")
    rows |= {"tag": [], "relation": []}
    for number, words in enumerate(sentences):
        first = len(rows["word"])
        enter, leave, depth = walk([word.head for word in words])
        rows["enter"] += [first + place for place in enter]
        rows["exit"] += [first + place for place in leave]
        rows["depth"] += depth
        rows["word"] += range(first, first + len(words))
        rows["sentence"] += [number] * len(words)
        rows["parent"] += [first + word.head - 1 for word in words]
        for word in words:
            tag = word.xpos if tags and tags["set"] == "penn" else word.upos
            rows["tag"].append(tags["ids"].get(tag, tags["other"]) if tags else 0)
            relation = word.relation.partition(":")[0]
            known = relations["ids"].get(relation, relations["other"]) if relations else 0
            rows["relation"].append(known)
    return {name: np.array(values, np.int64) for name, values in rows.items()}


def words_of_pieces(sentences: list[list[Word]], offsets: np.ndarray) -> np.ndarray:
    """Return the word with which each piece shares the most characters; -1 without one."""
    words = [word for sentence in sentences for word in sentence]
    found, first = np.full(len(offsets), -1, np.int64), 0
    for piece, (start, end) in enumerate(offsets):
        while first < len(words) and words[first].end <= start:
            first += 1
        best, number = 0, first
        while number < len(words) and words[number].start < end:
            shared = min(words[number].end, end) - max(words[number].start, start)
            if shared > best:
                best, found[piece] = shared, number
            number += 1
    return found


class Text(NamedTuple):
    """A text as pieces, with a column of syntax for each name."""

    ids: np.ndarray
    offsets: np.ndarray
    columns: dict[str, np.ndarray]
    n_words: int
    n_sentences: int

    @property
    def span(self) -> int:
        """Where the walk of a text after this one begins."""
        return self.n_words + len(self.ids) + 1


NO_WORD = {"word": -1, "sentence": -1, "parent": -1}


def encode(model: Model, text: str, sentences: list[list[Word]]) -> Text:
    """Cut a text into pieces, and give them the columns that the model reads."""
    ids, offsets = model.cut(text)
    wanted = [name for name in model.config.get("columns", []) if name != "domain"]
    of_piece = words_of_pieces(sentences, offsets)
    table = word_table(sentences, model.config)
    fill = dict(NO_WORD, tag=model.config["tags"]["other"]) if "tags" in model.config else NO_WORD
    columns = {
        name: np.where(of_piece >= 0, np.append(table[name], 0)[of_piece], fill.get(name, 0))
        for name in {*wanted, "word"}
    }
    return Text(ids, offsets, columns, len(table["word"]), len(sentences))


# Sequences: windows over the passage, each with the question.


class Window(NamedTuple):
    """A sequence, its first piece of the passage, and the position of that piece."""

    inputs: dict[str, np.ndarray]
    begin: int
    offset: int


def windows(model: Model, passage: Text, question: Text) -> list[Window]:
    """Return the sequences of a passage and a question, several if the passage is long."""
    head, template = model.config["head"], model.config["sequence"]["two"]
    special = template["special"]
    asked = question.ids[: head["max_question_length"]]
    room = head["max_length"] - sum(map(len, special)) - len(asked)
    found, begin = [], 0
    while True:
        end = min(begin + room, len(passage.ids))
        parts = [(passage, begin, end), (question, 0, len(asked))]
        if head.get("question_first"):
            parts.reverse()
        found.append(_window(model, parts, passage, begin))
        if end == len(passage.ids):
            return found
        begin += head["doc_stride"]


def _window(model: Model, parts: list[tuple[Text, int, int]], passage: Text, begin: int) -> Window:
    template, columns = model.config["sequence"]["two"], model.config.get("columns", [])
    special = template["special"]
    ids: list[int] = []
    types: list[int] = []
    context: list[bool] = []
    domain: list[int] = []
    syntax: dict[str, list[int]] = {name: [] for name in columns if name != "domain"}
    fill = dict(NO_WORD, tag=model.config["tags"]["special"]) if "tags" in model.config else NO_WORD
    offset = 0
    for number, tokens in enumerate(special):
        place = len(ids)
        ids += tokens
        types += template["special_types"][number]
        context += [False] * len(tokens)
        domain += [0 if number < 2 else 1] * len(tokens)
        for name, column in syntax.items():
            column += [fill.get(name, 0)] * len(tokens)
        if number == len(parts):
            break
        text, first, last = parts[number]
        if text is passage:
            offset = place + len(tokens)
        ids += text.ids[first:last].tolist()
        types += [template["text_types"][number]] * (last - first)
        context += [text is passage] * (last - first)
        domain += [number] * (last - first)
        before = parts[0][0] if number else None
        shifts = {}
        if before is not None:
            shifts = dict.fromkeys(("enter", "exit"), before.span)
            shifts |= dict.fromkeys(("word", "parent"), before.n_words)
            shifts["sentence"] = before.n_sentences
        for name, column in syntax.items():
            own = text.columns[name][first:last]
            has_word = text.columns["word"][first:last] >= 0
            column += np.where(has_word, own + shifts.get(name, 0), own).tolist()
    context[0] = True
    places = np.arange(len(ids))
    inputs = {
        "input_ids": np.array(ids),
        "attention_mask": np.ones(len(ids), np.int64),
        "token_type_ids": np.array(types),
        "context": np.array(context),
        "domain": np.array(domain),
        **{name: np.array(column) for name, column in syntax.items()},
    }
    if "word" in inputs:
        # A piece without a word sees itself only.
        alone = {"enter": -1 - places, "exit": -places}
        for name in alone.keys() & inputs.keys():
            inputs[name] = np.where(inputs["word"] >= 0, inputs[name], alone[name])
    return Window(inputs, begin, offset)


# Decoding.


def read(
    model: Model, passage_text: str, passage: Text, question: Text
) -> tuple[list[Span], Totals]:
    """Return the best spans of all windows, best first, and the scores of no answer."""
    head = model.config["head"]
    longest, n_best = head["max_answer_length"], head["n_best_size"]
    spans: dict[tuple[int, int], float] = {}
    null_score = verification = math.inf
    found = windows(model, passage, question)
    for window in found:
        batch = {name: values[None] for name, values in window.inputs.items()}
        scores = {name: values[0] for name, values in model.run(batch).items()}
        start, end = scores["start"], scores["end"]
        null_score = min(null_score, float(start[0] + end[0]))
        if "answerability" in scores:
            answerable, unanswerable = scores["answerability"]
            verification = min(verification, float(unanswerable - answerable))
        # [n, longest]: the score of every span of at most so many pieces
        ends = np.concatenate([end, np.full(longest - 1, -np.inf, np.float32)])
        pairs = start[:, None] + np.lib.stride_tricks.sliding_window_view(ends, longest)
        pairs[0] = -np.inf
        for place in np.argsort(-pairs, axis=None, kind="stable")[:n_best]:
            first, length = divmod(int(place), longest)
            score = float(pairs[first, length])
            if score == -math.inf:
                break
            shift = window.begin - window.offset
            interval = _strip(
                passage_text,
                int(passage.offsets[first + shift, 0]),
                int(passage.offsets[first + length + shift, 1]),
            )
            if interval[0] < interval[1] and score > spans.get(interval, -math.inf):
                spans[interval] = score
    ranked = sorted(spans.items(), key=lambda item: (-item[1], item[0]))[:n_best]
    totals = Totals(null_score, 0.0 if verification == math.inf else verification, len(found))
    return [Span(score, *interval) for interval, score in ranked], totals


def _strip(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    # A combining accent after the last piece belongs to its last character.
    while start < end < len(text) and unicodedata.category(text[end])[0] == "M":
        end += 1
    return start, end


# The three outcomes.

_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|hundred|dozen)\b", re.I
)
_ASKS_NUMBER = re.compile(
    r"\bhow (?:many|much|old|long|tall|far|high|often)\b|\bwhen\b|\bnumber of\b"
    r"|\bwh(?:at|ich) (?:year|date|day|month|time|age|number)\b",
    re.I,
)
_YES_NO = re.compile(
    r"\s*(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|must)\b"
    r"(?!.*\bor\b)",
    re.I,
)
_COMPARES = re.compile(r"\bdifferences? between\b|\bin common\b|\bcompare\b", re.I)
_COMMON = frozenset(
    """
    a about after all also an and any are as at be because been before by can could did do does each
    for from get give had has have he her his how i if in into is it its many may me more most much
    my no not of on one only or our out over she should so some such than that the their them then
    there these they this those to under until up us very was we were what when where which while
    who whom whose why will with would you your
    """.split()
)


def _stems(text: str) -> set[str]:
    return {word.lower()[:5] for word in re.findall(r"\w+", text) if word.lower() not in _COMMON}


def _distinct(text: str, spans: list[Span]) -> list[tuple[Span, float]]:
    """Drop spans that overlap a better one; their share of the softmax is added to it."""
    kept: list[tuple[Span, float]] = []
    for span, share in zip(spans, _shares(spans), strict=True):
        for place, (other, sum_of_shares) in enumerate(kept):
            if span.start < other.end and other.start < span.end:
                kept[place] = other, sum_of_shares + share
                break
        else:
            kept.append((span, share))
    return kept


def _shares(spans: list[Span]) -> list[float]:
    powers = [math.exp(span.score - spans[0].score) for span in spans]
    return [power / sum(powers) for power in powers]


def features(question: str, passage: str, spans: list[Span], totals: Totals) -> dict[str, float]:
    """Compute what the two probabilities are computed from."""

    def units(logits: float) -> float:
        return max(-5.0, min(5.0, logits / 5.0))

    distinct = _distinct(passage, spans)
    (best, share), others = distinct[0], distinct[1:]
    text = passage[best.start : best.end]
    following = others[0][0].score if others else spans[-1].score
    left = max(passage.rfind(mark, 0, best.start) for mark in (". ", "! ", "? ", "\n")) + 1
    ends = [
        place for mark in (". ", "! ", "? ", "\n") if (place := passage.find(mark, best.end)) >= 0
    ]
    sentence = passage[left : min(ends, default=len(passage))]
    asked, names = _stems(question), set(re.findall(r"(?<!^)\b(?:[A-Z]\w*|\d\w*)", question))
    names = {name.lower()[:5] for name in names if name.lower() not in _COMMON}
    known = {word.lower()[:5] for word in re.findall(r"\w+", passage)}
    wants_number = bool(_ASKS_NUMBER.search(question))
    margin = units(best.score - totals.null_score)
    layout = min(1.0, 10 * passage.strip().count("\n") / len(passage.split()))
    return {
        "margin": margin,
        "verification": units(totals.verification),
        "lead": units(best.score - following),
        "share": math.log(max(share, 1e-6)),
        "length": math.log(len(text.split()) or 1),
        "windows": math.log(min(totals.n_windows, 4)),
        "overlap": len(asked & _stems(sentence)) / len(asked) if asked else 0.5,
        "unknown": len(names - known) / len(names) if names else 0.0,
        "number": float(wants_number),
        "unfit": float(wants_number and not _NUMBER.search(text)),
        "several": float(bool(_YES_NO.match(question) or _COMPARES.search(question))),
        "layout": layout,
        "layout_margin": layout * margin,
    }


def _probability(weights: dict[str, float], values: dict[str, float]) -> float:
    odds = sum(weight * values.get(name, 1.0) for name, weight in weights.items())
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))


def outcome(
    config: dict[str, Any], question: str, passage: str, spans: list[Span], totals: Totals
) -> dict[str, str | float]:
    """Decide between answer, unsure and none."""
    if not spans:
        return {"outcome": "none", "confidence": 0.0, "no_answer": 1.0}
    head = config["head"]
    values = features(question, passage, spans, totals)
    if calibration := head.get("calibration"):
        no_answer = _probability(calibration["no_answer"], values)
        confidence = (1 - no_answer) * _probability(calibration["right"], values)
    else:
        odds = head["span_weight"] * (totals.null_score - spans[0].score)
        odds += head["answerability_weight"] * totals.verification
        no_answer = _probability({"odds": 0.5}, {"odds": odds - head["null_score_diff_threshold"]})
        confidence = (1 - no_answer) * math.exp(values["share"])
    limits = config["modes"]["balanced"]
    if confidence >= limits["confidence"] and no_answer <= limits["no_answer"]:
        found = "unsure" if values["several"] else "answer"
    else:
        found = "none" if no_answer >= limits["none"] else "unsure"
    return {"outcome": found, "confidence": confidence, "no_answer": no_answer}


def answer(
    model: Model,
    passage: str,
    question: str,
    parse: Callable[[str], list[list[Word]]] | None = None,
    trees: list[list[Word]] | None = None,
) -> dict[str, Any]:
    """Answer a question.

    Args:
        model: an exported reader.
        passage: the text.
        question: the question.
        parse: parses a text, for a reader that reads trees.
        trees: the trees of the passage instead.
    """
    columns = set(model.config.get("columns", [])) - {"domain"}
    if columns and parse is None and trees is None:
        sys.exit(
            "this reader reads trees: give --parser FOLDER, an exported parser, or --trees FILE"
        )
    if columns and model.config["pieces"] != "share":
        sys.exit(f"pieces {model.config['pieces']!r}: this example knows 'share' only")
    passage_trees = trees or []
    if columns and trees is None and parse is not None:
        passage_trees = parse(passage)
    asked: list[list[Word]] = []
    if columns and model.config["question_trees"]:
        if parse is None:
            sys.exit("this reader reads the trees of questions too: give --parser FOLDER")
        asked = parse(question)
    spans, totals = read(
        model, passage, encode(model, passage, passage_trees), encode(model, question, asked)
    )
    found = outcome(model.config, question, passage, spans, totals)
    best = spans[0] if spans else None
    return found | {
        "text": passage[best.start : best.end] if best else "",
        "start": best.start if best else None,
        "end": best.end if best else None,
        "score": best.score if best else None,
        "null_score": totals.null_score,
    }


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="an exported reader")
    parser.add_argument("passage", help="a text file")
    parser.add_argument("question")
    parser.add_argument("--parser", help="an exported parser, for a reader that reads trees")
    parser.add_argument("--trees", help="the trees of the passage as CoNLL-U, instead of a parser")
    given = parser.parse_args()
    model = Model(given.folder)
    passage = Path(given.passage).read_text(encoding="utf-8")
    parse = None
    if given.parser:
        from onnx_parser import parse_text

        parsing_model = Model(given.parser)

        def parse(text: str) -> list[list[Word]]:
            return parse_text(parsing_model, text)

    trees = read_conllu(given.trees, passage) if given.trees else None
    found = answer(model, passage, given.question, parse, trees)
    print(json.dumps(found, ensure_ascii=False))


if __name__ == "__main__":
    main()
