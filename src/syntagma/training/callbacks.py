"""Callbacks of the Trainer: epochs of the sampler, when to log, and a progress bar."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import Any

from tqdm.auto import tqdm
from transformers import TrainerCallback

from syntagma.batches import TokenBudgetSampler
from syntagma.progress import log, progress_bar


class SetEpoch(TrainerCallback):  # type: ignore[misc]
    """Set the epoch of the batch sampler; Trainer does so only for its own samplers."""

    def __init__(self, sampler: TokenBudgetSampler) -> None:
        self.sampler = sampler

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.sampler.set_epoch(int(state.epoch or 0))


class AfterStep(TrainerCallback):  # type: ignore[misc]
    """Call a function after each step of the optimizer."""

    def __init__(self, function: Callable[[], None]) -> None:
        self.function = function

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.function()


class LogBeforeSaving(TrainerCallback):  # type: ignore[misc]
    """Log the loss before weights are saved, so that a NaN loss stops the training first.

    Logging also restarts the mean loss at each checkpoint, so that a resumed run logs the same
    values.
    """

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if control.should_evaluate or control.should_save:
            control.should_log = True


class ProgressBar(TrainerCallback):  # type: ignore[misc]
    """A progress bar with the loss, and a line with the primary metric after each evaluation.

    For a streamed corpus it also shows tokens per second and the share of time spent waiting for
    data.
    """

    def __init__(self, primary: str) -> None:
        self.primary = primary
        self.bar: tqdm[Any] | None = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if state.is_world_process_zero:
            self.bar = progress_bar(total=state.max_steps, initial=state.global_step, unit="step")

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self.bar is not None:
            self.bar.update(1)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
        if self.bar is None or logs is None:
            return
        if "loss" in logs:
            shown = {"loss": f"{float(logs['loss']):.3f}"}
            if "pieces_per_second" in logs:
                shown["tokens/s"] = f"{logs['pieces_per_second']:,.0f}"
                shown["data wait"] = f"{logs['data_wait']:.1%}"
            self.bar.set_postfix(shown, refresh=False)
        if (value := logs.get(f"eval_{self.primary}")) is not None:
            step = f"epoch {state.epoch:.2f}  step {state.global_step}"
            if log.isEnabledFor(logging.WARNING):
                self.bar.write(f"{step}  {self.primary} {value:.2f}", file=sys.stderr)

    def close(self) -> None:
        """End the bar, so that later output starts on a new line."""
        if self.bar is not None:
            self.bar.close()
