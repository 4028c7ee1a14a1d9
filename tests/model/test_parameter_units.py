"""Units of parameters: told by where they stand, and not guessed."""

from __future__ import annotations

import pytest

from pendula import library
from pendula.errors import ModelError
from pendula.model.bodies import Body
from pendula.model.checks.parameter_units import parameter_units
from pendula.model.joints import JointRevolute
from pendula.model.model import Model


def test_fields_tell_units():
    units = parameter_units(library.cart_pole())
    assert (units["M"], units["m"], units["l"], units["g"]) == ("kg", "kg", "m", "m/s^2")


def test_springs_across_turning_joints_are_torques():
    units = parameter_units(library.double_pendulum())
    assert (units["k1"], units["c1"]) == ("ft-lb/rad", "ft-lb s/rad")


def test_a_product_of_two_parameters_tells_the_unit_of_one_by_the_other():
    """Masses of the four-bar are rho times a length."""
    assert parameter_units(library.four_bar())["rho"] == "kg/m"
    assert parameter_units(library.slider_crank())["rho"] == "kg/m"
    model = library.pendulum()
    body = model.bodies[0].model_copy(update={"rod": model.bodies[0].rod.model_copy(update={"mass": "m*n"})})
    again = Model.model_validate(
        model.model_dump(by_alias=True) | {"bodies": [body], "parameters": {**model.parameters, "n": 2.0}}
    )
    assert not {"m", "n"} & {*parameter_units(again)}


def test_multiples_tell_nothing():
    """A number may hide a unit."""
    model = library.pendulum()
    body = model.bodies[0].model_copy(update={"rod": model.bodies[0].rod.model_copy(update={"mass": "3*m"})})
    assert "m" not in parameter_units(model.model_copy(update={"bodies": (body,)}))


def test_places_of_points_are_lengths():
    body = Body(name="load", point={"mass": "m", "at": [0, "-h", 0]})
    joint = JointRevolute(name="theta", parent="ground", child="load")
    model = Model(name="load", gravity=[0, -9.81, 0], parameters={"m": 1, "h": 2}, bodies=[body], joints=[joint])
    assert parameter_units(model) == {"m": "kg", "h": "m"}


@pytest.mark.parametrize(("entry", "words"), [("-lenght", "is not known"), ("1/(h - h)", "division by zero")])
@pytest.mark.parametrize("shape", ["point", "sphere", "disc", "box"])
def test_places_of_shapes_are_checked_when_the_model_is_made(shape, entry, words):
    size = {"point": {}, "box": {"size": [1, 1, 1]}}.get(shape, {"radius": 1})
    body = Body(name="load", **{shape: {"mass": 1, "at": [0, entry, 0], **size}})
    joint = JointRevolute(name="theta", parent="ground", child="load")
    with pytest.raises(ModelError, match=words):
        Model(name="load", gravity=[0, -9.81, 0], parameters={"h": 2}, bodies=[body], joints=[joint])
