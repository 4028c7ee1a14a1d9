"""Names in printed equations: letters with indices, and names of matrices that no symbol of the model has."""

from __future__ import annotations

from collections.abc import Iterable

from pendula.equations.equations import Equations

_GREEK_NAMES = """
    alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau upsilon phi chi psi omega
    pi Gamma Delta Theta Lambda Xi Sigma Upsilon Phi Psi Omega
"""
GREEK = dict(zip(_GREEK_NAMES.split(), "αβγδϵζηθικλμνξρστυϕχψωπΓΔΘΛΞΣΥΦΨΩ", strict=True))
"""Greek letters by name."""

_BLOCKS = {
    "M": ("M", "Mass"),
    "f": ("f", "force"),
    "G": ("G", "Jacobian"),
    "g": ("g", "gap"),
    "b": ("b", "prescribed"),
    "c": ("c", "bias"),
    "v": ("v", "speeds"),
    "q": ("q", "positions"),
    "u": ("u", "inputs"),
    "p": ("p", "parameters"),
    "qdot": ("qdot", "rates"),
    "lambda": ("lambda", "multipliers"),
    "inertia": ("h", "Coriolis"),
    "gravity": ("gamma", "gravity"),
    "springs": ("f_k", "springs"),
    "dissipation": ("f_c", "damping"),
    "applied": ("tau", "applied"),
}
"""The usual name of every block of the equations, and the word that replaces it if a symbol of the model has it."""

_BODY_LETTERS = {"x": ("x", ""), "y": ("y", ""), "z": ("z", ""), "theta": ("theta", "")}
_BODY_LETTERS |= {f"q{k}": ("q", str(k)) for k in range(4)} | {f"w{axis}": ("omega", axis) for axis in "xyz"}


def parts_of_name(name: str, eq: Equations | None = None) -> tuple[str, list[str], bool]:
    """Letter (or word), indices, and whether it is a rate; coordinates of a body get the body as index.

    Example:
        >>> parts_of_name("theta1_dot"), parts_of_name("m_p")
        (('theta', ['1'], True), ('m', ['p'], False))
    """
    dotted = name.endswith("_dot")
    plain = name.removesuffix("_dot")
    if eq is not None and eq.nodes and name not in eq.readings and "__" not in name:
        start, _, ending = plain.rpartition("_")
        if start and ending in _BODY_LETTERS:
            letter, index = _BODY_LETTERS[ending]
            return letter, [x for x in (*start.split("_"), index) if x], dotted
    head, _, rest = plain.partition("_")
    stem = head.rstrip("0123456789") or head
    return stem, [x for x in (head[len(stem) :], *rest.split("_")) if x], dotted


def block_names(eq: Equations) -> dict[str, str]:
    """Names for M, f, G and the other blocks: the usual letter, or a word if the model uses that letter.

    Example:
        >>> from pendula import derive, library
        >>> names = block_names(derive(library.cart_pole()))
        >>> names["M"], names["G"]
        ('Mass', 'G')
    """
    symbols = [*eq.q, *eq.v, *eq.u, *eq.p, eq.t, *eq.readings, *(s for s, _ in eq.definitions)]
    symbols += [d.name for d in eq.drives]
    return free_names(map(str, symbols))


def free_names(symbols: Iterable[str]) -> dict[str, str]:
    """The names of the blocks beside given symbols."""
    taken = {_read(name) for name in symbols}
    found: dict[str, str] = {}
    for block, candidates in _BLOCKS.items():
        word = candidates[-1]
        longer = (word + "_block" * k for k in range(1, 100))
        found[block] = next(x for x in (*candidates, *longer) if _read(x) not in taken)
        taken.add(_read(found[block]))
    return found


def _read(name: str) -> str:
    """How a name is read: M, M1 and M_1 alike, since entries of a matrix M have numbers as indices."""
    letter, indices, _ = parts_of_name(name)
    return "_".join([letter, *(x for x in indices if not x.isdigit())])
