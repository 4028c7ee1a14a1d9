"""Every library mechanism in its variants."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache

import pendula
from pendula import Model, library
from pendula.model.expressions.expression import parse
from pendula.results import System

VARIANTS: dict[str, Callable[[], Model]] = {
    **{name: entry.make for name, entry in library.mechanisms().items()},
    "pendulum: point": lambda: library.pendulum(kind="point"),
    "pendulum: friction": lambda: library.pendulum(friction=0.3),
    "pendulum: point with friction": lambda: library.pendulum(kind="point", friction=0.3),
    "chain: 1 link": lambda: library.chain(links=1),
    "chain: point": lambda: library.chain(links=4, kind="point"),
    "chain: relative": lambda: library.chain(links=4, coordinates="relative"),
    "chain: point, relative": lambda: library.chain(links=3, kind="point", coordinates="relative"),
    "chain: springs": lambda: library.chain(links=3, stiffness=[5.0, 0.0, 3.0]),
    "chain: springs and dampers, relative": lambda: library.chain(
        links=3, stiffness=4.0, damping=0.3, coordinates="relative"
    ),
    "chain: springs and dampers": lambda: library.chain(links=3, stiffness=4.0, damping=0.3),
    "chain: friction": lambda: library.chain(links=3, friction=0.2),
    "chain: friction, relative": lambda: library.chain(links=3, friction=0.2, coordinates="relative"),
    "chain: com-friction": lambda: library.chain(links=3, com_friction=0.4),
    "chain: com-friction, relative": lambda: library.chain(links=3, com_friction=0.4, coordinates="relative"),
    "chain: lists": lambda: library.chain(
        links=3, mass=[1.0, 2.0, 0.5], length=[0.7, 1.1, 0.4], friction=[0.1, 0.2, 0.3], start=[0.3, "50deg", -1]
    ),
    "chain: given inertia": lambda: library.chain(links=2, com=[0.2, 0.4], inertia=[0.1, 0.3]),
    "chain: com off centre": lambda: library.chain(links=3, com=0.3),
    "chain: com off centre, printed inertia": lambda: library.chain(links=3, com=0.3, inertia_rule="printed"),
    "chain: everything": lambda: library.chain(
        links=4, com=[0.3, 0.5, 0.6, 0.2], stiffness=2.0, damping=0.1, friction=0.2, com_friction=0.3
    ),
    "spherical-pendulum: xy": lambda: library.spherical_pendulum(chart="xy"),
    "spherical-pendulum: rod": lambda: library.spherical_pendulum(kind="rod"),
    "spherical-pendulum: rod, quaternion": lambda: library.spherical_pendulum(kind="rod", chart="quaternion"),
    "double-spherical-pendulum: xy": lambda: library.double_spherical_pendulum(chart="xy"),
    "spatial-chain: universal": lambda: library.spatial_chain(joint="universal"),
    "gyroscope: light gimbals": lambda: library.gyroscope(gimbals=False),
    "spatial-rod: quaternion": lambda: library.spatial_rod(orientation="quaternion"),
    "spatial-rod: spatial": lambda: library.spatial_rod(start="spatial"),
    "spatial-rod: quaternion, spatial": lambda: library.spatial_rod(orientation="quaternion", start="spatial"),
    "spatial-rod: printed inertia": lambda: library.spatial_rod(inertia_rule="printed"),
    "four-bar: crossed": lambda: library.four_bar(branch="crossed"),
    "four-bar: pumpjack": lambda: library.four_bar(preset="pumpjack"),
    "four-bar: double-crank": lambda: library.four_bar(preset="double-crank"),
    "four-bar: double-rocker": lambda: library.four_bar(preset="double-rocker"),
    "four-bar: triple-rocker": lambda: library.four_bar(preset="triple-rocker"),
    "four-bar: spin-driven": lambda: library.four_bar(drive=0.05),
    "slider-crank: massless": lambda: library.slider_crank(slider_mass=0, offset=0.4),
    "slider-crank: left": lambda: library.slider_crank(offset=-0.3, side="left"),
    "linkage: 4 bars": lambda: library.linkage(bars=4),
    "linkage: given last": lambda: library.linkage(bars=5, last_length=1.3),
    "linkage: given last, crossed": lambda: library.linkage(bars=5, last_length=1.3, branch="crossed"),
    "linkage: lists": lambda: library.linkage(
        bars=5, mass=[1, 2, 3], length=[0.5, 1, 0.7], com=[0.2, 0.4, 0.3], pivot=[1.5, 0.2], start=[0.1, 1, "120deg"]
    ),
    "linkage: friction": lambda: library.linkage(bars=5, friction=0.2),
    "driven-linkage: 5 bars": lambda: library.driven_linkage(bars=5, direction="50deg"),
    "driven-chain: 1 link": lambda: library.driven_chain(links=1, amplitude=0.2, direction="40deg", rate=5, start=1),
    "driven-chain: relative": lambda: library.driven_chain(links=3, coordinates="relative", kind="point"),
}

"""Every library mechanism, and its variants after a colon."""


@lru_cache(maxsize=48)  # a system holds megabytes of machine code; tests of one mechanism run together
def library_system(name: str, formulation: str = "kane") -> System:
    """A variant of the library, compiled once per session."""
    return pendula.compile_system(VARIANTS[name](), formulation)


@cache
def _library_model(name: str) -> Model:
    """A variant of the library, to look at: what is collected asks for each of them several times."""
    return VARIANTS[name]()


def has_ball(name: str) -> bool:
    """Whether a variant has a joint with a quaternion; known without compiling."""
    return any(joint.quaternion() for joint in _library_model(name).tree)


def is_driven(name: str) -> bool:
    """Whether a variant has a prescribed motion or a moving ground point; known without compiling."""
    model = _library_model(name)
    places = [x for j in model.joints for side in (j.parent, j.child) for x in side.position or ()]
    return any(j.prescribed() for j in model.tree) or any("t" in parse(x).names for x in places)
