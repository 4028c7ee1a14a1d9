"""Spectra of the linear model in angles, in x and y, and with constraints."""

from __future__ import annotations

import numpy as np

import pendula
from pendula.bench import models
from pendula.papers.judge import claim, matrix_words
from pendula.papers.types import Finding, Line, Table
from pendula.papers.words import root_words


def spectra(cone: float, small: float) -> Finding:
    """Linear models at the bottom in three kinds of coordinates, and why the angles fail."""
    exact = float(np.sqrt(9.81))
    lines = [*_angles(exact), _cause(cone, small), *_good(exact)]
    return Finding(lines=tuple(lines), tables=(_roots_table(),))


def _angles(exact: float) -> list[Line]:
    system = pendula.compile_system(models.in_angles())
    flat = pendula.linear.pencil(system, {"theta": 0.0, "phi": 0.3})
    M, K = flat.E[2:, 2:], -flat.A[2:, :2]
    trial = 1.7
    at_trial = float(abs(np.linalg.det(trial**2 * M + K)))
    alpha, beta = flat.roots()
    undetermined = int(np.sum((np.abs(alpha) < 1e-9) & (np.abs(beta) < 1e-9)))
    infinite = int(np.sum((np.abs(alpha) > 1e-9) & (np.abs(beta) < 1e-9)))
    found = pendula.linear.spectrum(system, {"theta": 0.0})
    labels = [root.label for root in found.eigenvalues]
    physical = [root for root in found.eigenvalues if root.label == "physical"]
    error = max(abs(abs(root.value.imag) - exact) for root in physical)
    return [
        claim(
            "matrices in angles",
            "M_e = diag(l, 0), K_e = diag(g, 0)",
            f"M = {matrix_words(M)}, K = {matrix_words(K)} (multiplied by m l)",
            bool(np.allclose(M, np.diag([1.0, 0.0])) and np.allclose(K, np.diag([9.81, 0.0]))),
            evidence={
                "M, first entry": M[0, 0],
                "M, last entry": M[1, 1],
                "K, first entry": K[0, 0],
                "K, last entry": K[1, 1],
            },
        ),
        claim(
            "spectrum in angles",
            "a pair ±i sqrt(g/l), as well as a double eigenvalue that equals infinity",
            f"det(s² M + K) = {at_trial:.1g} even at s = {trial:g}: every number is a root. QZ returns ±{exact:.7g}i, "
            f"{infinite} infinite roots and {undetermined} of the form 0/0; label: {labels[-1]}",
            infinite == 2,
            evidence={
                f"determinant at s = {trial:g}": at_trial,
                "roots 0/0": undetermined,
                "infinite roots": infinite,
                "error of the pair": error,
            },
            reason="M and K have a common null vector (the direction of φ), so the pencil is singular and the second "
            "pair is undetermined",
            corrected="±i sqrt(g/l), and a pair that is undetermined (0/0); in a regular chart it is ±i sqrt(g/l) as "
            "well",
            effect="a solver that trusts the printed spectrum looks for two infinite roots and misses a mode",
            severity="wrong",
        ),
    ]


def _cause(cone: float, small: float) -> Line:
    """A cyclic coordinate with a regular chart gives a double zero; the singular chart is what gives 0/0."""
    rate = float(np.sqrt(9.81 / np.cos(cone)))
    system = pendula.compile_system(models.in_angles())
    conical = pendula.linear.spectrum(system, {"theta": cone, "phi_dot": rate})
    zeros = int(np.sum(np.abs(conical.values) < 1e-9))
    swing = float(np.max(conical.values.imag))
    closed = rate * float(np.sqrt(1 + 3 * np.cos(cone) ** 2))
    M, K = np.diag([1.0, small**2]), np.diag([9.81, 0.0])
    nearly = np.sqrt(np.linalg.eigvals(np.linalg.solve(M, K)).astype(complex))
    return claim(
        "cause of the second pair",
        "it stems from the fact that φ is a cyclical coordinate",
        f"conical motion at θ = {cone:g} rad, where φ is just as cyclic but the chart is regular: {zeros} roots are "
        "zero, "
        f"the others ±{swing:.7g}i; closed form Ω sqrt(1 + 3 cos² θ) = {closed:.7g}. Beside the pole, with M_φφ = "
        f"{small**2:.0e} in place of 0, the second pair is {abs(nearly[1]):.1g}",
        zeros != 2,
        evidence={
            "zero roots of conical motion": zeros,
            "frequency of conical motion": swing,
            "closed form": closed,
            "second pair beside the pole": float(abs(nearly[1])),
        },
        reason="a cyclic coordinate gives a double zero; the cause is that the chart is singular where sin θ = 0",
        corrected="it stems from the singularity of the angles at θ = 0",
        effect="changing to another cyclic coordinate would not help; a regular chart does",
        severity="wrong",
    )


def _good(exact: float) -> list[Line]:
    lines = []
    for where, says, model, at in (
        ("spectrum in x and y", "two identical pairs ±i sqrt(g/l)", models.in_xy(), {}),
        (
            "constraint formulation",
            "a DAE can give the exact spectrum, and spurious eigenvalues that must be discriminated",
            models.in_xyz(),
            {"x": 0.0, "y": 0.0},
        ),
    ):
        found = pendula.linear.spectrum(pendula.compile_system(model), at)
        pairs = [r for r in found.eigenvalues if r.label == "physical" and r.value.imag > 0]
        count, error = sum(r.multiplicity for r in pairs), max(abs(r.value - 1j * exact) for r in pairs)
        spurious = "; ".join(f"{r.multiplicity} {r.label}" for r in found.eigenvalues if r.label != "physical")
        lines.append(
            claim(
                where,
                says,
                f"{count} pairs ±{pairs[0].value.imag:.16g}i, error {error:.1g}"
                + (f"; {spurious}" if spurious else ""),
                count == 2 and error < 1e-12,
                evidence={"pairs": count, "frequency": pairs[0].value.imag, "error": error},
                reason="the spectrum differs",
                corrected=f"{count} pairs",
                severity="wrong",
            )
        )
    return lines


def _roots_table() -> Table:
    rows = []
    for name, model in (
        ("angles", models.in_angles()),
        ("x, y", models.in_xy()),
        ("x, y, z with constraints", models.in_xyz()),
        ("quaternion", models.on_ball_joint()),
    ):
        at = {"x": 0.0, "y": 0.0} if "z" in name else {}
        for root in pendula.linear.spectrum(pendula.compile_system(model), at).eigenvalues:
            value = (
                "0/0"
                if np.isnan(root.value)
                else "infinite"
                if np.isinf(root.value)
                else root_words(complex(root.value), 12)
            )
            rows.append((name, value, root.multiplicity, root.label))
    return Table(
        "All roots at the bottom, true and spurious", ("Coordinates", "Root [1/s]", "Times", "Label"), tuple(rows)
    )
