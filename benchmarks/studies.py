"""What do studies cost beside their cases? Formats of parts, overhead per run, Dask, two workers against one.

    python -m benchmarks.studies [parts] [overhead] [dask] [million]

``parts``: writing and reading the results of 10,000 cases, in every format at hand (Zarr if it is installed).
``overhead``: CPU time of a study of double pendulums, per run, against the bare kernel on the same runs.
``dask``: the same study on one and two workers of a local Dask cluster: wall times, and CPU time against the bare kernel.
``million``: a million double pendulums until they turn over, 30 s at the most; time, memory and a map.
"""

from __future__ import annotations

import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import pendula
from pendula.studies.recipe import Part
from pendula.studies.store import part_table
from pendula.tables.formats import read_table, write_table
from pendula.tables.table import Block

ROUNDS = 5
CASES = 10_000
WITHIN = {"theta1": "180deg", "theta2": "180deg"}
DURATION = 30.0


def parts() -> None:
    """Seconds to write and to read one part of a study, and its size."""
    rng = np.random.default_rng(1)
    names = ("end.theta1", "end.theta2", "end.theta1_dot", "end.theta2_dot")
    blocks = (
        Block("end", ("case",), rng.normal(size=(CASES, 4)), "", names, ("rad", "rad", "rad/s", "rad/s")),
        *(Block(name, ("case",), rng.normal(size=CASES)) for name in ("ok", "outcome", "energy_drift", "steps")),
    )
    values = {"theta1": rng.normal(size=CASES), "theta2": rng.normal(size=CASES)}
    table = part_table(Part(np.arange(CASES), values, blocks, {}, 1.0, {"host": "here"}))
    print(f"one part of {CASES} cases, 11 numbers each; best of {ROUNDS}")
    with tempfile.TemporaryDirectory() as place:
        for ending in ("npz", "parquet", "nc", "zarr"):
            path = Path(place) / f"part.{ending}"
            write, read = _zarr(table, path) if ending == "zarr" else _by_ending(table, path)
            if write is None or read is None:
                print(f"  {ending:8} not installed")
                continue
            wrote, found = _best(write), _best(read)
            size = sum(f.stat().st_size for f in path.rglob("*")) if path.is_dir() else path.stat().st_size
            print(f"  {ending:8} write {1e3 * wrote:7.2f} ms   read {1e3 * found:7.2f} ms   {size / 1e6:.2f} MB")


def _by_ending(table: Any, path: Path) -> tuple[Callable[[], Any], Callable[[], Any]]:
    return (lambda: write_table(table, path)), (lambda: read_table(path))


def _zarr(table: Any, path: Path) -> tuple[Callable[[], Any] | None, Callable[[], Any] | None]:
    """Zarr writes a folder, which is renamed when it is whole; it has no checksum of its own."""
    try:
        import zarr
    except ImportError:
        return None, None

    def write() -> None:
        unfinished = path.with_suffix(".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        group = zarr.open_group(str(unfinished), mode="w")
        for block in table.blocks:
            if block.values.dtype.kind != "U" and block.values.size:
                group.create_array(block.name, data=block.values)
        for file in unfinished.rglob("*"):
            if file.is_file():
                with file.open("rb") as one:
                    os.fsync(one.fileno())
        shutil.rmtree(path, ignore_errors=True)
        unfinished.rename(path)

    def read() -> None:
        group = zarr.open_group(str(path), mode="r")
        for name in group.array_keys():
            group[name][:]

    return write, read


def _best(call: Callable[[], Any]) -> float:
    times = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        call()
        times.append(time.perf_counter() - begun)
    return min(times)


def _study(side: int) -> dict[str, Any]:
    return {
        "system": pendula.compile_system(pendula.library.chain(links=2)),
        "over": {"theta1": f"-180deg:180deg:{side}", "theta2": f"-180deg:180deg:{side}"},
        "compute": "first",
        "within": WITHIN,
        "duration": DURATION,
    }


def _cpu() -> float:
    return sum(
        resource.getrusage(who).ru_utime + resource.getrusage(who).ru_stime
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )


def _bare(side: int) -> float:
    """CPU seconds of the kernel alone, for the same runs."""
    study = _study(side)
    angles = np.linspace(-np.pi, np.pi, side)
    first, second = (x.ravel() for x in np.meshgrid(angles, angles, indexing="ij"))
    starts = {"theta1": first, "theta2": second}
    within = {"theta1": np.pi, "theta2": np.pi}
    pendula.simulate_many(study["system"], 1.0, {n: x[:64] for n, x in starts.items()}, within=within, workers=1)
    begun = _cpu()
    pendula.simulate_many(study["system"], DURATION, starts, within=within, workers=1)
    return _cpu() - begun


def overhead(side: int = 300) -> None:
    """A study against the bare kernel."""
    runs, best = side * side, {"kernel": np.inf, "study here": np.inf, "study on cores": np.inf}
    for _ in range(3):
        best["kernel"] = min(best["kernel"], _bare(side))
        for on, name in (("here", "study here"), ("cores", "study on cores")):
            with tempfile.TemporaryDirectory() as place:
                begun = _cpu()
                pendula.sweep(**_study(side), on=on, save=Path(place) / "s")
                best[name] = min(best[name], _cpu() - begun)
    for name, seconds in best.items():
        print(f"  {name:16} {1e6 * seconds / runs:7.2f} us CPU per run, {seconds / best['kernel']:.3f} of the kernel")


def dask(side: int = 500) -> None:
    """One and two workers of Dask, against processes of our own."""
    import distributed

    runs = side * side
    walls: dict[str, float] = {}
    busy: dict[str, float] = {}
    for count in (1, 2):
        with distributed.LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=None) as cluster:
            client = distributed.Client(cluster)
            pendula.sweep(**_study(20), on=client)  # everything compiled and loaded
            for _ in range(3):
                before = _worker_cpu(client)
                begun = time.perf_counter()
                found = pendula.sweep(**_study(side), on=client)
                wall = time.perf_counter() - begun
                spent = _worker_cpu(client) - before
                name = f"Dask, {count}"
                if wall < walls.get(name, np.inf):
                    walls[name], busy[name] = wall, spent
            client.close()
    kernel = min(_bare(side) for _ in range(2))
    print(f"  {runs} runs; the kernel alone: {kernel:.2f} s CPU")
    for name, wall in walls.items():
        print(f"  {name} workers: {wall:.2f} s wall, {busy[name]:.2f} s CPU of the workers ({busy[name] / kernel:.3f})")
    print(f"  two workers against one: {walls['Dask, 1'] / walls['Dask, 2']:.2f} times; tasks: {found.seconds:.2f} s")


def _worker_cpu(client: Any) -> float:
    def own() -> float:
        times = os.times()
        return times.user + times.system

    return float(sum(client.run(own).values()))


def million(side: int = 1000) -> None:
    """A million double pendulums."""
    with tempfile.TemporaryDirectory() as place:
        begun, cpu = time.perf_counter(), _cpu()
        found = pendula.sweep(**_study(side), save=Path(place) / "s", on_start=print)
        wall, cpu = time.perf_counter() - begun, _cpu() - cpu
        size = sum(path.stat().st_size for path in Path(place).rglob("*") if path.is_file())
    most = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(f"  {len(found)} runs: {wall:.1f} s wall, {cpu:.1f} s CPU, {1e6 * cpu / len(found):.2f} us per run")
    print(f"  largest process {most / 1e3:.0f} MB, parts {size / 1e6:.0f} MB")
    print(found)
    pendula.plot(found, "flips.png")
    print("  wrote flips.png")


if __name__ == "__main__":
    for name in sys.argv[1:] or ("parts", "overhead", "dask", "million"):
        print(f"{name}:", flush=True)
        {"parts": parts, "overhead": overhead, "dask": dask, "million": million}[name]()
