from __future__ import annotations

import os

import pytest
import torch

from pugnn import processes
from pugnn.threads import LIMITS, WORTH_THREADS, available_threads, threads_for, wait_without_spinning


@pytest.fixture
def eight(monkeypatch):
    """A machine with eight cores, and nobody who limits threads."""
    for name in LIMITS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 8)


@pytest.mark.usefixtures("eight")
def test_one_thread_for_each_core_of_this_process(monkeypatch):
    assert available_threads() == 8
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 5}, raising=False)  # as by taskset
    assert available_threads() == 2


@pytest.mark.usefixtures("eight")
@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize(("text", "expected"), [("3", 3), ("64", 8), ("2,4", 2), ("", 8), ("many", 8), ("0", 8)])
def test_a_limit_counts_if_it_is_one(monkeypatch, name, text, expected):
    monkeypatch.setenv(name, text)
    assert available_threads() == expected


@pytest.mark.usefixtures("eight")
def test_what_torch_was_told_counts(monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: 5)
    assert available_threads() == 5


@pytest.mark.usefixtures("eight")
def test_processes_on_a_host_share_its_cores(monkeypatch):
    monkeypatch.setattr(processes, "count_on_host", lambda: 3)
    assert available_threads() == 2
    monkeypatch.setattr(processes, "count_on_host", lambda: 20)
    assert available_threads() == 1


@pytest.mark.parametrize(("numbers", "inside"), [(WORTH_THREADS - 1, 1), (WORTH_THREADS, 2)])
def test_small_work_takes_one_thread(numbers, inside):
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with threads_for(numbers):
            assert torch.get_num_threads() == inside
        assert torch.get_num_threads() == 2
        with pytest.raises(KeyError), threads_for(numbers):
            raise KeyError
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_idle_threads_sleep_unless_the_user_decides_otherwise(monkeypatch):
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    wait_without_spinning()
    assert os.environ["OMP_WAIT_POLICY"] == "PASSIVE"
    monkeypatch.setenv("OMP_WAIT_POLICY", "ACTIVE")
    wait_without_spinning()
    assert os.environ["OMP_WAIT_POLICY"] == "ACTIVE"
