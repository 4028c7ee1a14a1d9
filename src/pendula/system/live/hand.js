// A hand on the mechanism: it pulls a point of a body by a damped spring, or puts it in its place.

import { solvePivoted } from "./solve.js";

const FIRMER = 8; // a hand is this many times stiffer than the mechanism where it holds it
const GRIP = 0.1; // half the width of a hand, in typical lengths: it feels what resists around its point
const NUDGE_OF_HAND = 1e-3; // of the typical length: displacement by which a hand feels springs
const MOST_TRIES = 60;

/**
 * @param {import("./core.js").Core} core
 * @param {{move: (by: ArrayLike<number>) => void, project: () => boolean}} constraints
 * @param {ReturnType<typeof import("./points.js").createPoints>} points
 */
export function createHand(core, constraints, points) {
  const { program, about, nq, nv, x, y, p, f, gaps, gapM, gapG, solve, shift, right, lam, energies, read } = core;
  const { push, jacobianOf, rateOf, placeOf } = points, { move, project } = constraints;
  const pushed = new Float64Array(nv), force = new Float64Array(3);
  /** @type {null | {body: number, at: number[], to: number[], stiffness: number, damping: number}} */
  let hold = null;

  /** Adds the pull of the hand to the forces f; returns its power. */
  function addPull() {
    if (!hold) return 0;
    const now = placeOf(hold.body, hold.at), rate = rateOf(hold.body, hold.at);
    for (let d = 0; d < 3; d++) force[d] = hold.stiffness * (hold.to[d] - now[d]) - hold.damping * rate[d];
    push(hold.body, hold.at, force, pushed);
    // The hand does the work F . v of its point. What a prescribed motion has of v, its drive bears: it remains J v.
    let work = 0;
    for (let j = 0; j < nv; j++) { f[j] += pushed[j]; work += pushed[j] * x[1 + nq + j]; }
    return work;
  }

  /** The motion of the speeds that a unit force along direction d of a Jacobian causes, in `shift`. False: none. */
  function answer(/** @type {Float64Array} */ jacobian, /** @type {number} */ d) {
    right.fill(0);
    program.gaps(x, p, gaps);
    for (let j = 0; j < nv; j++) f[j] = jacobian[d * nv + j];
    return solve(gapM, f, gapG, right, shift, lam);
  }

  /** J s for one direction. */
  function along(/** @type {Float64Array} */ jacobian, /** @type {number} */ d, /** @type {ArrayLike<number>} */ s) {
    let sum = 0;
    for (let j = 0; j < nv; j++) sum += jacobian[d * nv + j] * s[j];
    return sum;
  }

  /**
   * Inertia and stiffness that a hand feels at a point: the mean inertia of its directions, the largest stiffness.
   *
   * A point near a pin hardly moves, and its inertia grows without bound. A hand has a width, so it feels the mean of
   * the points around it: next to a pin it pulls firmly, but not with any force whatever.
   */
  function feel(/** @type {number} */ body, /** @type {number[]} */ point) {
    let mobility = 0, count = 0, stiffness = 0;
    for (let d = 0; d < 3; d++) {
      read(core.t, y);
      const jacobian = jacobianOf(body, point);
      if (!answer(jacobian, d)) continue;
      const own = along(jacobian, d, shift), wide = Math.max(own, around(body, point, d));
      if (!(wide > 0)) continue;
      mobility += wide;
      count++;
      if (own > 1e-3 * wide) stiffness = Math.max(stiffness, springAlong(Float64Array.from(shift), own));
    }
    return { mass: mobility > 0 ? count / mobility : 1, stiffness };
  }

  /** How far a unit force along d moves the points a grip away at which it acts: the mean of two opposite ones. */
  function around(/** @type {number} */ body, /** @type {number[]} */ point, /** @type {number} */ d) {
    const kept = Float64Array.from(shift);
    let most = 0;
    for (let k = 0; k < 3; k++) {
      read(core.t, y);
      const [ahead, behind] = [1, -1].map(sign => {
        const jacobian = Float64Array.from(jacobianOf(body, point.map((value, i) => value + (i === k ? sign * GRIP * about.length : 0))));
        return answer(jacobian, d) ? along(jacobian, d, shift) : 0;
      });
      most = Math.max(most, (ahead + behind) / 2);
    }
    shift.set(kept);
    return most;
  }

  /** Second difference of the potential along a motion, which moves the point by `moved`. */
  function springAlong(/** @type {Float64Array} */ motion, /** @type {number} */ moved) {
    const kept = Float64Array.from(y), size = NUDGE_OF_HAND * about.length;
    const potential = () => { read(core.t, y); program.energies(x, p, energies); return energies[1]; };
    let sum = -2 * potential();
    for (const way of [size, -size]) {
      move(motion.map(value => value * way / moved));
      sum += potential();
      y.set(kept);
      read(core.t, y);
    }
    return sum / size ** 2 || 0;
  }

  /** What is missing from a point of a body to a place, and its length. @returns {[number[], number]} */
  function gapTo(/** @type {number} */ body, /** @type {number[]} */ point, /** @type {number[]} */ to) {
    read(core.t, y);
    const now = placeOf(body, point), error = to.map((value, d) => value - now[d]);
    return [error, Math.hypot(...error)];
  }

  /** Moves the coordinates so that a point gets closer to its place: one step of damped least squares, in the metric
   * of the masses and along the constraints. */
  function towards(/** @type {number} */ body, /** @type {number[]} */ point, /** @type {number[]} */ error, /** @type {number} */ damping) {
    read(core.t, y);
    const jacobian = jacobianOf(body, point), columns = /** @type {Float64Array[]} */ ([]);
    for (let d = 0; d < 3; d++) {
      if (!answer(jacobian, d)) return false;
      columns.push(Float64Array.from(shift));
    }
    const compliance = Float64Array.from({ length: 9 }, (_, k) => along(jacobian, Math.floor(k / 3), columns[k % 3]));
    const trace = compliance[0] + compliance[4] + compliance[8], share = new Float64Array(3);
    if (!(trace > 0)) return false;
    for (let k = 0; k < 9; k++) compliance[k] = compliance[k] / trace + (k % 4 ? 0 : damping);
    solvePivoted(compliance, 3, Float64Array.from(error), share);
    for (let j = 0; j < nv; j++) shift[j] = columns.reduce((sum, column, d) => sum + column[j] * share[d] / trace, 0);
    const moved = Math.hypot(...[0, 1, 2].map(d => along(jacobian, d, shift)));
    const short = Math.min(1, 0.5 * about.length / (moved || 1));
    for (let j = 0; j < nv; j++) shift[j] *= short;
    move(shift);
    return true;
  }

  return {
    addPull,
    get holds() { return hold; },
    letGo() { hold = null; },
    /**
     * Takes hold of a point of a body, or moves what is held; true if the spring is a new one.
     * @param {{body: number, at: number[], to: number[]}} wanted
     * @param {number} quick [1/time] @param {number} firm [force/length]
     */
    take(wanted, quick, firm) {
      if (hold && hold.body === wanted.body && hold.at === wanted.at) { hold.to = wanted.to; return false; }
      const { mass, stiffness: own } = feel(wanted.body, wanted.at);
      const stiffness = Math.max(mass * quick * quick, firm, FIRMER * own);
      hold = { ...wanted, stiffness, damping: 2 * Math.sqrt(mass * stiffness) };
      return true;
    },
    /** Moves the pose, at rest, so that a point comes close to a place; returns the distance that remains. */
    bring(/** @type {number} */ body, /** @type {number[]} */ point, /** @type {number[]} */ to) {
      y.fill(0, nq);
      let [error, far] = gapTo(body, point, to), damping = 1e-6, kept = Float64Array.from(y);
      for (let pass = 0; pass < MOST_TRIES && far > 1e-10 * about.length && damping < 1e6; pass++) {
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
      return far;
    },
  };
}
