"""Bad commands end in exit code 2 and one message that names the cause; never in a traceback."""

from __future__ import annotations

import time

import pytest

from tests.app.conftest import run_command

LONGEST = 5.0  # seconds of CPU; kernels are compiled before the clock starts

GOOD = """
name = "swing"
gravity = [0, "-g", 0]
[parameters]
g = 9.81
[[bodies]]
name = "link"
rod = { mass = 1, length = 1 }
[[joints]]
name = "theta"
type = "revolute"
parent = "ground"
child = "link"
"""

CASES = {
    "unknown command": (["simulat", "chain"], ['"simulat"', "simulate"]),
    "unknown command far off": (["frobnicate"], ['"frobnicate"']),
    "unknown option": (["simulate", "chain", "--speed", "3"], ["--speed"]),
    "ensemble of equal runs": (["ensemble", "pendulum"], ["--vary", "--spread"]),
    "ensemble without runs": (["ensemble", "pendulum", "--runs", "0", "--vary", "theta=0:1"], ["--runs"]),
    "range without end": (["ensemble", "pendulum", "--vary", "theta=1"], ["LOW:HIGH", '"1"']),
    "range of nothing known": (["ensemble", "pendulum", "--vary", "thata=0:1"], ['"thata"', '"theta"']),
    "range and spread": (["ensemble", "pendulum", "--vary", "theta=0:1", "--spread", "theta=1"], ['"theta"']),
    "range of words": (["ensemble", "pendulum", "--vary", "theta=a:b"], ["theta"]),
    "negative seed": (["ensemble", "pendulum", "--vary", "theta=0:1", "--seed", "-1"], ["--seed"]),
    "no model": (["simulate"], ["MODEL"]),
    "two models": (["show", "chain", "pendulum"], ["pendulum"]),
    "unknown mechanism": (["show", "chian"], ['"chian"', '"chain"']),
    "unknown mechanism far off": (["derive", "zzz"], ['"zzz"', "pendulum"]),
    "option by its name in Python": (["simulate", "chain", "--duration", "3"], ["--duration", "'--for'"]),
    "option by another name": (["ensemble", "chain", "-n", "3"], ["'-n'", "'--runs'"]),
    "missing file": (["show", "nothing.toml"], ["nothing.toml", "there is no such file"]),
    "missing file in folder": (["simulate", "no/such/file.toml"], ["no/such/file.toml"]),
    "folder as model": (["show", "."], ["."]),
    "folder with toml name": (["show", "folder.toml"], ["folder.toml"]),
    "invalid toml": (["show", "broken.toml"], ["broken.toml", "not valid TOML"]),
    "not text": (["show", "bytes.toml"], ["bytes.toml", "UTF-8"]),
    "empty file": (["show", "empty.toml"], ["empty.toml", "name", "missing"]),
    "bad model": (["simulate", "bad.toml"], ["bad.toml", 'body "link"', "length"]),
    "setting without value": (["show", "chain", "-p", "links"], ["NAME=VALUE", '"links"']),
    "setting without name": (["show", "chain", "-p", "=3"], ["NAME=VALUE"]),
    "setting twice": (["show", "chain", "-p", "links=3", "-p", "links=4"], ['"links"', "twice"]),
    "unknown parameter": (["show", "chain", "-p", "lenks=3"], ['"lenks"', '"links"']),
    "unknown parameter of a file": (["show", "good.toml", "-p", "gg=1"], ['"gg"', '"g"']),
    "word for a number": (["show", "chain", "-p", "links=ten"], ["links", "expected an integer"]),
    "fraction of a link": (["show", "chain", "-p", "links=2.5"], ["links", "expected an integer"]),
    "no links": (["show", "chain", "-p", "links=0"], ["links"]),
    "negative links": (["show", "chain", "-p", "links=-3"], ["links"]),
    "too many links": (["show", "chain", "-p", "links=100000000"], ["links"]),
    "wrong choice": (["show", "chain", "-p", "kind=rope"], ["kind", "rod", "point"]),
    "wrong chart": (["show", "spherical-pendulum", "-p", "chart=polar"], ["chart", "angles", "xy"]),
    "list of wrong length": (["show", "chain", "-p", "links=3", "-p", "mass=1,2"], ["3 links"]),
    "negative mass": (["show", "pendulum", "-p", "m=-1"], ["mass", "negative"]),
    "zero length": (["show", "pendulum", "-p", "l=0"], ["length"]),
    "value is no expression": (["show", "pendulum", "-p", "m=1+"], ["m"]),
    "value is hostile": (["show", "pendulum", "-p", "m=__import__('os').system('true')"], ["m"]),
    "value is not finite": (["show", "pendulum", "-p", "m=1e999"], ["m"]),
    "value divides by zero": (["show", "pendulum", "-p", "m=1/(l-l)"], ["m"]),
    "unknown formulation": (["derive", "pendulum", "--formulation", "hamilton"], ['"hamilton"', "lagrange", "kane"]),
    "unknown format": (["derive", "pendulum", "--format", "pdf"], ['"pdf"', "latex"]),
    "unknown stepper": (["simulate", "pendulum", "--stepper", "euler"], ['"euler"', "dop853"]),
    "fixed step is missing": (["simulate", "pendulum", "--stepper", "rk4"], ["rk4", "--step"]),
    "fixed step is zero": (["simulate", "pendulum", "--stepper", "rk4", "--step", "0"], ["step", "positive"]),
    "fixed step is nan": (["simulate", "pendulum", "--stepper", "rk4", "--step", "nan"], ["step", "positive"]),
    "fixed step is too long": (["simulate", "pendulum", "--stepper", "rk4", "--step", "11"], ["11", "time span", "10"]),
    "fixed step is too short": (
        ["simulate", "pendulum", "--stepper", "rk4", "--step", "1e-6"],
        ["10000000", "max_steps is 1000000"],
    ),
    "fixed step for another stepper": (["simulate", "pendulum", "--step", "0.1"], ["dop853", "rk4"]),
    "duration is a word": (["simulate", "pendulum", "--for", "long"], ["--for", "long"]),
    "duration has a unit": (["simulate", "pendulum", "--for", "3s"], ["--for", '"3s"', "write 3,"]),
    "duration is negative": (["simulate", "pendulum", "--for", "-1"], ["--for"]),
    "duration is not a number": (["simulate", "pendulum", "--for", "nan"], ["--for"]),
    "duration is infinite": (["simulate", "pendulum", "--for", "inf"], ["--for"]),
    "tolerance is zero": (["simulate", "pendulum", "--tol", "0"], ["tolerance"]),
    "tolerance is negative": (["simulate", "pendulum", "--tol", "-1e-8"], ["tolerance"]),
    "tolerance is too small": (["simulate", "pendulum", "--tol", "1e-30"], ["tolerance"]),
    "tolerance is nan": (["simulate", "pendulum", "--tol", "nan"], ["tolerance"]),
    "start of unknown": (["simulate", "pendulum", "--start", "thetta=1"], ['"thetta"', '"theta"']),
    "start without value": (["simulate", "pendulum", "--start", "theta"], ["--start"]),
    "start is no number": (["simulate", "pendulum", "--start", "theta=high"], ["theta", "high"]),
    "start is hostile": (["simulate", "pendulum", "--start", "theta=open('x')"], ["theta"]),
    "start at a singular chart": (
        ["simulate", "spherical-pendulum", "--start", "theta=0"],
        ["theta = 0", "mass matrix"],
    ),
    "start outside the chart": (["simulate", "spherical-pendulum", "-p", "chart=xy", "--start", "x=2"], ["not"]),
    "loop that cannot close": (
        ["simulate", "four-bar", "-p", "d=9"],
        ["cannot close", "rocker, ground, crank, coupler"],
    ),
    "check of a loop that cannot close": (["check", "four-bar", "-p", "d=9"], ["cannot close"]),
    "slider that cannot be reached": (["simulate", "slider-crank", "-p", "l=0.2"], ["reach", "sqrt"]),
    "unknown care for constraints": (["simulate", "four-bar", "--constraints", "glue"], ["constraints", "baumgarte"]),
    "rate without Baumgarte": (["simulate", "four-bar", "--baumgarte-rate", "5"], ["baumgarte_rate"]),
    "speeds that contradict": (
        ["simulate", "four-bar", "--start", "crank_dot=1", "--start", "rocker_dot=9"],
        ["contradict each other", "crank_dot = 1"],
    ),
    "one sample": (["simulate", "pendulum", "--samples", "1"], ["samples"]),
    "negative samples": (["simulate", "pendulum", "--samples", "-5"], ["samples"]),
    "too many samples": (["simulate", "pendulum", "--samples", "999999999999"], ["samples"]),
    "no steps": (["simulate", "pendulum", "--max-steps", "0"], ["max_steps"]),
    "unknown input": (["simulate", "cart-pole", "--input", "G=1"], ['"G"', "F"]),
    "input of a model without": (["simulate", "pendulum", "--input", "F=1"], ['"F"', "none"]),
    "input is hostile": (["simulate", "cart-pole", "--input", "F=().__class__"], ["F"]),
    "input uses an unknown name": (["simulate", "cart-pole", "--input", "F=y"], ["F", '"y"']),
    "output is a folder": (["simulate", "pendulum", "-o", "folder.toml"], ["-o", "folder.toml"]),
    "picture of no known kind": (["simulate", "pendulum", "--plot", "run.xyz"], ["--plot", ".png", '"run.xyz"']),
    "section of no known kind": (
        ["simulate", "pendulum", "--section", "theta = 0", "--plot-section", "run"],
        ["--plot-section", ".png"],
    ),
    "shapes of no known kind": (["modes", "pendulum", "--plot", "run.txt"], ["--plot", ".png"]),
    "arrays under another name": (["simulate", "pendulum", "-o", "run.xls"], ["-o", ".npz", ".parquet", '"run.xls"']),
    "matrices under another name": (["linearize", "pendulum", "-o", "run.mat"], ["-o", ".npz"]),
    "forces under another name": (["reactions", "pendulum", "-o", "run.txt"], ["-o", ".csv"]),
    "mode zero": (["modes", "pendulum", "--mode", "0", "--animate", "m.html"], ["from 1 to 1", "found 0"]),
    "range backwards": (["ensemble", "pendulum", "--vary", "theta=1:0"], ["--vary theta", '"1:0"']),
    "negative spread": (["ensemble", "pendulum", "--spread", "theta=-1"], ["--spread theta", "-1"]),
    "model without a name": (["show", ""], ["MODEL is empty", "pendula list"]),
    "length with a unit": (
        ["show", "pendulum", "-p", "l=3kg"],
        ['parameter "l"', "is a mass, but a length [m] is expected"],
    ),
    "start with a unit": (
        ["simulate", "pendulum", "--start", "theta=2 cubits_of_noah"],
        ["--start theta", 'no unit "cubits_of_noah"'],
    ),
    "output cannot be written": (["simulate", "pendulum", "--plot", "good.toml/x.png"], ["--plot"]),
    "page cannot be written": (["simulate", "pendulum", "--animate", "good.toml/x.html"], ["--animate"]),
    "no states": (["check", "pendulum", "--states", "0"], ["--states"]),
    "bad seed": (["check", "pendulum", "--seed", "-1"], ["--seed"]),
    "unknown in list": (["list", "banana"], ['"banana"']),
    "no such equilibrium": (["linearize", "pendulum", "--at", "7"], ['"7"', "1 to 2"]),
    "two equilibria": (["modes", "pendulum", "--at", "1", "--at", "2"], ["--at", "one number"]),
    "no such coordinate": (["stability", "pendulum", "--at", "thetta=0"], ['"thetta"', '"theta"']),
    "point without value": (["stability", "pendulum", "--at", "theta="], ["--at", "NAME=VALUE"]),
    "point is no number": (["stability", "pendulum", "--at", "theta=high"], ["--at theta", "high"]),
    "point is hostile": (["stability", "pendulum", "--at", "theta=open('x')"], ["--at theta"]),
    "point is no equilibrium": (
        ["linearize", "pendulum", "--at", "theta=30deg"],
        [
            "not an equilibrium",
            "an unbalanced torque of -2.4525 N m remains",
            "of a typical force",
            "nearest equilibrium is 1",
        ],
    ),
    "loop is no equilibrium": (["modes", "four-bar", "--at", "crank=90deg"], ["not an equilibrium", "nearest"]),
    "forces depend on time": (["equilibria", "driven-chain"], ["depend on time", "pendula floquet"]),
    "input depends on time": (["linearize", "cart-pole", "--input", "F=sin(t)"], ["depend on time"]),
    "input of no use": (["modes", "pendulum", "--input", "F=1"], ['"F"', "none"]),
    "unknown box": (["equilibria", "pendulum", "--box", "x=1"], ['"x"', "theta"]),
    "empty box": (["equilibria", "pendulum", "--box", "theta=90deg:0"], ["theta", "lowest < highest"]),
    "box without value": (["equilibria", "pendulum", "--box", "theta"], ["--box", "NAME=VALUE"]),
    "no starts": (["equilibria", "pendulum", "--starts", "0"], ["starts"]),
    "rate of a swing": (["equilibria", "pendulum", "--rate", "theta=3"], ["constant rate"]),
    "rate of nothing": (["equilibria", "pendulum", "--rate", "x=3"], ['"x"', "theta"]),
    "unknown method": (["linearize", "pendulum", "--method", "magic"], ["exact", "differences"]),
    "symbols of a loop": (["linearize", "four-bar", "--symbolic", "--at", "crank=0"], ["not an equilibrium"]),
    "symbols off equilibrium": (["linearize", "pendulum", "--symbolic", "--at", "theta=1"], ["not an equilibrium"]),
    "terms of numbers": (["linearize", "pendulum", "--terms"], ["--symbolic"]),
    "stages as a program": (["derive", "pendulum", "--stages", "--format", "c"], ["--stages", '"c"']),
    "mode without a page": (["modes", "pendulum", "--mode", "1"], ["--mode", "--animate"]),
    "no such mode": (["modes", "pendulum", "--mode", "3", "--animate", "m.html"], ["1 to 1", "3"]),
    "mode as a picture": (["modes", "pendulum", "--animate", "m.png"], [".html"]),
    "no input to respond to": (["modes", "pendulum", "--response", "F"], ['"F"', "none"]),
    "negative amplitude": (["modes", "cart-pole", "--response", "F", "--amplitude", "-1"], ["amplitude", "positive"]),
    "plot of no response": (["modes", "cart-pole", "--plot-response", "r.png"], ["--response"]),
    "over nothing": (["stability", "pendulum", "--over", "k=0:5"], ['"k"', "m, l, g"]),
    "over no range": (["stability", "pendulum", "--over", "l"], ["NAME=LOW:HIGH"]),
    "over a range backwards": (["stability", "pendulum", "--over", "l=5:1"], ["smaller to a larger"]),
    "over lengths below zero": (["stability", "pendulum", "--over", "l=-1:1"], ["length", "positive"]),
    "floquet without driving": (["floquet", "pendulum"], ["does not depend on time", "--period"]),
    "floquet at a number": (["floquet", "inverted-chain", "--at", "1"], ["--at", "theta=180deg"]),
    "floquet of no repeated motion": (["floquet", "driven-chain", "-p", "links=1"], ["not periodic", "--close"]),
    "floquet with a wrong period": (["floquet", "inverted-chain", "--period", "1"], ["is not a period"]),
    "floquet with a loose tolerance": (["floquet", "inverted-chain", "--tol", "1"], ["tolerance"]),
    "small motion without mass": (["linearize", "massless.toml", "--at", "theta=0"], ["mass"]),
    "massless motion": (["simulate", "massless.toml"], ["no mass"]),
    "nothing moves": (["simulate", "still.toml"], ["nothing can move"]),
}


@pytest.fixture(scope="module", autouse=True)
def compiled_kernels():
    """Compiles (or loads) every kernel once: a tree, a loop, a check."""
    for name in ("pendulum", "four-bar"):
        assert run_command("simulate", name, "--for", "0.1").code == 0
    assert run_command("check", "pendulum", "--states", "2").code == 0


@pytest.fixture
def folder(tmp_path, pendula):
    (tmp_path / "folder.toml").mkdir()
    (tmp_path / "good.toml").write_text(GOOD)
    (tmp_path / "broken.toml").write_text("name = [")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00name")
    (tmp_path / "empty.toml").write_text("")
    (tmp_path / "bad.toml").write_text(GOOD.replace("length = 1", "length = 0"))
    (tmp_path / "massless.toml").write_text(GOOD.replace("rod = { mass = 1, length = 1 }", "mass = 0"))
    (tmp_path / "still.toml").write_text(GOOD.replace("revolute", "fixed"))
    return pendula


@pytest.mark.parametrize("case", CASES)
def test_bad_command_ends_in_one_clear_message(folder, case):
    arguments, words = CASES[case]
    before = time.process_time()
    result = folder(*arguments)
    assert time.process_time() - before < LONGEST
    assert result.code == 2, (result.code, result.out, result.err)
    assert result.err.startswith("error: ")
    assert result.err.count("error: ") == 1
    assert "Traceback" not in result.err
    for word in words:
        assert word in result.err, result.err


def test_there_are_enough_bad_commands():
    assert len(CASES) >= 60


def test_an_internal_error_is_called_one(folder, monkeypatch):
    import pendula.app.options

    def broken(*args):
        raise RuntimeError("boom")

    monkeypatch.setattr(pendula.app.options, "pairs", broken)
    result = folder("show", "pendulum")
    assert result.code == 3
    assert "internal error: RuntimeError: boom" in result.err
