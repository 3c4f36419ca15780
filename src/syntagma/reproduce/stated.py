"""Hold the settings of ``--scale paper`` against what a paper states.

Papers leave most settings open, and name some as a choice or in another unit.  Both are listed, so
that nobody takes our choices for the paper's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from syntagma.encoders.default import SCRATCH
from syntagma.reproduce.bases import read_bases, read_shared
from syntagma.reproduce.runs import Run, Setting, make_run
from syntagma.settings import flatten, to_dict
from syntagma.tasks.experiment import SAVED

ELSEWHERE = ("data.", "encoder", "parser", "preset", "training.seed", "training.save_steps")
"""Prefixes of settings that other lines name, or that do not affect the result."""
WITHOUT_EFFECT = (
    "task", "head.answerability_weight", "head.distillation_weight", "head.mask_token_id",
    "head.null_score_diff_threshold", "head.threshold", "training.dataloader_num_workers",
    "training.lora_rank",
)  # fmt: skip
"""Settings that change nothing here: for a teacher, for LoRA, found in the data, fitted later."""
ENCODER_DROPOUTS = ("hidden_dropout", "attention_dropout")
"""Those of a pretrained encoder; a model from scratch has its own in the head."""
EPOCHS, STEPS = "training.num_train_epochs", "training.max_steps"
PRECISION = "training.precision"


def in_paper(run: Run, setting: Setting) -> Run:
    """Build the same run at the paper's scale, which resolves all defaults.

    Args:
        run: the run.
        setting: what was requested.
    """
    full = Setting(setting.data, setting.out, "paper")
    return make_run(run.asked, run.system, full, changes=run.changes)


def values_of(run: Run) -> dict[str, Any]:
    """Return the flattened settings of a run, with those of the guides that it continues.

    Args:
        run: the run.
    """
    own = flatten(to_dict(run.experiment))
    if run.experiment.preset == SAVED and run.start is not None:
        before = values_of(run.start)
        own = {key: value for key, value in before.items() if key.startswith("guides.")} | own
    return {key: value for key, value in own.items() if not key.startswith(ELSEWHERE)}


def shown(key: str, value: Any) -> str:
    """Format the value of a setting.

    Args:
        key: name of the setting.
        value: its value.
    """
    if value is None:
        return "the encoder's own" if key.endswith("dropout") else "–"
    return f"{value:g}" if isinstance(value, float) else str(value)


def has_cost(key: str) -> bool:
    """Whether a setting affects the size of a new model, or the time of a step.

    Args:
        key: name of the setting.
    """
    of_model = key.startswith(("head.", "guides.")) and "dropout" not in key
    return of_model or key == PRECISION


def chosen_lines(
    runs: Iterable[Run], stated: Mapping[str, Any], *, trains: bool = True
) -> Iterator[str]:
    """Yield what is not as stated at the paper's scale, and what is not stated, base by base.

    Args:
        runs: runs at the paper's scale.
        stated: what the paper states of guides, by the name of the setting.
        trains: whether the runs are trained; otherwise only what has a cost is named.
    """
    # Settings by base; dicts serve as ordered sets.
    other: dict[str, dict[str, None]] = {}
    unstated: dict[str, dict[str, None]] = {}
    for run in runs:
        known = {**stated, **read_bases()[run.asked].stated}
        for key, value in _open_values(run).items():
            if not trains and not has_cost(key):
                continue
            if key not in known:
                text = f"{key} {shown(key, value)}"
                unstated.setdefault(run.asked, {})[text] = None
            elif known[key] != value:
                text = f"{key} {shown(key, value)} ({known[key]})"
                other.setdefault(run.asked, {})[text] = None
    for bases, text in _by_text(other):
        yield f"at --scale paper ({bases}; the paper's words in parentheses): {text}"
    for bases, text in _by_text(unstated):
        yield f"not stated in the paper, chosen for --scale paper ({bases}): {text}"


def _by_text(found: Mapping[str, Iterable[str]]) -> Iterator[tuple[str, str]]:
    """Yield the settings of bases, with the names of all bases that have the same ones."""
    bases: dict[str, list[str]] = {}
    for base, texts in found.items():
        bases.setdefault(", ".join(texts), []).append(base)
    for text, names in bases.items():
        yield ", ".join(names), text


def _open_values(run: Run) -> dict[str, Any]:
    """Return the settings of a run that affect its result, without those that make its system."""
    systems = read_shared()["systems"]
    own = {**flatten(systems[run.system]), **flatten(dict(run.changes))}
    if run.start is not None:
        own |= flatten(systems[run.start.system])
    values = values_of(run)
    return {
        key: value
        for key, value in values.items()
        if key not in own
        and key not in WITHOUT_EFFECT
        and not key.endswith((".initialise", ".mask_seed"))  # The first has a line of its own.
        and not _is_off(key, value)
        and not (run.experiment.encoder == SCRATCH and key in ENCODER_DROPOUTS)
        and not (key == EPOCHS and values.get(STEPS) is not None)
    }


def _is_off(key: str, value: Any) -> bool:
    """Whether a setting is one that is not used: most are off by default."""
    if key.endswith("dropout"):
        return False
    # A rate of 0 is a choice: 0 is equal to False, but not off.
    return value is None or value is False or value == "" or (value == "auto" and key != PRECISION)
