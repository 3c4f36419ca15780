"""Memory that a training frees is kept for its next step, and given back at the end."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from contextlib import contextmanager

import pytest

from syntagma.training import kept_memory as module
from syntagma.training import run
from syntagma.training.kept_memory import KEEP, USUAL, kept_memory
from tests.builders import experiment, pairs

GLIBC = pytest.mark.skipif(
    sys.platform != "linux" or platform.libc_ver()[0] != "glibc", reason="mallopt of glibc"
)
BLOCKS = """
import resource, sys
from contextlib import nullcontext
from syntagma.training.kept_memory import kept_memory

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

def resident():
    return int(open("/proc/self/statm").read().split()[1])

def step():
    bytearray(2**28)  # Zeroed, so its pages are touched.

empty = resident()
with kept_memory(share=lambda: 0.0) if sys.argv[1] == "kept" else nullcontext() as after_step:
    step()
    before = faults()
    for _ in range(4):
        step()
    found = faults() - before
    held = resident() - empty
    if after_step:
        after_step()
    short = resident() - empty
print(found, held, short, resident() - empty)
"""


@pytest.fixture
def calls(monkeypatch):
    """The options that are set, with their values, in place of setting them."""
    found: list[tuple[int, int]] = []
    monkeypatch.setattr(module, "_mallopt", lambda: lambda *call: found.append(call))
    return found


@GLIBC
def test_the_options_are_set_and_set_back_also_after_an_error(calls):
    with pytest.raises(ZeroDivisionError), kept_memory({}):
        1 / (len(calls) - len(KEEP))
    assert calls == [*KEEP.items(), *USUAL.items()]


@pytest.mark.parametrize(
    "environment",
    [{"MALLOC_TRIM_THRESHOLD_": "131072"}, {"GLIBC_TUNABLES": "glibc.malloc.mmap_max=9"}],
)
def test_what_the_user_has_set_is_kept(calls, environment):
    with kept_memory(environment):
        pass
    assert calls == []


def test_other_variables_of_malloc_do_not_count(calls):
    with kept_memory({"MALLOC_ARENA_MAX": "2"}):
        assert calls == list(KEEP.items())


def test_other_systems_are_left_alone(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert module._mallopt() is None
    with kept_memory({}):
        pass


@GLIBC
@pytest.mark.parametrize(("share", "given_back"), [(0.2, 0), (0.1, 3)])
def test_memory_is_given_back_after_a_step_if_it_is_short(calls, monkeypatch, share, given_back):
    found = []
    with kept_memory({}, share=lambda: share) as after_step:
        monkeypatch.setattr(module, "_give_back", lambda: found.append(len(calls)))
        for _ in range(3):
            after_step()
        # While it is kept: the options are set back at the end only.
        assert found == [len(KEEP)] * given_back


@GLIBC
def test_a_training_gives_memory_back_after_each_step(tmp_path, tiny_encoder, monkeypatch):
    found = []

    @contextmanager
    def counted():
        yield lambda: found.append("step")

    monkeypatch.setattr(run, "kept_memory", counted)
    settings = experiment(
        "pairs", pairs(tmp_path / "a.jsonl"), tiny_encoder, training={"max_steps": 3}
    )
    run.train(settings, tmp_path / "run")
    assert found == ["step"] * 3


@GLIBC
def test_pages_of_large_blocks_are_not_asked_for_again():
    def start(how: str) -> list[int]:
        command = [sys.executable, "-c", BLOCKS, how]
        # As installed: variables of this process would decide for both.
        unset = {key: value for key, value in os.environ.items() if "MALLOC" not in key}
        unset.pop("GLIBC_TUNABLES", None)
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=unset)
        return [int(number) for number in done.stdout.split()]

    pages = 2**28 // 4096
    (usual, *_), (kept, held, short, left) = start("usual"), start("kept")
    assert kept < usual / 4
    # All but a few are given back where memory is short, and at the end.
    assert held > pages * 3 / 4
    assert max(short, left) < pages / 4
