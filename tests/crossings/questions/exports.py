"""Mechanisms that leave Pendula and move by themselves: an FMU, and the program of a live page."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Collection, Mapping
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

import pendula
from pendula.present.live.content import live_content
from pendula.present.web import bundle
from tests.crossings.carry import Carried
from tests.crossings.case import WEIGHTS, Case, Unsuitable, Wrong
from tests.crossings.oracle import Moment
from tests.crossings.questions.motion import ROUNDING, loose
from tests.crossings.questions.states import compare, rates_by_name, solved

ENGINE = "../../system/live/mechanism.js"
FOR = 2
"""blocks for which an export moves by itself"""
PATIENCE = 20.0
"""seconds after which it does not get there"""


def _stretch(carried: Carried) -> tuple[Moment, Moment]:
    """The first sample in time, and one some blocks later."""
    edges = carried.moments[:: WEIGHTS.size + 1]
    ordered = edges if carried.stretch.last > carried.stretch.first else edges[::-1]
    poses = carried.run.events.get("singular pose")
    if poses is not None and np.any((poses.t > ordered[0].t - 0.05) & (poses.t < ordered[FOR].t + 0.05)):
        raise Unsuitable("exports do not follow a motion through singular poses")
    return ordered[0], ordered[FOR]


def _same_end(case: Case, what: str, found: Mapping[str, float], end: Moment) -> None:
    """Compares a state by name with the run's, where both name it."""
    right = {**end.q, **end.v}
    names = [name for name in right if name in found]
    if not names:
        raise Wrong(f"{what} names none of {sorted(right)}, but {sorted(found)}")
    values = np.array([found[name] for name in names])
    compare(what, names, values, [right[name] for name in names], 3 * case.tolerance + 1e-7 + 30 * loose(case))


def live_page(case: Case, carried: Carried) -> None:
    """Accelerations by the program of the page in node, and its motion over two blocks.

    The page is that of the run's system, or that of the model as it is written, with laws among its inputs.
    """
    content = live_content(carried.system, with_modes=False)
    if case.row["input"] == "feedback" and case.beside.is_law:
        data = case.drawn.data
        content = live_content(pendula.Model(**{**data, "inputs": {**data["inputs"], **case.inputs}}), with_modes=False)
    about = content["record"]["about"]
    names = [*about["names"]["coordinates"], *about["names"]["speeds"]]
    samples = [carried.moments[k] for k in carried.inside(3)]
    start, end = _stretch(carried)
    states = [[x.t, [{**x.q, **x.v}[name] for name in names]] for x in (*samples, start)]
    script = f"""
      const at = ([t, values]) => {{ if (!mechanism.restore(t, values, given)) throw new Error(`not kept at t = ${{t}}`); }};
      const given = Object.fromEntries(Object.entries({json.dumps(case.parameters)}).filter(([name]) => mechanism.knows(name)));
      const states = {json.dumps(states)}, last = states.pop();
      const found = states.map(one => {{ at(one); return Array.from(mechanism.forces().accelerations); }});
      at(last);
      const done = mechanism.advance({end.t!r}, 1e-10, 20000);
      return {{ found, done, state: mechanism.state, kept: Object.keys(given) }};
    """
    head = f"const program = {content['program']};\nconst about = {json.dumps(about)};\n"
    body = (
        f"const mechanism = createMechanism(program, about);\nconsole.log(JSON.stringify((() => {{ {script} }})()));\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "engine.mjs"
        path.write_text(bundle.join(bundle.modules_of(ENGINE)) + head + body, encoding="utf-8")
        done = subprocess.run(["node", str(path)], capture_output=True, text=True, check=False, timeout=60)
    if done.returncode != 0:
        raise Wrong(f"the page ends with: {done.stderr[-300:]}")
    told = json.loads(done.stdout)
    speeds = about["names"]["speeds"]
    for x, found in zip(samples, told["found"], strict=True):
        right = rates_by_name(case, solved(case, x), speeds)
        condition = max(1.0, case.own.accelerations(x).condition / 1e3)
        compare(f"page at t = {x.t:.6g}", speeds, found, right, 10 * ROUNDING * condition + 30 * loose(case))
    if not told["done"]["ok"]:
        raise Wrong(f"the page does not get there: {told['done']}")
    _same_end(case, "the motion of the page", told["state"], end)


# -- FMU ---------------------------------------------------------------------------------------------------


def only_determined(case: Case, x: Moment, names: Collection[str]) -> None:
    """Raises Wrong if an output is a force that the balances of all bodies leave open."""
    lost = case.own.undetermined(x)
    if not lost.clear:
        return
    found = [f"{name}.drive" for name, gone in lost.drives.items() if gone]
    for name, parts in lost.joints.items():
        found += [f"{name}.force.{axis}" for axis, gone in zip("xyz", parts[:3], strict=True) if gone]
    if told := sorted({*found} & {*names}):
        raise Wrong(f"the FMU has outputs for forces that are undetermined: {told}")


def fmu(case: Case, carried: Carried) -> None:
    """A unit for co-simulation, from the first sample over two blocks."""
    start, end = _stretch(carried)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "crossing.fmu"
        pendula.exchange.export(carried.system, path, fmi=2, kind="cs")
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder)
        root = ElementTree.parse(Path(folder) / "modelDescription.xml").getroot()
        (library,) = (Path(folder) / "binaries").rglob("crossing.*")
        references = {v.attrib["name"]: int(v.attrib["valueReference"]) for v in root.iter("ScalarVariable")}
        only_determined(case, start, references)
        values = {**start.q, **start.v, **case.parameters}
        given = [str(library), root.attrib["guid"], references, values, start.t, end.t]
        words = [sys.executable, str(Path(__file__).with_name("unit.py")), json.dumps(given)]
        try:
            done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            raise Wrong(f"the FMU does not get from t = {start.t} to {end.t} in {PATIENCE} s") from None
    if done.returncode != 0:
        raise Wrong(f"the FMU ends with: {done.stderr[-300:]}")
    _same_end(case, "the motion of the FMU", json.loads(done.stdout), end)
