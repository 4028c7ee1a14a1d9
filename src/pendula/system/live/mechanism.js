// A mechanism that moves: its state, one step after another, constraints, energy, and a hand that pulls.

import { makeSolver, solvePivoted } from "./solve.js";
import { makeStepper } from "./stepper.js";

const CLOSED = 1e-13; // a loop is closed if its gap is below this fraction of the mechanism's size
const MOST_PASSES = 40;
const AXES = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
const FIRMER = 8; // a hand is this many times stiffer than the mechanism where it holds it

/**
 * @typedef {object} Description
 * @property {{coordinates: number, speeds: number, rows: number, drives: number, bodies: number, geometry: number,
 *   values: number, quaternions: number[], joints: number}} sizes
 * @property {{coordinates: string[], speeds: string[], adjustable: string[], values: string[], prescribed: string[],
 *   bodies: string[], joints: string[]}} names
 * @property {number[]} units sizes of coordinates and speeds to which the tolerance refers
 * @property {number[]} adjustable values of parameters and inputs that may change
 * @property {{q: number[], v: number[]}} start
 * @property {number} length typical length
 * @property {number} energy typical energy
 */

/**
 * A mechanism at its initial state.
 * @param {any} program functions written by Pendula (`dynamics`, `gaps`, ...)
 * @param {Description} about
 */
export function createMechanism(program, about) {
  const { coordinates: nq, speeds: nv, rows: m, drives: nd, bodies } = about.sizes;
  const adjustable = new Map(about.names.adjustable.map((name, k) => [name, k]));
  const positions = new Map([...about.names.coordinates, ...about.names.speeds].map((name, k) => [name, k]));
  const p = new Float64Array(program.PARAMETERS + program.PREPARED);
  const x = new Float64Array(1 + nq + nv), size = nq + nv + 1;
  // views of the arrays that the functions fill
  const terms = new Float64Array(nv * nv + nv + nq + m * nv + m + 1 + 2 * nd + nd * nv + m * nd);
  let at = 0;
  const take = (/** @type {number} */ count) => terms.subarray(at, (at += count));
  const M = take(nv * nv), f = take(nv), qdot = take(nq), G = take(m * nv), c = take(m), power = take(1);
  const driveRate = take(nd), driveForce = take(nd), driveM = take(nd * nv), driveG = take(m * nd);
  const gaps = new Float64Array(2 * m + m * nv + nv * nv);
  const gap = gaps.subarray(0, m), gapG = gaps.subarray(m, m + m * nv);
  const gapB = gaps.subarray(m + m * nv, 2 * m + m * nv), gapM = gaps.subarray(2 * m + m * nv);
  const a = new Float64Array(nv), lam = new Float64Array(m), solve = makeSolver(nv, m);
  const zeros = new Float64Array(nv), shift = new Float64Array(nv), right = new Float64Array(m);
  const energies = new Float64Array(2), pose = new Float64Array(12 * bodies), poseRate = new Float64Array(12 * bodies);
  const weights = new Float64Array(size + 12 * bodies), pushed = new Float64Array(nv);
  const rateNow = new Float64Array(nq), rateStill = new Float64Array(nq);
  const jacobian = new Float64Array(3 * nv), pullForce = new Float64Array(3), pullRate = new Float64Array(3);
  const y = new Float64Array(size);
  const units = Float64Array.from([...about.units, about.energy]); // the work has an error, too
  const stepper = makeStepper(size, derivative, units);

  /** @type {null | {body: number, at: number[], to: number[], stiffness: number, damping: number}} */
  let pull = null;
  let t = 0, base = 0, drift = 0, scale = about.energy, evaluations = 0;

  function read(/** @type {number} */ time, /** @type {Float64Array} */ state) {
    x[0] = time;
    for (let i = 0; i < nq + nv; i++) x[1 + i] = state[i];
  }

  /** Generalized forces of a force on a point of a body, at the coordinates in x. */
  function push(/** @type {number} */ body, /** @type {number[]} */ point, /** @type {ArrayLike<number>} */ force, /** @type {Float64Array} */ out) {
    const first = 1 + nq + nv + 12 * body;
    weights.set(x);
    weights.fill(0, 1 + nq + nv);
    for (let d = 0; d < 3; d++) {
      weights[first + 9 + d] = force[d];
      for (let k = 0; k < 3; k++) weights[first + 3 * d + k] = force[d] * point[k];
    }
    program.pushes(weights, p, out);
  }

  /** Velocities of a point of a body per unit of each speed (rows x, y, z) at the coordinates in x. */
  function pointJacobian(/** @type {number} */ body, /** @type {number[]} */ point) {
    for (let d = 0; d < 3; d++) push(body, point, AXES[d], jacobian.subarray(d * nv, d * nv + nv));
  }

  /** The velocity of a point of a body at the state in x. */
  function pointRate(/** @type {number} */ body, /** @type {number[]} */ point) {
    program.pose_rates(x, p, poseRate);
    for (let d = 0, R = 12 * body; d < 3; d++) {
      pullRate[d] = poseRate[R + 9 + d] + poseRate[R + 3 * d] * point[0] + poseRate[R + 3 * d + 1] * point[1]
        + poseRate[R + 3 * d + 2] * point[2];
    }
    return pullRate;
  }

  function pointNow(/** @type {number} */ body, /** @type {number[]} */ point) {
    program.poses(x, p, pose);
    const R = 12 * body;
    return [0, 1, 2].map(d => pose[R + 9 + d] + pose[R + 3 * d] * point[0] + pose[R + 3 * d + 1] * point[1]
      + pose[R + 3 * d + 2] * point[2]);
  }

  /** Adds the pull of the hand to the forces; returns its power. */
  function addPull() {
    if (!pull) return 0;
    const now = pointNow(pull.body, pull.at), rate = pointRate(pull.body, pull.at);
    for (let d = 0; d < 3; d++) pullForce[d] = pull.stiffness * (pull.to[d] - now[d]) - pull.damping * rate[d];
    push(pull.body, pull.at, pullForce, pushed);
    // The hand does the work F . v of its point. What a prescribed motion has of v, its drive bears: it remains J v.
    let work = 0;
    for (let j = 0; j < nv; j++) { f[j] += pushed[j]; work += pushed[j] * x[1 + nq + j]; }
    return work;
  }

  /** [q, v, work] -> its derivative. */
  function derivative(/** @type {number} */ time, /** @type {Float64Array} */ state, /** @type {Float64Array} */ out) {
    evaluations++;
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
  }

  function normalize() {
    for (const first of about.sizes.quaternions) {
      const length = Math.hypot(y[first], y[first + 1], y[first + 2], y[first + 3]);
      for (let i = 0; i < 4; i++) y[first + i] /= length;
    }
  }

  /** Moves the coordinates along a displacement of the speeds: q + N s. */
  function move(/** @type {Float64Array} */ by) {
    for (let j = 0; j < nv; j++) x[1 + nq + j] = 0;
    program.rates(x, p, rateStill);
    for (let j = 0; j < nv; j++) x[1 + nq + j] = by[j];
    program.rates(x, p, rateNow);
    for (let i = 0; i < nq; i++) y[i] += rateNow[i] - rateStill[i];
    normalize();
    read(t, y);
  }

  function largestGap() {
    let worst = 0;
    for (let r = 0; r < m; r++) if (!(Math.abs(gap[r]) <= worst)) worst = Math.abs(gap[r]);
    return worst;
  }

  /** Closes the loops and makes the speeds agree with them, by the smallest change in the norm of the masses. */
  function project() {
    normalize();
    read(t, y);
    if (m === 0) return true;
    let best = Infinity, now = Infinity;
    for (let pass = 0; pass < MOST_PASSES; pass++) {
      program.gaps(x, p, gaps);
      now = largestGap();
      if (now <= CLOSED * about.length || (pass > 2 && now >= 0.5 * best)) break;
      best = Math.min(best, now);
      for (let r = 0; r < m; r++) right[r] = -gap[r];
      if (!solve(gapM, zeros, gapG, right, shift, lam)) return false;
      move(shift);
    }
    if (!(now <= 1e-6 * about.length)) return false;
    read(t, y);
    program.gaps(x, p, gaps);
    for (let r = 0; r < m; r++) {
      right[r] = gapB[r];
      for (let j = 0; j < nv; j++) right[r] -= gapG[r * nv + j] * y[nq + j];
    }
    if (!solve(gapM, zeros, gapG, right, shift, lam)) return false;
    for (let j = 0; j < nv; j++) y[nq + j] += shift[j];
    read(t, y);
    return true;
  }

  function energyNow() {
    read(t, y);
    program.energies(x, p, energies);
    return { kinetic: energies[0], potential: energies[1], total: energies[0] + energies[1], work: y[nq + nv] };
  }

  /** Starts the energy account anew at the current state. */
  function account() {
    y[nq + nv] = 0;
    const now = energyNow();
    base = now.total;
    drift = 0;
    scale = Math.max(about.energy, Math.abs(now.kinetic));
    stepper.restart();
  }

  /** The energy account goes on after a change from outside, which neither adds nor removes energy from it. */
  function keepAccount(/** @type {() => any} */ change) {
    const before = energyNow(), error = before.total - base - before.work;
    const done = change();
    const after = energyNow();
    base = after.total - after.work - error;
    stepper.restart();
    return done;
  }

  const self = {
    about, p,
    get time() { return t; },
    get evaluations() { return evaluations; },
    get values() { return y; },
    /** The state by name. */
    get state() { return Object.fromEntries([...positions].map(([name, k]) => [name, y[k]])); },
    /** Largest error of the energy account since the start, as a fraction of the typical energy. */
    get energyDrift() { return drift; },
    energy: energyNow,
    /** The error of the energy account, in units of energy: energy minus that of the start minus the work done. */
    energyError() { const now = energyNow(); return now.total - base - now.work; },
    /** Parameters and inputs by name, at the current time. */
    parameters() {
      const all = new Float64Array(about.sizes.values);
      read(t, y);
      program.values(x, p, all);
      return Object.fromEntries(about.names.values.map((name, k) => [name, all[k]]));
    },
    knows: (/** @type {string} */ name) => adjustable.has(name),
    /** Changes a parameter or an input; the loops are closed again. False if they cannot be closed. */
    set(/** @type {string} */ name, /** @type {number} */ value) {
      const k = adjustable.get(name);
      if (k === undefined) throw new Error(`there is no parameter or input ${name} to set`);
      if (!Number.isFinite(value)) throw new Error(`${name} must be a number, found ${value}`);
      return keepAccount(() => {
        const old = p[k], was = Float64Array.from(y);
        p[k] = value;
        program.prepare(p);
        if (project()) return true;
        p[k] = old;
        program.prepare(p);
        y.set(was);
        return false;
      });
    },
    get: (/** @type {string} */ name) => p[adjustable.get(name) ?? -1],
    /** Starts again: coordinates and speeds by name, the others as described; time 0. False if loops do not close. */
    start(values = {}, from = about.start) {
      for (const name of Object.keys(values))
        if (!positions.has(name)) throw new Error(`there is no coordinate or speed ${name}`);
      const was = Float64Array.from(y), then = t;
      t = 0;
      y.fill(0);
      y.set(from.q);
      y.set(from.v, nq);
      for (const [name, value] of Object.entries(values)) y[/** @type {number} */ (positions.get(name))] = value;
      if (!project()) { y.set(was); t = then; return false; }
      account();
      return true;
    },
    /**
     * Puts back a state that was kept, exactly: time, coordinates and speeds, and parameters by name.
     * Loops that are open by more than rounding are closed. False (and nothing changes) if that fails.
     */
    restore(/** @type {number} */ time, /** @type {any} */ values, parameters = {}) {
      const was = Float64Array.from(y), then = t, before = Float64Array.from(p);
      for (const [name, value] of Object.entries(parameters)) {
        if (!adjustable.has(name)) return false;
        p[/** @type {number} */ (adjustable.get(name))] = value;
      }
      program.prepare(p);
      t = time;
      y.fill(0);
      for (let i = 0; i < nq + nv; i++) y[i] = values[i];
      const unitLengths = about.sizes.quaternions.every(
        first => Math.abs(Math.hypot(y[first], y[first + 1], y[first + 2], y[first + 3]) - 1) < 1e-9,
      );
      const fine = y.every(Number.isFinite) && Number.isFinite(t) && (unitLengths && self.largestGap() <= 1e-9 * about.length || project());
      if (!fine) {
        y.set(was);
        t = then;
        p.set(before);
        program.prepare(p);
      }
      read(t, y);
      account();
      return fine;
    },
    /** Gives some coordinates or speeds other values, now. False if loops do not close. */
    put(/** @type {any} */ values) {
      const was = Float64Array.from(y);
      for (const [name, value] of Object.entries(values)) {
        if (!positions.has(name)) throw new Error(`there is no coordinate or speed ${name}`);
        if (!Number.isFinite(value)) throw new Error(`${name} must be a number, found ${value}`);
        y[/** @type {number} */ (positions.get(name))] = value;
      }
      const done = project();
      if (!done) y.set(was);
      account();
      return done;
    },
    /**
     * Moves up to a time.
     * @returns {{ok: boolean, steps: number, stuck: boolean}} ok: the time was reached; otherwise more steps are needed, or none succeeds
     */
    advance(/** @type {number} */ until, /** @type {number} */ tolerance, mostSteps = Infinity) {
      let steps = 0;
      while (t < until && steps < mostSteps) {
        const next = stepper.advance(t, y, until, tolerance);
        if (!(next > t)) return { ok: false, steps, stuck: true };
        t = next;
        steps++;
        if (m > 0 || about.sizes.quaternions.length) {
          if (!project()) return { ok: false, steps, stuck: true };
          stepper.reset();
        }
        const now = energyNow(), error = Math.abs(now.total - base - now.work);
        if (!Number.isFinite(error)) return { ok: false, steps, stuck: true };
        scale = Math.max(scale, Math.abs(now.kinetic));
        drift = Math.max(drift, error / scale);
      }
      return { ok: t >= until, steps, stuck: false };
    },
    /** Poses of the bodies: origin and rotation matrix (rows), world axes. */
    poses() {
      read(t, y);
      program.poses(x, p, pose);
      const found = [];
      for (let k = 0; k < bodies; k++) {
        found.push({ p: Array.from(pose.subarray(12 * k + 9, 12 * k + 12)), R: Array.from(pose.subarray(12 * k, 12 * k + 9)) });
      }
      return found;
    },
    geometry(/** @type {Float64Array} */ out) { read(t, y); program.geometry(x, p, out); return out; },
    prescribed() {
      const out = new Float64Array(2 * nd);
      read(t, y);
      program.prescribed(x, p, out);
      return Object.fromEntries(about.names.prescribed.map((name, k) => [name, out[2 * k]]));
    },
    /** Accelerations and multipliers at the current state. */
    forces() {
      const out = new Float64Array(size);
      derivative(t, y, out);
      return { accelerations: Float64Array.from(a), multipliers: Float64Array.from(lam) };
    },
    /** Mass matrix and forces of M v' = f + G^T lam at the current state, as plain arrays. */
    terms() {
      read(t, y);
      program.dynamics(x, p, terms);
      const full = Array.from({ length: nv }, (_, i) => Array.from({ length: nv }, (_, j) => M[Math.min(i, j) * nv + Math.max(i, j)]));
      return { M: full, f: Array.from(f) };
    },
    largestGap() { if (m === 0) return 0; read(t, y); program.gaps(x, p, gaps); return largestGap(); },
    /**
     * A hand pulls a point of a body towards a point in space, by a damped spring; null lets go.
     * The spring is `quick` [1/time] fast with the inertia that the hand feels, and critically damped; it is firmer
     * where the mechanism resists by springs, and at least `firm` [force/length].
     */
    pull(/** @type {any} */ hold, quick = 10, firm = 0) {
      if (!hold) { pull = null; stepper.restart(); return; }
      if (pull && pull.body === hold.body && pull.at === hold.at) { pull.to = hold.to; stepper.reset(); return; }
      const { mass, stiffness: own } = feel(hold.body, hold.at);
      const stiffness = Math.max(mass * quick * quick, firm, FIRMER * own);
      pull = { ...hold, stiffness, damping: 2 * Math.sqrt(mass * stiffness) };
      stepper.restart();
    },
    get pulled() { return pull; },
    /** A point of a body in world axes, at the present state or at other values. */
    point(/** @type {number} */ body, /** @type {number[]} */ point, values = y) { read(t, values); return pointNow(body, point); },
    /**
     * Moves the pose, at rest, so that a point of a body comes close to a point in space; loops stay closed.
     * @returns {number} the distance that remains
     */
    bring(/** @type {number} */ body, /** @type {number[]} */ point, /** @type {number[]} */ to) {
      y.fill(0, nq);
      let [error, far] = gapTo(body, point, to), damping = 1e-6, kept = Float64Array.from(y);
      for (let pass = 0; pass < 60 && far > 1e-10 * about.length && damping < 1e6; pass++) {
        if (!towards(body, point, error, damping)) break;
        const [next, distance] = project() ? gapTo(body, point, to) : [error, Infinity];
        if (distance < far) {
          const slow = distance > (1 - 1e-5) * far;
          [error, far, kept] = [next, distance, Float64Array.from(y)];
          damping /= 10;
          if (slow) break;
        } else {
          y.set(kept);
          damping *= 10;
        }
      }
      y.set(kept);
      y.fill(0, nq);
      project();
      account();
      return far;
    },
    restart: account,
    project,
  };

  /** What is missing from a point of a body to a place, and its length. @returns {[number[], number]} */
  function gapTo(/** @type {number} */ body, /** @type {number[]} */ point, /** @type {number[]} */ to) {
    read(t, y);
    const now = pointNow(body, point), error = to.map((/** @type {number} */ value, /** @type {number} */ d) => value - now[d]);
    return [error, Math.hypot(...error)];
  }

  /** Moves the coordinates so that a point gets closer to its place: one step of damped least squares, in the metric
   * of the masses and along the constraints. */
  function towards(/** @type {number} */ body, /** @type {number[]} */ point, /** @type {number[]} */ error, /** @type {number} */ damping) {
    read(t, y);
    pointJacobian(body, point);
    right.fill(0);
    const columns = [];
    for (let d = 0; d < 3; d++) {
      program.gaps(x, p, gaps);
      for (let j = 0; j < nv; j++) f[j] = jacobian[d * nv + j];
      if (!solve(gapM, f, gapG, right, shift, lam)) return false;
      columns.push(Float64Array.from(shift));
    }
    const compliance = new Float64Array(9), weights3 = new Float64Array(3);
    for (let d = 0; d < 3; d++) for (let e = 0; e < 3; e++) {
      for (let j = 0; j < nv; j++) compliance[3 * d + e] += jacobian[d * nv + j] * columns[e][j];
    }
    const trace = compliance[0] + compliance[4] + compliance[8];
    if (!(trace > 0)) return false;
    for (let k = 0; k < 9; k++) compliance[k] = compliance[k] / trace + (k % 4 ? 0 : damping);
    solvePivoted(compliance, 3, Float64Array.from(error), weights3);
    let moved = 0;
    for (let j = 0; j < nv; j++) shift[j] = columns.reduce((sum, column, d) => sum + column[j] * weights3[d] / trace, 0);
    for (let d = 0; d < 3; d++) {
      let sum = 0;
      for (let j = 0; j < nv; j++) sum += jacobian[d * nv + j] * shift[j];
      moved += sum * sum;
    }
    const short = Math.min(1, 0.5 * about.length / (Math.sqrt(moved) || 1));
    for (let j = 0; j < nv; j++) shift[j] *= short;
    move(shift);
    return true;
  }

  /** Inertia and stiffness that a hand feels at a point: the mean inertia of its directions, the largest stiffness. */
  function feel(/** @type {number} */ body, /** @type {number[]} */ point) {
    const kept = Float64Array.from(y);
    let trace = 0, count = 0, stiffness = 0;
    const potential = () => { read(t, y); program.energies(x, p, energies); return energies[1]; };
    const least = potential();
    for (let d = 0; d < 3; d++) {
      read(t, y);
      pointJacobian(body, point);
      right.fill(0);
      program.gaps(x, p, gaps);
      for (let j = 0; j < nv; j++) f[j] = jacobian[d * nv + j];
      if (!solve(gapM, f, gapG, right, shift, lam)) continue;
      let seen = 0;
      for (let j = 0; j < nv; j++) seen += jacobian[d * nv + j] * shift[j];
      if (!(seen > 0)) continue;
      trace += seen;
      count++;
      // second difference of the potential along the motion that moves the point by a little
      const by = Float64Array.from(shift, value => value * 1e-3 * about.length / seen), back = by.map(value => -value);
      let sum = -2 * least;
      for (const way of [by, back]) {
        move(way);
        sum += potential();
        y.set(kept);
        read(t, y);
      }
      stiffness = Math.max(stiffness, sum / (1e-3 * about.length) ** 2 || 0);
    }
    return { mass: trace > 0 ? count / trace : 1, stiffness };
  }

  about.adjustable.forEach((value, k) => { p[k] = value; });
  program.prepare(p);
  if (!self.start()) throw new Error("the loops of this mechanism do not close at its initial state");
  return self;
}
