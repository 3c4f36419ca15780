"""Documents are cut into passages at headings, between blocks, and inside only what is too long."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from syntagma.extraction.document import Block, BlockKind, Document
from syntagma.retrieval.passages import cut

SENTENCE = "The ferry leaves at noon and comes back at six in the evening. "


def document(*blocks: tuple[BlockKind, str] | tuple[BlockKind, str, int]) -> Document:
    """A document of blocks: their kind, their text, and the level of headings."""
    text, found = "", []
    for kind, block, *level in blocks:
        text += "\n\n" if text else ""
        found.append(Block(kind, len(text), len(text) + len(block), *level))
        text += block
    return Document(text, tuple(found))


def texts(given: Document, most: int) -> list[str]:
    return [given.text[each.start : each.end] for each in cut(given, most=most)]


def test_blocks_share_a_passage_while_they_fit():
    given = document(("paragraph", "one two three"), ("paragraph", "four five"), ("item", "six"))
    assert texts(given, 5) == ["one two three\n\nfour five", "six"]
    assert texts(given, 6) == [given.text]


def test_a_heading_begins_a_passage_and_names_those_below_it():
    given = document(
        ("heading", "Manual", 1),
        ("heading", "Engine", 2),
        ("paragraph", "Check the oil."),
        ("heading", "Oil", 3),
        ("paragraph", "Use two litres."),
        ("heading", "Sails", 2),
        ("paragraph", "Dry them."),
    )
    found = cut(given, most=100)
    assert [given.text[each.start : each.end].split("\n\n")[0] for each in found] == [
        "Manual",
        "Oil",
        "Sails",
    ]
    assert [each.heading for each in found] == [
        "Manual › Engine",
        "Manual › Engine › Oil",
        "Manual › Sails",
    ]


def test_the_page_is_that_of_the_first_block():
    blocks = (Block("paragraph", 0, 3, page=4), Block("paragraph", 5, 8, page=5))
    assert [each.page for each in cut(Document("one\n\ntwo", blocks), most=9)] == [4]
    assert [each.page for each in cut(Document("one\n\ntwo", blocks), most=1)] == [4, 5]


def test_a_long_block_is_cut_between_sentences():
    given = document(("paragraph", (SENTENCE * 6).strip()))
    found = texts(given, 30)
    assert len(found) == 3
    assert all(each == (SENTENCE * 2).strip() for each in found)


def test_a_long_sentence_is_cut_between_words():
    given = document(("paragraph", " ".join(f"word{number}" for number in range(70))))
    assert [len(each.split()) for each in texts(given, 20)] == [20, 20, 20, 10]


def test_scripts_without_spaces_count_by_characters():
    given = document(("paragraph", "渡" * 50))
    assert [len(each) for each in texts(given, 20)] == [20, 20, 10]


def test_a_document_of_headings_alone_is_kept():
    given = document(("heading", "A", 1), ("heading", "B", 2))
    assert texts(given, 20) == ["A\n\nB"]


WORDS = st.text(st.sampled_from("ab .é渡\n"), min_size=1, max_size=60).filter(str.strip)
BLOCKS = st.lists(
    st.tuples(st.sampled_from(["paragraph", "item", "row", "heading"]), WORDS, st.integers(1, 6)),
    max_size=8,
)


@given(BLOCKS, st.integers(1, 12))
def test_passages_hold_every_visible_character_once_and_in_order(blocks, most):
    whole = document(*((kind, text.strip(), level) for kind, text, level in blocks))
    found = cut(whole, most=most)
    assert all(one.end <= other.start for one, other in zip(found, found[1:], strict=False))
    kept = "".join(whole.text[each.start : each.end] for each in found)
    assert re.sub(r"\s", "", kept) == re.sub(r"\s", "", whole.text)
    assert all(whole.text[each.start : each.end].strip() for each in found)
