"""The disk cache of compiled kernels: where it is, that it is private, and that it can be missing."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from pendula.numerics import jit
from pendula.numerics.native import address_of, call_native, doubles_at, integers_at

PROBE = """
from numba.core import config
before = config.CACHE_DIR
from pendula.numerics import jit
from pendula.numerics.linear import cholesky_factor
import numpy as np
assert cholesky_factor(np.eye(2), 2)
assert config.CACHE_DIR == before
print(jit.cache_directory, sum(cholesky_factor.stats.cache_hits.values()), jit.cache_note, sep="|")
"""


def run_probe(**environment):
    kept = {name: value for name, value in os.environ.items() if name not in ("PENDULA_CACHE_DIR", "XDG_CACHE_HOME")}
    source = str(Path(jit.__file__).parents[2])
    kept["PYTHONPATH"] = os.pathsep.join([source, kept.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", PROBE], env={**kept, **environment}, capture_output=True, text=True, check=True
    )
    directory, hits, note = done.stdout.strip().split("|")
    return directory, int(hits), note


def test_kernels_are_kept_in_a_private_directory_and_found_again(tmp_path):
    chosen = tmp_path / "kept"
    directory, hits, note = run_probe(PENDULA_CACHE_DIR=str(chosen))
    assert Path(directory).parent == chosen
    assert hits == 0
    assert note == ""
    assert list(Path(directory).rglob("*.nbc"))
    if os.name == "posix":
        assert stat.S_IMODE(chosen.stat().st_mode) == stat.S_IMODE(Path(directory).stat().st_mode) == 0o700
    again, hits, _ = run_probe(PENDULA_CACHE_DIR=str(chosen))
    assert again == directory
    assert hits == 1


def test_a_directory_that_cannot_be_made_is_noted_and_done_without(tmp_path):
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a directory")
    directory, hits, note = run_probe(PENDULA_CACHE_DIR=str(in_the_way / "cache"))
    assert directory == ""
    assert hits == 0
    assert note.startswith("compiled kernels are not kept on disk")
    assert "file" in note


@pytest.mark.skipif(os.name != "posix", reason="ownership and modes are POSIX")
def test_a_directory_others_can_write_to_is_refused(tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    directory, _, note = run_probe(PENDULA_CACHE_DIR=str(shared))
    assert directory == ""
    assert "can be written by other users" in note


def test_the_order_of_places_is_own_variable_then_xdg_then_home(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("PENDULA_CACHE_DIR", str(tmp_path / "own"))
    assert jit.cache_root() == tmp_path / "own"
    monkeypatch.delenv("PENDULA_CACHE_DIR")
    assert jit.cache_root() == tmp_path / "xdg" / "pendula"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert "pendula" in jit.cache_root().parts


def test_the_hash_follows_every_kernel_source(monkeypatch, tmp_path):
    package = tmp_path / "pendula"
    for room in ("numerics", "system"):
        (package / room).mkdir(parents=True)
    (package / "numerics" / "jit.py").write_text("a = 1")
    (package / "system" / "kernel.py").write_text("b = 1")
    monkeypatch.setattr(jit, "__file__", str(package / "numerics" / "jit.py"))
    first = jit.kernel_hash()
    assert jit.kernel_hash() == first
    (package / "system" / "kernel.py").write_text("b = 2")
    assert jit.kernel_hash() != first


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


def test_users_numba_settings_are_left_alone():
    assert jit.cache_directory != numba.config.CACHE_DIR or not jit.cache_directory
