"""The writer of files: whole files under final names, whatever happens, and one clear message where that cannot be."""

from __future__ import annotations

import ast
import contextlib
import os
import random
import re
import signal
import stat
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

import pendula
from pendula.errors import UsageError
from pendula.simulation.ensemble import mapped_array
from pendula.storage import files
from pendula.storage.archives import ArrayArchive
from pendula.storage.files import check_writable, write_arrays, write_bytes, write_figure, write_text, writing

SOURCE = Path(pendula.__file__).parent
KILLS = 50
posix = pytest.mark.skipif(os.name != "posix", reason="signals, modes and limits are POSIX")


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_written_and_replaced(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "one\n")
    write_text(path, "zwölf\n")
    assert path.read_bytes() == "zwölf\n".encode()
    write_arrays(tmp_path / "a.npz", {"x": np.arange(3.0)})
    with np.load(tmp_path / "a.npz") as found:
        assert found["x"].tolist() == [0.0, 1.0, 2.0]
    assert names(tmp_path) == ["a.npz", "a.txt"]


def test_nothing_changes_when_the_content_cannot_be_made(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "old")

    def half_written():
        with writing(path) as file:
            file.write(b"new")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half_written()
    assert path.read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.slow  # a few kills of every writer are in tests/faults, in every run
@posix
def test_a_process_killed_while_saving_leaves_the_old_or_the_new_file(tmp_path):
    path = tmp_path / "run.npz"
    size = 50_000
    begin = time.perf_counter()
    write_arrays(path, {"x": np.zeros(size)}, compressed=False)
    usual = time.perf_counter() - begin
    chance = random.Random(1)
    seen = set()
    for attempt in range(1, KILLS + 1):
        before = path.stat().st_ino
        child = os.fork()
        if child == 0:
            try:
                while True:
                    write_arrays(path, {"x": np.full(size, float(attempt))}, compressed=False)
            finally:
                os._exit(1)
        if attempt % 10 == 0:  # on a busy machine the others may not get far
            while path.stat().st_ino == before and time.perf_counter() - begin < 120.0:
                time.sleep(usual)
        time.sleep(chance.uniform(0.0, 4.0 * usual))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with np.load(path) as found:
            values = found["x"]
        assert values.shape == (size,)
        assert np.all(values == values[0])
        seen.add(float(values[0]))
    assert len(seen) > 1, "no child got as far as replacing the file"
    assert all(name == path.name or name.endswith(files.UNFINISHED) for name in names(tmp_path))


LIMITED = """
import resource, sys
import pendula
from pendula.errors import UsageError
from pendula.storage.files import write_bytes
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    write_bytes(sys.argv[1], b"x" * 1_000_000)
except UsageError as error:
    print(error)
"""


@posix
def test_a_file_that_finds_no_room_is_one_message_and_the_old_one_stays(tmp_path):
    path = tmp_path / "a.bin"
    write_bytes(path, b"old")
    environment = {**os.environ, "PYTHONPATH": str(SOURCE.parent)}
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path)], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout == f'"{path}" cannot be written: File too large\n'
    assert done.stderr == ""
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a.bin"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_full_disk_is_one_message():
    with pytest.raises(UsageError, match=r'^"/dev/full" cannot be written: No space left on device$'):
        write_bytes("/dev/full", b"x" * 100_000)


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="there is no such device")
def test_what_is_no_regular_file_is_written_to_directly(tmp_path):
    write_text("/dev/null", "gone")
    assert not stat.S_ISREG(os.stat("/dev/null").st_mode)
    check_writable(Path("/dev/null"))


@pytest.mark.parametrize("write", [lambda path: write_text(path, ""), check_writable])
def test_what_cannot_be_written_is_named(tmp_path, write):
    (tmp_path / "file").write_text("in the way")
    for path in (tmp_path, tmp_path / "file" / "a.txt", tmp_path / "a\0b"):
        with pytest.raises(UsageError, match="cannot be written") as refused:
            write(path)
        assert tmp_path.name in str(refused.value)
        assert "\0" not in str(refused.value)
    assert names(tmp_path) == ["file"]


def test_a_missing_folder_is_named_by_the_writer_and_made_by_the_check(tmp_path):
    path = tmp_path / "no" / "a.txt"
    with pytest.raises(UsageError, match="No such file or directory"):
        write_text(path, "")
    check_writable(path)
    write_text(path, "")
    assert names(tmp_path / "no") == ["a.txt"]


@posix
def test_permissions_are_kept_and_follow_the_mask(tmp_path):
    path = tmp_path / "a.txt"
    before = os.umask(0o027)
    try:
        write_text(path, "")
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o600)
        write_text(path, "")
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    finally:
        os.umask(before)


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() == 0, reason="modes do not hold back the superuser")
def test_a_file_closed_to_the_user_is_not_replaced(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(0o400)
    with pytest.raises(UsageError, match="Permission denied"):
        write_text(path, "new")
    assert path.read_text() == "old"


@posix
def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "link.txt").symlink_to(tmp_path / "real.txt")
    write_text(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


def test_figures_take_the_format_of_their_name(tmp_path):
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(1.0, 1.0))
    for name in ("a.png", "b.svg", "c"):
        write_figure(figure, tmp_path / name, dpi=20)
    assert names(tmp_path) == ["a.png", "b.svg", "c.png"]
    assert (tmp_path / "b.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize("shape", [(10, 3), (0, 3), (4, 7, 2)])
def test_an_archive_that_is_filled_in_place_equals_one_that_is_written(tmp_path, shape):
    values = {"x": np.random.default_rng(0).normal(size=shape), "y": np.arange(5), "z": np.array("text")}
    archive = ArrayArchive(tmp_path / "a.npz", {"x": shape, "w": (3,)}, 10_000)
    assert np.isnan(archive.arrays["x"]).all()
    archive.arrays["x"][...] = values["x"]
    archive.write(values | {"x": archive.arrays["x"]})
    assert not (tmp_path / "a.npz").exists()
    archive.publish()
    assert names(tmp_path) == ["a.npz"]
    with zipfile.ZipFile(tmp_path / "a.npz") as found:
        assert found.testzip() is None
    with np.load(tmp_path / "a.npz", allow_pickle=False) as found:
        assert sorted(found.files) == ["w", "x", "y", "z"]
        for name, expected in values.items():
            np.testing.assert_array_equal(found[name], expected)
        assert np.isnan(found["w"]).all()
    if 0 not in shape:
        assert mapped_array(tmp_path / "a.npz", "x").flags.aligned
    write_arrays(tmp_path / "b.npz", values, compressed=False)
    assert (tmp_path / "a.npz").stat().st_size < (tmp_path / "b.npz").stat().st_size + 2_000  # nothing reserved is left


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="room cannot be taken ahead here")
def test_an_archive_takes_its_room_at_once(tmp_path, monkeypatch):
    (tmp_path / "a.npz").write_text("old")
    with pytest.raises(UsageError, match=r"a.npz.*cannot be written: it takes 8.0 PB, and .* are free"):
        ArrayArchive(tmp_path / "a.npz", {"x": (10**9, 10**6)}, 0)

    def full(*arguments):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(UsageError, match=r"it takes 1\.3 kB, and"):
        ArrayArchive(tmp_path / "a.npz", {"x": (10, 3)}, 0)
    assert names(tmp_path) == ["a.npz"]
    assert (tmp_path / "a.npz").read_text() == "old"


def test_an_archive_that_cannot_have_its_name_is_kept_under_another(tmp_path):
    archive = ArrayArchive(tmp_path / "a.npz", {"x": (10, 3)}, 10_000)
    archive.arrays["x"][...] = 2.0
    archive.write({})
    (tmp_path / "a.npz").mkdir()  # in the meantime
    with pytest.raises(UsageError, match=r'a.npz" cannot be written.*\n  The results are kept in') as refused:
        archive.publish()
    kept = Path(str(refused.value).rpartition('kept in "')[2].rstrip('".'))
    with np.load(kept) as found:
        assert (found["x"] == 2.0).all()
    assert names(tmp_path) == sorted(["a.npz", kept.name])


@pytest.mark.parametrize("old", [None, "old"])
def test_a_file_that_cannot_get_a_name_later_is_copied(tmp_path, monkeypatch, old):
    def refused(*arguments, **options):
        raise PermissionError(1, os.strerror(1))

    monkeypatch.setattr(os, "link", refused)
    if old:
        (tmp_path / "a.txt").write_text(old)
        (tmp_path / "a.txt").chmod(0o640)
    write_text(tmp_path / "a.txt", "new")
    assert (tmp_path / "a.txt").read_text() == "new"
    assert names(tmp_path) == ["a.txt"]
    if old and os.name == "posix":
        assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o640


@posix
@pytest.mark.parametrize("unnamed", [True, False])
def test_what_killed_processes_left_is_removed(tmp_path, monkeypatch, unnamed):
    """Where files have no name until they are whole, nothing is left; elsewhere the next writer removes it."""
    if not unnamed:
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    elif not hasattr(os, "O_TMPFILE"):
        pytest.skip("files must have names here")
    path = tmp_path / "a.txt"
    child = os.fork()
    if child == 0:
        with writing(path) as file:
            file.write(b"half")
            file.flush()
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    left = names(tmp_path)
    assert len(left) == (0 if unnamed else 1)
    with writing(path) as file:
        file.write(b"another process writes now")
        for name in left:
            os.utime(tmp_path / name, (0, 0))
        for entry in tmp_path.iterdir():
            os.utime(entry, (0, 0))
        write_text(path, "new")
        assert len(names(tmp_path)) == (1 if unnamed else 2)  # what is still being written stays
    assert path.read_text() == "another process writes now"
    assert names(tmp_path) == ["a.txt"]


WRITERS = {
    "write_text", "write_bytes", "savefig", "savez", "savez_compressed", "save_npz", "tofile", "savetxt", "to_csv", "to_json",
    "mkstemp", "NamedTemporaryFile", "open_memmap", "dump", "copyfile", "copy2",
}  # fmt: skip
CALLED = re.compile(rf"\b({'|'.join(sorted(WRITERS))}|open|fdopen)\b")


def calls_that_write(path):
    """Lines of a source file that open a file for writing by themselves."""
    text = path.read_text()
    if not CALLED.search(text):  # most files: to parse them all takes seconds
        return
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        if name in WRITERS and isinstance(called, ast.Attribute):
            yield f"{path.relative_to(SOURCE)}:{node.lineno} {name}"
        elif name in ("open", "fdopen"):
            texts = [x.value for x in ast.walk(node) if isinstance(x, ast.Constant) and isinstance(x.value, str)]
            if any(text and set(text) <= set("rwaxbt+U") and set(text) & set("wax+") for text in texts):
                yield f"{path.relative_to(SOURCE)}:{node.lineno} {name}"


def test_nothing_else_in_the_package_writes_files():
    # archives.py opens members of an archive whose file files.py made; pipes.py opens what is no regular file
    allowed = {SOURCE / "storage" / name for name in ("files.py", "archives.py", "pipes.py")}
    sources = [path for path in SOURCE.rglob("*.py") if path not in allowed]
    assert len(sources) > 100
    assert [line for path in sources for line in calls_that_write(path)] == []
    assert list(calls_that_write(SOURCE / "storage" / "files.py")), "the search finds nothing where there is something"


def _interrupted_at(call: int, work) -> int:
    """Interrupts some work at one of its calls of Python functions; returns how many there were."""
    count = 0

    def profile(frame, event, argument) -> None:
        nonlocal count
        if event == "call":
            count += 1
            if count == call:
                signal.raise_signal(signal.SIGINT)

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def test_an_interrupt_while_arrays_are_written_is_one_and_the_old_file_stays(tmp_path):
    path, before = tmp_path / "run.npz", signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        write_arrays(path, {"a": np.arange(3.0)})
        old = path.read_bytes()
        calls = _interrupted_at(0, lambda: write_arrays(tmp_path / "other.npz", {"b": np.ones(2), "c": np.ones(2)}))
        whole = (tmp_path / "other.npz").read_bytes()
        (tmp_path / "other.npz").unlink()
        for call in range(1, calls, 5):
            with contextlib.suppress(KeyboardInterrupt):
                _interrupted_at(call, lambda: write_arrays(path, {"b": np.ones(2), "c": np.ones(2)}))
            assert len(path.read_bytes()) in (len(old), len(whole))
            assert os.listdir(tmp_path) == [path.name]
            write_bytes(path, old)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
