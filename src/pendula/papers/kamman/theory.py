"""What the text says about roots and stability, tried on the simplest mechanism."""

from __future__ import annotations

import pendula
from pendula.papers.judge import claim
from pendula.papers.types import Finding


def theory(duration: float) -> Finding:
    """A body that slides freely has two zero roots, no positive real part, and moves away without bound."""
    slider = pendula.Model(
        name="slider",
        gravity=[0, 0, 0],
        bodies=[{"name": "block", "point": {"mass": 1}}],
        joints=[{"name": "x", "type": "prismatic", "axis": [1, 0, 0], "parent": "ground", "child": "block"}],
    )
    system = pendula.compile_system(slider)
    found = pendula.stability(system, {})
    (root,) = found.spectrum.eigenvalues
    pushed = 1e-3
    run = pendula.simulate(system, duration, initial_state={"x": 0.0, "x_dot": pushed})
    moved = float(run["x"][-1])
    return Finding(
        lines=(
            claim(
                "stability of one degree of freedom",
                "infinitesimally stable if the roots have nonpositive real parts (cases 1 or 2)",
                f"a body that slides freely: root {root.value.real:g}, {root.multiplicity} times, not semisimple; "
                f"pushed at {pushed:g} m/s it has moved {moved:.4g} m after {duration:g} s and goes on in "
                "proportion to time",
                moved < 2 * pushed,
                evidence={
                    "root": root.value.real,
                    "multiplicity": root.multiplicity,
                    "moved": moved,
                    "semisimple": root.semisimple,
                },
                reason="repeated roots on the imaginary axis may belong to motions that grow with time",
                corrected="nonpositive real parts, and roots on the imaginary axis semisimple",
                effect="a motion that grows without bound would be called stable",
                severity="wrong",
            ),
        ),
        notes=(f"Verdict on the sliding body: {found.verdict}",),
    )
