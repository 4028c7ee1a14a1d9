"""The disk cache of compiled kernels: where it is, that it is private, and that it can be missing."""

from __future__ import annotations

import errno
import gc
import hashlib
import importlib
import os
import pickle
import stat
import subprocess
import sys
from functools import reduce
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import PassManager
from numba.core.registry import cpu_target

from pendula.app.main import main
from pendula.numerics.compiled import jit, kernel_files
from pendula.numerics.compiled.kernel_files import KernelFiles
from pendula.numerics.compiled.native import address_of, call_native, doubles_at, integers_at

PROBE = """
from pendula.numerics.compiled import jit
from pendula.numerics.solvers.linear import cholesky_factor
import numpy as np
assert cholesky_factor(np.eye(2), 2)
print(jit.cache_directory, sum(cholesky_factor.stats.cache_hits.values()), jit.cache_note, sep="|")
"""


def run_python(code, **environment):
    """Lines that a fresh Python prints."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PENDULA_CACHE_DIR", "XDG_CACHE_HOME")}
    source = str(Path(jit.__file__).parents[2])
    kept["PYTHONPATH"] = os.pathsep.join([source, kept.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", code], env={**kept, **environment}, capture_output=True, text=True, check=True
    )
    return done.stdout.removesuffix("\n").split("\n")


def run_probe(**environment):
    directory, hits, note = run_python(PROBE, **environment)[0].split("|")
    return directory, int(hits), note


ONLY_COMPILING_NEEDS = "numba.np.arraymath", "scipy.linalg"


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    """What fresh processes print one after the other in one directory; before the third, a kernel is damaged.

    Of each the directory, the number of kernels that it found, its note and what it had to import.
    """
    chosen = tmp_path_factory.mktemp("kernels") / "kept"
    probe = PROBE + f"import sys; print(*[name for name in {ONLY_COMPILING_NEEDS} if name in sys.modules])"
    seen = []
    for number in range(4):
        if number == 2:
            (path,) = Path(seen[0][0]).glob("*.kernel")
            damage_one_bit(path)
        first, imported = run_python(probe, PENDULA_CACHE_DIR=str(chosen))
        directory, hits, note = first.split("|")
        seen.append((directory, int(hits), note, imported))
    return chosen, seen


def test_kernels_are_kept_in_a_private_directory_and_found_again(processes):
    chosen, ((directory, hits, note, _), (again, found_again, _, _), *_) = processes
    assert Path(directory).parent == chosen
    assert hits == 0
    assert note == ""
    assert list(Path(directory).glob("*.kernel"))
    if os.name == "posix":
        assert stat.S_IMODE(chosen.stat().st_mode) == stat.S_IMODE(Path(directory).stat().st_mode) == 0o700
    assert again == directory
    assert found_again == 1


def test_a_directory_that_cannot_be_made_is_noted_and_done_without(tmp_path):
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a directory")
    directory, hits, note = run_probe(PENDULA_CACHE_DIR=str(in_the_way / "cache"))
    assert directory == ""
    assert hits == 0
    assert note.startswith("compiled kernels are not cached on disk")
    assert "file" in note


@pytest.mark.skipif(os.name != "posix", reason="ownership and modes are POSIX")
def test_a_directory_others_can_write_to_is_refused(tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    code = "from pendula.numerics.compiled import jit; print(jit.cache_directory, jit.cache_note, sep='|')"
    directory, note = run_python(code, PENDULA_CACHE_DIR=str(shared))[0].split("|")
    assert directory == ""
    assert "is writable by other users" in note


@pytest.mark.skipif(os.name != "posix", reason="ownership and modes are POSIX")
def test_only_the_root_of_the_cache_may_be_a_folder_such_as_tmp(tmp_path):
    root = tmp_path / "shared"
    root.mkdir()
    root.chmod(0o1777)
    code = "from pendula.numerics.compiled import jit; print(jit.cache_directory, jit.cache_note, sep='|')"
    directory, note = run_python(code, PENDULA_CACHE_DIR=str(root))[0].split("|")
    assert Path(directory).parent == root
    assert note == ""
    Path(directory).chmod(0o1777)  # others could add kernels
    refused, note = run_python(code, PENDULA_CACHE_DIR=str(root))[0].split("|")
    assert refused == ""
    assert f"{directory} is writable by other users" in note


def test_the_order_of_places_is_own_variable_then_xdg_then_home(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("PENDULA_CACHE_DIR", str(tmp_path / "own"))
    assert jit.cache_root() == tmp_path / "own"
    monkeypatch.delenv("PENDULA_CACHE_DIR")
    assert jit.cache_root() == tmp_path / "xdg" / "pendula"
    usual = Path.home() / "Library" / "Caches" if sys.platform == "darwin" else Path.home() / ".cache"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # "must be absolute ... consider the path invalid and ignore it"
    if sys.platform != "win32":
        assert jit.cache_root() == usual / "pendula"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert "pendula" in jit.cache_root().parts


def test_functions_without_a_file_still_compile():
    scope = {"compiled": jit.compiled}
    exec("@compiled\ndef double(x):\n    return 2 * x\n", scope)
    assert scope["double"](21) == 42


@jit.compiled_callback
def _scaled_sum(out, inp, context):
    sizes = integers_at(context, 2)
    values = doubles_at(inp, (sizes[0], sizes[1]))
    doubles_at(out, 1)[0] = values.sum()


@jit.compiled
def _call(address, context, out, inp):
    call_native(address, address_of(out), address_of(inp), context)


def test_native_functions_are_called_by_address_with_their_context():
    values, out = np.arange(6.0), np.zeros(1)
    callback = _scaled_sum.bind(np.array([2, 3]))
    _call(callback.address, callback.context, out, values)
    assert out[0] == 15.0


def test_a_context_that_is_not_contiguous_is_refused():
    with pytest.raises(ValueError, match="contiguous"):
        _scaled_sum.bind(np.arange(10)[::2])


# --- damaged files ----------------------------------------------------------------------------------


def damage_by_cutting(path):
    path.write_bytes(path.read_bytes()[:-100])


def damage_one_bit(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def damage_by_emptying(path):
    path.write_bytes(b"")


def damage_by_overwriting(path):
    path.write_bytes(b"not machine code " * 100)


def damage_with_a_right_checksum(path):
    """Content that passes the check and is no kernel: as if the format had changed."""
    content = b"not a pickle"
    path.write_bytes(hashlib.sha256(content).digest() + content)


def twice(x):
    return 2.0 * x


def thrice(x):
    return 3.0 * x


def compiled_with_files(function, directory, notes):
    dispatcher = numba.njit(function)
    dispatcher._cache = KernelFiles(function, directory, {}, notes.append)
    return dispatcher


def found(function, directory, *signature):
    """What the files of a function hold for a signature; None if nothing of use."""
    return KernelFiles(function, directory, {}, print).load_overload(signature, cpu_target.target_context)


@pytest.mark.parametrize(
    "damage",
    [
        damage_by_cutting,
        damage_one_bit,
        damage_by_emptying,
        damage_by_overwriting,
        damage_with_a_right_checksum,
        Path.unlink,
    ],
)
def test_a_damaged_file_is_compiled_anew_and_replaced(tmp_path, damage):
    notes = []
    assert compiled_with_files(twice, tmp_path, notes)(1.0) == 2.0
    (path,) = tmp_path.iterdir()
    damage(path)
    assert found(twice, tmp_path, numba.float64) is None
    assert compiled_with_files(twice, tmp_path, notes)(1.0) == 2.0
    assert found(twice, tmp_path, numba.float64) is not None
    assert notes == []


def test_a_fresh_process_goes_on_after_damage(processes):
    _, (first, _, after_damage, last) = processes
    assert after_damage[:3] == (first[0], 0, "")
    assert last[:3] == (first[0], 1, "")


def test_a_file_that_cannot_be_replaced_is_noted(tmp_path):
    assert compiled_with_files(twice, tmp_path, [])(1.0) == 2.0
    (path,) = tmp_path.iterdir()
    path.unlink()
    path.mkdir()
    notes = []
    assert compiled_with_files(twice, tmp_path, notes)(1.0) == 2.0
    assert len(notes) == 1
    assert list(tmp_path.iterdir()) == [path], "an unfinished file was left behind"


def given_to_another_user(path, monkeypatch):
    if os.getuid() == 0:
        os.chown(path, 65534, 65534)
    else:
        me = os.getuid()
        monkeypatch.setattr(os, "getuid", lambda: me + 1)


def written_to_by_others(path, monkeypatch):
    path.chmod(0o666)


def led_elsewhere(path, monkeypatch):
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))


def made_a_pipe(path, monkeypatch):
    path.unlink()
    os.mkfifo(path)


class Trap:
    def __reduce__(self):
        return (Path.touch, (Path(os.environ["TRAP"]),))


@pytest.mark.skipif(os.name != "posix", reason="ownership and modes are POSIX")
@pytest.mark.parametrize("change", [given_to_another_user, written_to_by_others, led_elsewhere, made_a_pipe])
def test_files_that_others_could_have_written_are_not_executed(tmp_path, monkeypatch, change):
    monkeypatch.setenv("TRAP", str(tmp_path / "executed"))
    folder = tmp_path / "kernels"
    assert compiled_with_files(twice, folder, [])(1.0) == 2.0
    (path,) = folder.iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600  # whatever the umask is
    content = pickle.dumps(Trap())
    path.write_bytes(hashlib.sha256(content).digest() + content)
    with monkeypatch.context() as patch:
        change(path, patch)
        assert found(twice, folder, numba.float64) is None
    assert not (tmp_path / "executed").exists()
    assert compiled_with_files(twice, folder, [])(1.0) == 2.0  # and an own file takes the name
    assert stat.S_IMODE(path.lstat().st_mode) == 0o600
    assert found(twice, folder, numba.float64) is not None


def test_the_file_of_another_function_is_not_used(tmp_path):
    """The right checksum, the wrong code."""
    assert compiled_with_files(twice, tmp_path, [])(1.0) == 2.0
    (of_twice,) = tmp_path.iterdir()
    assert compiled_with_files(thrice, tmp_path, [])(1.0) == 3.0
    assert found(thrice, tmp_path, numba.float64) is not None
    (of_thrice,) = set(tmp_path.iterdir()) - {of_twice}
    of_thrice.write_bytes(of_twice.read_bytes())
    assert found(thrice, tmp_path, numba.float64) is None


def test_every_signature_has_a_file_of_its_own(tmp_path):
    double = compiled_with_files(twice, tmp_path, [])
    assert double(1.0) == 2.0
    assert double(np.float32(1.0)) == 2.0
    assert len(list(tmp_path.iterdir())) == 2
    for signature in (numba.float64, numba.float32):
        assert found(twice, tmp_path, signature).signature.args == (signature,)
    assert found(twice, tmp_path, numba.int64) is None


def test_a_directory_that_went_away_is_made_again(tmp_path):
    notes = []
    double = compiled_with_files(twice, tmp_path / "gone", notes)
    assert double(1.0) == 2.0
    assert len(list((tmp_path / "gone").iterdir())) == 1
    assert notes == []


def test_a_directory_that_cannot_be_made_again_is_noted_once(tmp_path):
    (tmp_path / "file").write_text("in the way")
    notes = []
    double = compiled_with_files(twice, tmp_path / "file", notes)
    assert double(1.0) == 2.0
    assert double(np.float32(1.0)) == 2.0
    assert len(notes) == 1
    assert "file" in notes[0]


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() == 0, reason="modes do not hold back the superuser")
def test_a_directory_that_became_unwritable_is_noted(tmp_path):
    notes = []
    double = compiled_with_files(twice, tmp_path, notes)
    tmp_path.chmod(0o500)
    try:
        assert double(1.0) == 2.0
    finally:
        tmp_path.chmod(0o700)
    assert len(notes) == 1


def test_a_full_disk_is_noted_and_leaves_nothing_behind(tmp_path, monkeypatch):
    def full(*arguments, **options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for name in ("replace", "link"):  # how files get their names
        monkeypatch.setattr(os, name, full)
    notes = []
    assert compiled_with_files(twice, tmp_path, notes)(1.0) == 2.0
    assert len(notes) == 1
    assert os.strerror(errno.ENOSPC) in notes[0]
    assert list(tmp_path.iterdir()) == []


def test_code_that_needs_a_symbol_nobody_has_is_compiled_anew(tmp_path, monkeypatch):
    """Loading it all the same would end the process."""
    monkeypatch.setattr(kernel_files, "_needed_symbols", lambda result: ["no_such_function_anywhere"])
    assert compiled_with_files(twice, tmp_path, [])(1.0) == 2.0
    assert found(twice, tmp_path, numba.float64) is None


@pytest.mark.parametrize("module", kernel_files.PRIVATE)
def test_numba_has_what_the_files_use_of_it(module):
    found = importlib.import_module(module)
    for name in kernel_files.PRIVATE[module].split():
        assert reduce(lambda thing, part: getattr(thing, part, None), name.split("."), found) is not None, (
            f"numba {numba.__version__} has moved {module}.{name}: see numerics/compiled/kernel_files.py"
        )


def test_loading_does_not_import_what_only_compiling_needs(processes):
    """All of it together takes about half a second."""
    _, (first, second, *_) = processes
    assert first[3] == " ".join(ONLY_COMPILING_NEEDS)
    assert second[3] == ""


def test_a_command_says_what_is_not_kept(monkeypatch, capsys):
    monkeypatch.setattr(jit, "cache_note", "compiled kernels are not cached on disk: no room")
    with pytest.raises(SystemExit) as end:
        main(["list"])
    assert end.value.code == 0
    assert capsys.readouterr().err == "note: compiled kernels are not cached on disk: no room\n"


KEPT = """
import numpy as np, pendula
from pendula import library
from tests.kernels_ahead import recursion, runs
recursion()
runs()
bars = [pendula.simulate(pendula.compile_system(library.four_bar(), **how), 0.5)
        for how in ({}, {"formulation": "maximal"}, {"engine": "recursive"})]
print(max(abs(bars[0]["crank"][-1] - run["crank"][-1]) for run in bars) < 1e-6, all(run.ok for run in bars))
"""


def test_all_kept_kernels_work_in_one_process():
    """Kernels of one name that are loaded from disk must not take each other's place (all engines in one process)."""
    folder = {} if jit.cache_directory is None else {"PENDULA_CACHE_DIR": str(Path(jit.cache_directory).parent)}
    here = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-c", KEPT],
        cwd=here,
        env={**os.environ, **folder},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "True True"), done.stderr


def test_no_garbage_is_searched_while_numba_compiles():
    searched = []

    @global_compiler_lock
    def work(depth):
        searched.append(gc.isenabled())
        if depth == 0:
            raise ZeroDivisionError
        work(depth - 1)

    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError):
        work(2)
    assert searched == [True, False, False]  # from the second request on: the first one may be interrupted
    assert gc.isenabled()
    gc.disable()
    try:
        with global_compiler_lock, global_compiler_lock:
            pass
        assert not gc.isenabled()  # as it was before
    finally:
        gc.enable()


def test_garbage_is_searched_after_an_interruption_while_numba_waits_for_its_lock(monkeypatch):
    class Interrupted:
        """A lock that another thread holds, when Ctrl-C comes."""

        def acquire(self):
            raise KeyboardInterrupt

        def _is_owned(self):
            return False

    with monkeypatch.context() as patch:
        patch.setattr(global_compiler_lock, "_lock", Interrupted())
        with pytest.raises(KeyboardInterrupt):
            global_compiler_lock.acquire()
    assert gc.isenabled()


def test_no_garbage_is_searched_in_the_passes_of_a_compilation(monkeypatch):
    searched = []
    run = PassManager._runPass
    monkeypatch.setattr(PassManager, "_runPass", lambda *a: (searched.append(gc.isenabled()), run(*a))[1])
    numba.njit(lambda x: x + 1)(2)
    assert gc.isenabled()
    assert len(searched) > 10
    assert sum(searched) <= 1
