"""Score parsers with the measures of the CoNLL 2018 shared task, on given words and on raw text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from syntagma.errors import InputError
from syntagma.parse.conll_scores import FScore, conll_scores
from syntagma.parse.parser import JointParser
from syntagma.tasks.parsing.treebanks import TreeExample
from syntagma.text.conllu import TreebankSentence
from syntagma.text.documents import raw_documents
from syntagma.text.morphology import UNKNOWN, Morphology
from syntagma.text.sentence import Parse

WITH_GOLD_WORDS = ("ufeats", "alltags", "lemmas", "clas", "mlas", "blex")
"""The measures that say something if the words are given, and are not attachment scores."""


def gold_word_scores(pairs: Iterable[tuple[TreebankSentence, Parse]]) -> dict[str, float]:
    """Return the measures of trees whose words are those of the treebank, in per cent.

    Args:
        pairs: sentences of the treebank and their predicted parses.
    """
    pairs = list(pairs)
    if not pairs:
        return {}
    system = [predicted_rows(source, parse) for source, parse in pairs]
    scores = conll_scores([source for source, _ in pairs], system)
    return {name: scores[name].f1 for name in WITH_GOLD_WORDS if name in scores}


def predicted_rows(source: TreebankSentence, parse: Parse) -> TreebankSentence:
    """Write a predicted parse over the annotation of a treebank.

    Lemmas and features that the parser does not predict are blanked: those of the treebank would
    count as its own.

    Args:
        source: the sentence of the treebank.
        parse: the prediction.
    """
    blank = (UNKNOWN,) * len(parse)
    morphology = Morphology(parse.feats or blank, parse.lemmas or blank)
    return source.with_parse(replace(parse, morphology=morphology))


def raw_scores(
    parser: JointParser, files: Iterable[Sequence[TreeExample]], *, lang: str = ""
) -> dict[str, float]:
    """Cut, tag and parse the raw text of treebanks, and return all measures as F1, in per cent.

    The text is put together from the sentences: a blank line precedes a paragraph.

    Args:
        parser: the parser.
        files: the sentences of each treebank file, in order.
        lang: the language of all files, such as ``fr``.  Otherwise that with which the name of a
            file begins, if the parser knows it; if not, it is detected.

    Raises:
        InputError: the parser does not know ``lang``, a sentence has no dependencies, or its text
            does not spell its words.
    """
    return _as_f1([_raw_score(parser, examples, lang) for examples in files])


def _raw_score(
    parser: JointParser, examples: Sequence[TreeExample], lang: str
) -> dict[str, FScore]:
    gold = _sources(examples)
    texts = [document.text for document in raw_documents(gold)]
    if lang or (lang := examples[0].language) in parser.languages.codes:
        parser = parser.for_language(lang)
    system = (
        TreebankSentence.from_parse(parse, text=text)
        for text, parses in zip(texts, parser.parse_texts(texts), strict=True)
        for parse in parses
    )
    return conll_scores(gold, system)


def raw_file_scores(
    examples: Sequence[TreeExample], system: Iterable[TreebankSentence]
) -> dict[str, float]:
    """Return all measures of a file that a system made from the raw text, in per cent.

    Args:
        examples: the sentences of the treebank.
        system: the sentences of the system, which may be others.

    Raises:
        InputError: the texts differ in more than spaces.
    """
    return _as_f1([conll_scores(_sources(examples), system)])


def _sources(examples: Sequence[TreeExample]) -> list[TreebankSentence]:
    sources = [example.source for example in examples if example.source is not None]
    if len(sources) < len(examples):
        raise InputError(
            "--raw: expected a treebank in CoNLL-U, whose lines say how words are written; Penn "
            "brackets do not"
        )
    return sources


def _as_f1(scores: Sequence[dict[str, FScore]]) -> dict[str, float]:
    """Add up the counts of all files."""
    names = [name for name in scores[0] if all(name in each for each in scores)]
    return {
        f"{name}_f1": FScore(*map(sum, zip(*(each[name] for each in scores), strict=True))).f1
        for name in names
    }
