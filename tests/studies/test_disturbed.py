"""Studies whose workers, main process, disk or scheduler fail: nothing lost, nothing twice, the same digits."""

import concurrent.futures
import contextlib
import subprocess
import sys
import types

import numpy as np
import pytest

import pendula
from pendula.errors import ComputationError
from pendula.studies import runners
from tests.studies.disturbances import disturbed, disturbed_on_dask, grow, small_disk, start, study, until_full, verdict

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at processes in /proc")

WELL = {"complete": True, "missing": 0, "twice": 0, "failures": 0, "unfinished files": 0, "equal": True}


@pytest.fixture(scope="module")
def quiet():
    return pendula.sweep(**study(60, 20.0))


@pytest.mark.slow
def test_killed_workers_and_main_processes(tmp_path, quiet):
    counts = disturbed(tmp_path / "s", 60, 20.0, 8, every=0.7)
    assert counts["left"] == 0
    assert verdict(tmp_path / "s", quiet) == WELL


@pytest.mark.slow
def test_a_full_disk_in_between(quiet):
    try:
        with small_disk("300k") as place:
            said = until_full(place / "s", 60, 20.0)
            assert "No space left on device" in said or "takes" in said
            assert "are kept" in said
            assert 0 < pendula.load_sweep(place / "s").finished < len(quiet)
            grow(place, "100m")
            assert pendula.sweep(**study(60, 20.0), save=place / "s").complete
            assert verdict(place / "s", quiet) == WELL
    except PermissionError as error:
        pytest.skip(f"nothing can be mounted here: {error}")


# Dask leaves threads behind, and a process with threads does not fork workers: studies on Dask run in their own process.


@pytest.mark.slow
def test_dask_with_a_killed_worker_and_a_restarted_scheduler(tmp_path):
    quiet = pendula.sweep(**study(60, 300.0))
    disturbed_on_dask(tmp_path / "s", 60, 300.0)
    assert verdict(tmp_path / "s", quiet) == WELL


@pytest.mark.slow
def test_a_local_dask_cluster_gives_the_same_digits(quiet, tmp_path):
    process = start(tmp_path / "s", 60, 20.0, "dask")
    assert process.wait(300) == 0
    assert verdict(tmp_path / "s", quiet) == WELL


class LosingClient:
    """Stands for a client of Dask whose cluster computes at once and loses the first results on their way."""

    __module__ = "distributed.client"
    status = "running"

    def __init__(self, errors):
        self.errors = errors

    def submit(self, function, *arguments, pure):
        return LosingFuture(function(*arguments), self.errors)

    def scatter(self, data, broadcast, hash):
        return data

    def scheduler_info(self, n_workers):
        return {"workers": {"one": {"nthreads": 1}}}

    def as_current(self):
        return contextlib.nullcontext()


class LosingFuture:
    status = "finished"

    def __init__(self, value, errors):
        self.value, self.errors = value, errors

    def done(self):
        return True

    def result(self, timeout):
        if self.errors:
            raise self.errors.pop()
        return self.value

    def release(self):
        pass

    cancel = release


def on_losing_client(monkeypatch, errors):
    distributed = types.SimpleNamespace(wait=lambda *given, **options: None)
    monkeypatch.setattr(runners, "needed", lambda name, what: distributed)
    return pendula.sweep("pendulum", {"theta": "0.1:1:40"}, "end", duration=1.0, on=LosingClient(errors))


def test_results_that_a_cluster_lost_on_their_way_are_computed_again(monkeypatch):
    pytest.importorskip("distributed")
    from distributed.comm import CommClosedError

    undisturbed = pendula.sweep("pendulum", {"theta": "0.1:1:40"}, "end", duration=1.0, on="here")
    errors = [CommClosedError("the scheduler is gone"), TimeoutError(), concurrent.futures.CancelledError()]
    found = on_losing_client(monkeypatch, errors)
    assert not errors
    assert found.complete
    assert not found.failures
    assert np.array_equal(found["end.theta"], undisturbed["end.theta"])


@pytest.mark.parametrize("status", ["running", "closed"])
@pytest.mark.parametrize("error", [OSError("Stream is closed"), KeyError("tcp://127.0.0.1:1"), TimeoutError()])
def test_a_worker_that_ends_while_the_cluster_starts_does_not_matter(monkeypatch, status, error):
    def scatter(self, data, broadcast, hash):
        raise error

    monkeypatch.setattr(LosingClient, "scatter", scatter)
    monkeypatch.setattr(LosingClient, "status", status)
    if status == "closed":
        with pytest.raises(ComputationError, match="the Dask cluster was lost while it started"):
            on_losing_client(monkeypatch, [])
        return
    pytest.importorskip("distributed")
    undisturbed = pendula.sweep("pendulum", {"theta": "0.1:1:40"}, "end", duration=1.0, on="here")
    found = on_losing_client(monkeypatch, [])
    assert found.complete
    assert np.array_equal(found["end.theta"], undisturbed["end.theta"])


def test_a_cluster_that_loses_everything_is_given_up(monkeypatch):
    pytest.importorskip("distributed")
    with pytest.raises(ComputationError, match="lost its work 21 times in a row"):
        on_losing_client(monkeypatch, [TimeoutError() for _ in range(100)])


@pytest.mark.slow
def test_a_scheduler_that_is_not_there_is_named():
    code = (
        "import pendula, pendula.studies.runners as runners\n"
        "runners.CONNECT = 0.3\n"
        "pendula.sweep('pendulum', {'theta': [0.1]}, on='tcp://127.0.0.1:1')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert 'UsageError: there is no Dask scheduler at "tcp://127.0.0.1:1"' in done.stderr
