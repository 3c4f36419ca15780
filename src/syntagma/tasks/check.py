"""Check an experiment before any file is opened."""

from __future__ import annotations

from syntagma.models.config import resolve_guides
from syntagma.settings import build
from syntagma.tasks import find_task
from syntagma.tasks.experiment import Experiment
from syntagma.tasks.predictor import SAVED

__all__ = ["check_experiment"]


def check_experiment(experiment: Experiment) -> None:
    """Check what of an experiment its task and its model read for themselves: head and guides.

    Args:
        experiment: whose data, encoder and parser are not looked at.

    Raises:
        InputError: a task, preset, guide or key is unknown, or a value impossible.
    """
    build(find_task(experiment.task).settings, experiment.head, where="head")
    # The guides of a saved model are known to fit; only changes to them are ours.
    preset = "none" if experiment.preset == SAVED else experiment.preset
    resolve_guides(preset, experiment.guides, others=[SAVED])
