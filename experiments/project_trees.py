r"""Make a treebank of a language that has none, from translations into English.

    python experiments/project_trees.py ENGLISH.txt OTHER.txt --known PARSER \
        --out xx-ud-train.conllu

Both files have one sentence a line, the same sentence in the same line, with spaces between words
(``.gz`` can be read).  PARSER reads the other language without having learned it: it was trained on
other languages, on a multilingual encoder.  Its scores of arcs, relations and tags decide, together
with the tree that ``--english`` finds for the English sentence (annotation projection, Hwa et al.
2005).  Words correspond if each is the most similar to the other one (Jalili Sabet et al. 2020);
an arc is carried over if both of its words correspond to words, and then the score of the same arc
in the other language is raised.

Sentences are left out if fewer than half of their arcs were carried over, or if less than four in
five of these are in the tree that was found.  The trees are not gold: docs/languages.md says what a
parser gained that learned from them.
"""

from __future__ import annotations

import argparse
import html
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from syntagma import load_parser
from syntagma.encoders.load import (
    build_encoder,
    encoder_weights,
    load_encoder_config,
    load_tokenizer,
)
from syntagma.errors import InputError, in_one_line
from syntagma.files import read_lines
from syntagma.outputs import write_text
from syntagma.parse.dependency import decode_heads
from syntagma.parse.encode import SentenceEncoder
from syntagma.parse.parser import JointParser
from syntagma.parse.validity.punctuation import attach_punctuation
from syntagma.progress import steps
from syntagma.text.alignment import pool
from syntagma.text.conllu import TreebankSentence, format_conllu
from syntagma.text.sentence import Parse, Sentence

BATCH = 64
LENGTHS = range(4, 33)
RATIO = 1.6
"""Largest ratio of the lengths of two sentences that are taken for translations."""
LAYER = 2 / 3
"""The layer whose vectors are compared, as a share of the encoder's layers."""
SIMILARITY = 0.3
"""Smallest cosine of two words that correspond."""
DISTANCE = 0.15
"""What is taken from the cosine of the first word of a sentence and the last one of the other."""
WEIGHT = 3.0
"""What is added to the logarithm of the probability of what was carried over."""
CARRIED, KEPT = 0.5, 0.8
"""Smallest share of words whose arcs are carried over, and of these, in the tree found."""
POSSESSIVE = "nmod:poss"
"""The relation of *his* in English.  In French and German such words are determiners, so neither
the relation nor the tag of a pronoun with it is carried over."""


class Pair(NamedTuple):
    """A sentence and its translation."""

    english: Sentence
    other: Sentence


def read_pairs(given: argparse.Namespace) -> Iterator[Pair]:
    """Yield the pairs of sentences that may be each other's translation."""
    english, other = (list(read_lines(path)) for path in (given.english_text, given.other_text))
    if len(english) != len(other):
        raise InputError(
            f"expected as many lines in both files, the same sentence in the same line; "
            f"{given.english_text} has {len(english):,}, {given.other_text} {len(other):,}"
        )
    words_of = dict(_parts(argument) for argument in given.split)
    for left, right in zip(english, other, strict=True):
        # Moses' tokenizer escapes quotation marks and brackets.
        left_words, right_words = html.unescape(left).split(), html.unescape(right).split()
        words = [part for word in right_words for part in _split(word, words_of)]
        pair = Pair(Sentence.from_words(left_words), Sentence.from_words(words))
        lengths = len(pair.english), len(pair.other)
        fits = min(lengths) in LENGTHS and max(lengths) in LENGTHS
        if fits and max(lengths) <= RATIO * min(lengths) and not words[-1][-1].isalnum():
            yield pair


def _parts(argument: str) -> tuple[str, list[str]]:
    """Return a contraction and its words, from ``im=in dem``."""
    token, _, words = argument.partition("=")
    if not token or len(words.split()) < 2:
        raise InputError(f"--split: expected TOKEN=WORD WORD, as in 'im=in dem'; got {argument!r}")
    return token, words.split()


def _split(word: str, words_of: dict[str, list[str]]) -> list[str]:
    """Return the words of a contraction; the first is capitalised if it was."""
    parts = words_of.get(word.lower(), [word])
    if len(parts) > 1 and word[0].isupper():
        return [parts[0].capitalize(), *parts[1:]]
    return parts


class Similarity:
    """Finds corresponding words of two sentences.

    Args:
        name: a multilingual encoder.
    """

    def __init__(self, name: str) -> None:
        config = load_encoder_config(name)
        self.encoder = build_encoder(config).eval()
        self.encoder.load_state_dict(encoder_weights(name))
        self.layer = round(LAYER * config.num_hidden_layers)
        self.pieces = SentenceEncoder(load_tokenizer(name))

    @torch.inference_mode()
    def vectors(self, sentences: Sequence[Sentence]) -> list[Tensor]:
        """Return a vector for each word, of length 1 and with those of all words around zero.

        Returns:
            For each sentence ``[n_words, width]``.
        """
        encoded = self.pieces.encode(sentences)
        found: list[Tensor] = [torch.zeros(0)] * len(encoded)
        for rows in steps(list(_by_length([len(item) for item in encoded]))):
            batch = self.pieces.collate([encoded[row] for row in rows])
            layers = self.encoder(
                input_ids=batch["input_ids"],
                attention_mask=batch["attention_mask"],
                output_hidden_states=True,
            ).hidden_states
            width = batch["shapes"].shape[1]
            words = pool(layers[self.layer], batch["word_of_piece"], width, how="mean")
            for row, each, n_words in zip(rows, words, batch["n_words"], strict=True):
                found[row] = each[:n_words]
        mean = torch.cat(found).mean(0)
        return [torch.nn.functional.normalize(each - mean, dim=-1) for each in found]

    def links(self, pairs: Sequence[Pair]) -> list[dict[int, int]]:
        """Return the corresponding words of each pair, from English to the other language."""
        left = self.vectors([pair.english for pair in pairs])
        right = self.vectors([pair.other for pair in pairs])
        return [
            mutual_best(_cosines(*both) - DISTANCE * _distances(*map(len, both)), *pair)
            for pair, both in zip(pairs, zip(left, right, strict=True), strict=True)
        ]


def _by_length(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield batches of indices of similar lengths."""
    order = np.argsort(lengths, kind="stable")
    for begin in range(0, len(order), BATCH):
        yield order[begin : begin + BATCH].tolist()


def _cosines(left: Tensor, right: Tensor) -> NDArray[np.float32]:
    cosines: NDArray[np.float32] = (left @ right.T).numpy()
    return cosines


def _distances(n_left: int, n_right: int) -> NDArray[np.float64]:
    """Return how far the places of two words in their sentences differ, from 0 to 1."""
    return np.abs(np.linspace(0, 1, n_left)[:, None] - np.linspace(0, 1, n_right))


def mutual_best(
    similarity: NDArray[np.floating], left: Sentence, right: Sentence
) -> dict[int, int]:
    """Return the words each of which is the most similar to the other one.

    Punctuation corresponds to punctuation only.

    Args:
        similarity: of each word of ``left`` to each of ``right``, ``[n_left, n_right]``.

    Returns:
        The word of ``right``, from 0, by the word of ``left``.
    """
    marks = [
        np.array([not any(map(str.isalnum, form)) for form in sentence.forms])
        for sentence in (left, right)
    ]
    similarity = np.where(marks[0][:, None] == marks[1], similarity, -1.0)
    to_right, to_left = similarity.argmax(1), similarity.argmax(0)
    return {
        word: int(to_right[word])
        for word in range(len(similarity))
        if to_left[to_right[word]] == word and similarity[word, to_right[word]] > SIMILARITY
    }


class Carried(NamedTuple):
    """What an English tree says of a word of the other language; heads are 1-based, 0 the root.

    The relation is empty if languages differ in it.
    """

    word: int
    head: int
    relation: str


def carry_over(parse: Parse, links: dict[int, int]) -> list[Carried]:
    """Return the arcs of an English tree both of whose words correspond to words."""
    head_of = {0: 0} | {left + 1: right + 1 for left, right in links.items()}
    arcs = zip(parse.heads, parse.relations, strict=True)
    return [
        Carried(links[word], head_of[head], "" if is_possessive(parse, word) else relation)
        for word, (head, relation) in enumerate(arcs)
        if word in links and head in head_of
    ]


def is_possessive(parse: Parse, word: int) -> bool:
    """Return whether a word of an English tree is a possessive pronoun."""
    return parse.relations[word] == POSSESSIVE and parse.upos[word] == "PRON"


class Projector:
    """Finds trees from a parser's scores and from what was carried over.

    Args:
        parser: a parser that has not learned the language.
    """

    def __init__(self, parser: JointParser) -> None:
        self.parser = parser
        labels = parser.model.config.labels
        self.upos: list[str] = labels["upos"]
        self.relations: list[str] = labels["relations"]
        # Subtypes are those of a language.
        self.general = np.array([name.partition(":")[0] for name in self.relations])

    def trees(
        self, pairs: Sequence[Pair], english: Sequence[Parse], links: Sequence[dict[int, int]]
    ) -> Iterator[Parse]:
        """Yield the trees of the sentences that the English ones fit."""
        found: list[Parse | None] = [None] * len(pairs)
        for rows in steps(list(_by_length([len(pair.other) for pair in pairs]))):
            batch = [(pairs[row].other, english[row], links[row]) for row in rows]
            for row, parse in zip(rows, self._batch(batch), strict=True):
                found[row] = parse
        yield from (parse for parse in found if parse is not None)

    @torch.inference_mode()
    def _batch(
        self, batch: Sequence[tuple[Sentence, Parse, dict[int, int]]]
    ) -> Iterator[Parse | None]:
        encoder, model = self.parser.encoder, self.parser.model
        tensors = encoder.collate(encoder.encode([sentence for sentence, _, _ in batch]))
        states = model(**tensors).states
        arcs, upos = (
            scores.float().log_softmax(-1).numpy() for scores in (states.arcs, states.upos)
        )
        carried = [carry_over(parse, links) for _, parse, links in batch]
        for row, (_, parse, links) in enumerate(batch):
            for left, right in links.items():
                if parse.upos[left] in self.upos and not is_possessive(parse, left):
                    upos[row, right, self.upos.index(parse.upos[left])] += WEIGHT
            for arc in carried[row]:
                arcs[row, arc.word, arc.head] += WEIGHT
        n_words = tensors["n_words"].numpy()
        tags = upos.argmax(-1)
        inside = np.arange(arcs.shape[1]) < n_words[:, None]
        is_punctuation = inside & (np.array(self.upos)[tags] == "PUNCT")
        heads = attach_punctuation(arcs, decode_heads(arcs, n_words), is_punctuation)
        relations = model.relation_scores(
            states, torch.from_numpy(np.where(inside, heads, -1))
        ).float()
        scores = relations.log_softmax(-1).numpy()
        for row, arcs_of_row in enumerate(carried):
            for arc in arcs_of_row:
                if arc.relation and heads[row, arc.word] == arc.head:
                    same = self.general == arc.relation.partition(":")[0]
                    scores[row, arc.word, same] += WEIGHT
        is_root = np.array(self.relations) == "root"
        scores[(heads == 0)[..., None] != is_root] = -np.inf
        codes = scores.argmax(-1)
        for row, (sentence, _, _) in enumerate(batch):
            n = len(sentence)
            fits = [heads[row, arc.word] == arc.head for arc in carried[row]]
            if len(fits) < CARRIED * n or sum(fits) < KEPT * len(fits):
                yield None
                continue
            yield Parse(
                sentence,
                tuple(heads[row, :n].tolist()),
                tuple(self.relations[code] for code in codes[row, :n]),
                tuple(self.upos[code] for code in tags[row, :n]),
                ("_",) * n,
            )


def _blocks(parses: Iterable[Parse]) -> Iterator[str]:
    """Yield the trees as blocks of CoNLL-U."""
    for parse in parses:
        text = " ".join(parse.sentence.forms)
        yield format_conllu(TreebankSentence.from_parse(parse, text=text))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("english_text", help="English sentences, one a line")
    parser.add_argument("other_text", help="their translations, one a line")
    parser.add_argument(
        "--known", required=True, help="a parser of other languages, on a multilingual encoder"
    )
    parser.add_argument("--english", default="default-parser", help="the parser of English")
    parser.add_argument("--encoder", default="multilingual", help="what compares words")
    parser.add_argument(
        "--split",
        action="append",
        default=[],
        metavar="TOKEN=WORDS",
        help="split a contraction, as in 'im=in dem'; repeatable",
    )
    parser.add_argument("--limit", type=int, help="take at most this many pairs")
    parser.add_argument("--out", required=True, help="the treebank to write")
    given = parser.parse_args()
    pairs = list(read_pairs(given))[: given.limit]
    if not pairs:
        raise InputError(
            f"{given.other_text}: no sentence of {LENGTHS[0]} to {LENGTHS[-1]} words that ends "
            f"with punctuation and has a translation of a similar length"
        )
    links = Similarity(given.encoder).links(pairs)
    english = load_parser(given.english).parse([pair.english for pair in pairs])
    projector = Projector(load_parser(given.known))
    blocks = list(_blocks(projector.trees(pairs, english, links)))
    if not blocks:
        raise InputError(
            f"none of the {len(pairs):,} sentences of {given.other_text} has a tree that the "
            f"English one fits; give files whose lines are translations of each other"
        )
    write_text(given.out, "".join(blocks))
    print(f"{len(blocks):,} of {len(pairs):,} sentences have a tree")


if __name__ == "__main__":
    with in_one_line():
        main()
