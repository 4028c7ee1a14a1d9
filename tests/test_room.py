"""Estimates of memory and disk, and computations that are refused because they would not fit."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import pendula
from pendula.errors import UsageError
from pendula.storage import room
from tests.app.conftest import run_command


def test_sizes_in_words():
    assert [room.in_words(x) for x in (0, 999, 1000, 1_240_000, 99_600_000_000, 16e12)] == [
        "0 bytes",
        "999 bytes",
        "1.0 kB",
        "1.2 MB",
        "100 GB",
        "16.0 TB",
    ]


def test_sizes_of_arrays_are_those_of_numpy():
    shapes = [(3, 4, 5), (7,), (2, 0)]
    assert room.bytes_of(shapes) == sum(np.zeros(shape).nbytes for shape in shapes)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere processes do not inherit the peak of their parents")
def test_the_largest_memory_of_a_process_is_its_own_and_not_that_of_the_process_that_started_it():
    most = "from pendula.storage.room import most_memory; print(most_memory())"
    large = "of = bytearray(b'x') * 400_000_000; del of; "  # a peak that is over counts
    script = f"{large}import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]], check=True)"
    started, grown = (
        int(subprocess.run([sys.executable, *command], capture_output=True, text=True, check=True).stdout)
        for command in (("-c", script, most), ("-c", large + most))
    )
    assert started < 200_000_000
    assert grown > 400_000_000


def test_the_least_of_all_limits_counts(monkeypatch):
    monkeypatch.setattr(room, "_of_machine", lambda: 5000)
    monkeypatch.setattr(room, "_of_container", lambda: 3000)
    monkeypatch.setattr(room, "_of_process", lambda: None)
    assert room.bytes_available_memory() == 3000


def test_a_limit_of_the_process_counts():
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_AS)
    most = 2**45
    if before[1] != resource.RLIM_INFINITY and before[1] < most:
        pytest.skip("the process has a lower limit already")
    try:
        resource.setrlimit(resource.RLIMIT_AS, (most, before[1]))
        assert 0.5 * most < room._of_process() < most
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def test_many_runs_that_do_not_fit_into_memory_are_refused_before_they_begin(monkeypatch):
    monkeypatch.setattr(room, "bytes_available_memory", lambda: 10**9)
    with pytest.raises(UsageError, match=r"100,000 runs of 1000 samples each need 1\.6 GB of memory, and 1\.0 GB are"):
        pendula.simulate_many("pendulum", 1.0, {"theta": np.linspace(0, 1, 100_000)}, samples=1000)


def test_many_runs_that_do_not_fit_onto_the_disk_are_refused_before_they_begin(monkeypatch, tmp_path):
    monkeypatch.setattr(room, "bytes_free_on_disk", lambda path: 10**9)
    with pytest.raises(UsageError, match=r'need 1\.6 GB on the disk of ".*runs\.npz", and 1\.0 GB are free'):
        pendula.simulate_many(
            "pendulum", 1.0, {"theta": np.linspace(0, 1, 100_000)}, samples=1000, save=tmp_path / "runs.npz"
        )
    assert not list(tmp_path.iterdir())


def test_samples_that_do_not_fit_are_refused(monkeypatch):
    monkeypatch.setattr(room, "bytes_available_memory", lambda: 10**8)
    with pytest.raises(UsageError, match=r"10,000,000 samples .* of memory"):
        pendula.simulate("pendulum", 1.0, samples=10_000_000)


def test_an_ensemble_of_terabytes_is_refused_at_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    line = ["ensemble", "pendulum", "--vary", "theta=0:1", "--runs", "10000000", "--samples", "100000"]
    found = run_command(*line)
    assert found.code == 2
    assert "16.0 TB of memory" in found.err
    assert "-o FILE.npz" in found.err
    assert "save=" not in found.err
    found = run_command(*line, "-o", "e.npz")
    assert found.code == 2
    assert '16.0 TB on the disk of "e.npz"' in found.err
    assert not list(tmp_path.iterdir())
