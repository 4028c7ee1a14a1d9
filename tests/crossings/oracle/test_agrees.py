"""Pendula and the oracle on random mechanisms: accelerations, energies, power, drives and reactions."""

from __future__ import annotations

import tomllib
from functools import cache
from typing import Any

import numpy as np
import pytest

import pendula
from pendula.equations.formulations.registry import formulations
from tests.crossings.oracle import Mechanism, Moment
from tests.crossings.oracle.test_closed_forms import moved
from tests.helpers.choices import slow_too, two_formulations
from tests.helpers.numbers import drive_forces, states
from tests.helpers.random_mechanisms import random_mechanism

pytestmark = pytest.mark.usefixtures("quick_code")

AGREES = 1e-9
"""Relative: rounding times a condition of at most 1e5."""
SEEDS = (1, 5, 11, 18, 33, 47)
REACTING = (0, 3, 40, 1007)


def oracle_of(model: pendula.Model) -> Mechanism:
    return Mechanism(tomllib.loads(pendula.dumps(model)))


def moment_of(system: Any, t: float, q: Any, v: Any) -> Moment:
    """A state of a system in the coordinates of the joints."""
    layout = system.in_joints.system.layout
    by_name = (
        dict(zip(names, map(float, x), strict=True)) for names, x in ((layout.coordinates, q), (layout.speeds, v))
    )
    return Moment(float(t), *by_name)


@pytest.mark.parametrize("seed", slow_too(SEEDS, (s for s in range(48) if s not in SEEDS)))
def test_accelerations_and_energies(seed):
    model = random_mechanism(seed)
    m = oracle_of(model)
    names = two_formulations(seed) if seed in SEEDS else tuple(formulations())
    joints = pendula.compile_system(model, "kane" if "kane" in names else names[0])
    t, q, v = states(joints.in_joints.system, 2, seed)
    moments = [moment_of(joints, *one) for one in zip(t, q, v, strict=True)]
    solved = [m.accelerations(x) for x in moments]
    for name in names:
        system = pendula.compile_system(model, name)
        own = system.in_joints.place(q, v, t)
        motion = system.body_motion(*own, system.accelerations(*own, t), t)
        energies, power = system.energies(*own, t), system.power(*own, t)
        forces, rates = drive_forces(system, *own, t)
        power = power + np.sum(forces * rates, axis=1)
        for k, (x, found) in enumerate(zip(moments, solved, strict=True)):
            at = Moment(x.t, x.q, x.v, found.a)
            bodies = m.bodies(at)
            for field, theirs in (("a", motion.acceleration), ("alpha", motion.angular_acceleration)):
                ours = np.array([getattr(bodies[body], field) for body in system.layout.bodies])
                assert ours == pytest.approx(theirs[k], abs=AGREES * (1 + np.abs(theirs[k]).max())), (name, field)
            T, V = m.kinetic(x), m.potential(x)
            assert energies.kinetic[k] == pytest.approx(T, rel=AGREES), name
            assert energies.potential[k] == pytest.approx(V, rel=AGREES, abs=AGREES * T), name
            scale = np.abs(forces[k] * rates[k]).sum() + T
            assert power[k] == pytest.approx(m.power(at), rel=AGREES, abs=AGREES * scale), name
            if not m.closures:
                by_name = dict(zip((drive.name for drive in system.drives), forces[k], strict=True))
                for drive, force in found.drives.items():
                    assert by_name[drive] == pytest.approx(force, rel=AGREES, abs=AGREES * np.abs(forces).max())


def check_reactions(model: pendula.Model, formulation: str) -> int:
    """Compares all reactions at two times of a run; returns how many numbers are nan in both."""
    m = oracle_of(model)
    run = pendula.simulate(pendula.compile_system(model, formulation), 0.02, samples=2)
    found = pendula.reactions(run)
    blank = 0
    for k, (t, q, v) in enumerate(zip(run.t, *run.joints, strict=True)):
        x = m.with_accelerations(moment_of(run.system, t, q, v))
        open_, drives = m.undetermined(x), m.accelerations(x).drives
        assert open_.clear
        forces, torques = ({n: getattr(found[n], what)[k] for n in found.joints} for what in ("force", "torque"))
        size = np.nanmax(np.abs([*forces.values(), *torques.values()]))
        for name in found.joints:
            got = np.isnan(np.concatenate([forces[name], torques[name]]))
            assert got.tolist() == open_.joints[name].tolist(), name
            blank += int(got.sum())
        for name, is_open in open_.drives.items():
            if is_open:
                assert np.isnan(found.motors[name][k]), name
            else:
                assert found.motors[name][k] == pytest.approx(drives[name], abs=AGREES * max(size, 1)), name
        couplings = {c: {n: y[k] for n, y in on.items()} for c, on in found.couplings.items()}
        for name, on in couplings.items():
            assert {n: bool(np.isnan(y)) for n, y in on.items()} == open_.couplings[name]
        left = m.imbalance(x, forces, torques, couplings)
        assert np.nanmax(np.abs([*left.values()]), initial=0) < AGREES * max(size, 1)
        driven = {joint.name for joint in m.joints if joint.motion}
        for name in set(found.joints) - driven:
            wrench, ideal = np.concatenate([forces[name], torques[name]]), m.transmits(x, name)
            if np.isfinite(wrench).all():
                assert np.abs(wrench - ideal @ (ideal.T @ wrench)).max() < AGREES * max(size, 1), name
    return blank


@pytest.mark.parametrize("formulation", ["newton-euler", "maximal"])
@pytest.mark.parametrize("seed", slow_too(REACTING, (s for s in (*range(48), *range(1000, 1024)) if s not in REACTING)))
def test_reactions(seed, formulation):
    check_reactions(random_mechanism(seed, closed=True if seed >= 1000 else None), formulation)


_FREE = {"name": "j", "type": "free", "parent": "ground", "child": "box", "motion": {"j_x": "0.1*sin(5*t)"}}
_TURNED = {"axis": [1, 2, 3], "angle": 0.7}
_BOX: dict[str, Any] = {
    "name": "shaken box",
    "gravity": [0, 0, -9.81],
    "bodies": [{"name": "box", "box": {"mass": 1, "size": [0.1, 0.2, 0.3], "at": [0.1, 0.2, 0]}}],
    "initial": {"j": _TURNED, "j_y": 0.2},
}


@cache
def _shaken() -> tuple[Any, Any]:
    """Rotation of the box at first and after 0.6 s, by the oracle."""
    m = Mechanism(_BOX | {"joints": [_FREE]})
    e = np.array([1, 2, 3]) / np.sqrt(14)
    rest = {"j_y": 0.2, "j_z": 0.0} | {f"j_q{k}": x for k, x in enumerate([np.cos(0.35), *(np.sin(0.35) * e)])}
    x = first = Moment(0.0, rest, dict.fromkeys(m.free, 0.0))
    for _ in range(240):
        x = moved(m, x, 0.0025)
    return m.bodies(first)["box"].R, m.bodies(x)["box"].R


@pytest.mark.parametrize("orientation", ["zyz", "space xyz", "rotation vector", "quaternion"])
def test_a_free_body_with_one_prescribed_translation(orientation):
    """Runs in angles have a twin in quaternions, which has the prescribed translation too."""
    model = pendula.Model(**_BOX, joints=[_FREE | {"orientation": orientation}])
    run = pendula.simulate(pendula.compile_system(model), 0.6, samples=3)
    before, after = _shaken()
    assert np.abs(after - before).max() > 0.1
    assert run.system.poses(run.q[-1], run.t[-1])[0][0] == pytest.approx(after, abs=1e-6)  # 2e-7 of Runge and Kutta


def test_maximal_coordinates_refuse_it_with_a_quaternion_by_name():
    model = pendula.Model(**_BOX, joints=[_FREE])
    with pytest.raises(pendula.errors.NotSupported, match="prescribed translations of a joint with a quaternion"):
        pendula.compile_system(model, "maximal")
