"""Files that are damaged, truncated or foreign are refused by one clear message, and nothing in them is executed."""

from __future__ import annotations

import json
import os
import pickle
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pendula
from pendula.errors import PendulaError, UsageError
from tests.fuzz.files import damage

ENDINGS = (".csv", ".npz", ".nc", ".parquet", ".json")
CUTS = 8


@pytest.fixture(scope="module")
def run() -> Any:
    return pendula.simulate("pendulum", 0.5, samples=8, events=["theta = 1"])


@pytest.mark.parametrize("ending", ENDINGS)
def test_truncated_files_are_refused(run: Any, ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"run{ending}"
    run.save(path)
    whole = path.read_bytes()
    for length in {*np.linspace(0, len(whole) - 2, CUTS).astype(int).tolist(), len(whole) - 40}:
        path.write_bytes(whole[:length])
        with pytest.raises(UsageError, match=f"run{ending}"):
            pendula.load_run(path)


@pytest.mark.parametrize("ending", ENDINGS)
def test_changed_bytes_are_refused_or_change_nothing(run: Any, ending: str, tmp_path: Path) -> None:
    """Bytes that are flipped anywhere: either refused, or values and metadata are still the same."""
    path = tmp_path / f"run{ending}"
    run.save(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(3)
    assert _refused(run, path, whole, [(int(at), 0x04) for at in rng.integers(0, len(whole), 25)]) > 3


@pytest.mark.slow
def test_a_changed_directory_or_header_of_an_archive_is_refused_or_changes_nothing(run: Any, tmp_path: Path) -> None:
    """Methods of compression, flags, versions, shapes and types of numbers: readers of archives refuse each otherwise."""
    path = tmp_path / "run.npz"
    run.save(path)
    whole = path.read_bytes()
    directory = whole.index(b"PK\x01\x02")
    places = [*range(180), *range(directory, directory + 60), *range(len(whole) - 22, len(whole))]
    assert _refused(run, path, whole, [(at, bits) for at in places for bits in (0x01, 0x04, 0xFF)]) > 300


def _refused(run: Any, path: Path, whole: bytes, changes: list[tuple[int, int]]) -> int:
    """How many changes of single bytes (place, bits) are refused; the others change neither values nor metadata."""
    refused, table = 0, run.table()
    digest = table.digest()
    for at, bits in changes:
        path.write_bytes(whole[:at] + bytes([whole[at] ^ bits]) + whole[at + 1 :])
        try:
            found = pendula.load_run(path)
        except UsageError:
            refused += 1
            continue
        assert found.table().digest() == digest
        assert found.table().attributes == table.attributes
    return refused


@pytest.mark.parametrize("ending", ENDINGS)
def test_foreign_files_are_refused(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"foreign{ending}"
    for content in (
        b"",
        b"\x00" * 100,
        b"t,x\n0,1\n",
        b"[1, 2]",
        b'{"pendula_table": 99}',
        b'{"pendula_table": 1}',
        b"\xff\xfe\x00",
    ):
        path.write_bytes(content)
        with pytest.raises(UsageError, match="cannot be read"):
            pendula.load_run(path)
    with pytest.raises(UsageError, match="No such file"):
        pendula.load_run(tmp_path / f"nothing{ending}")


def test_foreign_files_of_the_right_format_are_refused(tmp_path: Path) -> None:
    import h5netcdf
    import pyarrow
    import pyarrow.parquet

    np.savez(tmp_path / "x.npz", t=np.zeros(3))
    pyarrow.parquet.write_table(pyarrow.table({"t": [1.0]}), tmp_path / "x.parquet")
    with h5netcdf.File(tmp_path / "x.nc", "w") as file:
        file.dimensions = {"t": 1}
    (tmp_path / "x.json").write_text('{"t": [1, 2]}')
    for name in ("x.npz", "x.parquet", "x.nc", "x.json"):
        with pytest.raises(UsageError, match="holds no table of Pendula"):
            pendula.load_run(tmp_path / name)


def test_files_of_earlier_versions_are_refused_by_name(tmp_path: Path) -> None:
    account = json.dumps({"model": "pendulum", "formulation": "kane", "stepper": "dop853"})
    np.savez(tmp_path / "old.npz", t=np.zeros(2), q=np.zeros((2, 1)), v=np.zeros((2, 1)), account=np.array(account))
    with pytest.raises(UsageError, match=r"version 0\.1\.0 or earlier wrote it"):
        pendula.load_run(tmp_path / "old.npz")


class _Trap:
    def __reduce__(self) -> Any:
        return (Path.touch, (Path(_Trap.place),))

    place = ""


def test_pickles_are_never_loaded(run: Any, tmp_path: Path) -> None:
    _Trap.place = str(tmp_path / "executed")
    with np.load(_saved(run, tmp_path), allow_pickle=False) as read:
        arrays = dict(read)
    np.savez(tmp_path / "trap.npz", **{**arrays, "q": np.array([_Trap()], dtype=object)})
    (tmp_path / "raw.npz").write_bytes(pickle.dumps(_Trap()))
    for name in ("trap.npz", "raw.npz"):
        with pytest.raises(UsageError):
            pendula.load_run(tmp_path / name)
    assert not (tmp_path / "executed").exists()


def _saved(run: Any, folder: Path) -> Path:
    run.save(folder / "good.npz")
    return folder / "good.npz"


def _changed(run: Any, folder: Path, **changes: Any) -> Path:
    """A file that is whole, with other metadata."""
    with np.load(_saved(run, folder)) as read:
        arrays = dict(read)
    arrays["account"] = np.array(json.dumps({**json.loads(str(arrays["account"])), **changes}))
    np.savez(folder / "changed.npz", **arrays)
    return folder / "changed.npz"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model_text": "name = 3"}, "its model is not valid here"),
        ({"model_text": "__import__('os')"}, "its model is not valid here"),
        ({"outcome": "well"}, "is damaged"),
        ({"formulation": "hamilton"}, "hamilton"),
        ({"parameters": {"m": 1.0}}, "its parameters are not those of its model"),
        ({"kind": "Certificate"}, "holds Certificate; those that can be read back are"),
        ({"written": "equations.toml"}, "equations.toml"),
        ({"events": []}, "is damaged"),
        ({"tolerance": "tight"}, '"tolerance" is not a number'),
        ({"step": [1, 0, 0]}, '"step" is not a number'),
        ({"blocks": [{"name": "t", "kind": [], "dims": ["t"]}]}, "damaged"),
        ({"blocks": 3}, "damaged"),
        ({"blocks": [{}]}, "damaged"),
        ({"sizes": {}}, "damaged"),
    ],
)
def test_metadata_that_do_not_fit_are_refused(run: Any, changes: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        pendula.load_run(_changed(run, tmp_path, **changes))


def test_a_run_of_given_equations_needs_their_system(tmp_path: Path) -> None:
    given = {"equations": ["m*l**2/3*theta_ddot = -m*g*l/2*sin(theta)"]}
    system = pendula.derivation.compile_equations("pendulum", given)
    run = pendula.simulate(system, 0.5, samples=4)
    run.save(tmp_path / "given.json")
    with pytest.raises(UsageError, match="system="):
        pendula.load_run(tmp_path / "given.json")
    again = pendula.load_run(tmp_path / "given.json", system=system)
    assert np.array_equal(again.q, run.q)
    with pytest.raises(UsageError, match="those of the system are"):
        pendula.load_run(tmp_path / "given.json", system=pendula.compile_system("cart-pole"))


def test_changed_frames_and_datasets_are_refused(run: Any) -> None:
    frame, dataset = run.to_pandas(), run.to_xarray()
    for wrong in (
        frame.iloc[:4],
        frame.drop(columns="theta"),
        frame + 1e-9,
        dataset.isel(t=slice(3)),
        dataset.drop_vars("theta"),
    ):
        with pytest.raises(UsageError, match="load_run"):
            pendula.load_run(wrong)
    frame.attrs.clear()
    with pytest.raises(UsageError, match="holds no table of Pendula"):
        pendula.load_run(frame)
    with pytest.raises(UsageError, match="load_run takes"):
        pendula.load_run([1, 2])


# --- what is made up ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ENDINGS)
def test_damaged_and_made_up_files_are_refused_or_read_as_they_were(run: Any, ending: str, tmp_path: Path) -> None:
    """NPZ has a checksum of every array, but none of a whole archive: what was made up with care is another run."""
    path = tmp_path / f"run{ending}"
    run.save(path)
    whole, digest, refused = path.read_bytes(), run.table().digest(), 0
    for seed in range(150):
        path.write_bytes(whole)
        told = damage(random.Random(seed), path)
        try:
            found = pendula.load_run(path)
        except PendulaError:
            refused += 1
        except Exception as error:
            raise AssertionError(f"seed {seed}: {told}") from error
        else:
            assert ending == ".npz" or found.table().digest() == digest, (seed, told)
    assert refused > 75


@pytest.mark.parametrize("ending", ENDINGS)
def test_values_that_do_not_fit_into_memory_are_not_read(
    run: Any, ending: str, tmp_path: Path, monkeypatch: Any
) -> None:
    run.save(tmp_path / f"run{ending}")
    monkeypatch.setattr("pendula.storage.room.SMALL", 0)
    monkeypatch.setattr("pendula.storage.room.bytes_available_memory", lambda: 100)
    with pytest.raises(UsageError, match=r"cannot be read: its values take .* of memory, and 100 bytes are available"):
        pendula.load_run(tmp_path / f"run{ending}")


def test_terabytes_of_nothing_are_refused(run: Any, tmp_path: Path) -> None:
    import h5py

    run.save(tmp_path / "run.nc")
    with h5py.File(tmp_path / "run.nc", "r+") as file:
        del file["theta"]
        file.create_dataset("theta", (10**13,), "f8", chunks=(1000,))
    with pytest.raises(UsageError, match=r"its values take 80\.0 TB of memory"):
        pendula.load_run(tmp_path / "run.nc")
    with open(tmp_path / "run.csv", "wb") as file:
        file.truncate(8 * 10**12)
    with pytest.raises(UsageError, match=r"its values take 8\.0 TB of memory"):
        pendula.load_run(tmp_path / "run.csv")


@pytest.mark.skipif(os.name != "posix", reason="links and pipes are POSIX")
@pytest.mark.parametrize("way", ["external", "link", "soft", "virtual", "group"])
def test_values_in_other_files_are_not_read(run: Any, way: str, tmp_path: Path) -> None:
    import h5py

    run.save(tmp_path / "run.nc")
    run.save(tmp_path / "secret.nc")
    os.mkfifo(tmp_path / "pipe")
    layout = h5py.VirtualLayout((len(run.t),), "f8")
    layout[:] = h5py.VirtualSource(str(tmp_path / "secret.nc"), "theta", (len(run.t),))
    with h5py.File(tmp_path / "run.nc", "r+") as file:
        del file["theta"]
        if way == "external":  # HDF5 would wait for the pipe for ever
            file.create_dataset("theta", (8,), "f8", external=[(str(tmp_path / "pipe"), 0, 64)])
        elif way == "link":
            file["theta"] = h5py.ExternalLink(str(tmp_path / "secret.nc"), "/theta")
        elif way == "soft":
            file["theta"] = h5py.SoftLink("/theta_dot")
        elif way == "virtual":
            file.create_virtual_dataset("theta", layout)
        else:
            file.create_group("theta")
    with pytest.raises(UsageError, match='"theta" is not an array in this file, and other files are not read'):
        pendula.load_run(tmp_path / "run.nc")


@pytest.mark.skipif(os.name != "posix", reason="devices are POSIX")
@pytest.mark.parametrize("ending", ENDINGS)
def test_devices_are_read_to_a_bound(ending: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("pendula.tables.formats.MOST_FROM_PIPE", 10**6)
    (tmp_path / f"zero{ending}").symlink_to("/dev/zero")
    (tmp_path / f"null{ending}").symlink_to("/dev/null")
    with pytest.raises(UsageError, match="it is no file, and delivers more than 1000000 bytes"):
        pendula.load_run(tmp_path / f"zero{ending}")
    with pytest.raises(UsageError, match="cannot be read"):
        pendula.load_run(tmp_path / f"null{ending}")


def test_nobody_is_advised_to_execute_what_is_in_a_file(run: Any, tmp_path: Path) -> None:
    """The words of NumPy for such files advise allow_pickle=True."""
    (tmp_path / "page.npz").write_text("<!DOCTYPE html>")
    (tmp_path / "raw.npz").write_bytes(pickle.dumps({"t": 1.0}))
    np.save(tmp_path / "one.npy", np.zeros(3))
    (tmp_path / "one.npy").rename(tmp_path / "one.npz")
    np.savez(tmp_path / "objects.npz", account=np.array([{}], dtype=object))
    for name in ("page", "raw", "one", "objects"):
        for read in (pendula.load_run, lambda path: pendula.fit("pendulum", str(path), ["l"])):
            with pytest.raises(UsageError, match=f"{name}.npz.* cannot be read: ") as refused:
                read(tmp_path / f"{name}.npz")
            assert "pickle" not in str(refused.value)
