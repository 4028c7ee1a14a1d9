"""Studies whose workers, main process, disk or scheduler fail: nothing lost, nothing twice, the same digits."""

import shutil
import subprocess
import sys
import time

import pytest

import pendula
from tests.studies.disturbances import Cluster, disturbed, small_disk, start, study, verdict

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
            process = start(place / "s", 60, 20.0)
            said = process.communicate(timeout=120)[0]
            assert process.returncode == 2
            assert "No space left on device" in said or "takes" in said
            assert "are kept" in said
            shutil.copytree(place / "s", place.parent / f"{place.name}-copy")
    except PermissionError as error:
        pytest.skip(f"nothing can be mounted here: {error}")
    folder = place.parent / f"{place.name}-copy"
    try:
        before = pendula.load_sweep(folder).finished
        assert 0 < before < len(quiet)
        found = pendula.sweep(**study(60, 20.0), save=folder)
        assert found.complete
        assert verdict(folder, quiet) == WELL
    finally:
        shutil.rmtree(folder)


# Dask leaves threads behind, and a process with threads does not fork workers: studies on Dask run in their own process.


@pytest.mark.slow
def test_dask_with_a_killed_worker_and_a_restarted_scheduler(tmp_path):
    quiet = pendula.sweep(**study(60, 300.0))
    with Cluster() as cluster:
        process = start(tmp_path / "s", 60, 300.0, cluster.address)
        until = time.monotonic() + 60
        while len(list((tmp_path / "s").glob("parts/*.npz"))) < 2 and time.monotonic() < until:
            time.sleep(0.05)
        cluster.kill_worker()
        time.sleep(2.0)
        running = process.poll() is None
        cluster.restart_scheduler()
        said = process.communicate(timeout=300)[0]
    assert running, "the study ended before it was disturbed"
    assert process.returncode == 0, said
    assert verdict(tmp_path / "s", quiet) == WELL


@pytest.mark.slow
def test_a_local_dask_cluster_gives_the_same_digits(quiet, tmp_path):
    process = start(tmp_path / "s", 60, 20.0, "dask")
    assert process.wait(300) == 0
    assert verdict(tmp_path / "s", quiet) == WELL


def test_a_scheduler_that_is_not_there_is_named():
    code = (
        "import pendula, pendula.studies.runners as runners\n"
        "runners.CONNECT = 0.3\n"
        "pendula.sweep('pendulum', {'theta': [0.1]}, on='tcp://127.0.0.1:1')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert 'UsageError: there is no Dask scheduler at "tcp://127.0.0.1:1"' in done.stderr
