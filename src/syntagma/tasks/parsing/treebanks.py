"""Read gold trees: dependencies, phrases, or both from two treebanks of the same sentences."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path

from syntagma.errors import BadExampleError, InputError
from syntagma.file_names import is_named, split_pair
from syntagma.parse.head_rules import heads_by_rule
from syntagma.parse.phrases import agree
from syntagma.text.brackets import BracketedSentence, parse_brackets, read_brackets
from syntagma.text.conllu import TreebankSentence, read_conllu
from syntagma.text.conllu_rows import CONSTITUENCY
from syntagma.text.escapes import unescape
from syntagma.text.sentence import Parse

log = logging.getLogger(__name__)

BRACKETS = (".ptb", ".mrg", ".brackets")
NAMED_AS_UD = re.compile(r"([a-z]{2,3})(?:_[a-z0-9]+)?-ud-")
GENRE = re.compile(r"(?:[A-Z]+_)?[A-Za-z]+")
ENOUGH = 4
"""From this length on, a sentence without any common word shows that two files do not correspond.

Single words may differ, since treebanks escape and normalise them differently.
"""


@dataclass(frozen=True, slots=True)
class TreeExample:
    """A treebank sentence with its gold parse.

    Args:
        key: id of the sentence in its file.
        gold: the trees; phrases are ``None`` if the treebank has none.
        source: rows of the dependency treebank; ``None`` if there is none and heads come from
            head rules.
        brackets: words and tags of the phrase treebank; ``None`` if there is none.
        agrees: whether phrases and dependencies are compatible, so that one joint tree has both.
        document: id of the document that the sentence is from (``# newdoc id`` of CoNLL-U); empty
            if the treebank names none.
        language: ISO code of its language, which the file's name begins with if it is one of
            Universal Dependencies (``fr_sequoia-ud-train.conllu``); empty for other names.
    """

    key: str
    gold: Parse
    source: TreebankSentence | None
    brackets: BracketedSentence | None = None
    agrees: bool = False
    # Not in the repr, from which the fingerprint of the data is computed: it is derived from rows.
    document: str = field(default="", repr=False)
    # Nor this: the file may be renamed.
    language: str = field(default="", repr=False)


def read_treebank(path: str | Path, *, skip_bad: bool = False) -> list[TreeExample]:
    """Read the sentences of a treebank.

    Args:
        path: a CoNLL-U or CoNLL-X file, whose comments ``# constituency`` may have phrases; a file
            of Penn brackets, recognised by its suffix (``.ptb``, ``.mrg`` or ``.brackets``, with or
            without ``.gz``); or both as ``A.conllu+A.ptb``, whose sentences correspond one to one.
        skip_bad: skip and count sentences that are not trees or do not correspond.

    Raises:
        InputError: a file cannot be read; a sentence is not a tree or does not correspond, and
            ``skip_bad`` is false; or no sentence is left.
    """
    examples: list[TreeExample] = []
    bad = 0
    document, language = "", language_of_file(path)
    for number, example in enumerate(_examples(str(path)), start=1):
        # The comment stands before the first sentence of a document only, perhaps without an id.
        if example.rows is not None and example.rows.starts_document:
            document = example.rows.comment("newdoc id") or ""
        try:
            found = example.checked(number)
            examples.append(replace(found, document=document, language=language))
        except InputError as error:
            if not skip_bad:
                raise BadExampleError(str(error)) from error
            bad += 1
    if not examples:
        raise InputError(f"{path}: no sentence with a tree")
    if bad:
        log.warning("%s: skipped %d of %d sentences", path, bad, bad + len(examples))
    _report_disagreement(str(path), examples)
    return examples


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A sentence as read from one or two files, not yet checked.

    Phrases in a comment of its rows are not read yet either.
    """

    path: str
    rows: TreebankSentence | None
    brackets: BracketedSentence | None

    def checked(self, number: int) -> TreeExample:
        """Check the sentence and build its example.

        Raises:
            InputError: its heads do not form a tree, the phrases in its comment are no tree, or
                the two files disagree about its words.
        """
        rows, brackets = self.rows, self.brackets
        if rows is None:
            assert brackets is not None
            phrases, tags = brackets.constituents, brackets.tags
            heads = heads_by_rule(phrases, tags)
            gold = Parse(brackets.sentence(), heads, xpos=tags, constituents=phrases)
            return TreeExample(str(number), gold, None, brackets, agrees=True)
        gold = rows.parse()
        key = rows.comment("sent_id") or str(number)
        if brackets is None:
            brackets = _in_comment(rows)
        if brackets is None:
            return TreeExample(key, gold, rows)
        if len(brackets) != len(gold):
            raise InputError(
                f"{brackets.origin}: tree {number} has {len(brackets)} words, but the sentence at "
                f"{rows.origin} has {len(gold)}; the files must correspond sentence by sentence"
            )
        pairs = zip(map(unescape, brackets.forms), gold.sentence.forms, strict=True)
        if len(gold) >= ENOUGH and not any(one.lower() == other.lower() for one, other in pairs):
            raise InputError(
                f"{brackets.origin}: tree {number} begins {brackets.forms[0]!r}, but the sentence "
                f"at {rows.origin} {gold.sentence.forms[0]!r}, and they have no word in common; "
                f"the files must correspond sentence by sentence"
            )
        phrases = brackets.constituents
        gold = replace(gold, constituents=phrases)
        return TreeExample(key, gold, rows, brackets, agrees=agree(phrases, gold.heads))


def language_of_file(path: str | Path) -> str:
    """Return the language that the name of a treebank begins with; empty if it does not.

    >>> language_of_file("data/fr_sequoia-ud-train.conllu.gz"), language_of_file("mine.conllu")
    ('fr', '')
    """
    found = NAMED_AS_UD.match(Path(split_pair(str(path))[0]).name)
    return found[1] if found else ""


def genre_of(example: TreeExample) -> str:
    """Return the genre that the id of a sentence's document begins with; ``unknown`` if none does.

    English treebanks name their documents so: ``reviews-048363`` in EWT, ``GUM_court_loan`` in GUM.
    """
    found = GENRE.match(example.document)
    return found[0] if found else "unknown"


def is_bracket_file(path: str | Path) -> bool:
    """Return whether a file contains Penn brackets, going by its suffix."""
    return is_named(path, *BRACKETS)


def _trees(path: str) -> Iterator[BracketedSentence]:
    """Yield trees with words; one that has only traces has no counterpart among dependencies."""
    return (tree for tree in read_brackets(path) if len(tree))


def _examples(path: str) -> Iterator[_Candidate]:
    first, second = split_pair(path)
    if not second:
        if is_bracket_file(path):
            yield from (_Candidate(path, None, tree) for tree in _trees(path))
        else:
            yield from (_Candidate(path, rows, None) for rows in read_conllu(path))
        return
    if is_bracket_file(first) or not is_bracket_file(second):
        raise InputError(
            f"{path}: expected a dependency treebank + a file of brackets "
            f"({', '.join(BRACKETS)}), as in train.conllu+train.ptb"
        )
    for rows, tree in zip_longest(read_conllu(first), _trees(second)):
        if rows is None or tree is None:
            longer, shorter = (first, second) if tree is None else (second, first)
            raise InputError(
                f"{longer} has more sentences than {shorter}; the files must correspond sentence "
                f"by sentence"
            )
        yield _Candidate(path, rows, tree)


def _in_comment(rows: TreebankSentence) -> BracketedSentence | None:
    """Return the phrases in the comment ``# constituency``; ``None`` without such a comment.

    Raises:
        InputError: it does not contain one tree.
    """
    comment = rows.comment(CONSTITUENCY)
    if comment is None:
        return None
    name = f"{rows.origin}, comment '{CONSTITUENCY}'"
    trees = list(parse_brackets([comment], name=name))
    if len(trees) != 1:
        raise InputError(f"{name}: expected one tree in brackets, got {len(trees)}")
    return trees[0]


def _report_disagreement(path: str, examples: list[TreeExample]) -> None:
    both = [example for example in examples if example.brackets and example.source]
    apart = sum(not example.agrees for example in both)
    if apart:
        log.warning(
            "%s: in %d of %d sentences phrases and dependencies are incompatible; joint decoding "
            "is trained on their phrases and arcs separately",
            path,
            apart,
            len(both),
        )


def read_predicted(path: str | Path, examples: Sequence[TreeExample]) -> list[Parse]:
    """Read predicted trees for the sentences of a treebank.

    Args:
        path: a file in the format of a treebank.
        examples: the sentences, in the order of the file.

    Raises:
        InputError: the file cannot be read, or has other sentences or words.
    """
    found = read_treebank(path)
    if len(found) != len(examples):
        raise InputError(
            f"{path}: expected the {len(examples)} sentences of the data, got {len(found)}"
        )
    for number, (example, other) in enumerate(zip(examples, found, strict=True), start=1):
        if example.gold.sentence.forms != other.gold.sentence.forms:
            raise InputError(
                f"{path}: sentence {number} has other words than in the data: "
                f"{' '.join(other.gold.sentence.forms)[:60]!r}; keep the given words"
            )
    return [other.gold for other in found]
