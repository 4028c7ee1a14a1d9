"""Symbolic work ends when its time is up, and what was found before is kept."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest
import sympy as sp

import pendula
from pendula.equations.small_motion import build
from pendula.equations.small_motion import model as small_motion
from pendula.equations.time_limit import OutOfTime, within
from pendula.errors import NotSupported
from pendula.present.words.symbols import symbolic_data, symbolic_text


def endless() -> None:
    while True:
        try:
            sum(range(100))
        except Exception:  # as SymPy does in places
            continue


def test_work_without_end_is_interrupted():
    began = time.monotonic()
    with pytest.raises(OutOfTime):
        within(0.2, endless)
    assert time.monotonic() - began < 5.0
    assert within(10.0, lambda: 3) == 3


def test_the_limit_of_a_caller_ends_work_with_a_longer_one():
    with pytest.raises(OutOfTime, match=r"within 0\.2 s"):
        within(0.2, lambda: within(60.0, endless))
    with pytest.raises(OutOfTime, match=r"within 0\.1 s"):
        within(60.0, lambda: within(0.1, endless))


def test_an_interruption_from_the_keyboard_passes():
    def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        within(10.0, interrupted)


def test_no_interruption_comes_after_the_end():
    # the time is up at about the moment at which the work ends
    for _ in range(50):
        try:
            within(0.002, lambda: time.sleep(0.002))
        except OutOfTime:
            continue
    assert sum(range(10**5)) == 4999950000


AFTER_A_LIMIT = """
import sys, time
from pendula.equations.time_limit import OutOfTime, within
for seconds in (0.05, 0.002, 0.05):
    try:
        within(seconds, lambda: [time.sleep(0.001) for _ in range(100)])
    except OutOfTime:
        print("late")
sys.setprofile(lambda *_: None)
(lambda: sorted([3, 1, 2]))()
sys.setprofile(None)
print("done")
"""


def test_a_profiler_works_after_a_limit():
    """CPython 3.11 hangs under a profiler if an asynchronous exception has been withdrawn."""
    found = subprocess.run([sys.executable, "-c", AFTER_A_LIMIT], capture_output=True, text=True, timeout=60)
    assert found.stdout.split() == ["late", "late", "late", "done"], found.stderr


def test_a_limit_works_in_another_thread():
    found = []

    def work() -> None:
        try:
            within(0.2, endless)
        except OutOfTime as error:
            found.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(timeout=10.0)
    assert len(found) == 1


def wide() -> small_motion.SymbolicModel:
    """A model of six freedoms whose full matrices are symbols: its determinant has hundreds of thousands of terms."""
    n = 6
    M, C, K = (sp.Matrix(n, n, lambda i, j, x=x: sp.Symbol(f"{x}{i}{j}")) for x in "mck")
    zero = sp.zeros(n, 1)
    return small_motion.SymbolicModel(
        coordinates=tuple("abcdef"), inputs=(), M=M, C=C, K=K, F=sp.zeros(n, 0), left=zero, assumed=(), seconds=3.0
    )


def test_results_that_take_too_long_are_left_out_and_the_matrices_are_kept():
    found = wide()
    began = time.monotonic()
    text, data = symbolic_text(found, {}), symbolic_data(found)
    assert time.monotonic() - began < 3.0 + 10.0
    assert "M[1,1] = m00" in text
    assert "K[6,6] = k55" in text
    assert "the characteristic polynomial was left out: it was not found within 0.5 s" in text
    assert "the condition for stability was left out" in text
    assert "linearize(...)" in text
    assert data["polynomial"] is None
    assert data["conditions"] is None
    assert data["M"][0][0] == "m00"
    assert len(data["left_out"]) == 2
    with pytest.raises(NotSupported, match="characteristic polynomial was left out"):
        _ = found.polynomial
    assert "% the characteristic polynomial was left out" in found.latex()
    assert "left out" in str(found)


def test_a_late_account_of_terms_is_left_out_and_the_matrices_are_kept(monkeypatch):
    monkeypatch.setattr(build._Builder, "told", lambda *_: endless())
    found = pendula.linear.linearize_symbolic("pendulum")
    with pytest.raises(NotSupported, match=r"the account of every term was left out: it was not found within 0\.2 s"):
        _ = replace(found, seconds=0.2).equations
    assert found.conditions == ()
    assert "account" not in symbolic_text(found, {})  # it is no part of what is printed


def test_the_account_of_terms_is_built_once_and_only_if_it_is_asked_for(monkeypatch):
    built = []
    told = build._Builder.told
    monkeypatch.setattr(build._Builder, "told", lambda *args: built.append(args) or told(*args))
    found = pendula.linear.linearize_symbolic("pendulum")
    symbolic_text(found, {}), symbolic_data(found), found.latex(), str(found)
    assert built == []
    assert found.equations is found.equations
    assert len(built) == 1
    monkeypatch.undo()
    kept = pickle.loads(pickle.dumps(pendula.linear.linearize_symbolic("pendulum")))
    assert kept.equations == found.equations
