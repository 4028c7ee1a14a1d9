"""FMUs: validated and simulated by fmpy, and by a C program that knows no Python; the same motion as ours."""

from __future__ import annotations

import shutil
import subprocess
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import pendula
from pendula.errors import NotSupported
from pendula.exchange.exporting import export
from pendula.exchange.fmu import write as fmu_write
from pendula.exchange.fmu.compiler import find_compiler
from tests.exchange.cases import MECHANISMS, close
from tests.system.test_redundancy import parallelogram

SAME = 1e-6  # the demand; co-simulation at its tolerance of 1e-8 comes within 1e-7
DURATION = 1.0
NAMES = [pytest.param(name, marks=pytest.mark.slow if name == "space_loop" else ()) for name in MECHANISMS]
compiler = pytest.mark.skipif(find_compiler() is None, reason="no C compiler on this machine")


def description(path: Path) -> ElementTree.Element:
    with zipfile.ZipFile(path) as archive:
        return ElementTree.fromstring(archive.read("modelDescription.xml"))


# -- without fmpy ------------------------------------------------------------------------------------------------


@pytest.mark.skipif(shutil.which("cc") is None, reason="cc is not installed")
@pytest.mark.parametrize("name", ["loop", "hinges"])
def test_a_c_program_without_python_moves_a_linkage_as_we_do(name: str, tmp_path: Path) -> None:
    """With hinges all around, too, of whose last one three rows are left to rounding: crank and rocker move as with pins."""
    model = MECHANISMS[name]()
    written = export(model, tmp_path / "linkage.fmu")
    assert any("binary for" in note for note in written.notes)
    with zipfile.ZipFile(written.path) as archive:
        archive.extractall(tmp_path / "linkage")
    (library,) = (tmp_path / "linkage/binaries").rglob("linkage.*")
    driver = Path(__file__).with_name("driver.c")
    subprocess.run(["cc", str(driver), "-o", str(tmp_path / "driver"), "-ldl"], check=True)
    guid = description(written.path).attrib["guid"]
    words = [str(tmp_path / "driver"), str(library), guid, str(DURATION), "10", "6"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = np.array([line.split() for line in done.stdout.splitlines()], dtype=float)
    run = pendula.simulate("four-bar", DURATION, tol=1e-11, samples=11)
    same = [0, 1, 2, 3, 4, 5] if name == "loop" else [0, 2, 3, 5]
    close(rows[:, 1:][:, same], np.hstack([run.q, run.v])[:, same], SAME)
    system = pendula.compile_system(model)
    gaps = [system.gaps(row[1:4], row[4:], row[0]) for row in rows]
    assert max(np.abs(np.concatenate(gap)).max() for gap in gaps) < 1e-9


def outputs(path: Path) -> set[str]:
    """Names of the outputs that are not states."""
    variables = description(path).find("ModelVariables")
    assert variables is not None
    return {x.get("name", "") for x in variables if x.get("causality") == "output" and x.get("description")}


def test_forces_that_redundant_loops_leave_open_are_no_outputs(tmp_path: Path) -> None:
    """A third crank shares the weight of the coupler in an open way, and so do motors at two cranks."""
    two = export(parallelogram(2), tmp_path / "two.fmu")
    assert {"crank1.force.x", "crank2.force.y", "coupler.force.x"} <= outputs(two.path)
    assert not any("undetermined" in note for note in two.notes)
    three = export(parallelogram(3), tmp_path / "three.fmu")
    assert not {name for name in outputs(three.path) if "force" in name}
    assert any("crank1.force.x" in note and "undetermined" in note for note in three.notes)
    assert "crank1.drive" in outputs(export(driven(1), tmp_path / "motor.fmu").path)
    assert not {name for name in outputs(export(driven(2), tmp_path / "motors.fmu").path) if "drive" in name}


def driven(motors: int) -> pendula.Model:
    """A parallelogram with motors at its cranks."""
    model = parallelogram(2, initial={"crank2": 0.9, "coupler": "90deg"} if motors == 1 else {"coupler": "90deg"})
    given = [joint.model_dump(exclude_unset=True) for joint in model.joints]
    moved = [j | {"motion": "0.9 + 0.1*t"} if k < motors else j for k, j in enumerate(given)]
    return model.with_changes(joints=moved)


HOSTILE = pendula.Model(
    name='"]]><!-- */ #include & \\" %s %n',
    gravity=[0, "-g", 0],
    parameters={"g": 9.81, "time": 2.0, "NQ": 1.0, "der": 0.1, "prepare": 0.0, "x": 1.0, "p": 1.0, "out": 1.0},
    inputs={"M": "der*sin(time*t)"},
    bodies=[{"name": "a.b-c d", "rod": {"mass": "time", "length": "NQ"}}],
    joints=[
        {"name": "fmi2Instantiate", "type": "revolute", "parent": "ground", "child": {"body": "a.b-c d", "at": "top"}}
    ],
    forces=[
        {
            "type": "generalized",
            "coordinate": "fmi2Instantiate",
            "value": "M - der*fmi2Instantiate_dot*x*p*out + prepare",
        }
    ],
    initial={"fmi2Instantiate": "der"},
)


@compiler
@pytest.mark.parametrize("fmi", [2, 3])
def test_hostile_names_break_neither_xml_nor_c(fmi: int, tmp_path: Path) -> None:
    path = export(HOSTILE, tmp_path / "1 bad-name; rm.fmu", fmi=fmi).path
    root = description(path)
    assert root.attrib["modelName"] == HOSTILE.name
    variables = [*root.find("ModelVariables")]
    names = [v.attrib["name"] for v in variables]
    assert len({*names}) == len(names)
    assert {"time", "time_", "fmi2Instantiate", "der(fmi2Instantiate)"} <= {*names}
    units = {unit.attrib["name"] for unit in root.iter("Unit")}
    used = {x.attrib["unit"] for v in variables for x in (v, *v) if "unit" in x.attrib}
    assert used <= units
    with zipfile.ZipFile(path) as archive:
        assert any(n.startswith("binaries/") and "/model_1_bad_name_rm." in n for n in archive.namelist())


def test_without_a_compiler_the_fmu_holds_its_source_and_says_so(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(fmu_write, "find_compiler", lambda: None)
    written = export("pendulum", tmp_path / "toy.fmu", fmi=3)
    assert any(note.startswith("a source FMU") for note in written.notes)
    with zipfile.ZipFile(written.path) as archive:
        names = archive.namelist()
    assert names == ["modelDescription.xml", "sources/model.c", "sources/buildDescription.xml"]


def test_too_large_models_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(NotSupported, match="up to 60 speeds, and chain of 80 links has 80"):
        export(pendula.library.chain(links=80), tmp_path / "rope.fmu")
    assert not [*tmp_path.iterdir()]


# -- by fmpy -----------------------------------------------------------------------------------------------------


@pytest.mark.peer
@compiler
@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_fmpy_validates_and_moves_it_as_we_do(name: str, fmi: int, tmp_path: Path) -> None:
    fmpy = pytest.importorskip("fmpy")
    from fmpy.validation import validate_fmu

    model = MECHANISMS[name]()
    path = str(export(model, tmp_path / "toy.fmu", fmi=fmi).path)
    assert validate_fmu(path) == []
    run = pendula.simulate(model, DURATION, tol=1e-11, samples=11)
    names = [*run.system.in_joints.layout.coordinates, *run.system.in_joints.layout.speeds]
    wanted = np.array([run[n] for n in names]).T
    for kind in ("CoSimulation", "ModelExchange"):
        settings = {"relative_tolerance": 1e-9, "fmi_type": kind, "output": names}
        found = fmpy.simulate_fmu(path, stop_time=DURATION, output_interval=DURATION / 10, **settings)
        rows = [int(np.argmin(np.abs(found["time"] - t))) for t in run.t]
        close(np.array([found[n] for n in names]).T[rows], wanted, SAME)


@pytest.mark.peer
@compiler
@pytest.mark.parametrize("kind", ["cs", "me"])
def test_one_kind_alone_is_described_alone(kind: str, tmp_path: Path) -> None:
    validation = pytest.importorskip("fmpy.validation")
    for fmi in (2, 3):
        path = export("pendulum", tmp_path / f"{kind}{fmi}.fmu", fmi=fmi, kind=kind).path
        found = {child.tag for child in description(path)} & {"CoSimulation", "ModelExchange"}
        assert found == {{"cs": "CoSimulation", "me": "ModelExchange"}[kind]}
        assert validation.validate_fmu(str(path)) == []


@pytest.mark.peer
@compiler
def test_parameters_inputs_and_outputs_have_names(tmp_path: Path) -> None:
    """Energies and reactions against ours, with changed parameters, a changed start and an input that we set."""
    fmpy = pytest.importorskip("fmpy")
    model = MECHANISMS["input"]()
    path = str(export(model, tmp_path / "cart.fmu").path)
    (force,) = model.inputs
    t = np.linspace(0, DURATION, 11)
    given = np.array([(0.0, 2.0), (DURATION, 2.0)], dtype=[("time", float), (force, float)])
    found = fmpy.simulate_fmu(
        path,
        stop_time=DURATION,
        output_interval=DURATION / 10,
        start_values={"l": 0.8, "theta": 0.4},
        input=given,
        output=["x", "theta", "kinetic energy", "potential energy", "theta.force.x", "theta.force.y"],
    )
    changed = model.with_parameters({"l": 0.8}).with_changes(inputs={force: 2.0})
    run = pendula.simulate(changed, DURATION, initial_state={"theta": 0.4}, tol=1e-11, samples=11)
    close(np.array([found["x"], found["theta"]]), np.array([run["x"], run["theta"]]), SAME)
    energies = run.system.energies(run.q, run.v, t)
    close(found["kinetic energy"], energies.kinetic, SAME)
    close(found["potential energy"], energies.potential, SAME)
    reactions = pendula.reactions(run)
    wanted = reactions.force_world[:, reactions.joints.index("theta"), :2]
    close(np.array([found["theta.force.x"], found["theta.force.y"]]).T, wanted, SAME)


@pytest.mark.peer
@compiler
def test_forces_of_prescribed_motions_are_outputs(tmp_path: Path) -> None:
    fmpy = pytest.importorskip("fmpy")
    model = MECHANISMS["prescribed"]()
    path = str(export(model, tmp_path / "driven.fmu").path)
    run = pendula.simulate(model, DURATION, tol=1e-11, samples=11)
    motors = pendula.reactions(run).motors
    assert motors
    names = [f"{name}.drive" for name in motors]
    found = fmpy.simulate_fmu(path, stop_time=DURATION, output_interval=0.1, output=names)
    for name, wanted in motors.items():
        close(found[f"{name}.drive"], wanted, SAME)


@pytest.mark.peer
@compiler
def test_derived_parameters_and_initial_states_follow_others(tmp_path: Path) -> None:
    """The linkage's initial angles are functions of its lengths; changed lengths still close it."""
    fmpy = pytest.importorskip("fmpy")
    model = MECHANISMS["loop"]()
    path = str(export(model, tmp_path / "linkage.fmu").path)
    found = fmpy.simulate_fmu(
        path, stop_time=DURATION, output_interval=0.1, start_values={"b": 2.1}, output=["coupler", "coupler0", "rocker"]
    )
    changed = model.with_parameters({"b": 2.1})
    assert abs(found["coupler0"][0] - changed.parameter_values["coupler0"]) < 1e-12
    run = pendula.simulate(changed, DURATION, tol=1e-11, samples=11)
    close(np.array([found["coupler"], found["rocker"]]), np.array([run["coupler"], run["rocker"]]), SAME)


def instance(path: str, fmi: int):
    """An FMU for co-simulation, to be instantiated by fmpy, and its value references by name."""
    import fmpy
    from fmpy.fmi2 import FMU2Slave
    from fmpy.fmi3 import FMU3Slave

    told = fmpy.read_model_description(path)
    kind = {2: FMU2Slave, 3: FMU3Slave}[fmi]
    made = kind(
        guid=told.guid,
        unzipDirectory=fmpy.extract(path),
        modelIdentifier=told.coSimulation.modelIdentifier,
        instanceName="toy",
    )
    return made, {v.name: v.valueReference for v in told.modelVariables}


@pytest.mark.peer
@compiler
def test_states_are_saved_restored_serialized_and_reset(tmp_path: Path) -> None:
    pytest.importorskip("fmpy")
    path = str(export(MECHANISMS["quaternion"](), tmp_path / "top.fmu").path)
    fmu, names = instance(path, 2)
    references = [v for n, v in names.items() if n.startswith("pivot")]
    fmu.instantiate()

    def begin() -> None:
        fmu.setupExperiment(startTime=0.0)
        fmu.enterInitializationMode()
        fmu.exitInitializationMode()

    begin()
    start = fmu.getReal(references)
    fmu.doStep(0.0, 0.3)
    saved = fmu.getFMUstate()
    image = fmu.serializeFMUstate(saved)
    fmu.doStep(0.3, 0.3)
    later = fmu.getReal(references)
    fmu.setFMUstate(saved)
    fmu.doStep(0.3, 0.3)
    assert fmu.getReal(references) == later  # bit by bit
    again = fmu.deSerializeFMUstate(image)
    fmu.setFMUstate(again)
    fmu.doStep(0.3, 0.3)
    assert fmu.getReal(references) == later
    fmu.reset()
    begin()
    assert fmu.getReal(references) == start
    fmu.freeFMUstate(saved)
    fmu.freeInstance()


@pytest.mark.peer
@compiler
@pytest.mark.parametrize("fmi", [2, 3])
def test_what_cannot_be_done_is_an_error_with_a_message(fmi: int, tmp_path: Path, capfd) -> None:
    fmpy = pytest.importorskip("fmpy")
    path = str(export(MECHANISMS["loop"](), tmp_path / "linkage.fmu", fmi=fmi).path)
    with pytest.raises(Exception, match=r"fmi\dExitInitializationMode|ExitInitializationMode"):
        fmpy.simulate_fmu(
            path, stop_time=0.1, start_values={"d": 100.0}, logger=None, fmi_type="CoSimulation", debug_logging=True
        )
    assert "cannot be closed" in "".join(capfd.readouterr())
    fmu, _ = instance(path, fmi)
    fmu.guid = "{another}"
    with pytest.raises(Exception, match=r"[Ii]nstantiat"):
        fmu.instantiate()


@pytest.mark.peer
def test_zig_compiles_where_there_is_no_compiler(tmp_path: Path, monkeypatch) -> None:
    fmpy = pytest.importorskip("fmpy")
    pytest.importorskip("ziglang")
    from pendula.exchange.fmu import compiler as found

    monkeypatch.setattr(found.shutil, "which", lambda name: None)
    command = found.find_compiler()
    assert command is not None
    assert "ziglang" in command
    model = MECHANISMS["plane"]()
    path = str(export(model, tmp_path / "two.fmu").path)
    run = pendula.simulate(model, DURATION, tol=1e-11, samples=11)
    moved = fmpy.simulate_fmu(path, stop_time=DURATION, output_interval=0.1, output=["theta2"])
    close(moved["theta2"], run["theta2"], SAME)
