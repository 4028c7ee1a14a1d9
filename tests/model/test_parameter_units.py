"""Units of parameters: told by where they stand, and not guessed."""

from __future__ import annotations

from pendula import library
from pendula.model.parameter_units import parameter_units


def test_fields_tell_units():
    units = parameter_units(library.cart_pole())
    assert (units["M"], units["m"], units["l"], units["g"]) == ("kg", "kg", "m", "m/s^2")


def test_springs_across_turning_joints_are_torques():
    units = parameter_units(library.double_pendulum())
    assert (units["k1"], units["c1"]) == ("ft-lb/rad", "ft-lb s/rad")


def test_multiples_and_products_tell_nothing():
    """Masses of the four-bar are rho times a length; a number may hide a unit as well."""
    assert "rho" not in parameter_units(library.four_bar())
    model = library.pendulum()
    body = model.bodies[0].model_copy(update={"rod": model.bodies[0].rod.model_copy(update={"mass": "3*m"})})
    assert "m" not in parameter_units(model.model_copy(update={"bodies": (body,)}))
