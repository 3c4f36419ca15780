"""The segmentation version must be raised whenever the segmentation changes."""

from __future__ import annotations

import hashlib
import random

from syntagma.parse.parser import JointParser
from syntagma.text.segmentation import lexicon, segmenter
from syntagma.text.segmentation import segment as module
from syntagma.text.segmentation.segment import (
    MODES,
    SEGMENTATION_VERSION,
    segment,
    segmentation_fingerprint,
)
from syntagma.text.segmentation.splitter import load_splitter

GOLDEN = {
    1: "155709587e438e854cc6db1f885bca9b61f6c5f952d3b4c086b86aa16f888563",
    # The splitter is trained on contrasts of abbreviations and line breaks; more abbreviations
    # and addresses; more than 500 characters without a space are one word.
    2: "9c1d9d122495a97f1a0f64bb29abf36a437f420ec8def9b4d5bcfd73b0b38dd9",
    # "its" before a paragraph or line break stays whole, which none of the texts below has.
    3: "9c1d9d122495a97f1a0f64bb29abf36a437f420ec8def9b4d5bcfd73b0b38dd9",
    # A line that is drawn with several marks is one word.
    4: "4d1de93bc8a654615182e9acf2ad2565b6813d791b8aef77ce47d0badafbb197",
}
"""Hash of the segmentation of `awkward_texts`, and of the word lists, in each version."""

ADVICE = (
    "the segmentation has changed. If that is intended, raise SEGMENTATION_VERSION in "
    "text/segmentation/segment.py and add its hash to GOLDEN: parse caches and annotated corpora "
    "made with the old rules must not be mixed with new parses"
)

# Do not edit these texts: the hashes depend on them. New examples go into test_segment.py.
PARAGRAPHS = """\
Mr. and Mrs. Low can't have met Dr. Hill's uncle at 5 p.m. on Jan. 3. They'd left St. James St.
The U.S. Army, i.e. its No. 2 general, flew to Washington, D.C. in the rain... No one waved.
"Who's there?" she said. "It's me," he said (quietly). “We won!” they cried. ‘Did you?’ I asked.
they said “no.” and “I think so.” it rained (“too.”) She left.

cold It she Bob was was “Ann then.” she ran said so.

Prof. J. R. Okafor, Ph.D., of Acme Inc. said: we won't pay $4.5m, €3 or 10k. Pay us, etc.
see http://a.org/x_(y)?q=1#z. or mail ann.lee@mail.org; open notes_2.txt, visit dogs-and-cats.co.uk!
a well-known 15-year-old co-founder re-elected th- that ex-mayor, and/or s/he, w/o AT&T's R&D
cannot gonna dont its its not thats shouldn't've y'all'd 'cause '60s rock 'n' roll o'clock O'Neill's
call 555-123-4567 or 555-1234 by 10:45 on 11/28/2000, pages 5-10, 1,000.50 at 35mm and 7am, 3rd
great :) sad :-( ;) <3 ***Note*** ---- -> => !?! <ann> #1 @ann #cats f**k a_b 😀👍🏽👩‍💻🇩🇪🇫🇷 ok
The end.But then Dr.Who came.It rained Nov.28 in plan B. He bought pens, ink, etc. Then he slept.
e-mail xD XD =D 5M 10M in alt.test.misc. He said "go." She said ‘no.’ ‘yes.’ i left. ''no.'' they
i love this place. the food is great and the staff are nice. so i went home and then i saw ann
THE FERRY SANK. NOBODY DIED! IT'S OVER The New York Times wrote about John Stuart Mill in May.
Miller v. Board of Schools vs. Fig. 7 and vol. 2, Sept. 3 approx. 5 mi. from Mt. Low. IM him?
看书。「你呢？」他走了！ ひらがな مرحبا، كيف؟ नमस्ते दुनिया।
cafe\u0301s na\u00efve soft\u00adhy a\u00a0b\u200bc
"""
LAYOUTS = (
    "A Short Story\nThe old town lies on both sides of the river and was founded by traders from\n"
    "London, who built a bridge and a small harbour there. In the nineteenth century\n"
    "Mr. Hill opened the first mill.",
    "We need:\n- milk and honey\n- bread for Ann\n• salt\n",
    "1. Open the box\n2. take the key\n(3) wait; iv) go",
    "Dear Ann,\nThank you for the book.\r\nYours,\rBob\n\n \t\nRed Apples\nGreen Pears\u2029Blue",
    "It was late " * 15 + "\nThey went home",
    "Was it warm?  It was not (so they said). " * 600,
    "and so it went on " * 1500,
)
FRAGMENTS = [
    *" \t\n\u00a0\u200b\u200d\ufeff\u0301.,;:!?…-–—_'’\"“”()[]<>/@#$%&*+=~`•aZiI017éßд中あا😀",
    *("\r\n", "\n\n", "...", "--", "n't", "'s", "Mr.", "U.S.", "e.g.", "No.", "http://", "www."),
    *(
        "a@b.c",
        ".com",
        ":)",
        "1,000",
        "3.5",
        "10km",
        "its",
        "not",
        "cannot",
        "The ",
        "the ",
        " He ",
    ),
]


def awkward_texts() -> list[str]:
    draw = random.Random(0)
    mixed = ["".join(draw.choices(FRAGMENTS, k=60)) for _ in range(200)]
    lines = PARAGRAPHS.splitlines()
    return [PARAGRAPHS, "\n\n".join(lines), *lines, *LAYOUTS, *mixed]


def golden_hash() -> str:
    digest = hashlib.sha256()
    # No text covers every abbreviation and unit; hash the lists themselves.
    lists = {name: value for name, value in vars(lexicon).items() if name.isupper()}
    for name, words in sorted(lists.items()):
        digest.update(ascii((name, sorted(words))).encode())
    digest.update(ascii(sorted(lexicon.FUSED.items())).encode())
    for text in awkward_texts():
        for mode in MODES:
            found = [[tuple(word) for word in own.words] for own in segment(text, mode=mode)]
            digest.update(ascii(found).encode())
    return digest.hexdigest()


def test_the_version_is_raised_when_the_segmentation_changes():
    assert golden_hash() == GOLDEN.get(SEGMENTATION_VERSION), ADVICE


def test_the_fingerprint_depends_on_version_and_weights(monkeypatch, tmp_path):
    before = segmentation_fingerprint()
    assert segmentation_fingerprint() == before
    monkeypatch.setattr(module, "SEGMENTATION_VERSION", SEGMENTATION_VERSION + 1)
    raised = segmentation_fingerprint()
    (tmp_path / "weights").write_bytes(b"retrained")
    monkeypatch.setattr(segmenter, "WEIGHTS", tmp_path / "weights")
    monkeypatch.setattr(module, "english", lambda: segmenter.Segmenter(load_splitter()))
    assert len({before, raised, segmentation_fingerprint()}) == 3


def test_the_parser_fingerprint_includes_the_segmentation(monkeypatch, tiny_parser):
    before = JointParser.from_pretrained(tiny_parser).fingerprint
    assert JointParser.from_pretrained(tiny_parser).fingerprint == before
    monkeypatch.setattr(module, "SEGMENTATION_VERSION", SEGMENTATION_VERSION + 1)
    assert JointParser.from_pretrained(tiny_parser).fingerprint != before
