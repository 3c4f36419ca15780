"""Which runs of two systems are pairs: same seed, same training data, same batches.

The seed fixes which examples are drawn and in which order, and the weights that start at random.
Two such runs share this part of their luck, and their difference does not contain it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from syntagma.analysis.run_scores import RunScores
from syntagma.analysis.systems import System
from syntagma.errors import InputError
from syntagma.runs.folder import read_data_digests
from syntagma.tasks.experiment import comparable

TRAIN = "data.train"
ORDER = ("training.batch_tokens", "training.gradient_accumulation_steps")
"""Settings that fix, with the seed and the data, what is in each batch."""
SAMPLE = ("data.limit", "data.documents.include", "data.documents.exclude")
"""Settings that fix, with the seed, which of the training examples are used."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """The runs of a system and of the baseline that are compared.

    Args:
        ours: runs of the system.
        theirs: runs of the baseline; those of a pair have the same index.
        paired: whether the runs are pairs.
        reason: why they are pairs, or why not, and which runs are not used.
    """

    ours: tuple[RunScores, ...]
    theirs: tuple[RunScores, ...]
    paired: bool
    reason: str

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds that both share, if the runs are pairs."""
        return tuple(run.seed for run in self.ours) if self.paired else ()


def pair_runs(system: System, baseline: System) -> Pairing:
    """Pair the runs of a system with those of the baseline by their seed.

    Args:
        system: the system.
        baseline: the system that it is compared with.

    Returns:
        The pairs.  All runs of both if fewer than two seeds can be paired; or the only pair, if
        the systems have different numbers of runs.

    Raises:
        InputError: no runs are pairs, and the systems have different numbers of them.
    """
    ours, theirs = ({run.seed: run for run in each.runs} for each in (system, baseline))
    shared = sorted(ours.keys() & theirs.keys())
    several = max(len(ours), len(theirs)) > 1
    differing = {seed: why for seed in shared if (why := _differ(ours[seed], theirs[seed]))}
    usable = [seed for seed in shared if seed not in differing]
    firsts, seconds = (tuple(runs[seed] for seed in usable) for runs in (ours, theirs))
    left = [
        f"seed {_listed(seeds)} of {each.name} ({why})"
        for each, runs in ((system, ours), (baseline, theirs))
        for why, seeds in _left(runs, usable, differing).items()
    ]
    unused = f"; not used: {', '.join(left)}" if left else ""
    if len(usable) > 1:
        reason = f"{len(usable)} shared seeds ({_listed(usable)}), same training data and batches"
        return Pairing(firsts, seconds, True, reason + unused)
    if usable and len(ours) != len(theirs):
        reason = f"only seed {usable[0]} is shared, so nothing is known of other seeds"
        return Pairing(firsts, seconds, False, reason + unused)
    if not several:
        reason = "there is one run of each, so nothing is known of other seeds"
    elif len(usable) < len(shared):
        reason = next(iter(differing.values()))
    else:
        reason = f"only seed {shared[0]} is shared" if shared else "no seed is shared"
    if len(ours) != len(theirs):
        raise InputError(
            f"{system.name} has {len(ours)} seeds, {baseline.name} has {len(theirs)}, and they "
            f"cannot be paired ({reason}); give the same number of runs of each"
        )
    return Pairing(system.runs, baseline.runs, False, reason)


def _left(
    runs: dict[int, RunScores], usable: Sequence[int], differing: dict[int, str]
) -> dict[str, list[int]]:
    """Return the seeds that are not used, by the reason."""
    found: dict[str, list[int]] = {}
    for seed in sorted(runs.keys() - set(usable)):
        found.setdefault(differing.get(seed, "not shared"), []).append(seed)
    return found


def _listed(seeds: Sequence[int]) -> str:
    return ", ".join(map(str, seeds))


def _differ(run: RunScores, other: RunScores) -> str:
    """Say what two runs with the same seed do not share; empty if they are a pair."""
    settings, others = comparable(run.experiment), comparable(other.experiment)
    for key in (*SAMPLE, *ORDER):
        if settings.get(key) != others.get(key):
            return f"{key} differs ({settings.get(key)} and {others.get(key)})"
    digests = [read_data_digests(each.path).get(TRAIN) for each in (run, other)]
    for each, digest in zip((run, other), digests, strict=True):
        if not digest:
            return f"{each.path}/run.json, of an earlier version, has no digest of {TRAIN}"
    return "" if digests[0] == digests[1] else f"the examples of {TRAIN} differ"
