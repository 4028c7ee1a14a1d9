"""Gyroscopes: in gimbals, and at the end of a pendulum."""

from __future__ import annotations

from pendula.model.base import Scalar
from pendula.model.model import Model


def gyroscope(*, gimbals: bool = True, weight: Scalar = 0.2) -> Model:
    """A gyroscope in gimbals, with a small weight on its axis.

    The outer gimbal turns about the vertical (phi), the inner one about a horizontal axis (theta), the rotor about its
    own axis y (psi), which is horizontal at theta = 0. All axes meet in the centre of mass of
    rotor and gimbals.

    Closed forms, with the rotor's inertias A across and C along its axis, those of outer and inner gimbal (Jo about z;
    Ji about each axis), the weight w at distance d on the axis, and the spin n: nutation about theta = 0 at
    C n/sqrt((A + Ji + w d^2) (A + Ji + Jo + w d^2)) without weight (Magnus, Kreisel, 1971, section 4.1); steady
    precession at theta = 0 with phi' = w g d/(C n); the angular momenta about the vertical and of the rotor about its
    axis are conserved.

    Args:
        gimbals: whether the gimbals have inertia.
        weight: mass of the weight on the axis [mass unit].
    """
    inner: list[Scalar] = ["Ji", "Ji", "Ji"] if gimbals else [0, 0, 0]
    outer: list[Scalar] = ["Jo/2", "Jo/2", "Jo"] if gimbals else [0, 0, 0]
    ring = {"kind": "ring", "points": [[0, 0, 0]]}
    return Model(
        name="gyroscope",
        gravity=[0, 0, "-g"],
        parameters={
            "m": 1.0,
            "A": 0.0025,
            "C": 0.004,
            "w": weight,
            "d": 0.15,
            "g": 9.81,
            **({"Ji": 0.0008, "Jo": 0.0015, "M": 0.1} if gimbals else {}),
        },
        bodies=[
            {
                "name": "outer",
                "mass": "M" if gimbals else 0,
                "inertia": outer,
                "shapes": [ring | {"normal": [0, 1, 0], "radius": 0.16}],
            },
            {
                "name": "inner",
                "mass": "M" if gimbals else 0,
                "inertia": inner,
                "shapes": [
                    ring | {"normal": [0, 0, 1], "radius": 0.13},
                    {"kind": "rod", "points": [[0, 0, 0], [0, "d", 0]]},
                ],
            },
            {"name": "weight", "point": {"mass": "w", "at": [0, "d", 0]}},
            {
                "name": "rotor",
                "mass": "m",
                "inertia": ["A", "C", "A"],
                "shapes": [{"kind": "disc", "points": [[0, 0, 0]], "normal": [0, 1, 0], "radius": 0.09}],
            },
        ],
        joints=[
            {"name": "phi", "type": "revolute", "axis": [0, 0, 1], "parent": "ground", "child": "outer"},
            {"name": "theta", "type": "revolute", "axis": [1, 0, 0], "parent": "outer", "child": "inner"},
            {"name": "hung", "type": "fixed", "parent": "inner", "child": "weight"},
            {"name": "psi", "type": "revolute", "axis": [0, 1, 0], "parent": "inner", "child": "rotor"},
        ],
        initial={"psi_dot": 200.0},
    )


def gyro_pendulum() -> Model:
    """A pendulum on a universal joint with a rotor at its end.

    The rotor spins about the axis of the rod, which is massless; the rod hangs down at rest.

    Closed forms, with the inertia A of the whole about the support, C of the rotor about its axis, the gravity moment
    k = m g l and the spin n: small motion is A z'' - i C n z' + k z = 0 for z = hook_1 + i hook_2, so that it has the
    frequencies (sqrt((C n)^2 + 4 A k) +- C n)/(2 A): nutation and precession (Klein and Sommerfeld, Theorie des
    Kreisels, chapter V). The angular momentum of the rotor about its axis is conserved.
    """
    return Model(
        name="gyro pendulum",
        gravity=[0, 0, "-g"],
        parameters={"m": 1.0, "l": 0.6, "r": 0.2, "g": 9.81},
        bodies=[
            {
                "name": "rod",
                "mass": 0,
                "points": {"end": [0, 0, "-l"]},
                "shapes": [{"kind": "rod", "points": [[0, 0, 0], [0, 0, "-l"]]}],
            },
            {"name": "rotor", "disc": {"mass": "m", "radius": "r"}},
        ],
        joints=[
            {"name": "hook", "type": "universal", "parent": "ground", "child": "rod"},
            {
                "name": "spin",
                "type": "revolute",
                "axis": [0, 0, 1],
                "parent": {"body": "rod", "at": "end"},
                "child": "rotor",
            },
        ],
        initial={"hook_1": "20deg", "spin_dot": 100.0},
    )
