"""Integrals of motion and steady rotation from the command line."""

from __future__ import annotations

import json

import pytest


def test_simulate_reports_how_well_momenta_are_kept(pendula):
    result = pendula("simulate", "heavy-top", "--for", "0.1", "--integrals", "--json")
    found = {x["name"]: x for x in json.loads(result.out)["integrals"]}
    assert found["L_top"]["value"] == pytest.approx(0.08 * 60.0)
    assert max(x["drift"] for x in found.values()) < 1e-6
    result = pendula("simulate", "heavy-top", "--for", "0.1", "--integrals")
    assert "moment of momentum about z" in result.out
    assert max(map(len, result.out.splitlines())) <= 80
    assert "no integrals were found" in pendula("simulate", "driven-chain", "--for", "0.1", "--integrals").out


def test_show_lists_the_momenta_that_a_mechanism_keeps(pendula):
    shown = pendula("show", "spherical-pendulum").out
    assert "L_z" in shown.rpartition("kept")[2]
    assert "phi" in shown.rpartition("kept")[2]
    data = json.loads(pendula("show", "cart-pole", "--json").out)
    assert [x["coordinate"] for x in data["integrals"]] == ["x"]


def test_steady_spin_of_a_quaternion(pendula):
    result = pendula("stability", "heavy-top", "--rate", "pivot about body z=60", "--at", "pivot_q0=1")
    assert result.code == 0
    assert "the spin of top about its axis z" in " ".join(result.out.split())
    assert pendula("stability", "heavy-top", "--rate", "pivot_wz=20", "--at", "pivot_q0=1").code == 1
    wrong = pendula("equilibria", "heavy-top", "--rate", "pivot about world y=60")
    assert wrong.code == 2
    assert "constant rate" in wrong.err


def test_derive_prints_reduced_equations(pendula):
    result = pendula("derive", "spherical-pendulum", "--routh")
    assert result.code == 0
    assert "p_phi" in result.out
    assert "coordinates: theta [rad]" in result.out
    assert "p_{" in pendula("derive", "spherical-pendulum", "--routh", "--format", "latex").out
    wrong = pendula("derive", "heavy-top", "--routh")
    assert wrong.code == 2
    assert "cyclic" in wrong.err
    assert pendula("derive", "spherical-pendulum", "--routh", "--formulation", "kane").code == 2
