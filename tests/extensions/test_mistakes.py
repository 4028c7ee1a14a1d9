"""Mistakes in extensions are refused where they are made, by one message that names the extension and the cause."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import pendula
from pendula.app.main import main
from pendula.equations.formulations.registry import FORMULATIONS
from pendula.errors import ModelError, UsageError
from pendula.extend import (
    COMPUTATIONS,
    STEPPERS,
    Block,
    Computation,
    Stepper,
    load_extension,
    rates,
    register_computation,
    register_force,
    register_format,
    register_formulation,
    register_joint,
    register_mechanism,
    register_plot,
    register_stepper,
    register_table,
)
from pendula.formats import formats, remove_format
from pendula.library.registry import MECHANISMS
from pendula.model.base import Label, Scalar
from pendula.model.forces import FORCES, Force, ForceAcross, ForceBetween, Law
from pendula.model.forces.actions import OnCoordinate, Push
from pendula.model.joints import JOINTS, ClosingJoint, TreeJoint
from pendula.model.joints.rows import NoGap, SamePoint
from pendula.model.joints.steps import Shift, Turn
from pendula.outcome import Outcome
from pendula.present.pictures.registry import PLOTS
from pendula.results import Computed
from pendula.studies.batch import numbers, one_by_one
from pendula.tables.kinds import MAKERS

REGISTRIES = (JOINTS, FORCES, STEPPERS, MECHANISMS, FORMULATIONS, PLOTS, MAKERS, COMPUTATIONS)


@pytest.fixture(autouse=True)
def _nothing_left() -> Iterator[None]:
    known = [set(registry) for registry in REGISTRIES]
    yield
    for registry, names in zip(REGISTRIES, known, strict=True):
        for name in set(registry) - names:
            registry.remove(name)
    if "faulty" in formats("Trajectory"):
        remove_format("faulty", of="Trajectory")


def made(base: type, fields: dict[str, Any] | None = None, **content: Any) -> Any:
    """A class of joints or forces of type "faulty", as a file of the user would define it."""
    annotations = {"type": Literal["faulty"], **(fields or {})}
    body = {"__annotations__": annotations, "type": "faulty", "__doc__": "Faulty.", "__module__": __name__, **content}
    return type("Faulty", (base,), body)


# --- joints ----------------------------------------------------------------------------------------------------


def with_joint(joint: Any) -> pendula.Model:
    """A rod on such a joint, or a rod on a hinge that such a joint closes."""
    register_joint(joint)
    kinds = ["revolute", "faulty"] if joint.closing else ["faulty"]
    joints = [{"name": f"j{k}", "type": kind, "parent": "ground", "child": "rod"} for k, kind in enumerate(kinds)]
    bodies = [{"name": "rod", "rod": {"mass": 1, "length": 1}}]
    return pendula.Model(name="faulty", gravity=[0, -9.81, 0], bodies=bodies, joints=joints)


Z = (0, 0, 1)


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        (None, "must return a tuple of Slide, Shift, Turn, TurnBall, found nothing"),
        (Turn(Z, "j0"), "must return a tuple .* found an object of type Turn"),
        (("turn",), 'found "turn" in it'),
        ((Turn,), "found the class Turn in it"),
        ((Turn((0, 1), "j0"),), "a Turn whose axis must have three entries"),
        ((Turn("z", "j0"),), 'axis must have three entries, such as .* found "z"'),
        ((Turn((0, 0, 0), "j0"),), "axis is zero"),
        ((Turn((0, "j0", 1), "j0"),), 'axis may use parameters only, found "j0"'),
        ((Turn(Z, None),), "angle is no number or expression"),
        ((Shift(("j0", 0)),), "a Shift whose vector must have three entries"),
    ],
)
def test_steps_that_cannot_be_read(steps: Any, message: str) -> None:
    joint = made(TreeJoint, freedoms=(("", "angle"),), steps=lambda self: steps)
    with pytest.raises(ModelError, match=rf'joint "j0": Faulty\.steps\(\) \(test_mistakes\.py, line \d+\) .*{message}'):
        with_joint(joint)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"rows": lambda self: None}, r"rows\(\) .* found nothing"),
        ({"rows": lambda self: ()}, r"rows\(\) .* has no effect"),
        ({"rows": lambda self: (SamePoint,)}, "found the class SamePoint"),
        ({"rows": lambda self: (NoGap((0, 0, 0), "x"),)}, "direction is zero"),
        ({"rows": lambda self: (1 / 0,)}, "raises ZeroDivisionError: division by zero"),
        ({"senses": lambda self: None}, r"senses\(\) .* must return a tuple of directions, such as \(self.axis,\)"),
        ({"senses": lambda self: ((Z, Z),)}, "lists a direction that must have three entries"),
    ],
)
def test_rows_and_senses_that_cannot_be_read(content: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        with_joint(made(ClosingJoint, **{"rows": lambda self: (SamePoint(),), **content}))


@pytest.mark.parametrize(
    ("freedoms", "message"),
    [
        ((("", "angel"),), 'the kind of a coordinate is one of angle, .* found "angel"'),
        (("", "angle"), "must be a tuple of pairs"),
        ((("", "quaternion"),), "a quaternion has four coordinates"),
    ],
)
def test_freedoms_that_make_no_sense(freedoms: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        register_joint(made(TreeJoint, freedoms=freedoms))


# --- forces ----------------------------------------------------------------------------------------------------

LAW = Law(drag="k*rate")
K = {"k": Scalar}


@pytest.mark.parametrize(
    ("force", "message"),
    [
        (lambda: made(ForceAcross, K), "it has no law, so it would have no effect"),
        (lambda: made(ForceAcross, K, law=Law()), "it has no law"),
        (lambda: made(ForceAcross, K, law="k*rate"), "its law must be a Law"),
        (lambda: made(ForceAcross, K, law=LAW, measures="angel"), 'measures must be one of "angle", "length"'),
        (lambda: made(ForceAcross, K, law=LAW, drawn_as="zigzag"), 'drawn_as must be one of "spring", .* "zigzag"'),
        (
            lambda: made(ForceAcross, K, law=LAW, units={"kk": "force"}),
            'entry "kk", which is not a field; did you mean',
        ),
        (lambda: made(ForceAcross, {"pi": Scalar}, law=Law(drag="pi*rate")), 'a field cannot be called "pi"'),
        (lambda: Law, "must be a subclass of Force"),
    ],
)
def test_a_type_of_force_without_meaning(force: Callable[[], Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        register_force(force())


ELASTIC = [
    "k*x if k < 50 else 2*k*x",
    "k*x if x < 1000 else 0",
    "k*x if x < 1e6 else 0",
    "k*x if abs(x) > 0.001 else 0",
    "k*x if x > 0 else 0",
]


@pytest.mark.parametrize("elastic", ELASTIC)
def test_an_elastic_force_that_differs_from_its_potential_somewhere(elastic: str) -> None:
    with pytest.raises(UsageError, match="is not the derivative of its potential"):
        register_force(made(ForceAcross, K, law=Law(elastic, "k*x**2/2")))


def test_an_elastic_force_that_differs_at_the_numbers_of_a_model() -> None:
    """Negative stiffness is not tried when the type is registered: many laws make no sense for it."""
    register_force(made(ForceAcross, K, law=Law("k*x", "abs(k)*x**2/2")))
    model = pendula.library.pendulum()
    model.with_changes(forces=[{"type": "faulty", "joint": "theta", "k": 3}])
    with pytest.raises(ModelError, match=r"is not the derivative of its potential .* k = -3"):
        model.with_changes(forces=[{"type": "faulty", "joint": "theta", "k": -3}])


@pytest.mark.parametrize(
    "law",
    [
        Law("k*n*sin(n*x)", "-k*cos(n*x)"),
        Law("k*tanh(x/n)", "k*n*log(cosh(x/n))"),
        Law("k*x/sqrt(1 + (x/n)**2)", "k*n**2*(sqrt(1 + (x/n)**2) - 1)"),
        Law("k*x if x < n else k*n", "k*x**2/2 if x < n else k*n*x - k*n**2/2"),
        Law("k*abs(x)**n*sign(x)", "k*abs(x)**(n + 1)/(n + 1)"),
        Law("k*x/hypot(x, n) + k*atan2(x, n)", "k*hypot(x, n) + k*(x*atan2(x, n) - n*log(1 + (x/n)**2)/2)"),
        *(FORCES[name].law for name in FORCES),
    ],
)
def test_sound_laws_pass_over_many_decades(law: Law) -> None:
    assert law.mismatch({}, signed=True) == ""


def test_a_law_of_a_distance_need_not_hold_for_negative_ones() -> None:
    register_force(made(ForceBetween, K, law=Law("k/abs(x)", "k*log(abs(x))")))


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        (None, "must return a tuple of Between, .* found nothing"),
        ((), "has no effect"),
        (("push",), 'found "push" in it'),
        ((Push("link", (1, 0)),), "a Push whose vector must have three entries"),
        ((Push("link", (1, 0, 0), "wrld"),), 'axes must be "world" or "body", found "wrld"'),
        ((Push("nobody", (1, 0, 0)),), 'body names no body of the model: "nobody"'),
        ((Push("link", ("kk", 0, 0)),), 'vector uses "kk", which the model does not have'),
        ((OnCoordinate("phi", 1),), 'coordinate uses "phi"'),
    ],
)
def test_actions_that_cannot_be_read(actions: Any, message: str) -> None:
    register_force(made(Force, {"body": Label}, actions=lambda self: actions))
    with pytest.raises(ModelError, match=rf"Faulty\.actions\(\) \(test_mistakes\.py, line \d+\) .*{message}"):
        pendula.library.pendulum().with_changes(forces=[{"type": "faulty", "body": "link"}])


# --- steppers --------------------------------------------------------------------------------------------------


def heun(run, t, h, y, slope, new, error):  # type: ignore[no-untyped-def]
    late = np.empty_like(y)
    if not rates(run, t + h, y + h * slope, late):
        return False
    new[:] = y + h / 2 * (slope + late)
    error[:] = h / 2 * (late - slope)
    return True


def rebinds(run, t, h, y, slope, new, error):  # type: ignore[no-untyped-def]
    new = y + h * slope  # noqa: F841
    return True


def returns_nothing(run, t, h, y, slope, new, error):  # type: ignore[no-untyped-def]
    new[:] = y + h * slope


def always_fails(run, t, h, y, slope, new, error):  # type: ignore[no-untyped-def]
    return False


def raises(run, t, h, y, slope, new, error):  # type: ignore[no-untyped-def]
    if h > 0.0:
        raise ValueError("boom")
    return True


def changes_y(run, t, h, y, slope, new, error):  # type: ignore[no-untyped-def]
    y += h * slope
    new[:] = y
    return True


def no_estimate(run, t, h, y, slope, new, error):  # type: ignore[no-untyped-def]
    new[:] = y + h * slope
    return True


def wrong_call(run, t, h, y, slope, new, error):  # type: ignore[no-untyped-def]
    new[:] = y + h * rates(run, t, y)
    return True


def fails_late(run, t, h, y, slope, new, error):  # type: ignore[no-untyped-def]
    new[:] = y + h * slope
    return t < 0.45


def simulated(step: Any, order: int = 1, error_order: int = 0) -> Any:
    register_stepper(Stepper("faulty", order, error_order, step=step))
    size = {"tol": 1e-4} if error_order else {"step": 0.01}
    return pendula.simulate("pendulum", 1.0, stepper="faulty", **size)


def slow(*case: Any) -> Any:
    return pytest.param(*case, marks=pytest.mark.slow)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # by which numba reports errors
@pytest.mark.parametrize(
    ("step", "order", "error_order", "message"),
    [
        (rebinds, 1, 0, "its step leaves new as it was"),
        slow(returns_nothing, 1, 0, "it must return whether it succeeded, True or False"),
        slow(always_fails, 1, 0, "its step returns False, or raises an error"),
        slow(raises, 1, 0, "its step returns False, or raises an error"),
        slow(changes_y, 1, 0, "its step changes y"),
        slow(no_estimate, 1, 1, "leaves error at zero"),
        slow(wrong_call, 1, 0, r"cannot be compiled: TypingError: .*'dy'.* at .*test_mistakes\.py \(\d+\)$"),
        slow(heun, 5, 0, r"with order=5, .* would fall as h\*\*6, but .* it falls as h\*\*3\.0"),
        slow(heun, 2, 4, r"with error_order=4, .* would fall as h\*\*5, but .* it falls as h\*\*2\.0"),
    ],
)
def test_a_step_that_does_not_do_what_its_stepper_claims(step: Any, order: int, error_order: int, message: str) -> None:
    with pytest.raises(UsageError, match=f'stepper "faulty": .*{message}') as caught:
        simulated(step, order, error_order)
    assert len(str(caught.value)) < 500


@pytest.mark.slow
def test_a_step_of_a_fixed_size_may_fill_the_error() -> None:
    run = simulated(heun, 2)
    assert (run.outcome, run.rejected) == (Outcome.FINISHED, 0)


@pytest.mark.slow
def test_a_step_that_fails_during_a_run_is_not_blamed_on_the_equations() -> None:
    assert simulated(fails_late).outcome is Outcome.STEP_FAILED


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"order": 0}, "order must be a whole number from 1, found 0"),
        ({"order": "2"}, "order must be a whole number from 1, found '2'"),
        ({"name": " "}, "the name of a stepper is a word"),
        ({"step": lambda run, t, h, y, slope, new: True}, r"called as step\(run, t, h, y, slope, new, error\)"),
        ({"step": len}, "a Stepper with a step function"),
    ],
)
def test_a_record_of_a_stepper_that_makes_no_sense(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        register_stepper(Stepper(**{"name": "faulty", "order": 2, "step": heun, **changes}))


# --- what registered functions return --------------------------------------------------------------------------


class Reading:
    """A result of user code."""


class Underivable:
    name = "faulty"
    support = pendula.derivation.formulations()["kane"].support

    def derive(self, model: pendula.Model) -> None:
        return None


def faulty() -> None:
    """A mechanism that forgets to return its model."""


def _written(path: Path) -> Any:
    register_format("faulty", lambda run: None, of="Trajectory", ending=".faulty")
    return pendula.results.write(pendula.simulate("pendulum", 0.01), path / "run.faulty")


def _printed(path: Path) -> Any:
    register_format("faulty", lambda equations: None, of="Equations")
    try:
        return pendula.print_equations("pendulum", "faulty")
    finally:
        remove_format("faulty", of="Equations")


def _swept(found: Any) -> Any:
    register_computation("faulty", Computation(lambda batch, tell: found))
    return pendula.sweep("pendulum", {"theta": [0.1, 0.2]}, "faulty", on="here")


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda path: pendula.check(register_mechanism(faulty).__name__), 'library mechanism "faulty".* return Model'),
        (lambda path: (register_formulation(Underivable()), pendula.derive("pendulum", "faulty")), "return Equations"),
        (_written, "must return str or bytes or Content, found None"),
        (_printed, "must return str or bytes or Content, found None"),
        (lambda path: (register_plot(Reading, lambda r: None), pendula.plot(Reading())), 'plot "Reading".* Figure'),
        (
            lambda path: (
                register_table(Reading, lambda r: {}),
                pendula.results.write(Reading(), path / "reading.csv"),
            ),
            'table "Reading", registered by .*test_mistakes, must return Table, found an object of type dict',
        ),
        (lambda path: _swept(None), "must return Computed, found None"),
        (lambda path: _swept(Computed((Block("z", ("case",), np.zeros(9)),), {})), r"found shape \(9,\) over case"),
        (lambda path: _swept(Computed((Block("z", ("t",), np.zeros(2)),), {})), r"found shape \(2,\) over t"),
    ],
)
def test_what_a_registered_function_returns_is_checked(use: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        use(tmp_path)


@pytest.mark.parametrize(
    ("register", "message"),
    [
        (lambda: register_format("faulty", str, of="Trajectry"), 'of="Trajectry" is none of Model, .*pass the class'),
        (lambda: register_format("faulty", str, of="Trajectory", ending="x"), 'starts with a dot, such as ".csv"'),
        (lambda: register_format("faulty", "abc", of="Trajectory"), "give a function of the result"),
        (
            lambda: [register_format("faulty", str, of="Trajectory", ending=end) for end in (".a", ".b")],
            r'"faulty" of Trajectory is already registered for files that end in \.a',
        ),
        (
            lambda: (register_format("faulty", "no_such:place", of="Trajectory"), formats("Trajectory")["faulty"]),
            "there is no no_such:place",
        ),
        (lambda: register_mechanism(3), "is a function with a name, found 3"),
        (lambda: register_computation("faulty", print), "give a Computation"),
        (lambda: load_extension(3), "the name of a module or the path of a Python file, found 3"),
    ],
)
def test_what_cannot_be_registered(register: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        register()


def test_a_case_that_raises_any_error_is_a_failure_of_this_case() -> None:
    def compute(batch: Any, tell: Any) -> Computed:
        found, failures = one_by_one(batch, lambda k: {"z": 1 / (batch.state(k)["theta"] - 0.1)}, tell)
        return Computed((Block("z", ("case",), numbers(found["z"])),) if found else (), failures)

    register_computation("faulty", Computation(compute))
    found = pendula.sweep("pendulum", {"theta": [0.2, 0.1]}, "faulty", on="here")
    assert found.failures == {1: "ZeroDivisionError: float division by zero"}


# --- files -----------------------------------------------------------------------------------------------------


@pytest.fixture
def loaded_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from pendula import extensions

    monkeypatch.setattr(extensions, "_loaded", {})
    monkeypatch.setattr(sys, "modules", dict(sys.modules))


@pytest.mark.usefixtures("loaded_anew")
def test_a_file_that_was_edited_after_it_was_loaded(tmp_path: Path) -> None:
    path = tmp_path / "edited_extension.py"
    path.write_text("value = 1\n")
    assert load_extension(path) is load_extension(path)
    path.write_text("value = 2\n")
    with pytest.raises(UsageError, match="the file has changed since it was loaded; start Python anew"):
        load_extension(path)


@pytest.mark.usefixtures("loaded_anew")
def test_messages_name_the_line_of_an_extension(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "broken_extension.py"
    path.write_text("\n1/0\n")
    with pytest.raises(UsageError, match=r'broken_extension\.py", line 2: ZeroDivisionError: division by zero'):
        load_extension(path)
    path = tmp_path / "booming_extension.py"
    path.write_text(
        "from pendula.extend import register_mechanism\n\n"
        "@register_mechanism\ndef boom():\n    raise ValueError('too loud')\n"
    )
    for words, message in (
        (["--extension", str(path), "derive", "boom"], '"booming_extension.py", line 5, in boom: ValueError: too loud'),
        (["list", "--extension", str(path)], "it goes before the command"),
    ):
        with pytest.raises(SystemExit) as end:
            main(words)
        assert end.value.code == 2
        assert message in capsys.readouterr().err
