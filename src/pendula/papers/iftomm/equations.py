"""The equations of motion in angles, and the direction of gravity for which the pendulum rests at theta = 0."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import pendula
from pendula.papers.judge import claim
from pendula.papers.show import animation, formulas
from pendula.papers.types import Finding, Line

PRINTED = ["l*theta_ddot - l*sin(theta)*cos(theta)*phi_dot**2 + m*g*l*sin(theta) = 0"]
CORRECTED = ["l*theta_ddot - l*sin(theta)*cos(theta)*phi_dot**2 + g*sin(theta) = 0"]
SECOND = ["m*l**2*(phi_ddot*sin(theta)**2 + 2*phi_dot*theta_dot*sin(theta)*cos(theta)) = 0"]


def equations(mass: float, length: float) -> Finding:
    """Both printed equations against the model: with the data of the paper, and with other masses and lengths."""
    model = pendula.library.spherical_pendulum()
    other = model.with_parameters({"m": mass, "l": length})
    unit = pendula.derivation.check_against(model, {"equations": PRINTED + SECOND}, states=50)
    general = pendula.derivation.check_against(other, {"equations": PRINTED + SECOND}, states=50)
    right = pendula.derivation.check_against(other, {"equations": CORRECTED + SECOND}, states=50)
    data = f"m = {mass:g} kg, l = {length:g} m"
    run = pendula.simulate(model, 10.0)
    return Finding(
        lines=(
            claim(
                "equation of theta",
                "l θ'' − l sin θ cos θ φ'² + m g l sin θ = 0",
                f"with {data} accelerations differ by up to {general.max_difference:.2g} (relative); "
                f"with m = 1 kg, l = 1 m by {unit.max_difference:.1g}",
                general.passed,
                evidence={
                    "largest relative difference, other data": general.max_difference,
                    "largest relative difference, data of the paper": unit.max_difference,
                    "largest relative difference, corrected": right.max_difference,
                },
                reason="the first two terms are accelerations, the third is a torque; the numbers agree only since m "
                "= l = 1",
                corrected="l θ'' − l sin θ cos θ φ'² + g sin θ = 0",
                effect=f"frequency wrong by the factor sqrt(m l), here {np.sqrt(mass * length):.3g}",
                severity="wrong",
            ),
            claim(
                "equation of phi",
                "m l² (φ'' sin² θ + 2 φ' θ' sin θ cos θ) = 0",
                f"together with the corrected equation of θ it agrees with {data} to {right.max_difference:.1g}",
                right.passed,
                evidence={"largest relative difference": right.max_difference},
            ),
            _equilibria(model),
        ),
        formulas=formulas(model, "By Lagrange"),
        animations=(animation(run, "swing", "Spherical pendulum, 30° from the vertical, turning at 2 rad/s"),),
    )


def _equilibria(model: pendula.Model) -> Line:
    """The pendulum rests at the bottom and at the top."""
    system = pendula.compile_system(model)
    verdicts = {}
    for name, theta in (("bottom", 0.0), ("top", np.pi)):
        balance = float(np.abs(system.forces([theta, 0.4], [0.0, 0.0])).max())
        roots = pendula.linear.spectrum(system, {"theta": theta}).values
        verdicts[name] = (balance, float(np.max(roots.real)))
    top = verdicts["top"]
    return claim(
        "static equilibrium",
        "the system is in static equilibrium at an angle θ = 0",
        f"also at θ = π, where the unbalanced force is {top[0]:.1g} N m and a root is +{top[1]:.6g} 1/s (unstable)",
        top[0] > 1e-9,
        evidence={
            f"{what}, {name}": x
            for name, pair in verdicts.items()
            for what, x in zip(("unbalanced force", "largest real part"), pair, strict=True)
        },
        reason="sin θ vanishes at π too",
        corrected="two equilibria: θ = 0 (stable) and θ = π (unstable)",
        effect="an unstable equilibrium is overlooked",
        severity="incomplete",
    )


def gravity(longitudes: Sequence[float]) -> Finding:
    """Gravity along -y, as printed, leaves theta = 0 out of balance."""
    model = pendula.library.spherical_pendulum()
    lying = pendula.Model(**(model.model_dump() | {"gravity": [0, "-g", 0], "name": "pendulum with gravity along -y"}))
    system = pendula.compile_system(lying)
    forces = {phi: float(system.forces([0.0, phi], [0.0, 0.0])[0]) for phi in longitudes}
    upright = pendula.compile_system(model)
    right = max(abs(float(upright.forces([0.0, phi], [0.0, 0.0])[0])) for phi in longitudes)
    shown = ", ".join(f"{f:.4g} at φ = {phi:g}" for phi, f in forces.items())
    line = claim(
        "gravity",
        "9.81 m/s² along the negative y axis, θ measured from the negative z axis",
        f"the moment about θ at θ = 0 is then {shown} N m, which is −m g l sin φ; with gravity along −z it is "
        f"{right:.1g}",
        max(map(abs, forces.values())) < 1e-9,
        evidence={f"moment at phi = {phi:g}": f for phi, f in forces.items()}
        | {"largest moment with gravity along -z": right},
        reason="θ = 0 would be no equilibrium, and the xy plane that the text calls horizontal would be vertical",
        corrected="gravity acts along −z",
        effect="no equilibrium at θ = 0, so nothing to linearize about",
        severity="wrong",
    )
    return Finding(lines=(line,))
