"""Ready mechanisms with their papers' data and closed-form answers.

Every function returns a ``Model``. ``mechanisms()`` lists them by the name used on the command line, including those
of extensions (``pendula.extend.register_mechanism``).
"""

from pendula.library.driven import driven_chain, inverted_chain
from pendula.library.gyros import gyro_pendulum, gyroscope
from pendula.library.kamman import disc_bar, inverted_double_pendulum, piston_bar, shaft_bar, spring_mass_bar
from pendula.library.linkages import four_bar, grashof, slider_crank
from pendula.library.nbar import driven_linkage, linkage
from pendula.library.pendulums import cart_pole, chain, double_pendulum, double_physical_pendulum, pendulum
from pendula.library.registry import Entry, mechanisms, register_mechanism
from pendula.library.spatial import free_body, heavy_top, hoop_bead, spatial_rod, spherical_pendulum
from pendula.library.spatial_chains import double_spherical_pendulum, foucault, spatial_chain

__all__ = [
    "Entry",
    "cart_pole",
    "chain",
    "disc_bar",
    "double_pendulum",
    "double_physical_pendulum",
    "double_spherical_pendulum",
    "driven_chain",
    "driven_linkage",
    "foucault",
    "four_bar",
    "free_body",
    "grashof",
    "gyro_pendulum",
    "gyroscope",
    "heavy_top",
    "hoop_bead",
    "inverted_chain",
    "inverted_double_pendulum",
    "linkage",
    "mechanisms",
    "pendulum",
    "piston_bar",
    "shaft_bar",
    "slider_crank",
    "spatial_chain",
    "spatial_rod",
    "spherical_pendulum",
    "spring_mass_bar",
]


def __dir__() -> list[str]:
    return __all__


for _make in (
    pendulum,
    chain,
    double_pendulum,
    double_physical_pendulum,
    driven_chain,
    inverted_chain,
    cart_pole,
    spherical_pendulum,
    spatial_rod,
    hoop_bead,
    piston_bar,
    spring_mass_bar,
    shaft_bar,
    disc_bar,
    inverted_double_pendulum,
    four_bar,
    slider_crank,
    linkage,
    driven_linkage,
    free_body,
    heavy_top,
    double_spherical_pendulum,
    spatial_chain,
    foucault,
    gyroscope,
    gyro_pendulum,
):
    register_mechanism(_make)
