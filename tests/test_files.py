"""The writer of files: whole files under final names, whatever happens, and one clear message where that cannot be."""

from __future__ import annotations

import ast
import os
import random
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import pendula
from pendula import files
from pendula.errors import UsageError
from pendula.files import check_writable, scratch_array, write_arrays, write_bytes, write_figure, write_text, writing

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
from pendula.files import write_bytes
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


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="room cannot be taken ahead here")
def test_an_array_on_disk_takes_its_room_at_once(tmp_path, monkeypatch):
    array = scratch_array(tmp_path / "q.npy", np.dtype(float), (10, 3))
    array[:] = 1.0
    assert np.load(tmp_path / "q.npy").sum() == 30.0

    def full(*arguments):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(UsageError, match="No space left"):
        scratch_array(tmp_path / "v.npy", np.dtype(float), (10, 3))


WRITERS = {
    "write_text", "write_bytes", "savefig", "savez", "savez_compressed", "save_npz", "tofile", "savetxt", "to_csv", "to_json",
    "mkstemp", "NamedTemporaryFile", "open_memmap", "dump", "copyfile", "copy2",
}  # fmt: skip


def calls_that_write(path):
    """Lines of a source file that open a file for writing by themselves."""
    for node in ast.walk(ast.parse(path.read_text())):
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
    sources = [path for path in SOURCE.rglob("*.py") if path != SOURCE / "files.py"]
    assert len(sources) > 100
    assert [line for path in sources for line in calls_that_write(path)] == []
    assert list(calls_that_write(SOURCE / "files.py")), "the search finds nothing where there is something"
