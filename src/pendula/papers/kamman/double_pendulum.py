"""Examples 2, 3, 5, 6 and 7: a double pendulum with spring-dampers, its linear model, roots and modes."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt
import sympy as sp

import pendula
from pendula.papers.judge import claim, matrix_words, number, numbers, same_equations
from pendula.papers.show import animation, formulas
from pendula.papers.types import Finding, Line, Table
from pendula.papers.words import in_symbols
from pendula.results import LinearModel, System

EQUATION_8 = (
    "4/3*m*l**2*theta1_ddot + m*l**2/2*cos(theta2 - theta1)*theta2_ddot - m*l**2/2*sin(theta2 - theta1)*theta2_dot**2"
    " + 3/2*m*g*l*sin(theta1) + (c1 + c2)*theta1_dot - c2*theta2_dot + (k1 + k2)*theta1 - k2*theta2 = 0"
)
EQUATION_9 = (
    "m*l**2/2*cos(theta2 - theta1)*theta1_ddot + m*l**2/3*theta2_ddot + m*l**2/2*sin(theta2 - theta1)*theta1_dot**2"
    " + m*g*l/2*sin(theta2) + c2*(theta2_dot - theta1_dot) + k2*(theta2 - theta1) = 0"
)
FIRST = (
    "m*l**2/2*sin(theta2 - theta1)*theta2_dot**2 - 3/2*m*g*l*sin(theta1) - (c1 + c2)*theta1_dot + c2*theta2_dot"
    " - (k1 + k2)*theta1 + k2*theta2"
)
SECOND = (
    "-m*l**2/2*sin(theta2 - theta1)*theta1_dot**2 - m*g*l/2*sin(theta2) - c2*(theta2_dot - theta1_dot)"
    " - k2*(theta2 - theta1)"
)
EQUATIONS_28_29 = {
    "accelerations": {
        "theta1_ddot": "12/(m*l**2)/(16 - 9*C**2)*first - 18/(m*l**2)*C/(16 - 9*C**2)*second",
        "theta2_ddot": "-18/(m*l**2)*C/(16 - 9*C**2)*first + 48/(m*l**2)/(16 - 9*C**2)*second",
    },
    "define": {"C": "cos(theta2 - theta1)", "first": FIRST, "second": SECOND},
}
UNDAMPED = {"c1": 0.0, "c2": 0.0}
Array = npt.NDArray[np.float64]


@lru_cache
def double() -> System:
    """The double pendulum of the examples, compiled."""
    return pendula.compile_system(pendula.library.double_pendulum())


def undamped() -> LinearModel:
    """Its linear model without dampers."""
    return pendula.linearize(double(), {}, parameters=UNDAMPED)


# -- example 2 ----------------------------------------------------------------------------------------


def terms() -> Finding:
    """Each term of equations 8 and 9 linearized by partial derivatives, and their sum against the model."""
    model = pendula.library.double_pendulum()
    found = pendula.linear.linearize_symbolic(model)
    rows, sums = [], [_nothing(), _nothing()]
    for k, equation in enumerate((EQUATION_8, EQUATION_9)):
        left = sp.sympify(equation.partition("=")[0])
        for term in sorted(sp.Add.make_args(sp.expand(left)), key=_rank):
            linear = _linear(term)
            sums[k] = {name: sums[k][name] + linear[name] for name in linear}
            words = " + ".join(f"{in_symbols(str(x))} Δ{in_symbols(name)}" for name, x in linear.items() if x != 0)
            rows.append((f"eq. {8 + k}", in_symbols(str(term)), words or "0"))
    M = sp.Matrix([[s["theta1_ddot"], s["theta2_ddot"]] for s in sums])
    C = sp.Matrix([[s["theta1_dot"], s["theta2_dot"]] for s in sums])
    K = sp.Matrix([[s["theta1"], s["theta2"]] for s in sums])
    left_over = sum(
        int(sp.simplify(x) != 0)
        for ours, theirs in ((found.M, M), (found.C, C), (found.K, K))
        for x in _plain(ours) - theirs
    )
    m, l, g, k1, k2, c1, c2 = sp.symbols("m l g k1 k2 c1 c2")
    half = sp.Rational(1, 2)
    printed = (
        sp.Matrix([[sp.Rational(4, 3), half], [half, sp.Rational(1, 3)]]) * m * l**2,
        sp.Matrix([[c1 + c2, -c2], [-c2, c2]]),
        sp.Matrix([[k1 + k2 + 3 * m * g * l / 2, -k2], [-k2, k2 + m * g * l / 2]]),
    )
    wrong = sum(
        int(sp.simplify(x) != 0)
        for ours, theirs in zip((found.M, found.C, found.K), printed, strict=True)
        for x in _plain(ours) - theirs
    )
    return Finding(
        lines=(
            same_equations(
                "eqs. 8 and 9",
                "the equations of motion of the double pendulum",
                model,
                {"equations": [EQUATION_8, EQUATION_9]},
            ),
            _rest(model),
            claim(
                "example 2, terms",
                "each term linearized by partial derivatives; the terms with squared rates vanish",
                f"the sum of {len(rows)} linearized terms equals the linear model of the mechanism: {left_over} of 12 "
                "entries differ",
                left_over == 0,
                evidence={"terms": len(rows), "entries that differ": left_over},
            ),
            claim(
                "eqs. 11-14",
                "the matrices M, C and K in symbols",
                f"{wrong} of 12 entries differ from the linear model derived from the mechanism",
                wrong == 0,
                evidence={"entries that differ": wrong},
            ),
        ),
        formulas=formulas(model, "By Lagrange"),
        tables=(
            Table("Linearization term by term about θ₁ = θ₂ = 0", ("Equation", "Term", "Linear part"), tuple(rows)),
        ),
    )


_NAMES = ("theta1_ddot", "theta2_ddot", "theta1_dot", "theta2_dot", "theta1", "theta2")


_KINDS = ("_ddot", "_dot**2", "g*", "c", "k")


def _rank(term: sp.Expr) -> tuple[int, str]:
    """Order of terms as in the paper: accelerations, squared rates, weight, dampers, springs; then by index."""
    text = str(term)
    kind = next(k for k, mark in enumerate(_KINDS) if mark in text.replace("cos", ""))
    return kind, next(name for name in _NAMES if name in text)


def _nothing() -> dict[str, sp.Expr]:
    return dict.fromkeys(_NAMES, sp.Integer(0))


def _linear(term: sp.Expr) -> dict[str, sp.Expr]:
    """Partial derivatives of a term at rest at the origin."""
    zero = {sp.Symbol(name): 0 for name in _NAMES}
    return {name: sp.diff(term, sp.Symbol(name)).subs(zero) for name in _NAMES}


def _plain(matrix: sp.Matrix) -> sp.Matrix:
    """The matrix with symbols that carry no assumptions."""
    return matrix.subs({x: sp.Symbol(x.name) for x in matrix.free_symbols})


def _rest(model: pendula.Model) -> Line:
    found = pendula.find_equilibria(model)
    size = max(float(np.abs(e.q).max()) for e in found)
    return claim(
        "example 2, equilibrium",
        "θ₁ = θ₂ = 0 is a solution of eqs. 10",
        f"the search finds {len(found)} equilibrium, at {size:.1g} rad (within two turns of the springs; not proven "
        "complete)",
        len(found) == 1 and size < 1e-12,
        evidence={"equilibria": len(found), "angle [rad]": size},
        reason="other equilibria exist",
        corrected=f"{len(found)} equilibria",
        severity="incomplete",
    )


# -- example 3 ----------------------------------------------------------------------------------------


def matrices() -> Finding:
    """Accelerations 28 and 29, and the matrices A1 and A2 of equation 30, in symbols."""
    found = pendula.linear.linearize_symbolic(pendula.library.double_pendulum())
    A = _plain(found.A)
    m, l, g, k1, k2, c1, c2 = sp.symbols("m l g k1 k2 c1 c2")
    J = 7 * m * l**2
    A1 = sp.Matrix(
        [
            [-(18 * g / (7 * l) + (12 * k1 + 30 * k2) / J), 9 * g / (7 * l) + 30 * k2 / J],
            [27 * g / (7 * l) + (18 * k1 + 66 * k2) / J, -(24 * g / (7 * l) + 66 * k2 / J)],
        ]
    )
    A2 = sp.Matrix([[-(12 * c1 + 30 * c2), 30 * c2], [18 * c1 + 66 * c2, -66 * c2]]) / J
    wrong = sum(int(sp.simplify(x) != 0) for x in [*(A[2:, :2] - A1), *(A[2:, 2:] - A2)])
    return Finding(
        lines=(
            same_equations(
                "eqs. 28 and 29", "the accelerations g₁ and g₂", pendula.library.double_pendulum(), EQUATIONS_28_29
            ),
            claim(
                "eq. 30",
                "A₁ and A₂ in symbols",
                f"{wrong} of 8 entries differ from those of the linear model",
                wrong == 0,
                evidence={"entries that differ": wrong},
            ),
            _equation_43(),
        ),
        notes=(f"Characteristic polynomial in symbols: {_polynomial_words(found.polynomial)}",),
    )


def _polynomial_words(polynomial: sp.Poly) -> str:
    """The polynomial in s, highest power first."""
    terms = [f"({in_symbols(str(x))}) {in_symbols(f's**{power}')}" for (power,), x in polynomial.terms()]
    return " + ".join(terms).replace(" s¹ ", " s ").removesuffix(" s⁰")


def _equation_43() -> Line:
    model = undamped()
    wrong = model.A.copy()
    wrong[2:] *= -1
    real = sorted(np.linalg.eigvals(wrong).real)
    right = sorted(np.abs(np.linalg.eigvals(model.A).imag))
    return claim(
        "eq. 43 and the line before",
        "A = [[0, I], [M⁻¹K, M⁻¹C]]",
        f"with the data of example 7 its eigenvalues are real: ±{real[-1]:.4f} and ±{real[-2]:.4f} 1/s, so every "
        "motion grows; "
        f"with minus signs they are ±{right[-1]:.4f}i and ±{right[0]:.4f}i",
        bool(np.max(np.linalg.eigvals(wrong).real) < 1e-6),
        evidence={
            "largest eigenvalue as printed": real[-1],
            "next": real[-2],
            "frequency 1": right[0],
            "frequency 2": right[-1],
        },
        reason="from M Δx'' + C Δx' + K Δx = 0 follows Δx'' = −M⁻¹K Δx − M⁻¹C Δx'; both signs are missing (example 7 "
        "has them)",
        corrected="A = [[0, I], [−M⁻¹K, −M⁻¹C]]",
        effect="a stable pendulum would be unstable",
        severity="wrong",
    )


# -- examples 5 to 7 ----------------------------------------------------------------------------------


def roots() -> Finding:
    """The state matrix, its characteristic polynomial and its roots, with dampers."""
    model = pendula.linearize(double(), {})
    A, polynomial = model.A, np.poly(model.A)
    values = sorted(np.linalg.eigvals(A), key=lambda x: (x.real, x.imag))
    exact = pendula.linear.spectrum(model).values
    slow, fast = (next(x for x in exact if x.imag > 0 and abs(abs(x) - size) < 2) for size in (21.45, 94.9))
    verdict = pendula.stability(model)
    entries = dict(zip(("A₃₁", "A₃₂", "A₃₃", "A₃₄", "A₄₁", "A₄₂", "A₄₃", "A₄₄"), A[2:].ravel(), strict=True))
    printed = ("-4871.4", "2090.7", "-17.25", "3.45", "8756.1", "-4609.2", "28.29", "-7.59")
    run = pendula.simulate(double(), 1.0, initial_state={"theta1": 0.4, "theta2": -0.3})
    return Finding(
        lines=(
            numbers("example 5, matrix", {k: (p, x) for p, (k, x) in zip(printed, entries.items(), strict=True)}),
            numbers(
                "example 5, polynomial",
                {
                    name: (p, x)
                    for name, p, x in zip(
                        ("coefficient of λ³", "of λ²", "of λ", "constant term"),
                        ("24.84", "9513.93", "27128.2", "4.14688e6"),
                        polynomial[1:],
                        strict=True,
                    )
                },
            ),
            numbers(
                "example 5, λ₁,₂",
                {"real part": ("-11.5022", fast.real), "imaginary part": ("94.2296", fast.imag)},
                unit="1/s",
            ),
            numbers(
                "example 5, λ₃,₄",
                {"real part": ("-0.917835", slow.real), "imaginary part": ("21.432", slow.imag)},
                unit="1/s",
            ),
            claim(
                "example 5, b)",
                "all roots have negative real parts, so the linear and the nonlinear system are stable",
                f"{verdict.verdict}; behaviour {verdict.behavior}; largest real part "
                f"{max(x.real for x in values):.6g} 1/s",
                verdict.verdict == "asymptotically stable" and verdict.applies_to_nonlinear,
                evidence={"largest real part": max(x.real for x in values)},
            ),
        ),
        animations=(
            animation(run, "damped", "Example 5: the springs stop the swing", note="Released from 23° and −17°"),
        ),
    )


def frequencies() -> Finding:
    """Matrices, quadratic equation, natural frequencies and mode shapes without dampers, and the modes in words."""
    model = undamped()
    M, K = model.M, model.K
    quadratic = (
        float(np.linalg.det(M)),
        float(M[0, 0] * K[1, 1] + M[1, 1] * K[0, 0] - 2 * M[0, 1] * K[0, 1]),
        float(np.linalg.det(K)),
    )
    squares = np.sort(np.roots([quadratic[0], -quadratic[1], quadratic[2]]))
    found = pendula.modes(double(), {}, parameters=UNDAMPED)
    shapes = [float(mode.shape[1] / mode.shape[0]) for mode in found.modes]
    runs = [
        pendula.simulate(
            double(),
            4 * float(mode.period or 0.0),
            parameters=UNDAMPED,
            initial_state={"theta1": 0.15, "theta2": 0.15 * shape},
        )
        for mode, shape in zip(found.modes, shapes, strict=True)
    ]
    ours = ("M₁₁", "M₁₂", "M₂₂", "K₁₁", "K₁₂", "K₂₂")
    values = (M[0, 0], M[0, 1], M[1, 1], K[0, 0], K[0, 1], K[1, 1])
    printed = ("0.828157", "0.310559", "0.207039", "1315", "-300", "305")
    return Finding(
        notes=tuple(mode.description for mode in found.modes),
        lines=(
            numbers("example 6, matrices", {n: (p, x) for n, p, x in zip(ours, printed, values, strict=True)}),
            numbers(
                "example 6, quadratic",
                {
                    "coefficient of λ²": ("0.075014", quadratic[0]),
                    "of −λ": ("711.18", quadratic[1]),
                    "constant term": ("311075", quadratic[2]),
                },
            ),
            *_squares(squares, M, K),
            numbers("example 6, shapes", {"v₁₂": ("2.110", shapes[0]), "v₂₂": ("-1.985", shapes[1])}),
            claim(
                "example 6, c)",
                "in mode 1 both links move in phase, in mode 2 out of phase",
                "; ".join(
                    f"mode {k}: {mode.description.partition(': ')[2].partition(';')[0]}"
                    for k, mode in enumerate(found.modes, 1)
                ),
                shapes[0] > 0 > shapes[1],
                evidence={"shape of mode 1": shapes[0], "shape of mode 2": shapes[1]},
            ),
            claim(
                "after eq. 42",
                "the values of ω² = λ are the squares of the eigenvalues",
                f"λ₁ = {squares[0]:.3f} is the eigenvalue of (K, M); its square is {squares[0] ** 2:.4g}, that of the "
                f"frequency {np.sqrt(squares[0]):.4f} is {squares[0]:.3f}",
                bool(np.isclose(squares[0], squares[0] ** 2)),
                evidence={"eigenvalue": squares[0], "its square": squares[0] ** 2},
                reason="λ is the eigenvalue itself, which is the square of the natural frequency",
                corrected="the values of ω² = λ are the eigenvalues, the squares of the natural frequencies",
                effect="wording only",
                severity="incomplete",
            ),
        ),
        animations=tuple(
            animation(run, f"mode-{k}", f"Example 6: mode {k}", note=mode.description)
            for k, (run, mode) in enumerate(zip(runs, found.modes, strict=True), 1)
        ),
    )


def _squares(squares: Array, M: Array, K: Array) -> tuple[Line, ...]:
    """Squares of the frequencies, frequencies, and the matrices that the mode shapes annul."""
    first, second = K - squares[0] * M, K - squares[1] * M
    return (
        number("example 6, λ₁", "λ₁", "459.697", squares[0], unit="1/s²"),
        number(
            "example 6, λ₂",
            "λ₂",
            "9020.93",
            squares[1],
            unit="1/s²",
            reason="rounded on the way: example 7's own 94.9784365 rad/s squared is 9020.903",
            effect="the fifth digit of ω₂",
        ),
        number("example 6, ω₁", "ω₁", "21.4405", np.sqrt(squares[0]), unit="rad/s"),
        number(
            "example 6, ω₂",
            "ω₂",
            "94.9786",
            np.sqrt(squares[1]),
            unit="rad/s",
            reason="follows from the rounded λ₂; example 7 prints 94.9784",
        ),
        numbers(
            "example 6, f",
            {
                "f₁": ("3.4124", np.sqrt(squares[0]) / (2 * np.pi)),
                "f₂": ("15.1163", np.sqrt(squares[1]) / (2 * np.pi)),
            },
            unit="Hz",
        ),
        numbers(
            "example 6, K − λ₁M",
            {
                "entry 11": ("934.299", first[0, 0]),
                "entry 12": ("-442.763", first[0, 1]),
                "entry 22": ("209.825", first[1, 1]),
            },
        ),
        numbers(
            "example 6, K − λ₂M",
            {
                "entry 11": ("-6155.75", second[0, 0]),
                "entry 12": ("-3101.53", second[0, 1]),
                "entry 22": ("-1562.68", second[1, 1]),
            },
        ),
    )


def eigenvectors() -> Finding:
    """Eigenvalues and eigenvectors of the state matrix, as example 7 prints them to nine digits."""
    model = undamped()
    found = pendula.linear.spectrum(model)
    printed = {
        "94.9784365": ("0.00473720628", "-0.00940213975", "-0.449932446", "0.893000533"),
        "21.4405363": ("-0.0199519042", "-0.0421016328", "0.427779528", "0.902681588"),
    }
    lines, ratios = [], []
    for k, (omega, vector) in enumerate(printed.items()):
        j = next(i for i, x in enumerate(found.values) if abs(x.imag - float(omega)) < 1e-3)
        z = np.concatenate([found.vectors[:, j], found.values[j] * found.vectors[:, j]])
        z *= np.exp(-1j * np.angle(z[3])) / np.linalg.norm(z)
        parts = (z[0].imag, z[1].imag, z[2].real, z[3].real)
        ratios.append(float(abs(z[0].imag / z[1].imag)))
        pair = in_symbols(f"λ{2 * k + 1}") + "," + in_symbols(f"λ{2 * k + 2}")[1:]
        lines.append(number(f"example 7, {pair}", f"imaginary part of {pair}", omega, found.values[j].imag, unit="1/s"))
        names = ("v₁/j", "v₂/j", "v₃", "v₄")
        lines.append(
            numbers(
                f"example 7, eigenvector {2 * k + 1}", {n: (p, x) for n, p, x in zip(names, vector, parts, strict=True)}
            )
        )
    A = model.A
    lines.append(
        numbers(
            "example 7, matrix",
            {
                "A₃₁": ("-4871.4", A[2, 0]),
                "A₃₂": ("2090.7", A[2, 1]),
                "A₄₁": ("8756.1", A[3, 0]),
                "A₄₂": ("-4609.2", A[3, 1]),
            },
        )
    )
    real = float(np.max(np.abs(found.values.real)))
    turned = found.vectors[:, 0] * np.exp(0.7j)
    lines.append(
        claim(
            "after eq. 43",
            "the eigenvalues are the natural frequencies, and the mode shapes are purely imaginary",
            f"the eigenvalues are ±jω (real parts {real:.1g}); multiplied by e^(0.7j) a shape has real parts up to "
            f"{np.max(np.abs(turned.real)):.3f} and is still an eigenvector, and scaled to v₁ = 1 it is real",
            bool(np.allclose(found.values.imag, 0.0) and np.allclose(turned.real, 0.0)),
            evidence={
                "real parts of eigenvalues": real,
                "real part of a turned shape": float(np.max(np.abs(turned.real))),
            },
            reason="an eigenvalue jω is not the frequency ω, and the phase of an eigenvector is free",
            corrected="the eigenvalues are ±jω; mode shapes are real up to a complex factor",
            effect="wording only",
            severity="incomplete",
        )
    )
    return Finding(lines=tuple(lines), notes=(f"State matrix: {matrix_words(A)}",))
