"""Pendulums whose pivot is moved."""

from __future__ import annotations

from typing import Any, Literal

from pendula.library.arguments import PerLink, is_one, whole
from pendula.library.pendulums import chain
from pendula.model.base import Scalar
from pendula.model.model import Model
from pendula.model.windows import drive_window

_ZEROS = (2.404825557695773, 5.520078110286311, 8.653727912911013, 11.791534439014281, 14.930917708487787)
"""The first zeros of the Bessel function J0."""


def driven_chain(
    *,
    links: int = 10,
    kind: Literal["rod", "point"] = "rod",
    mass: PerLink = 1.0,
    length: PerLink = 1.0,
    com: PerLink = None,
    friction: PerLink = None,
    amplitude: Scalar = 0.05,
    rate: Scalar | None = None,
    mode: int = 1,
    direction: Scalar = "90deg",
    coordinates: Literal["absolute", "relative"] = "absolute",
    start: PerLink = 0,
    until: Scalar | None = None,
) -> Model:
    """A chain with a shaken base: Turner, eq. 47.

    The base is at amplitude cos(rate t) (sin direction, cos direction); by default it oscillates horizontally at the
    frequency of a standing wave of a rope (section 5.3). The chain starts at rest, by default hanging straight down.
    The paper gives no amplitude; the default is our choice.

    Closed forms: the default rate is j/2 sqrt(g/L), with j a zero of the Bessel function J0 and L the length of
    the chain. With one link, J q'' = -m d ((g + y'') sin q + x'' cos q), where x, y is the base, d the distance
    of the mass centre and J the inertia about the base.

    Args:
        links, kind, mass, length, com, friction, coordinates: as for ``chain``.
        amplitude: alpha of eq. 47.
        rate: angular frequency of the motion [rad/time]; default: that of the standing wave ``mode``.
        mode: which standing wave of a rope to excite, 1 to 5.
        direction: of the motion, from straight up towards +x; 90 degrees is level.
        start: initial angle of every link from hanging straight down.
        until: when the base stops and stays, such as "pi/omega" (half a period); default: never.
    """
    whole("mode", mode, 1, len(_ZEROS))
    still = chain(
        links=links,
        kind=kind,
        mass=mass,
        length=length,
        com=com,
        friction=friction,
        coordinates=coordinates,
        start=start,
    )
    driving: dict[str, Scalar] = {"alpha": amplitude}
    if rate is None:
        driving |= {"L": _total(links, length), "omega": f"{_ZEROS[mode - 1]!r}/2*sqrt(g/L)"}
    else:
        driving["omega"] = rate
    moved = _shaken(still, f"driven chain of {links} link{'s' if links > 1 else ''}", driving | {"phi": direction})
    return moved if until is None else drive_window(moved, until=until)


def _total(links: int, length: PerLink) -> Scalar:
    return f"{links}*l" if is_one(length) else " + ".join(f"l{k + 1}" for k in range(links))


def _shaken(model: Model, name: str, driving: dict[str, Scalar]) -> Model:
    """The chain with its base moved by alpha cos(omega t) in the direction phi."""
    first = model.joints[0]
    moved: dict[str, Any] = {
        "name": first.name,
        "type": "revolute",
        "parent": {"body": "ground", "position": ["alpha*cos(omega*t)*sin(phi)", "alpha*cos(omega*t)*cos(phi)", 0]},
        "child": first.child.body,
        "measured_from": first.measured_from,  # type: ignore[attr-defined]
    }
    return model.with_changes(name=name, parameters=dict(model.parameters) | driving, joints=[moved, *model.joints[1:]])


def inverted_chain(*, amplitude: Scalar = 0.003, rate: Scalar = 500.0, tilt: Scalar = "5deg") -> Model:
    """Three links, the last kept upright by shaking.

    Turner, section 5.4, with its data: links of 10, 1 and 0.1 kg and 0.01, 0.1 and 1 m, mass centres at their
    ends, g = 0.5; the first two hang, the third stands upright on them. The paper does not say how the base is shaken;
    here it oscillates vertically, with values that hold the last link upright. With a rate of 200 it falls. The paper
    starts exactly upright, which is an equilibrium for any vertical motion of the base; a small tilt shows whether the
    link returns.

    Closed forms: an upright point mass on a fast shaken pivot stays up if (amplitude rate)^2 > 2 g l (Kapitza), here
    amplitude rate > 1; small motions are stable if all Floquet multipliers of the linear equations have size 1.

    Args:
        amplitude: of the base; it must be small compared with the first link, or that link starts to swing.
        rate: angular frequency of the base [rad/time].
        tilt: initial angle of the last link from standing straight up.
    """
    lengths = [0.01, 0.1, 1.0]
    still = chain(
        links=3,
        kind="point",
        mass=[10.0, 1.0, 0.1],
        length=lengths,
        start=[0, 0, f"180deg - ({tilt})"],
    )
    quiet = still.with_parameters({"g": 0.5})
    return _shaken(quiet, "inverted chain", {"alpha": amplitude, "omega": rate, "phi": 0})
