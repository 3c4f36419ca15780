"""A small treebank of made-up French: contractions, clitics and words that touch."""

from __future__ import annotations

import random

from syntagma.text.conllu import TreebankSentence, parse_conllu

NOUNS = ("bateau", "port", "marin", "phare", "vent", "chien", "quai", "matin", "pain", "livre")
NAMES = ("Ada", "Paul", "Léa", "Jean", "Moll", "Anne")
VERBS = ("parle", "vient", "rentre", "part", "rêve", "dort")
FUSED = {"du": ("de", "le"), "Du": ("De", "le"), "au": ("à", "le"), "Au": ("À", "le")}


def sentence(draw: random.Random) -> list[tuple[str, bool]]:
    """Tokens of a sentence, each with whether a space follows."""
    noun, other = draw.sample(NOUNS, 2)
    name, verb = draw.choice(NAMES), draw.choice(VERBS)
    kind = draw.randrange(6)
    if kind == 0:
        return [(name, True), (verb, True), ("du", True), (noun, False), (".", True)]
    if kind == 1:
        return [("Où", True), (verb, False), ("-t-il", True), ("?", True)]
    if kind == 2:
        return [("L'", False), (draw.choice(("ami", "homme", "île")), True), (verb, True),
                ("au", True), (noun, False), (".", True)]  # fmt: skip
    if kind == 3:
        return [("Le", True), (noun, True), ("du", True), (other, True), (verb, False), (",", True),
                ("dit", False), ("-elle", False), (".", True)]  # fmt: skip
    if kind == 4:
        return [("C'", False), ("est", True), ("le", True), (noun, True), ("d'", False),
                (name, False), ("!", True)]  # fmt: skip
    return [("Au", True), (noun, False), (",", True), ("il", True), (verb, False), (".", True)]


def conllu(tokens: list[tuple[str, bool]]) -> str:
    lines, number = [], 0
    for form, spaced in tokens:
        words = FUSED.get(form, (form,))
        misc = "_" if spaced else "SpaceAfter=No"
        if len(words) > 1:
            lines.append(f"{number + 1}-{number + len(words)}\t{form}" + "\t_" * 7 + f"\t{misc}")
            misc = "_"
        for word in words:
            number += 1
            head = number - 1
            lines.append(f"{number}\t{word}\t_\tX\t_\t_\t{head}\tdep\t_\t{misc}")
    return "\n".join(lines) + "\n\n"


def made_conllu(n_sentences: int, seed: int) -> str:
    """Sentences in CoNLL-U; the same seed gives the same ones."""
    draw = random.Random(seed)
    return "".join(conllu(sentence(draw)) for _ in range(n_sentences))


def made_treebank(n_sentences: int, seed: int) -> list[TreebankSentence]:
    """The same, read."""
    return list(parse_conllu(made_conllu(n_sentences, seed).splitlines(), name="made"))
