"""Read relation files: TACRED, SemEval-2010 Task 8, KBP37.

``.json`` and ``.jsonl`` are TACRED's: lists of words with the positions of subject and object; the
words are joined to a text as in :mod:`syntagma.parse.sources.tacred`.  ``.txt`` is SemEval's, and
that of KBP37, which has spaces inside the tags::

    7⇥"The <e1>crew</e1> left the <e2>pier</e2>."
    Entity-Origin(e1,e2)
    Comment: …

``e1`` is the subject.  An example without a relation is unlabelled: it can be predicted, but not
scored.  All files may be gzipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from syntagma.errors import InputError
from syntagma.file_names import is_named
from syntagma.files import read_lines, read_objects
from syntagma.parse.sources.tacred import tacred_words
from syntagma.tasks.collect import Collected, gather
from syntagma.tasks.mentions.data import Mention, mention_problem, row_id
from syntagma.text.escapes import unescape

TAG = re.compile(r"</?e[12]>")
BEGIN = re.compile(r"(\S+)\t\s*(.*\S)\s*")
SPACED = re.compile(r"<e[12]>\s")


@dataclass(frozen=True, slots=True)
class RelationExample:
    """Two mentions in a sentence, and the relation between them.

    Args:
        id: unique in its file.
        text: the sentence.
        subject: character offsets of the subject.
        object: character offsets of the object.
        relation: relation from subject to object; empty if unlabelled.
        tagged: whether the file has SemEval's format, in which predictions are keyed by id.
    """

    id: str
    text: str
    subject: Mention
    object: Mention
    relation: str
    tagged: bool = False

    @property
    def has_empty_mention(self) -> bool:
        """Whether a mention has no characters, as is the case in dozens of examples of KBP37."""
        return any(start == end for start, end in (self.subject, self.object))


def read_relations(path: str | Path, *, skip_bad: bool = False) -> Collected[RelationExample]:
    """Read the examples of a file.

    Args:
        path: a file in one of the formats above.
        skip_bad: skip invalid examples instead of stopping at the first.

    Raises:
        InputError: the file cannot be read; an example is invalid, and ``skip_bad`` is false; or
            no valid example is left.
    """
    if is_named(path, ".json", ".jsonl"):
        rows = _tacred(path)
    elif is_named(path, ".txt"):
        rows = _tagged(path)
    else:
        raise InputError(
            f"{path}: expected relations as .json or .jsonl (TACRED) or .txt (SemEval, KBP37), "
            f"also with .gz; rename the file"
        )
    empty = f"{path}: no relation; expected TACRED's objects or SemEval's lines"
    return gather(rows, skip_bad=skip_bad).require_some(empty)


def _tacred(path: str | Path) -> Iterator[tuple[str, RelationExample | str]]:
    for number, (where, row) in enumerate(read_objects(path)):
        yield where, row if isinstance(row, str) else _tacred_example(row, where, number)


def _tacred_example(row: dict[str, Any], where: str, number: int) -> RelationExample | str:
    """Build the example of a row, or return a message about what is wrong with it."""
    words = tacred_words(row)
    if words is None:
        return f"{where}: expected a list of words as `token`, got {row.get('token')!r:.40}"
    text = " ".join(words.forms)
    mentions = []
    for name in ("subj", "obj"):
        first, last = row.get(f"{name}_start"), row.get(f"{name}_end")
        if type(first) is not int or type(last) is not int or not 0 <= first <= last < len(words):
            return (
                f"{where}: expected words 0 to {len(words) - 1} as `{name}_start` and "
                f"`{name}_end`, got {first!r:.20} and {last!r:.20}"
            )
        mentions.append((words.starts[first], words.ends[last]))
        if problem := mention_problem(text, mentions[-1]):
            return f"{where}: {problem}"
    subject, object_ = mentions
    relation = row.get("relation", "")
    if not isinstance(relation, str):
        return f"{where}: expected a string as `relation`, got {relation!r:.40}"
    return RelationExample(row_id(row, number), text, subject, object_, relation)


class _Block(NamedTuple):
    """The lines of one example in SemEval's format.

    Args:
        where: position of the first line.
        id: id of the sentence.
        sentence: the sentence with its tags.
        relation: the relation; empty if there is no line for it.
        wrong: message about what is wrong; empty if nothing is.
    """

    where: str
    id: str = ""
    sentence: str = ""
    relation: str = ""
    wrong: str = ""


def _tagged(path: str | Path) -> Iterator[tuple[str, RelationExample | str]]:
    for block in _blocks(path):
        yield block.where, block.wrong or _tagged_example(block)


def _blocks(path: str | Path) -> Iterator[_Block]:
    block: _Block | None = None
    for number, line in enumerate(read_lines(path), start=1):
        where = f"{path}, line {number}"
        begins = BEGIN.fullmatch(line)
        if not line.strip() or line.lstrip().startswith("Comment:"):
            continue
        if begins:
            if block is not None:
                yield block
            block = _Block(where, *begins.groups())
        elif block is not None and not block.relation:
            block = block._replace(relation=line.strip())
        else:
            wrong = f"{where}: expected an id, a tab and a sentence, got {line[:40]!r}"
            if block is not None:
                yield block
            block = None
            yield _Block(where, wrong=wrong)
    if block is not None:
        yield block


def _tagged_example(block: _Block) -> RelationExample | str:
    """Build the example of a block, or return a message about what is wrong with it."""
    sentence = block.sentence
    if len(sentence) > 1 and sentence[0] == sentence[-1] == '"':
        sentence = sentence[1:-1].strip()
    found = TAG.findall(sentence)
    for name in ("e1", "e2"):
        if [tag for tag in found if name in tag] != [f"<{name}>", f"</{name}>"]:
            return (
                f"{block.where}: expected one <{name}> followed by one </{name}>, "
                f"got {' '.join(found) or 'no tags'}"
            )
        if f"<{name}></{name}>" in sentence:
            return f"{block.where}: the mention between <{name}> and </{name}> is empty"
    text, offsets = (_untag_words if SPACED.search(sentence) else _untag)(sentence)
    return RelationExample(
        block.id,
        text,
        (offsets["<e1>"], offsets["</e1>"]),
        (offsets["<e2>"], offsets["</e2>"]),
        block.relation,
        tagged=True,
    )


def _untag(sentence: str) -> tuple[str, dict[str, int]]:
    """Remove the tags from a sentence, and return the offset of each."""
    text, offsets, begin = "", {}, 0
    for tag in TAG.finditer(sentence):
        text += sentence[begin : tag.start()]
        offsets[tag.group()] = len(text)
        begin = tag.end()
    return text + sentence[begin:], offsets


def _untag_words(sentence: str) -> tuple[str, dict[str, int]]:
    """Remove tags that are separate words (KBP37), and return the offset of each.

    The text has spaces between its words, which are unescaped (``(`` for ``-LRB-``).

    >>> _untag_words("<e1> Ada </e1> left <e2> </e2> .")
    ('Ada left .', {'<e1>': 0, '</e1>': 3, '<e2>': 9, '</e2>': 9})
    """
    tokens = [unescape(token) for token in TAG.sub(r" \g<0> ", sentence).split()]
    text = " ".join(token for token in tokens if not TAG.fullmatch(token))
    offsets: dict[str, int] = {}
    following = 0
    for token in tokens:
        if not TAG.fullmatch(token):
            following += len(token) + 1
        elif token[1] == "/":
            offsets[token] = max(offsets[f"<{token[2:]}"], following - 1)
        else:
            offsets[token] = min(following, len(text))
    return text, offsets
