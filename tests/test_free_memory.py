"""The share of memory that is left: of the machine, or of a control group with a limit."""

from __future__ import annotations

import sys

import pytest

from syntagma.free_memory import free_share

MEMINFO = "MemTotal:       16000 kB\nMemFree:         1000 kB\nMemAvailable:    {free} kB\n"


@pytest.fixture
def write(tmp_path):
    def written(path, text):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)

    return written


def test_nothing_is_known_of_other_systems(tmp_path):
    assert free_share(tmp_path) == 1.0


def test_what_is_available_counts_not_what_is_free(tmp_path, write):
    write("proc/meminfo", MEMINFO.format(free=12000))
    assert free_share(tmp_path) == 0.75


def test_the_least_of_all_groups_of_version_2_counts(tmp_path, write):
    write("proc/meminfo", MEMINFO.format(free=12000))
    write("proc/self/cgroup", "0::/jobs/one\n")
    write("sys/fs/cgroup/jobs/one/memory.max", "max\n")
    write("sys/fs/cgroup/jobs/one/memory.current", "900\n")
    assert free_share(tmp_path) == 0.75
    write("sys/fs/cgroup/jobs/memory.max", "1000\n")
    write("sys/fs/cgroup/jobs/memory.current", "900\n")
    assert free_share(tmp_path) == 0.1
    # Pages of files can be given up.
    write("sys/fs/cgroup/jobs/memory.stat", "anon 500\ninactive_file 200\nactive_file 200\n")
    assert free_share(tmp_path) == 0.3


@pytest.mark.parametrize(("limit", "share"), [("2000", 0.25), ("9223372036854771712", 0.75)])
def test_a_group_of_version_1_in_a_container(tmp_path, write, limit, share):
    write("proc/meminfo", MEMINFO.format(free=12000))
    write("proc/self/cgroup", "5:cpu:/docker/a\n4:memory:/docker/a\n")
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", f"{limit}\n")
    write("sys/fs/cgroup/memory/memory.usage_in_bytes", "1800\n")
    write("sys/fs/cgroup/memory/memory.stat", "inactive_file 5\ntotal_inactive_file 300\n")
    assert free_share(tmp_path) == share


@pytest.mark.parametrize("text", ["", "MemTotal: many kB", "MemTotal: 0 kB\nMemAvailable: 0 kB"])
def test_an_unreadable_file_says_nothing(tmp_path, write, text):
    write("proc/meminfo", text)
    assert free_share(tmp_path) == 1.0


@pytest.mark.skipif(sys.platform != "linux", reason="files of the kernel")
def test_this_machine_has_some():
    assert 0.0 < free_share() < 1.0
