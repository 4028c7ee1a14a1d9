// A mechanism that moves: its state, one step after another, constraints, energy, and a hand that pulls.

import { createAccount } from "./account.js";
import { createConstraints } from "./constraints.js";
import { createCore } from "./core.js";
import { createHand } from "./hand.js";
import { createPoints } from "./points.js";
import { makeStepper } from "./stepper.js";

/**
 * The derivative of [q, v, work], and how often it was computed.
 * @param {import("./core.js").Core} core
 * @param {() => number} addPull adds the pull of a hand to the forces and returns its power
 */
function createDynamics(core, addPull) {
  const { program, nq, nv, m, nd, x, p, terms, M, f, qdot, G, c, power, a, lam, solve, read } = core;
  const { driveRate, driveForce, driveM, driveG } = core;
  const dynamics = {
    evaluations: 0,
    derivative(/** @type {number} */ time, /** @type {Float64Array} */ state, /** @type {Float64Array} */ out) {
      dynamics.evaluations++;
      read(time, state);
      program.dynamics(x, p, terms);
      let gained = addPull() + power[0];
      if (!solve(M, f, G, c, a, lam)) return false;
      for (let d = 0; d < nd; d++) {
        let force = -driveForce[d];
        for (let j = 0; j < nv; j++) force += driveM[d * nv + j] * a[j];
        for (let r = 0; r < m; r++) force -= driveG[r * nd + d] * lam[r];
        gained += force * driveRate[d];
      }
      for (let i = 0; i < nq; i++) out[i] = qdot[i];
      for (let j = 0; j < nv; j++) out[nq + j] = a[j];
      out[nq + nv] = gained;
      return true;
    },
  };
  return dynamics;
}

/**
 * What a mechanism can be asked at its present state, without changing it.
 * @param {import("./core.js").Core} core
 * @param {(time: number, state: Float64Array, out: Float64Array) => boolean} derivative
 */
function createReadings(core, derivative) {
  const { program, about, nv, nd, bodies, count, x, y, p, terms, M, f, a, lam, pose, read } = core;
  return {
    /** Parameters and inputs by name, at the current time. */
    parameters() {
      const all = new Float64Array(about.sizes.values);
      read(core.t, y);
      program.values(x, p, all);
      return Object.fromEntries(about.names.values.map((name, k) => [name, all[k]]));
    },
    /** Poses of the bodies: origin and rotation matrix (rows), world axes. */
    poses() {
      read(core.t, y);
      program.poses(x, p, pose);
      const found = [];
      for (let k = 0; k < bodies; k++) {
        found.push({ p: Array.from(pose.subarray(12 * k + 9, 12 * k + 12)), R: Array.from(pose.subarray(12 * k, 12 * k + 9)) });
      }
      return found;
    },
    /** Values of the expressions that are watched. @param {Float64Array} out */
    watch(out) { read(core.t, y); program.events(x, p, out); return out; },
    geometry(/** @type {Float64Array} */ out) { read(core.t, y); program.geometry(x, p, out); return out; },
    /** Values of the prescribed motions by name. */
    prescribed() {
      const out = new Float64Array(2 * nd);
      read(core.t, y);
      program.prescribed(x, p, out);
      return Object.fromEntries(about.names.prescribed.map((name, k) => [name, out[2 * k]]));
    },
    /** Accelerations and multipliers. */
    forces() {
      derivative(core.t, y, new Float64Array(count + 1));
      return { accelerations: Float64Array.from(a), multipliers: Float64Array.from(lam) };
    },
    /** Mass matrix and forces of M v' = f + G^T lam, as plain arrays. */
    terms() {
      read(core.t, y);
      program.dynamics(x, p, terms);
      const full = Array.from({ length: nv }, (_, i) => Array.from({ length: nv }, (_, j) => M[Math.min(i, j) * nv + Math.max(i, j)]));
      return { M: full, f: Array.from(f) };
    },
  };
}

/**
 * A mechanism at its initial state.
 * @param {any} program functions written by Pendula (`dynamics`, `gaps`, ...)
 * @param {import("./core.js").Description} about
 */
export function createMechanism(program, about) {
  const core = createCore(program, about), { nq, count, p, y, read } = core;
  const adjustable = new Map(about.names.adjustable.map((name, k) => [name, k]));
  const positions = new Map([...about.names.coordinates, ...about.names.speeds].map((name, k) => [name, k]));
  const constraints = createConstraints(core), { project, largestGap } = constraints;
  const points = createPoints(core), hand = createHand(core, constraints, points);
  const dynamics = createDynamics(core, hand.addPull);
  const stepper = makeStepper(count + 1, dynamics.derivative, Float64Array.from([...about.units, about.energy])); // work has an error, too
  const account = createAccount(core, stepper.restart);

  /** The place of a coordinate or speed in the state. @param {string} name @returns {number} */
  function positionOf(name) {
    const k = positions.get(name);
    if (k === undefined) throw new Error(`there is no coordinate or speed ${name}`);
    return k;
  }

  /** Tries another state, and comes back to the present one if loops do not close. @param {() => boolean} change */
  function attempt(change) {
    const was = Float64Array.from(y), then = core.t, before = Float64Array.from(p);
    if (change()) return true;
    y.set(was);
    core.t = then;
    p.set(before);
    read(then, y);
    return false;
  }

  /** One accepted step, at most up to a time; false if none succeeds. @param {number} until @param {number} tolerance */
  function step(until, tolerance) {
    const next = stepper.advance(core.t, y, until, tolerance);
    if (!(next > core.t)) return false;
    core.t = next;
    if (constraints.any) {
      if (!project()) return false;
      stepper.reset();
    }
    return account.note();
  }

  const self = {
    ...createReadings(core, dynamics.derivative), about, p, project, largestGap,
    get time() { return core.t; },
    get evaluations() { return dynamics.evaluations; },
    get values() { return y; },
    /** The state by name. */
    get state() { return Object.fromEntries([...positions].map(([name, k]) => [name, y[k]])); },
    /** Largest error of the energy account since the start, as a fraction of the typical energy. */
    get energyDrift() { return account.drift; },
    energy: account.energyNow,
    /** The error of the energy account, in units of energy: energy minus that of the start minus the work done. */
    energyError: account.error,
    /** Starts the energy account anew. */
    restart: account.begin,
    knows: (/** @type {string} */ name) => adjustable.has(name),
    get: (/** @type {string} */ name) => p[adjustable.get(name) ?? -1],
    /** Changes a parameter or an input; the loops are closed again. False if they cannot be closed. */
    set(/** @type {string} */ name, /** @type {number} */ value) {
      const k = adjustable.get(name);
      if (k === undefined) throw new Error(`there is no parameter or input ${name} to set`);
      if (!Number.isFinite(value)) throw new Error(`${name} must be a number, found ${value}`);
      return account.keep(() => attempt(() => {
        p[k] = value;
        program.prepare(p);
        return project();
      }));
    },
    /** Starts again: coordinates and speeds by name, the others as described; time 0. False if loops do not close. */
    start(values = {}, from = about.start) {
      const given = Object.entries(values).map(([name, value]) => [positionOf(name), value]);
      const done = attempt(() => {
        core.t = 0;
        y.fill(0);
        y.set(from.q);
        y.set(from.v, nq);
        for (const [k, value] of given) y[k] = value;
        return project();
      });
      if (done) account.begin();
      return done;
    },
    /**
     * Puts back a state that was kept, exactly: time, coordinates and speeds, and parameters by name.
     * Loops that are open by more than rounding are closed. False (and nothing changes) if that fails.
     */
    restore(/** @type {number} */ time, /** @type {ArrayLike<number>} */ values, parameters = {}) {
      if (!Object.keys(parameters).every(name => adjustable.has(name))) return false;
      const done = attempt(() => {
        for (const [name, value] of Object.entries(parameters)) p[/** @type {number} */ (adjustable.get(name))] = value;
        program.prepare(p);
        core.t = time;
        y.fill(0);
        for (let i = 0; i < count; i++) y[i] = values[i];
        return Number.isFinite(time) && y.every(Number.isFinite) && (constraints.hold() || project());
      });
      read(core.t, y);
      account.begin();
      return done;
    },
    /** Goes back to a time and a state with its work, or forth again; the energy account goes on. */
    rewind(/** @type {number} */ time, /** @type {Float64Array} */ state) {
      core.t = time;
      y.set(state);
      read(time, y);
      stepper.reset();
    },
    /** Gives some coordinates or speeds other values, now. False if loops do not close. */
    put(/** @type {Record<string, number>} */ values) {
      const given = Object.entries(values).map(([name, value]) => {
        if (!Number.isFinite(value)) throw new Error(`${name} must be a number, found ${value}`);
        return [positionOf(name), value];
      });
      const done = attempt(() => {
        for (const [k, value] of given) y[k] = value;
        return project();
      });
      account.begin();
      return done;
    },
    /**
     * Moves up to a time.
     * @returns {{ok: boolean, steps: number, stuck: boolean}} ok: the time was reached; otherwise more steps are needed, or none succeeds
     */
    advance(/** @type {number} */ until, /** @type {number} */ tolerance, mostSteps = Infinity) {
      let steps = 0;
      for (; core.t < until && steps < mostSteps; steps++) {
        if (!step(until, tolerance)) return { ok: false, steps, stuck: true };
      }
      return { ok: core.t >= until, steps, stuck: false };
    },
    /**
     * A hand pulls a point of a body towards a point in space, by a damped spring; null lets go.
     * The spring is `quick` [1/time] fast with the inertia that the hand feels, and critically damped; it is firmer
     * where the mechanism resists by springs, and at least `firm` [force/length].
     */
    pull(/** @type {{body: number, at: number[], to: number[]} | null} */ wanted, quick = 10, firm = 0) {
      if (!wanted) { hand.letGo(); stepper.restart(); }
      else if (hand.take(wanted, quick, firm)) stepper.restart();
      else stepper.reset();
    },
    get pulled() { return hand.holds; },
    /** A point of a body in world axes, at the present state or at other values. */
    point(/** @type {number} */ body, /** @type {number[]} */ point, values = y) { read(core.t, values); return points.placeOf(body, point); },
    /**
     * Moves the pose, at rest, so that a point of a body comes close to a point in space; loops stay closed.
     * @returns {number} the distance that remains
     */
    bring(/** @type {number} */ body, /** @type {number[]} */ point, /** @type {number[]} */ to) {
      const far = hand.bring(body, point, to);
      account.begin();
      return far;
    },
  };

  about.adjustable.forEach((value, k) => { p[k] = value; });
  program.prepare(p);
  if (!self.start()) throw new Error("the loops of this mechanism do not close at its initial state");
  return self;
}
