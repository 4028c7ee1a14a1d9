"""Crossing defects of the past, each as a small edit of today's source that brings the wrong behaviour back.

What they were is told in CHANGELOG.md; classes are those of ``history.CLASSES``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Levels = Mapping[str, str]
FEED, GIVEN = "simulation/inputs/feed.py", "simulation/inputs/given.py"
SYMBOLIC, RECURSIVE = "system/symbolic.py", "system/recursive.py"
TWINS, DRIVES = "system/orientation/twins.py", "analysis/equilibria/held_drives.py"
LIMITS, ASSEMBLY = "analysis/reactions/limits.py", "system/loops/assembly.py"
WITHIN, OPEN = "simulation/within.py", "exchange/fmu/undetermined.py"


@dataclass(frozen=True)
class Planted:
    """A defect that is planted again.

    Attributes:
        name: what to call it.
        kind: its class.
        was: what was wrong.
        edits: file below src/pendula, what stands there today, and what to write in its place.
        sees: levels of rows that should see it.
        missing: why no row sees it, where that is known.
        defects: how many defects of the past these edits bring back.
    """

    name: str
    kind: str
    was: str
    edits: tuple[tuple[str, str, str], ...]
    sees: tuple[Levels, ...]
    missing: str = ""
    defects: int = 1


@dataclass(frozen=True)
class Left:
    """A defect that is not planted, and why."""

    name: str
    kind: str
    why: str
    defects: int = 1


A = (
    Planted(
        "reactions without inputs over time", "A",
        "reactions of runs with a Signal, a function or a Sampled controller were computed without these inputs",
        (("analysis/reactions/forces.py", "return system.inputs.handed_on(compile_system(system.model, name))",
          "return compile_system(system.model, name)"),),
        ({"question": "reactions", "input": "cubic series", "engine": "lagrange"},
         {"question": "reactions", "input": "function"}, {"question": "reactions", "input": "sampled"}),
    ),
    Planted(
        "couplings in maximal coordinates without inputs over time", "A",
        "forces of couplings of such runs in maximal coordinates were computed without the inputs",
        ((SYMBOLIC, "return self.inputs.handed_on(SymbolicSystem(derive(self.model)))",
          "return SymbolicSystem(derive(self.model))"),),
        ({"question": "reactions", "closure": "coupling", "engine": "maximal", "input": "function"},
         {"engine": "maximal", "input": "function"}, {"engine": "maximal", "input": "cubic series"}),
    ),
    Planted(
        "pickled runs have the inputs of the model", "A",
        "pickled systems and runs lost inputs over time: they had those of the model",
        ((SYMBOLIC, "return made_again, (*make, self.inputs.handed_on)", "return make"),
         (RECURSIVE, "return made_again, (make, (self.model,), self.inputs.handed_on)", "return make, (self.model,)")),
        ({"carry": "pickled run", "input": "function"}, {"carry": "pickled run", "input": "cubic series"},
         {"carry": "process", "input": "held series"}),
    ),
    Planted(
        "pickled runs lose the samples of controllers", "A",
        "samples of a Sampled controller were not kept in a pickle",
        ((FEED, "return partial(_with_inputs_of_another, self.signals, self.laws, self.records)",
          "return partial(_with_inputs_of_another, self.signals, self.laws, {})"),),
        ({"carry": "pickled run", "input": "sampled"}, {"carry": "pickled run", "input": "sampled with memory"},
         {"carry": "process", "input": "sampled"}),
    ),
    Planted(
        "couplings in maximal coordinates without controllers", "A",
        "forces of couplings in runs in maximal coordinates left out Sampled controllers: their samples were copied early",
        ((FEED, "    inputs.records = records\n", "    inputs.records = dict(records)\n"),),
        ({"question": "reactions", "closure": "coupling", "engine": "maximal", "input": "sampled"},
         {"engine": "maximal", "input": "sampled"}, {"engine": "maximal", "input": "sampled with memory"}),
    ),
    Planted(
        "runs replay the controller of the run before", "A",
        "simulate(run.system) after a run with a Sampled controller replayed its outputs, whatever the new start",
        ((FEED, "self._known = dict(inputs.records) if again else {}", "self._known = dict(inputs.records)"),
         (GIVEN, "return (with_run_inputs(system, own.signals, own.laws) if isinstance(own, RunInputs) else system), ()",
          "return system, ()")),
        ({"carry": "again", "input": "sampled"}, {"carry": "again", "input": "sampled with memory"}),
    ),
    Planted(
        "runs share the samples of controllers", "A",
        "simulate(run.system) after a run with a Sampled controller changed the inputs of that run",
        ((GIVEN, "return (with_run_inputs(system, own.signals, own.laws) if isinstance(own, RunInputs) else system), ()",
          "return system, ()"),),
        ({"carry": "again", "input": "sampled"}, {"carry": "again", "input": "sampled with memory"}),
    ),
    Planted(
        "inputs not given again are zero", "A",
        "simulate(run.system, inputs=...) set inputs to zero that the run had over time, unless they were given again",
        ((GIVEN, "    own = system.inputs\n    if not isinstance(own, RunInputs):\n        return dict(signals), laws",
          "    own = system.inputs\n    if True or not isinstance(own, RunInputs):\n        return dict(signals), laws"),),
        ({"carry": "again", "beside": "series"}, {"carry": "again", "input": "function"},
         {"carry": "again", "input": "held series"}),
    ),
    Planted(
        "loaded runs have the inputs of a given system", "A",
        "load_run(path, system=...) read a run without the inputs that it was made with",
        (("simulation/tables/restore.py", "return system if given is None else _with_inputs_of(known, given)",
          "return system"),),
        ({"carry": "npz", "input": "number"}, {"carry": "nc", "input": "feedback"}, {"carry": "csv", "input": "number"},
         {"carry": "json", "input": "text of time"}),
    ),
    Planted(
        "slopes leave out functions of the state", "A",
        "acceleration_jacobian and residual_jacobian left out an input that is a Python function of the state",
        ((FEED, 'if by not in ("q", "v") or (given', 'if True or (given'),),
        ({"question": "slopes", "input": "function"},),
    ),
    Planted(
        "recursive slopes evaluate inputs with other parameters", "A",
        "for loops in the recursive engine, Jacobians and forces evaluated inputs with other parameters than those given",
        ((RECURSIVE, "inputs, parameter_vector(self, parameters), (q, v))", "inputs, self.parameters, (q, v))"),),
        ({"question": "slopes", "engine": "recursive with equations", "beside": "model", "constants": "derived"},
         {"question": "slopes", "engine": "recursive", "beside": "model", "input": "held series"},
         {"question": "slopes", "engine": "recursive", "closure": "loop"}),
    ),
    Planted(
        "live pages of feedback laws", "A",
        "play of a model whose inputs name the state ended in an error",
        (("present/live/content.py", 'closed_loop(_with_gravity(model_of(model, "play", alone=True)))',
          '_with_gravity(model_of(model, "play", alone=True))'),
         ("system/live/program.py", "    model = eq.model  # with feedback laws among the forces\n", "")),
        ({"question": "live page", "input": "feedback"},),
    ),
    Planted(
        "limits in singular poses begin controllers anew", "A",
        "reactions in singular poses: controllers began anew next to the pose, which also changed the inputs of the run",
        ((LIMITS, "simulate, replayed(run.system),", "simulate, run.system,"),),
        ({"question": "reactions", "closure": "change point"}, {"question": "motor forces", "closure": "change point"},
         {"question": "reactions", "closure": "change point", "input": "sampled"}), defects=2,
    ),
    Planted(
        "one input over time beside another of time", "A",
        "runs refused a time series, function or controller for one input if another input depends on time",
        ((GIVEN, "    if not zero:\n        return system, ()",
          '    if zero and system.inputs.in_time:\n        raise UsageError("an input depends on time")\n'
          "    if not zero:\n        return system, ()"),),
        ({"input": "cubic series", "beside": "text of time"}, {"input": "function", "beside": "text of time"},
         {"input": "text of time", "beside": "series"}),
    ),
)  # fmt: skip

B = (
    Planted(
        "quaternions take over rotors of angles", "B",
        "near the singularity of angles with armature, runs went on in quaternions, whose rotors are others",
        ((TWINS, "    if replaced and any(parse(x).names or", "    if False and any(parse(x).names or"),),
        ({"carry": "converted", "load": "armature"}, {"load": "armature", "orientation": "zyz", "speeds": "rates"}),
    ),
    Planted(
        "other charts read names with other meanings", "B",
        "convert and steady rotations read expressions that name angles or speeds with the meaning of the new coordinates",
        ((TWINS, "        for found in expressions(part):\n", "        for found in ():\n"),),
        ({"carry": "converted", "load": "force in text"}, {"carry": "converted", "input": "feedback"}), defects=2,
    ),
    Planted(
        "rotation vectors are shortened under forces that use them", "B",
        "near a whole turn, runs replaced a rotation vector also if forces use its values, or friction or armature its rates",
        (("simulation/charts/switching.py", "                refuse_other_values(system.model, x.joint)\n", ""),),
        ({"orientation": "rotation vector", "start": "whole turn", "load": "friction"},
         {"orientation": "rotation vector", "start": "whole turn", "load": "armature"},
         {"orientation": "rotation vector", "start": "whole turn"}), defects=2,
    ),
    Planted(
        "equilibria of three angles are listed more than once", "B",
        "with three angles at a ball joint, equilibria were listed twice or more often: such angles name a pose twice",
        (("analysis/equilibria/poles.py", "return any(x.chart.count == 3 for x in system.layout.orientations)",
          'return any(\n        x.chart.count == 3 and (x.axes != "rates" or not x.chart.is_sequence)'
          " for x in system.layout.orientations\n    )"),
         ("analysis/equilibria/charts.py", "    if len(states) < 2 or circles.sum() < 2:", "    if True:")),
        ({"question": "equilibria", "orientation": "zyz", "speeds": "rates"},
         {"question": "equilibria", "orientation": "xyz", "speeds": "rates"}),
        "a search from 3 starts finds few equilibria, and in the rows asked none twice: it needs more starts",
    ),
)  # fmt: skip

C = (
    Planted(
        "equilibria next to singular poses of redundant loops", "C",
        "a coupler on three parallel cranks had many equilibria next to singular poses, where no finite force holds it",
        (("analysis/equilibria/search.py", "if not np.abs(left).max() < SETTLED or fades(self.problem, q):",
          "if not np.abs(left).max() < SETTLED:"),
         ("analysis/equilibria/find.py", "lam = rough.multipliers(q, REGULAR)", "lam = rough.multipliers(q)")),
        ({"question": "equilibria", "closure": "redundant loop"},
         {"question": "equilibria", "closure": "redundant loop", "orientation": "plane"}),
        "a search from 3 starts, in mechanisms that gravity and springs hold elsewhere, does not come near such poses; "
        "it needs a free parallelogram and many starts",
    ),
    Planted(
        "FMUs have outputs for undetermined reactions", "C",
        "FMUs had outputs for reactions that redundant loops leave undetermined",
        ((OPEN, "        if name in joints:\n", "        if False:\n"),),
        ({"question": "fmu", "closure": "redundant loop"},),
    ),
    Planted(
        "FMUs have outputs for undetermined motors", "C",
        "FMUs had outputs for forces of motors that a loop joins",
        ((OPEN, "zip(system.drives, lost, strict=True) if gone]", "zip(system.drives, lost, strict=True) if False]"),),
        ({"question": "fmu", "drive": "several in one loop"},),
    ),
    Planted(
        "responses to motions that loops do not allow", "C",
        "harmonic_response to one of several prescribed motions that loops join described a motion that opens the loops",
        (("analysis/linear/model.py", "if np.abs(self.gaps @ shares).max(initial=0.0) > 1e-9 * most:", "if False:"),),
        ({"question": "responses", "drive": "several in one loop"},),
    ),
    Planted(
        "reactions do not know that couplings share loads", "C",
        "where a coupling is redundant with a loop, reactions gave joint forces that the equations leave undetermined",
        (("analysis/reactions/freedoms.py", "names = [j.name for j in self.model.closures if not j.has_sides]",
          "names: list[str] = []"),),
        ({"question": "reactions", "closure": "coupling in a loop"}, {"question": "fmu", "closure": "coupling in a loop"}),
    ),
    Planted(
        "motors of one loop have forces", "C",
        "where loops join several prescribed motions, reactions gave each motor a force, by formulation another one",
        (("analysis/reactions/motors.py",
          "    values[undetermined_drives(system.in_joints.system, q, t, parameters)] = np.nan\n", ""),),
        ({"question": "motor forces", "drive": "several in one loop"},),
    ),
    Planted(
        "trim gives forces of motors of one loop", "C",
        "where loops join several prescribed motions, trim gave each motor a force",
        ((DRIVES, "        if undetermined[k]:\n", "        if False:\n"),),
        ({"question": "trim", "drive": "several in one loop"}, {"question": "trim", "drive": "held", "closure": "loop"}),
    ),
    Planted(
        "check compares undetermined forces of motors", "C",
        "check reported that formulations disagree about forces of motors that a loop joins",
        (("analysis/court/agreement.py", "forces = np.where(open_to_choice, 0.0, system.drive_forces(q, v, t))",
          "forces = system.drive_forces(q, v, t)"),),
        ({"question": "motor forces", "drive": "several in one loop"},),
    ),
    Planted(
        "redundant rows that pass through zero end runs", "C",
        "runs of linkages with redundant constraints stopped where a row passes through zero (Bennett's linkage)",
        (("numerics/solvers/complement.py",
          "right[r] = min(1.0, largest / (VANISHING * least)) if m > most and least > 0.0 else 1.0", "right[r] = 1.0"),),
        ({"closure": "redundant loop", "question": "accelerations"}, {"closure": "redundant loop", "question": "energy"}),
        "no row of a redundant loop passes through zero within 0.4 s: the loops are planar four-bars, not Bennett's",
    ),
)  # fmt: skip

D = (
    Planted(
        "drive forces of trim without the motors", "D",
        "trim left the forces of motors that it was asked for out of the drive forces of prescribed motions",
        ((DRIVES, "solver, times = _with_motors(system, motors), np", "solver, times = system, np"),),
        ({"question": "trim", "drive": "held"},),
    ),
    Planted(
        "trim gives drive forces that change with time", "D",
        "a drive force that changes with time while the pose is held was given with its value at t = 0",
        ((DRIVES, "        if np.ptp(forces[:, k]) > scale:\n", "        if False:\n"),),
        ({"question": "trim", "drive": "held", "load": "force of time"}, {"question": "trim", "drive": "held"},
         {"question": "trim", "drive": "held", "load": "force in text"}),
    ),
    Planted(
        "maximal coordinates: moving ground at a closing joint", "D",
        "maximal coordinates ended in a ValueError where a closing joint has a moving ground point as its child side",
        (("equations/mechanism/mechanism.py", "        if key not in self._known:\n            self._known[key] = self._drive(name",
          "        if True:\n            self._known[key] = self._drive(name"),
         ("equations/formulations/maximal.py", "pin = self.m.point(*cl.child_point(self.m, closure))",
          "pin = self.m.point(closure.child.body, self.m.place(closure.child, closure.name))")),
        ({"engine": "maximal", "drive": "moving closure"}, {"engine": "maximal as one system", "drive": "moving closure"}),
    ),
    Planted(
        "printed momenta without prescribed motions", "D",
        "printed momenta lacked the share of prescribed motions",
        (("equations/cyclic/routh.py",
          "    terms += [x * eq.drives[d].rate for d, j, x in entries(eq.drive_M) if j == k]\n", ""),),
        ({"question": "integrals", "drive": "one", "orientation": "plane"}, {"question": "integrals", "drive": "several"},
         {"question": "integrals", "drive": "turning"}),
    ),
)  # fmt: skip

E = (
    Planted(
        "limits are taken across jumps", "E",
        "reactions in singular poses: limits were taken across jumps of loads and inputs",
        ((LIMITS, "nearest = float(np.abs(breaks - at).min(initial=np.inf))", "nearest = np.inf"),),
        ({"question": "reactions", "closure": "change point"}, {"question": "motor forces", "closure": "change point"}),
        "a run stops in a singular pose next to a jump unless the jump is a third of a step away: seldom drawn so",
    ),
    Planted(
        "couplings count as periodic", "E",
        "gears were searched for equilibria as if full turns changed nothing: equilibria off the coupling were listed",
        (("model/periodic.py", "        return same(row.value)\n", "        return True\n"),),
        ({"question": "equilibria", "closure": "coupling"}, {"question": "linear model", "closure": "coupling"},
         {"question": "modes", "closure": "coupling"}),
    ),
    Planted(
        "loops close turned over", "E",
        "poses in which a loop closes only with the two sides of a joint in opposite directions were equilibria",
        (("analysis/equilibria/find.py",
          "allowed = [x for x in pairs if not turned_over(joints, x[0], 0.0, balance.parameters)]", "allowed = pairs"),),
        ({"question": "equilibria", "closure": "redundant loop", "orientation": "zyz"},
         {"question": "equilibria", "closure": "redundant loop"}),
        "a search from 3 starts does not come to such poses, and the oracle's loops have rows alone, not senses",
    ),
    Planted(
        "given coordinates that are rounded move far", "E",
        "if given coordinates of a linkage agreed only up to rounding, all of them moved far away",
        ((ASSEMBLY, "    for held, start in opened:\n        stiff = np.where(held",
          "    for held, start in []:\n        stiff = np.where(held"),),
        ({"start": "rounded", "closure": "loop"}, {"start": "rounded", "closure": "redundant loop"},
         {"start": "rounded", "closure": "loop in space"}),
    ),
    Planted(
        "given speeds that are rounded move far", "E",
        "the same for speeds",
        (("system/loops/speeds.py", "    for held, first in zip(masks, firsts, strict=True):\n        both",
          "    for held, first in ():\n        both"),),
        ({"start": "rounded", "closure": "loop"}, {"start": "rounded", "closure": "redundant loop"},
         {"start": "rounded", "closure": "loop in space"}),
    ),
    Planted(
        "given values are dropped at dead points", "E",
        "a given value was dropped because the start is a dead point",
        ((ASSEMBLY, "        if held.all() or self.is_closed(result):\n            return result\n", "        return result\n"),
         (ASSEMBLY, "        if not any(abs(changed.moved", "        if True or not any(abs(changed.moved")),
        ({"start": "partial", "closure": "loop"}, {"start": "partial", "closure": "redundant loop"}),
    ),
    Planted(
        "starts off the given coordinates without a doubt", "E",
        "if the loops cannot be closed with the given coordinates, the run was ok nevertheless",
        (("simulation/beginning.py", "    if wrong := not_kept(found, named, vector):\n", "    if wrong := \"\":\n"),),
        ({"start": "contradictory", "closure": "loop"}, {"start": "contradictory", "closure": "redundant loop"}),
    ),
)  # fmt: skip

F = (
    Planted(
        "continued again, an event ends the run again", "F",
        "in the second continuation of a run, an event that had ended the run ended it again",
        (("simulation/continuation.py", "        if event.terminal and len(found) >= (event.count or 1):\n",
          '        if event.terminal and run.outcome.name == "EVENT" and len(found) and found.t[-1] == run.energy.t[-1]:\n'),),
        ({"carry": "continued", "stepper": "dop853"}, {"carry": "continued", "stepper": "radau"}), defects=3,
    ),
    Planted(
        "bounds: a start beyond", "F",
        "ensembles of closed loops with bounds ended with an error about an event if one run started beyond a bound",
        ((WITHIN, "left = on & (way > 0.0) | ~on & ((own > high) | (own < low))", "left = on & (way > 0.0)"),),
        ({"carry": "bounds", "closure": "loop"}, {"carry": "bounds", "closure": "redundant loop"},
         {"carry": "bounds"}),
    ),
    Planted(
        "bounds: a start on one leaves by rounding", "F",
        "a run that starts on its bound left after nanoseconds, or by rounding",
        ((WITHIN, "        on = above | below\n", "        on = (above | below) & False\n"),),
        ({"carry": "bounds", "closure": "tree"}, {"carry": "bounds"}),
    ),
    Planted(
        "closed loops that stick use up their steps", "F",
        "a closed loop that sticks to a jump of a force used up all its steps: the guard was lost on the way",
        (("simulation/loops/passage.py", "        if self.guard is not None and (last :=",
          "        if False and self.guard is not None and (last :="),),
        ({"closure": "loop", "load": "dry friction"}, {"closure": "redundant loop", "load": "dry friction"},
         {"closure": "loop in space", "load": "dry friction"}),
    ),
)  # fmt: skip

I = (
    Planted(
        "maximal coordinates: an angle from ground above a body in space", "I",
        "maximal coordinates ended in an internal error for an angle measured from ground on a body that moves along z",
        (("equations/mechanism/body_coordinates.py",
          "if link.absolute_turn is not None and link.parent >= 0 and not self.flats[link.parent]:", "if False:"),),
        ({"orientation": "along z, from ground", "engine": "maximal"},),
    ),
    Planted(
        "recursive derivatives miss springs between points", "I",
        "exact derivatives of the recursive engine missed hinges that a spring between points couples",
        (("system/recursion/jacobians.py",
          'everywhere = bool(np.any(np.isin(tables.loads["kind"], (BETWEEN, PULL))))', "everywhere = False"),),
        ({"engine": "recursive", "load": "spring", "question": "slopes"},
         {"engine": "recursive", "load": "spring", "question": "linear model"},
         {"engine": "recursive", "load": "spring"}),
        "derivatives are taken in eight columns at once, which reach all hinges of mechanisms as small as those of the rows; "
        "it needs branches with more coordinates",
    ),
    Planted(
        "recursive engine: constants without parameters", "I",
        'the recursive engine refused models without parameters whose constants are texts such as "90deg"',
        (("system/recursion/skeleton.py", "if e.is_Number or not e.free_symbols else None", "if e.is_Number else None"),),
        ({"engine": "recursive", "constants": "none"},),
    ),
)  # fmt: skip

PLANTED: tuple[Planted, ...] = (*A, *C, *D, *E, *I, *B, *F)
LEFT: tuple[Left, ...] = (
    Left("explain of feedback laws", "A", "no question asks explain; the place in today's source was not looked for"),
    Left(
        "--at names the equilibrium nearest to the pose",
        "E",
        "it belongs to the command line, which no row calls",
        defects=2,
    ),
    Left(
        "equilibria with armature",
        "B",
        "one refusal serves runs and equilibria today: it is planted with that of runs",
        defects=1,
    ),
)
