"""Make French sentence pairs: does the second sentence follow from the first?

    python experiments/french_pairs.py --out runs/french

Someone does something to someone else, in one of six constructions.  The second sentence says the
same in any of them (*entailment*), denies it (*contradiction*), or has another verb or another
person (*neutral*).  A task that shows whether a model, a parser and guides work in French; words
are enough to solve it, so it does not show whether syntax helps.  The sentences are our own.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

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
GROUPS = {"train": 1000, "dev": 250}


@dataclass(frozen=True)
class Event:
    """Someone does something to someone, or does not.

    Args:
        agent: who does it, such as ``le marin``.
        verb: one of ``VERBS``.
        patient: to whom.
        denied: whether it does not happen.
    """

    agent: str
    verb: str
    patient: str
    denied: bool = False

    @property
    def does(self) -> str:
        """The verb in the present, with its negation."""
        return self._finite(self.verb)

    @property
    def is_done(self) -> str:
        """The verb in the passive, whose participle agrees with the patient."""
        ending = "e" if self.patient.startswith("la ") else ""
        return f"{self._finite('est')} {VERBS[self.verb]}{ending}"

    def _finite(self, verb: str) -> str:
        if not self.denied:
            return verb
        return f"n'{verb} pas" if verb[0] in "aeé" else f"ne {verb} pas"


CONSTRUCTIONS: dict[str, Callable[[Event], str]] = {
    "active": lambda of: f"{of.agent} {of.does} {of.patient}.",
    "passive": lambda of: f"{of.patient} {of.is_done} par {of.agent}.",
    "subject_cleft": lambda of: f"c'est {of.agent} qui {of.does} {of.patient}.",
    "object_cleft": lambda of: f"c'est {of.patient} que {of.agent} {of.does}.",
    "subject_shown": lambda of: f"voici {of.agent} qui {of.does} {of.patient}.",
    "object_shown": lambda of: f"voici {of.patient} que {of.agent} {of.does}.",
}


def written(construction: str, event: Event) -> str:
    """Return an event as a sentence."""
    text = CONSTRUCTIONS[construction](event)
    return text[0].upper() + text[1:]


def pairs_of(draw: random.Random, people: Sequence[str]) -> Iterator[dict[str, str]]:
    """Yield the four pairs of an event in two constructions."""
    gender = draw.choice(("le ", "la "))
    agent, patient, someone = draw.sample([each for each in people if each.startswith(gender)], 3)
    verb, other = draw.sample(list(VERBS), 2)
    before, after = draw.choices(list(CONSTRUCTIONS), k=2)
    event = Event(agent, verb, patient)
    other_person = {
        "agent": replace(event, agent=someone),
        "patient": replace(event, patient=someone),
    }
    part = draw.choice(list(other_person))
    for change, conclusion, label in (
        ("nothing", event, "entailment"),
        ("negation", replace(event, denied=True), "contradiction"),
        ("verb", replace(event, verb=other), "neutral"),
        (part, other_person[part], "neutral"),
    ):
        yield {
            "sentence1": written(before, event),
            "sentence2": written(after, conclusion),
            "gold_label": label,
            "changed": change,
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
