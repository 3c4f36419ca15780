"""Make questions and instructions with gold trees: what readers and assistants are given most.

    python experiments/made_trees.py --count 3000 --out data/made-trees.conllu

Treebanks have few of them, and parsers trained without them find two objects in "What large rivers
cross the town?". Sentences are drawn from the patterns below; trees and tags follow UD English EWT.
None is a sentence of `examples/trees`, whose `test` halves no parser learns from.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from syntagma.outputs import write_text
from syntagma.text.conllu import read_conllu

PAST = "built founded bought sold designed painted led found opened repaired owned planned visited"
BASE = "build found buy sell design paint lead find open repair own plan visit"
PEOPLE = (
    "queen", "captain", "baker", "council", "company", "teacher", "farmer", "doctor", "crew",
    "painter", "merchant", "bishop", "mayor", "engineer", "nurse", "family", "team", "committee",
)  # fmt: skip
MADE = (
    "bridge", "mill", "museum", "tower", "chapel", "harbour", "school", "ship", "garden", "map",
    "library", "theatre", "railway", "factory", "farm", "hotel", "castle", "market", "boat",
)  # fmt: skip
PLACES = ("town", "valley", "river", "island", "city", "village", "coast", "region", "station")
NAMES = ("Oslo", "Lima", "Anna", "Ruth", "Tomas", "Ghana", "Peru", "Malta", "Bergen", "Hollis")
THINGS = (
    "lid plants door screws dough button windows cable notes water filter battery soil lamp "
    "report invoice eggs onions shirt shoes bottles candle rope ladder engine brushes carpet "
    "curtains rice photos letters receipts ticket folder drawer pipe nails seeds fence keys pump"
)
SORTS = "old new large small local first main famous Danish wooden northern public modern royal"
MONTHS = ("March", "June", "Monday", "Friday", "noon", "1907", "1850")
TWO_WAY = "book water pin stop set plan place mail box file list time name note record order clean"
PLAIN = "open close remove check press turn add fill empty wash replace store bring send cut move"
INTRANSITIVE = "live sink work travel begin fail end grow sail wait"
PAST_OF = {
    "live": "lived", "sink": "sank", "work": "worked", "travel": "travelled", "begin": "began",
    "fail": "failed", "end": "ended", "grow": "grew", "sail": "sailed", "wait": "waited",
}  # fmt: skip


@dataclass(frozen=True)
class Node:
    """A word with what depends on it, to its left and to its right, as (relation, node)."""

    word: str
    upos: str
    xpos: str
    left: tuple[tuple[str, Node], ...] = field(default=())
    right: tuple[tuple[str, Node], ...] = field(default=())

    def on_left(self, relation: str, node: Node) -> Node:
        """Put a dependent before the word and before those already there."""
        return replace(self, left=((relation, node), *self.left))

    def on_right(self, relation: str, node: Node) -> Node:
        """Put a dependent after the word and after those already there."""
        return replace(self, right=(*self.right, (relation, node)))


def rows_of(root: Node) -> list[list[str]]:
    """Return the columns form, UPOS, XPOS, head and relation of a tree, in the order of words."""
    order: list[tuple[Node, Node | None, str]] = []

    def walk(node: Node, head: Node | None, relation: str) -> None:
        for name, child in node.left:
            walk(child, node, name)
        order.append((node, head, relation))
        for name, child in node.right:
            walk(child, node, name)

    walk(root, None, "root")
    place = {id(node): number for number, (node, _, _) in enumerate(order, start=1)}
    return [
        [node.word, node.upos, node.xpos, str(place[id(head)] if head else 0), relation]
        for node, head, relation in order
    ]


class Patterns:
    """Draws sentences. Each public method is one pattern and returns the root of a tree."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def sentence(self) -> tuple[Node, str]:
        """Return a tree and the sentence's last character."""
        name = self.random.choice(
            [name for name in dir(self) if name.startswith("ask_")] * 3
            + [name for name in dir(self) if name.startswith("tell_")] * 4
        )
        pattern: Callable[[], Node] = getattr(self, name)
        end = "?" if name.startswith("ask_") else "."
        return pattern(), end

    # Parts

    def pick(self, words: str | tuple[str, ...]) -> str:
        """Return a random word."""
        return self.random.choice(words.split() if isinstance(words, str) else words)

    def maybe(self, share: float = 0.4) -> bool:
        """Whether to add something optional."""
        return self.random.random() < share

    def noun(self, word: str) -> Node:
        """Return a noun or a name, with its tags."""
        if word[0].isupper() or word.isdigit():
            number = word.isdigit()
            return Node(word, "NUM" if number else "PROPN", "CD" if number else "NNP")
        plural = word.endswith("s") and word != "museums"
        return Node(word, "NOUN", "NNS" if plural else "NN")

    def described(self, words: str | tuple[str, ...]) -> Node:
        """Return a noun, perhaps with an adjective before it."""
        noun = self.noun(self.pick(words))
        if noun.upos == "NOUN" and self.maybe(0.35):
            noun = noun.on_left("amod", Node(self.pick(SORTS), "ADJ", "JJ"))
        return noun

    def phrase(self, words: str | tuple[str, ...]) -> Node:
        """Return a noun phrase, perhaps with a phrase of place after it."""
        noun = self.described(words)
        if noun.upos == "NOUN":
            if self.maybe(0.15):
                owner = Node(self.pick(NAMES), "PROPN", "NNP")
                noun = noun.on_left("nmod:poss", owner.on_right("case", Node("'s", "PART", "POS")))
            else:
                noun = noun.on_left("det", Node(self.pick("the the the a this"), "DET", "DT"))
                if noun.xpos == "NNS":
                    noun = replace(noun, left=(("det", Node("the", "DET", "DT")), *noun.left[1:]))
            if self.maybe(0.15):
                noun = noun.on_right("nmod", self.within(PLACES, "of near in on"))
        return noun

    def within(self, words: str | tuple[str, ...], prepositions: str) -> Node:
        """Return a phrase with a preposition."""
        noun = self.described(words)
        if noun.upos == "NOUN":
            noun = noun.on_left("det", Node("the", "DET", "DT"))
        return noun.on_left("case", Node(self.pick(prepositions), "ADP", "IN"))

    def somewhere(self, verb: Node) -> Node:
        """Add where or when it happened, or nothing."""
        if self.maybe(0.3):
            return verb.on_right("obl", self.within(PLACES, "in near on"))
        if self.maybe(0.2):
            return verb.on_right("obl", self.within(MONTHS, "in before after"))
        if self.maybe(0.1):
            last = Node("year", "NOUN", "NN").on_left("amod", Node("last", "ADJ", "JJ"))
            return verb.on_right("obl:unmarked", last)
        return verb

    def subject(self) -> Node:
        """Return a person, or a pronoun."""
        if self.maybe(0.3):
            return Node(self.pick("he she they we"), "PRON", "PRP")
        return self.phrase(PEOPLE + NAMES[2:5])

    def which(self, words: str | tuple[str, ...]) -> Node:
        """Return a noun phrase that is asked for."""
        if self.maybe(0.15):
            kind = Node(self.pick("kind type sort"), "NOUN", "NN")
            kind = kind.on_left("det", Node("what", "DET", "WDT"))
            noun = self.noun(self.pick(words))
            return kind.on_right("nmod", noun.on_left("case", Node("of", "ADP", "IN")))
        noun = self.described(words)
        if self.maybe(0.15):
            many = Node("many", "ADJ", "JJ").on_left("advmod", Node("how", "ADV", "WRB"))
            noun = replace(noun, word=noun.word.rstrip("s") + "s", xpos="NNS", left=())
            return noun.on_left("amod", many)
        return noun.on_left("det", Node(self.pick("which what"), "DET", "WDT"))

    def transitive(self) -> tuple[str, str]:
        """Return a verb's base and past form."""
        return self.random.choice(list(zip(BASE.split(), PAST.split(), strict=True)))

    # Questions

    def ask_who(self) -> Node:
        """Who built the mill?"""
        verb = Node(self.transitive()[1], "VERB", "VBD").on_right("obj", self.phrase(MADE))
        return self.somewhere(verb).on_left("nsubj", Node("who", "PRON", "WP"))

    def ask_which_subject(self) -> Node:
        """Which large rivers cross the town?"""
        present = self.maybe()
        noun = self.which("rivers roads railways bridges companies schools" if present else PEOPLE)
        word = self.pick("cross serve join reach leave") if present else self.transitive()[1]
        if present and noun.xpos == "NN":
            word = word + "es" if word.endswith(("s", "ch")) else word + "s"
        xpos = ("VBZ" if noun.xpos == "NN" else "VBP") if present else "VBD"
        verb = Node(word, "VERB", xpos).on_right("obj", self.phrase(PLACES if present else MADE))
        return self.somewhere(verb).on_left("nsubj", noun)

    def ask_object(self) -> Node:
        """What did the captain find? Which ship did they buy?"""
        verb = Node(self.transitive()[0], "VERB", "VB").on_left("nsubj", self.subject())
        verb = self.somewhere(verb.on_left("aux", Node("did", "AUX", "VBD")))
        asked = self.which(MADE)
        if self.maybe():
            asked = Node(self.pick("what what who"), "PRON", "WP")
        return verb.on_left("obj", asked)

    def ask_in_which(self) -> Node:
        """In which Danish town was she raised?"""
        passive = self.maybe(0.6)
        case = Node(self.pick("in in near on from for to"), "ADP", "IN")
        asked = self.which((*PLACES, "year", "month", "country")).on_left("case", case)
        if passive:
            word = self.pick("born raised buried found built opened trained held made sold")
            verb = Node(word, "VERB", "VBN").on_left("nsubj:pass", self.subject())
            return verb.on_left("aux:pass", Node("was", "AUX", "VBD")).on_left("obl", asked)
        verb = Node(self.pick(INTRANSITIVE), "VERB", "VB").on_left("nsubj", self.subject())
        return verb.on_left("aux", Node("did", "AUX", "VBD")).on_left("obl", asked)

    def ask_left_behind(self) -> Node:
        """What is the machine used for? Who did she work with?"""
        asked = Node(self.pick("what who"), "PRON", "WP")
        if self.maybe():
            asked = self.which(PLACES)
        if self.maybe():
            asked = asked.on_right("case", Node("for", "ADP", "IN"))
            verb = Node(self.pick("used needed made known"), "VERB", "VBN")
            verb = verb.on_left("nsubj:pass", self.phrase(MADE))
            verb = verb.on_left("aux:pass", Node("is", "AUX", "VBZ"))
        else:
            asked = asked.on_right("case", Node(self.pick("with for in near"), "ADP", "IN"))
            verb = Node(self.pick("live work travel sail"), "VERB", "VB")
            verb = verb.on_left("nsubj", self.subject())
            verb = verb.on_left("aux", Node("did", "AUX", "VBD"))
        return _stranded(verb, asked)

    def ask_be(self) -> Node:
        """What is the name of the river? Where was the meeting?"""
        upos, xpos, word = self.random.choice(
            [("PRON", "WP", "what"), ("PRON", "WP", "who"), ("ADV", "WRB", "where"),
             ("ADV", "WRB", "when")]
        )  # fmt: skip
        nouns: dict[str, str | tuple[str, ...]] = {
            "what": "name colour capital height price purpose size",
            "who": PEOPLE,
        }
        noun = self.phrase(
            nouns.get(word, "meeting station wedding concert fair" if word == "when" else MADE)
        )
        root = Node(word, upos, xpos).on_right("cop", Node(self.pick("is was"), "AUX", "VBZ"))
        root = replace(
            root,
            right=tuple(
                (name, replace(node, xpos="VBZ" if node.word == "is" else "VBD"))
                for name, node in root.right
            ),
        )
        return root.on_right("nsubj", noun)

    def ask_how_old(self) -> Node:
        """How old is the church?"""
        root = Node(self.pick("old tall deep wide heavy big large"), "ADJ", "JJ")
        root = root.on_left("advmod", Node("how", "ADV", "WRB"))
        root = root.on_right("cop", Node("is", "AUX", "VBZ"))
        return root.on_right("nsubj", self.phrase(MADE))

    def ask_adverb(self) -> Node:
        """When did the war end? Why was the bridge closed?"""
        adverb = Node(self.pick("when where why how"), "ADV", "WRB")
        if self.maybe():
            verb = Node(self.pick("closed opened sold built moved"), "VERB", "VBN")
            verb = verb.on_left("nsubj:pass", self.phrase(MADE))
            verb = verb.on_left("aux:pass", Node("was", "AUX", "VBD"))
        else:
            verb = Node(self.pick(INTRANSITIVE), "VERB", "VB").on_left("nsubj", self.subject())
            verb = verb.on_left("aux", Node("did", "AUX", "VBD"))
        return self.somewhere(verb).on_left("advmod", adverb)

    def ask_yes_no(self) -> Node:
        """Did the council approve the plan? Is the museum open on Monday?"""
        if self.maybe():
            root = Node(self.pick("open closed free busy ready safe"), "ADJ", "JJ")
            root = root.on_left("nsubj", self.phrase(MADE))
            root = root.on_left("cop", Node("is", "AUX", "VBZ"))
            return root.on_right("obl", self.within(("Monday", "Friday", "Sunday"), "on"))
        verb = Node(self.transitive()[0], "VERB", "VB").on_right("obj", self.phrase(MADE))
        aux = self.random.choice([("did", "VBD"), ("can", "MD"), ("will", "MD"), ("should", "MD")])
        verb = self.somewhere(verb).on_left("nsubj", self.subject())
        return verb.on_left("aux", Node(aux[0], "AUX", aux[1]))

    def ask_in_place(self) -> Node:
        """The mill was built in which year?"""
        asked = self.which(("year", "town", "country")).on_left("case", Node("in", "ADP", "IN"))
        verb = Node(self.pick("built opened sold found"), "VERB", "VBN").on_right("obl", asked)
        verb = verb.on_left("aux:pass", Node("was", "AUX", "VBD"))
        return verb.on_left("nsubj:pass", self.phrase(MADE))

    def ask_politely(self) -> Node:
        """Could you tell me who built the bridge?"""
        inner = self.ask_who()
        if self.maybe():
            verb = Node(self.pick("know remember"), "VERB", "VB").on_left(
                "nsubj", Node("you", "PRON", "PRP")
            )
            return verb.on_left("aux", Node("do", "AUX", "VBP")).on_right("ccomp", inner)
        tell = Node("tell", "VERB", "VB").on_left("nsubj", Node("you", "PRON", "PRP"))
        tell = tell.on_left("aux", Node(self.pick("can could"), "AUX", "MD"))
        return tell.on_right("iobj", Node("me", "PRON", "PRP")).on_right("ccomp", inner)

    # Instructions

    def command(self) -> Node:
        """Return a verb with its object, and perhaps a place."""
        verb = Node(self.pick(TWO_WAY if self.maybe(0.5) else PLAIN), "VERB", "VB")
        thing = self.described(THINGS)
        if thing.xpos == "NN" or self.maybe():
            thing = thing.on_left("det", Node(self.pick("the the a"), "DET", "DT"))
            if thing.xpos == "NNS":
                thing = replace(thing, left=(("det", Node("the", "DET", "DT")), *thing.left[1:]))
        verb = verb.on_right("obj", thing)
        if self.maybe():
            verb = verb.on_right("obl", self.within("board wall box shelf table floor", "to in on"))
        elif self.maybe(0.2):
            twice = Node(self.pick("twice once"), "ADV", "RB")
            day = Node(self.pick("day week"), "NOUN", "NN").on_left("det", Node("a", "DET", "DT"))
            verb = verb.on_right("advmod", twice.on_right("obl:unmarked", day))
        return verb

    def tell_plainly(self) -> Node:
        """Pin notes to the board."""
        return self.command()

    def tell_again(self) -> Node:
        """Water plants twice a day."""
        return self.command()

    def tell_please(self) -> Node:
        """Please close the door."""
        return self.command().on_left("discourse", Node("please", "INTJ", "UH"))

    def tell_not(self) -> Node:
        """Do not open the lid."""
        verb = self.command()
        negated = verb.on_left("advmod", Node("not", "PART", "RB"))
        return negated.on_left("aux", Node("do", "AUX", "VB"))

    def tell_twice(self) -> Node:
        """Wash the filter and close the lid."""
        second = self.command().on_left("cc", Node("and", "CCONJ", "CC"))
        return self.command().on_right("conj", second)

    def tell_before(self) -> Node:
        """Before filling the lamp, open the windows."""
        word = self.random.choice(
            [("Before", "filling"), ("After", "washing"), ("Before", "adding")]
        )
        verb = Node(word[1], "VERB", "VBG").on_right("obj", self.phrase(THINGS))
        verb = verb.on_left("mark", Node(word[0], "SCONJ", "IN"))
        return self.command().on_left("punct", Node(",", "PUNCT", ",")).on_left("advcl", verb)

    def tell_if(self) -> Node:
        """If the lamp is wet, replace the cable."""
        state = Node(self.pick("wet dry full ready broken dirty"), "ADJ", "JJ")
        state = state.on_left("cop", Node("is", "AUX", "VBZ"))
        noun = self.noun(self.pick("lid dough soil filter battery lamp cable"))
        state = state.on_left("nsubj", noun.on_left("det", Node("the", "DET", "DT")))
        state = state.on_left("mark", Node("if", "SCONJ", "IN"))
        return self.command().on_left("punct", Node(",", "PUNCT", ",")).on_left("advcl", state)

    def tell_to(self) -> Node:
        """Remember to close the windows."""
        inner = self.command().on_left("mark", Node("to", "PART", "TO"))
        return Node(self.pick("remember try forget"), "VERB", "VB").on_right("xcomp", inner)

    def tell_show(self) -> Node:
        """Show me the map of the valley. Name the river in the north."""
        if self.maybe():
            return Node(self.pick("name list give find"), "VERB", "VB").on_right(
                "obj", self.phrase(MADE)
            )
        verb = Node(self.pick("show send give read"), "VERB", "VB")
        verb = verb.on_right("iobj", Node(self.pick("me us"), "PRON", "PRP"))
        return verb.on_right("obj", self.phrase(MADE))

    def tell_let(self) -> Node:
        """Let the dough rest. Keep the door closed."""
        if self.maybe():
            rest = Node(self.pick("rest cool dry stand"), "VERB", "VB")
            verb = Node("let", "VERB", "VB").on_right("obj", self.phrase(THINGS))
            return verb.on_right("xcomp", rest)
        verb = Node("keep", "VERB", "VB").on_right("obj", self.phrase(THINGS))
        return verb.on_right("xcomp", Node(self.pick("clean dry warm open"), "ADJ", "JJ"))


def _stranded(verb: Node, asked: Node) -> Node:
    """Put what is asked for before the verb, and its preposition at the end of the sentence."""
    *rest, (relation, case) = asked.right
    bare = replace(asked, right=tuple(rest))
    return verb.on_left("obl", bare).on_right(f"stranded {relation}", case)


def spell(words: list[str]) -> tuple[str, list[bool]]:
    """Return the text of some words, and whether the next word follows each without a space."""
    glued = [
        at + 1 < len(words) and words[at + 1] in ("'s", ",", ".", "?") for at in range(len(words))
    ]
    text = "".join(word + ("" if tight else " ") for word, tight in zip(words, glued, strict=True))
    return text.rstrip(), glued


def format_tree(number: int, rows: list[list[str]], *, end: str) -> str:
    """Return a sentence in CoNLL-U; a share of them has no final punctuation, as people type."""
    root = next(at for at, row in enumerate(rows, start=1) if row[3] == "0")
    rows = [[*row] for row in rows]
    for row in rows:
        if row[4].startswith("stranded "):
            # The head of a stranded preposition is what is asked for: the verb's first oblique.
            asked = next(at for at, other in enumerate(rows, 1) if other[4] == "obl")
            row[3], row[4] = str(asked), row[4].removeprefix("stranded ")
    rows[0][0] = rows[0][0][0].upper() + rows[0][0][1:]
    if end:
        rows.append([end, "PUNCT", ".", str(root), "punct"])
    text, glued = spell([row[0] for row in rows])
    lines = [f"# sent_id = made-{number}", f"# text = {text}"]
    for at, ((form, upos, xpos, head, relation), tight) in enumerate(
        zip(rows, glued, strict=True), start=1
    ):
        misc = "SpaceAfter=No" if tight else "_"
        lines.append("\t".join((str(at), form, "_", upos, xpos, "_", head, relation, "_", misc)))
    return "\n".join(lines) + "\n\n"


def main() -> None:
    """Write the sentences."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--out", type=Path, required=True, help="a CoNLL-U file")
    arguments.add_argument("--count", type=int, default=3000, help="sentences")
    arguments.add_argument("--bare", type=float, default=0.25, help="share without a final mark")
    arguments.add_argument("--seed", type=int, default=1)
    given = arguments.parse_args()
    patterns = Patterns(given.seed)
    trees = Path(__file__).parent.parent / "examples" / "trees"
    seen = {
        sentence.text.rstrip(".?").lower()
        for path in sorted(trees.glob("*.conllu"))
        for sentence in read_conllu(path)
    }
    made: list[str] = []
    while len(made) < given.count:
        tree, end = patterns.sentence()
        rows = rows_of(tree)
        words = " ".join(row[0] for row in rows).lower()
        if words in seen:
            continue
        seen.add(words)
        bare = patterns.random.random() < given.bare
        made.append(format_tree(len(made) + 1, rows, end="" if bare else end))
    write_text(given.out, "".join(made))


if __name__ == "__main__":
    main()
