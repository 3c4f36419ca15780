"""The clusters of the examples that runs were scored on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntagma.analysis.run_scores import RunScores
from syntagma.errors import DamagedFileError, InputError
from syntagma.files import read_json
from syntagma.runs.names import CLUSTERS
from syntagma.settings import nearest
from syntagma.tasks import find_task
from syntagma.tasks.comparison.clusters import EXAMPLE, KINDS, cluster_ids
from syntagma.tasks.task import Task

IntArray = NDArray[np.int64]
Known = dict[str, dict[str, str]]


@dataclass(frozen=True, slots=True)
class Clusters:
    """The cluster of each example.

    Args:
        kind: kind of the clusters, such as ``paragraph``; ``example`` if each example is alone.
        keys: ids of the examples, sorted, so that their order in a file does not matter.
        owner: index of the cluster of each example, ``[n_keys]``.
        note: what is to be known about them; may be empty.
    """

    kind: str
    keys: tuple[str, ...]
    owner: IntArray
    note: str = ""

    @property
    def number(self) -> int:
        """Number of clusters."""
        return int(self.owner.max()) + 1

    def described(self) -> str:
        """Describe the clusters in a few words.

        >>> Clusters("paragraph", ("a", "b", "c"), np.array([0, 1, 0])).described()
        '2 paragraphs (3 examples)'
        """
        counted = f"{self.number:,} {self.kind}{'s' * (self.number != 1)}"
        return counted if self.kind == EXAMPLE else f"{counted} ({len(self.keys):,} examples)"


def check_kind(kind: str, kinds: Iterable[str] = KINDS) -> None:
    """Check the name of a kind of clusters, before anything is scored.

    Args:
        kind: the name; empty for the default of the task.
        kinds: the kinds that a task has; by default those of all tasks.

    Raises:
        InputError: it is unknown.
    """
    known = [*kinds, EXAMPLE]
    if kind and kind not in known:
        raise InputError(f"--cluster {kind}: {nearest(kind, known)}")


def find_clusters(run: RunScores, kind: str = "") -> Clusters:
    """Find the clusters of the examples of a run.

    They are in the run folder; runs of earlier versions lack them, and then the dev files are read.

    Args:
        run: the run.
        kind: the kind to find; by default the first one that the task defines and the data have.

    Raises:
        InputError: the kind is unknown, or the data do not have it.
    """
    check_kind(kind)
    keys = tuple(sorted(run.rows))
    kinds = find_task(run.task).clusters
    if not kinds or kind not in ("", *kinds):
        # Each example is alone, or the task lacks the kind: neither needs the data to be read.
        return _of_kind(
            kind, {name: {} for name in kinds}, keys, f"examples of the task {run.task} come by"
        )
    try:
        known, why = _known(run), f"{', '.join(run.data)} does not say which belong together"
    except DamagedFileError:
        raise
    except InputError as error:
        if kind:
            raise InputError(
                f"--cluster {kind}: {run.path} does not say which examples belong together, and "
                f"its dev files cannot be read ({error}); restore them, or use --cluster {EXAMPLE}"
            ) from error
        known, why = {}, f"which belong together is unknown, {error}"
    note = "" if known else f"examples: {why}"
    return _of_kind(kind, known, keys, f"{', '.join(run.data)} has only", note)


def clusters_of_examples(
    task: type[Task[Any, Any]], examples: Mapping[str, Any], kind: str = ""
) -> Clusters:
    """Find the clusters of examples.

    Args:
        task: the task of the examples.
        examples: the examples by their ids, see :meth:`syntagma.tasks.task.Task.row_id`.
        kind: the kind to find; by default the first one that the task defines and the examples
            have.

    Raises:
        InputError: the kind is unknown, or the examples do not have it.
    """
    check_kind(kind)
    known = cluster_ids(task.clusters, examples)
    keys = tuple(sorted(examples))
    return _of_kind(kind, known, keys, f"examples of the task {task.name} come by")


def _of_kind(
    kind: str, known: Known, keys: tuple[str, ...], what_has: str, note: str = ""
) -> Clusters:
    """Return the clusters of a kind, or of the first kind that is known.

    Args:
        kind: the kind; empty for the first one.
        known: the cluster of each example, by kind.
        keys: ids of the examples.
        what_has: what the message says before the kinds that are known.
        note: what is to be known if no kind is.

    Raises:
        InputError: the kind is not known.
    """
    if kind and kind not in (*known, EXAMPLE):
        named = ", ".join([*known, EXAMPLE])
        raise InputError(f"--cluster {kind}: {what_has} {named}; use one of these")
    found = kind or next(iter(known), EXAMPLE)
    if found == EXAMPLE:
        return Clusters(EXAMPLE, keys, np.arange(len(keys)), note)
    return _clusters(found, keys, known[found])


def _clusters(kind: str, keys: Sequence[str], names: dict[str, str]) -> Clusters:
    """Number the clusters; examples whose cluster is unknown are a cluster each."""
    places: dict[tuple[str, str], int] = {}
    owner = [
        places.setdefault((kind, names[key]) if key in names else ("", key), len(places))
        for key in keys
    ]
    alone = sum(key not in names for key in keys)
    note = f"{alone:,} examples without a known {kind} are each one of their own" if alone else ""
    return Clusters(kind, tuple(keys), np.array(owner), note)


def _known(run: RunScores) -> Known:
    """Read the clusters from the folder of a run, or from its dev files.

    Raises:
        InputError: neither can be read.
    """
    path = run.scored / CLUSTERS
    kinds = find_task(run.task).clusters
    if not path.is_file():
        return cluster_ids(kinds, {example.id: example for example in run.examples()})
    found = read_json(path)
    if not isinstance(found, dict) or not all(
        isinstance(names, dict) and all(isinstance(name, str) for name in names.values())
        for names in found.values()
    ):
        raise DamagedFileError(
            f"{path}: expected the name of the cluster of each example, by kind, got "
            f"{found!r:.40}; remove the file, or train the run again"
        )
    # Order as the task defines them: the first one is the default.
    return {kind: found[kind] for kind in kinds if kind in found}
