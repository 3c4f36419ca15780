import subprocess
import sys
from itertools import chain

import pytest

from syntagma.errors import InputError
from syntagma.text.segmentation.segment import (
    MODES,
    segment,
    segment_stream,
    split_sentences,
    split_words,
)
from syntagma.text.segmentation.splitter import WEIGHTS, load_splitter
from syntagma.text.sentence import Sentence
from tests.messages import naming


def words(text: str) -> str:
    return " ".join(split_words(text).forms)


def sentences(text: str, mode: str = "raw") -> list[str]:
    return [text[found.start : found.end] for found in segment(text, mode=mode)]


# ---------------------------------------------------------------- words

# Text → its words, separated by spaces.
WORDS = """
I don't think they've left.  →  I do n't think they 've left .
We cannot, and you can't.  →  We can not , and you ca n't .
I'm sure John's dogs' bowls aren't here  →  I 'm sure John 's dogs ' bowls are n't here
I’m sure she’ll say it’s Ann’s.  →  I ’m sure she ’ll say it ’s Ann ’s .
DON'T SAY IT'S OURS  →  DO N'T SAY IT 'S OURS
shouldn't've, y'all'd  →  should n't 've , y'all 'd
Gonna go, wanna come? Gotta.  →  Gon na go , wan na come ? Got ta .
dont know, im here, thats it  →  do nt know , i m here , that s it
the ill-fed were ill, well and were  →  the ill - fed were ill , well and were
IM him, or wont it?  →  IM him , or wo nt it ?
its not its fault  →  it s not its fault
O'Neill's boat at ten o'clock  →  O'Neill 's boat at ten o'clock
get 'em, 'cause '60s rock and '95 wine  →  get 'em , 'cause '60s rock and '95 wine
a well-known 15-year-old  →  a well - known 15 - year - old
my e-mail to a non-smoker  →  my e-mail to a non-smoker
co-founder, re-elected in mid-August  →  co-founder , re-elected in mid-August
the Ann-Bob-Cy line  →  the Ann - Bob - Cy line
pages 5-10, 1990-1995  →  pages 5 - 10 , 1990 - 1995
th- that one, s- so  →  th- that one , s- so
give it to us- now  →  give it to us - now
stop--go—now – then  →  stop -- go — now – then
1,000.50 and .5, 3rd, 1980s  →  1,000.50 and .5 , 3rd , 1980s
$5, US$20, €3.50 and 50%  →  $ 5 , US$ 20 , € 3.50 and 50 %
at 10:45, on 11/28/2000 or 2004-11-16  →  at 10:45 , on 11/28/2000 or 2004-11-16
call 555-123-4567 or 555-1234  →  call 555-123-4567 or 555-1234
10km in 5min, 7am to 9pm  →  10 km in 5 min , 7 am to 9 pm
earned $4b with 5G and an mp3  →  earned $ 4 b with 5G and an mp3
one,two and 1,2  →  one , two and 1 , 2
Mr. and Mrs. Low  →  Mr. and Mrs. Low
the U.S. Army, e.g. at 5 p.m. today  →  the U.S. Army , e.g. at 5 p.m. today
J. R. R. Tolkien, Ph.D., of Acme Inc. said  →  J. R. R. Tolkien , Ph.D. , of Acme Inc. said
No. 5, vol. 2, Sept. 3, Fig. 7  →  No. 5 , vol. 2 , Sept. 3 , Fig. 7
He lives in the U.S.  →  He lives in the U.S.
Pens, ink, etc.  →  Pens , ink , etc .
She said "No."  →  She said " No . "
It was plan B.  →  It was plan B .
Nov.28 with Dr.Who  →  Nov. 28 with Dr. Who
the end.But then  →  the end . But then
(see http://a.org/x_(y)?q=1#z.) now  →  ( see http://a.org/x_(y)?q=1#z . ) now
(http://a.org/x_(y)) or (http://a.org/x)  →  ( http://a.org/x_(y) ) or ( http://a.org/x )
www.dogs-and-cats.co.uk, dogs.com!  →  www.dogs-and-cats.co.uk , dogs.com !
<ann.lee@mail.org>, @ann and #cats  →  < ann.lee@mail.org > , @ann and #cats
open notes_2.txt and -draft.DOC  →  open notes_2.txt and -draft.DOC
We are #1 @ 5  →  We are # 1 @ 5
"Who?" (me) [you] {us}  →  " Who ? " ( me ) [ you ] { us }
“a” ‘b’ «c» `d' ''e''  →  “ a ” ‘ b ’ « c » ` d ' '' e ''
wait... no…. . . . yes?!  →  wait ... no …. . . . yes ?!
and/or 1/2, s/he, w/o, a/b  →  and / or 1/2 , s/he , w/o , a/b
AT&T's R&D, cats & dogs  →  AT&T 's R&D , cats & dogs
***Note*** ---- -> =>  →  *** Note *** ---- -> =>
----== |--+--| a|b <br>--  →  ----== |--+--| a | b < br > --
great :) sad :-( ;) <3 :D  →  great :) sad :-( ;) <3 :D
(see: (a) and b:c)  →  ( see : ( a ) and b : c )
f**k a file_name _so_  →  f**k a file_name _ so _
😀😀 👍🏽 👩‍💻 🇩🇪🇫🇷 ok  →  😀 😀 👍🏽 👩‍💻 🇩🇪 🇫🇷 ok
"""
ODD_WORDS = [
    ("cafe\u0301s na\u00efve", "cafe\u0301s na\u00efve"),
    ("看书。ひらがな", "看 书 。 ひらがな"),
    ("مرحبا، كيف؟", "مرحبا ، كيف ؟"),
    ("नमस्ते दुनिया।", "नमस्ते दुनिया ।"),
    ("a\u00a0b\u200bc \ufeffd", "a b c d"),
    ("soft\u00adhy \u00ad \u200d x", "soft\u00adhy x"),
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [*(line.split("  →  ") for line in WORDS.strip().splitlines()), *ODD_WORDS],
)
def test_words_follow_the_conventions(text: str, expected: str) -> None:
    assert words(text) == expected


def test_split_words_accepts_a_range() -> None:
    sentence = split_words("Wait, don't go.", 6, 11)
    assert sentence == Sentence(("do", "n't"), (6, 8), (8, 11))
    assert split_words("   ").forms == ()
    assert split_words("", 3).forms == ()


# ---------------------------------------------------------------- sentences

# Sentences are separated by " | ".
PROSE = [
    "The U.S. Army arrived in June. | It left in July.",
    "Dr. Smith met Mrs. Jones on St. James Street. | They talked.",
    "In Miller v. Board of Schools the court ruled against him. | He appealed.",
    "The house was built c. 1850 by an unknown man. | It burnt down later.",
    "They played Symphony No. 5 in the hall. | Nobody clapped.",
    "It rose by 3.5 percent to 1,200.75 points. | Then it fell.",
    '"I am tired." | She closed the book.',
    "“We won!” he shouted. | Nobody heard him.",
    '"Are you sure?" she asked. | "I am," he said.',
    "He left early (he was ill). | She stayed.",
    "The books of J. R. R. Tolkien are long. | I like them.",
    "Acme Inc. said it would pay. | It did not.",
    "What did you do?! | I only looked.",
    "I waited... and waited. | Nothing came.",
    "My iPhone is lost. | Can you call it?",
    "She was born on Jan. 3, 1920, in Leeds. | Her father was a baker.",
    "We met at 5 p.m. on Friday. | It rained.",
    "Prof. A. B. Low of the Dept. of Physics spoke first. | Then Gen. Hill spoke.",
    "There are many pets, e.g. cats, dogs, etc. and some birds. | I have none.",
    "He moved to Washington, D.C. in 1990 and stayed. | His wife followed.",
    "The New York Times and the Wall Street Journal wrote about John Stuart Mill in May.",
    "Visit www.example.org or write to ann@example.org today. | We are open.",
    "Sales were approx. 5 million in Sept. 2003. | They grew.",
    "This is it. | Is it? | Yes! | Good.",
]


@pytest.mark.parametrize("marked", PROSE)
def test_prose_is_split_at_sentence_ends(marked: str) -> None:
    assert sentences(marked.replace(" | ", " ")) == marked.split(" | ")


# Abbreviations and addresses at the end of a sentence, and inside one.
CONTRASTS = [
    "The meeting ends at 9 p.m. | Nobody stays longer.",
    "Doors open at 7 a.m. and close at 8 p.m. | Children pay half.",
    "No. 7 Mill Ln. has a red door. | We painted it.",
    "No. 3 Park Ave. | Ring twice.",
    "No. | Sally sold it.",
    "The gauge (est. 1921) was built by Marsh Bros. | Its wheels still turn.",
    "She sold it to Brandt Inc. | The price was low.",
    "They moved to the U.K. | Both found work.",
    "He flew back to the U.S. | His wife stayed.",
    "She holds an M.A. | Her sister holds a B.Sc. | Neither teaches.",
    "He finished his Ph.D. | After that he slept.",
    "It is on Elm St. near Bow Rd. | You cannot miss it.",
    "Use the form at lantern.app today. | It is short.",
    "Docs are at lantern.dev/start and lantern.cloud for now.",
    "Write to me at quay.blog or tide.xyz/log. | I read all.",
    "The code is at harbour.ai/code. | Try it.",
    "Find us on pier.shop, pier.online or pier.me/home.",
    "Add 2 tbsp. | Stir well.",
    "It weighs 5 lb. | Nobody can lift it.",
    "The feast is in Dec. | Bring a coat.",
    "We chose plan C. | It was cheap.",
    "He lived from 70 to 12 B.C. | Rome ruled then.",
    "The shop is run by Marsh et al. | They sell tea.",
    "Hours: Mon. to Fri. | Lunch is at noon.",
    "Come at 5 p.m. | Don't be late.",
    "We left at 5 p.m. | Rain fell.",
    "Dinner is at 8 p.m. | Please bring a dish.",
    "It ran from 9 a.m. to 4 p.m. | When it closed, we left.",
]


@pytest.mark.parametrize("marked", CONTRASTS)
def test_an_abbreviation_can_end_a_sentence(marked: str) -> None:
    assert sentences(marked.replace(" | ", " ")) == marked.split(" | ")


# Sentences are separated by "|", which stands for a line break, or a space after a full stop.
LINES = [
    "OPENING HOURS|Closed on Mondays|Ring the bell to get in|Dogs welcome",
    "Shopping list|milk|bread|eggs",
    "The committee met on the last Friday of the month to talk about the new\n"
    "Bridge Road crossing, which Mr. Dunn of the council had promised to open in\n"
    "May.|It was decided to write to him.",
]


@pytest.mark.parametrize("marked", LINES)
def test_unpunctuated_lines_are_sentences_and_wrapped_lines_are_joined(marked: str) -> None:
    expected = marked.split("|")
    text = "".join(part + (" " if part.endswith(".") else "\n") for part in expected).strip()
    assert sentences(text) == expected


def test_lower_case_text_is_not_split_without_punctuation() -> None:
    text = "so i went to the shop and then i saw ann lee who told me that bob had left the town"
    assert sentences(text) == [text]


def test_lower_case_text_is_split_at_full_stops() -> None:
    text = "i love this place. the food is great and the staff are nice. we will be back."
    assert len(segment(text)) == 3


def test_a_missing_space_does_not_hide_a_sentence_end() -> None:
    assert sentences("We ate there.The soup was cold.") == ["We ate there.", "The soup was cold."]


def test_full_width_marks_end_sentences() -> None:
    assert sentences("我看书。「你呢？」他走了！") == ["我看书。", "「你呢？」", "他走了！"]


def test_split_sentences_returns_offsets() -> None:
    text = "  One came.  Two went. "
    assert [text[start:end] for start, end in split_sentences(text)] == ["One came.", "Two went."]


# ---------------------------------------------------------------- line breaks

WRAPPED = """\
The old town lies on both sides of the river and was founded by traders from
London, who built a bridge and a small harbour there. In the nineteenth century
Mr. Hill opened the first mill, and the railway came soon after that. Today it is
quiet."""


def test_hard_wrapped_lines_are_joined() -> None:
    found = sentences(WRAPPED)
    assert len(found) == 3
    assert found[0].endswith("small harbour there.")
    assert sentences(WRAPPED.replace("\n", "\r\n"))[1].startswith(
        "In the nineteenth century\r\nMr."
    )


@pytest.mark.parametrize("break_", ["\n\n", "\r\n\r\n", "\r\r", "\n \t\n", "\n\n\n\n", "\u2029"])
def test_a_blank_line_always_ends_a_sentence(break_: str) -> None:
    assert sentences(f"we saw the{break_}old house") == ["we saw the", "old house"]


@pytest.mark.parametrize("break_", ["\n", "\r\n", "\r", " ", "\u2028", "\t"])
def test_a_single_line_break_is_whitespace(break_: str) -> None:
    assert len(segment(f"we saw the{break_}old house")) == 1


LAYOUTS = {
    "heading": ("A Short History\n" + WRAPPED, "A Short History"),
    "bullets": ("We need:\n- milk and honey\n- bread for Ann", "We need:|- milk and honey"),
    "numbers": ("1. open the box\n2. take the key", "1. open the box|2. take the key"),
    "items": ("1. Open the box\n2. Take the key", "1. Open the box|2. Take the key"),
    "signs": ("some of it\n• one thing\n• another", "some of it|• one thing|• another"),
    "titles": ("Red Apples\nGreen Pears\nBlue Plums", "Red Apples|Green Pears|Blue Plums"),
    "letter": (
        "Dear Ann,\nThank you for the book.\nYours,\nBob",
        "Dear Ann,|Thank you for the book.",
    ),
    "paragraphs": ("It was late " * 15 + "\nThey went home", "It was late " * 14 + "It was late"),
    "comma": ("Lions, tigers,\nBears and wolves", "Lions, tigers,"),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layout_can_end_sentences(name: str) -> None:
    text, expected = LAYOUTS[name]
    first = expected.split("|")
    assert sentences(text)[: len(first)] == first


def test_a_line_that_continues_is_not_a_sentence() -> None:
    others = "Low and the many other good men of that old town by the sea"
    assert len(segment(f"We know Mr.\n{others}")) == 1
    # On a short line, a final "Dr." may be a street (Drive).
    assert len(segment(f"We know all of these old men, and we know Dr.\n{others}")) == 1
    assert len(segment("in spring\nwe saw the old house where the river turns and the mill")) == 1
    assert len(segment("Whose is the\nHouse on the\nGreen hill")) == 1


# ---------------------------------------------------------------- modes


def test_lines_are_neither_joined_nor_split() -> None:
    text = "One. Two?\r\n\n  and so\ron\n"
    assert sentences(text, "lines") == ["One. Two?", "and so", "on"]
    assert segment(text, mode="lines")[0].forms == ("One", ".", "Two", "?")


def test_given_words_are_not_split() -> None:
    found = segment("don't (stop)\tMr.  \n\nU.S .\n", mode="words")
    assert [sentence.forms for sentence in found] == [("don't", "(stop)", "Mr."), ("U.S", ".")]
    assert found[0].starts == (0, 6, 13)
    assert found[1].starts == (20, 24)


def test_unknown_modes_are_rejected() -> None:
    with pytest.raises(InputError, match=naming("mode 'word' raw lines words")):
        segment("x", mode="word")
    with pytest.raises(InputError, match=naming("mode raw lines words")):
        segment_stream(["x"], mode="")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("text", ["", " ", "\n", "\r\n \u2029\n", "\u200b", "\ufeff\n"])
def test_text_without_words_gives_no_sentences(text: str, mode: str) -> None:
    if mode != "words" or not text.strip():
        assert segment(text, mode=mode) == []
    assert "".join(part for part, _ in segment_stream([text], mode=mode)) == text


# ---------------------------------------------------------------- paragraphs and package


def test_paragraphs_are_segmented_independently() -> None:
    paragraphs = [line.replace(" | ", " ") for line in PROSE]
    alone = [[found.forms for found in segment(paragraph)] for paragraph in paragraphs]
    together = [found.forms for found in segment("\n\n".join(paragraphs))]
    assert together == list(chain.from_iterable(alone))


def test_importing_does_not_load_torch() -> None:
    code = (
        "import sys, syntagma.text.segmentation.segment as s; s.segment('A b. C d.'); "
        "sys.exit(bool({'torch', 'transformers'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_weights_are_small_and_name_their_source() -> None:
    assert WEIGHTS.stat().st_size < 300_000
    head = WEIGHTS.read_bytes()[:4000]
    assert b"CC BY-SA 4.0" in head
    assert b"experiments/train_splitter.py" in head
    assert len(load_splitter().rows) > 1000
