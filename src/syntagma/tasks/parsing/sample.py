"""A small treebank in which each word depends on the previous one, and words in -s are plurals."""

from __future__ import annotations

from pathlib import Path

from syntagma.tasks.sample import SENTENCES, Sample
from syntagma.text.conllu import TreebankSentence, format_conllu
from syntagma.text.morphology import Morphology
from syntagma.text.sentence import Parse, Sentence


def write_treebank(folder: Path, copies: int) -> str:
    """Write dependencies, tags, lemmas and features as CoNLL-U."""
    lines = []
    for text in SENTENCES * copies:
        forms = text.split()
        parse = Parse(
            Sentence.from_words(forms),
            tuple(range(len(forms))),
            ("root", *("dep" if len(form) > 3 else "mark" for form in forms[1:])),
            tuple("NOUN" if form[0].isupper() else "X" for form in forms),
            tuple("NN" if form[0].isupper() else "XX" for form in forms),
            morphology=Morphology(
                tuple("Number=Plur" if form.endswith("s") else "_" for form in forms),
                tuple(form.lower().removesuffix("s") for form in forms),
            ),
        )
        lines.append(format_conllu(TreebankSentence.from_parse(parse, text=text)))
    path = folder / "tides.conllu"
    path.write_text("".join(lines), encoding="utf-8")
    return str(path)


HEAD = {"arc_width": 16, "relation_width": 8, "span_width": 16, "dropout": 0.1}
SAMPLE = Sample(write_treebank, head=HEAD, presets=("none",))
