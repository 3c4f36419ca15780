"""Make French sentence pairs: does one sentence say who did what in the other?

    python experiments/french_pairs.py --out runs/french

Every pair of people and verb gives a group of pairs: two premises in one construction, with the
people exchanged, and two conclusions in another.  Each conclusion follows from one of the premises,
and both people have the same gender, so that the same words occur with both labels.  The sentences
are our own.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

PEOPLE = {
    "train": (
        "le boulanger", "la voisine", "le facteur", "la marchande", "le marin", "la danseuse",
        "le berger", "la couturière", "le maçon", "la fermière", "le chanteur", "la gardienne",
        "le pêcheur", "la serveuse", "le meunier", "la cavalière",
    ),
    "dev": (
        "le forgeron", "la cuisinière", "le tailleur", "la musicienne", "le messager",
        "la conductrice", "le jardinier", "la directrice",
    ),
}  # fmt: skip
VERBS = {
    "suit": "suivi", "attend": "attendu", "salue": "salué", "cherche": "cherché",
    "trouve": "trouvé", "dessine": "dessiné", "remercie": "remercié", "console": "consolé",
    "conduit": "conduit", "surprend": "surpris", "reconnaît": "reconnu", "croit": "cru",
}  # fmt: skip
"""Verbs in the present, and their participles."""
GROUPS = {"train": 1500, "dev": 250}


class Event(NamedTuple):
    """Someone does something to someone."""

    agent: str
    verb: str
    patient: str

    @property
    def done(self) -> str:
        """The participle, which agrees with the patient."""
        ending = "e" if self.patient.startswith("la ") else ""
        return VERBS[self.verb] + ending

    def exchanged(self) -> Event:
        """The same with the people exchanged."""
        return Event(self.patient, self.verb, self.agent)


CONSTRUCTIONS: dict[str, Callable[[Event], str]] = {
    "active": lambda of: f"{of.agent} {of.verb} {of.patient}.",
    "passive": lambda of: f"{of.patient} est {of.done} par {of.agent}.",
    "subject_cleft": lambda of: f"c'est {of.agent} qui {of.verb} {of.patient}.",
    "object_cleft": lambda of: f"c'est {of.patient} que {of.agent} {of.verb}.",
    "subject_relative": lambda of: f"{of.agent}, qui {of.verb} {of.patient}, sourit.",
    "object_relative": lambda of: f"{of.patient}, que {of.agent} {of.verb}, sourit.",
    "dislocated": lambda of: f"{of.patient}, {of.agent} {_pronoun(of)} {of.verb}.",
}


def _pronoun(of: Event) -> str:
    return "la" if of.patient.startswith("la ") else "le"


def written(construction: str, event: Event) -> str:
    """Return an event as a sentence."""
    text = CONSTRUCTIONS[construction](event)
    return text[0].upper() + text[1:]


def pairs_of(draw: random.Random, people: Sequence[str]) -> Iterator[dict[str, str]]:
    """Yield the four pairs of a group."""
    gender = draw.choice(("le ", "la "))
    agent, patient = draw.sample([each for each in people if each.startswith(gender)], 2)
    event = Event(agent, draw.choice(list(VERBS)), patient)
    before, after = draw.sample(list(CONSTRUCTIONS), 2)
    for premise in (event, event.exchanged()):
        for conclusion in (event, event.exchanged()):
            yield {
                "sentence1": written(before, premise),
                "sentence2": written(after, conclusion),
                "gold_label": "entailment" if premise == conclusion else "contradiction",
                "construction": f"{before} {after}",
            }


def write_pairs(out: Path, seed: int = 1) -> None:
    """Write ``train.jsonl`` and ``dev.jsonl``; no one of dev occurs in training."""
    out.mkdir(parents=True, exist_ok=True)
    for part, people in PEOPLE.items():
        draw = random.Random(f"{part}-{seed}")
        rows = [row for _ in range(GROUPS[part]) for row in pairs_of(draw, people)]
        lines = (json.dumps(row, ensure_ascii=False) for row in rows)
        (out / f"{part}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"{part}: {len(rows):,} pairs")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for the two files")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    write_pairs(arguments.out, arguments.seed)


if __name__ == "__main__":
    main()
