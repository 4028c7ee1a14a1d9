"""Equations as MathML: the numbers and names that stand in them, and how products, powers and sums are written."""

from __future__ import annotations

import re
import xml.dom.minidom

import pytest
import sympy

from pendula import derive, library
from pendula.equations.printing.counts import count
from pendula.equations.printing.mathml import MOST_OPERATIONS, expression, write_mathml
from pendula.errors import NotSupported
from pendula.library import mechanisms

a, b = sympy.symbols("a b")


def plain(e):
    """The MathML of an expression as text, with fractions and powers spelled out."""
    node = xml.dom.minidom.parseString(f"<m>{expression(sympy.sympify(e))}</m>").documentElement

    def read(n):
        if n.nodeType == n.TEXT_NODE:
            return n.data
        parts = [read(c) for c in n.childNodes]
        match n.tagName:
            case "mfrac":
                return f"({parts[0]})/({parts[1]})"
            case "msup":
                return f"{parts[0]}^({parts[1]})"
            case "msub":
                return f"{parts[0]}_{parts[1]}"
            case "msqrt":
                return f"sqrt({''.join(parts)})"
            case "mspace":
                return "*"
        return "".join(parts)

    return read(node)


@pytest.mark.parametrize(
    ("given", "written"),
    [
        (a - b, "a−b"),
        (-a * (a + b), "−a*(a+b)"),
        (a / (3 * b), "(a)/(3*b)"),
        (-a / 2, "−(a)/(2)"),
        (sympy.sin(a) ** 2, "sin^(2)*a"),
        (sympy.cos(a - b), "cos(a−b)"),
        (1 / a**2, "(1)/(a^(2))"),
        (sympy.sqrt(a + 1), "sqrt(a+1)"),
        ((a + b) ** 2, "(a+b)^(2)"),
        (sympy.Float(-1.5e-9) * a, "−1.5·10^(−9)*a"),
    ],
)
def test_expressions_are_written_as_they_are(given, written):
    assert plain(given) == written


def test_names_have_letters_dots_and_indices():
    assert plain(sympy.Symbol("theta1")) == "θ_1"
    assert plain(sympy.Symbol("theta1_dot")) == "θ._1"
    assert plain(sympy.Symbol("m_p")) == "m_p"


def test_the_pendulum_has_its_textbook_terms():
    """A thin rod: m l^2/3 theta'' = -m g l/2 sin theta."""
    law, mass, gravity = write_mathml(derive(library.pendulum(), "lagrange"))
    text = [re.sub(r"<[^>]+>", "", f.mathml) for f in (law, mass, gravity)]
    assert text[0].startswith("Mv.=−γ")
    assert text[1] == "M=l2m3"
    assert text[2] == "−γ=−glmsinθ2"


@pytest.mark.parametrize("name", sorted(mechanisms()))
def test_every_library_mechanism_is_well_formed_or_refused(name):
    equations = derive(mechanisms()[name].make(), "lagrange")
    if count(equations).operations_shared > MOST_OPERATIONS:
        with pytest.raises(NotSupported, match="operations"):
            write_mathml(equations)
        return
    for formula in write_mathml(equations):
        xml.dom.minidom.parseString(formula.mathml)
