// Constraints: unit quaternions, closed loops, and speeds that agree with them.

const CLOSED = 1e-13; // a loop is closed if its gap is below this fraction of the mechanism's size
const MOST_PASSES = 40;
const UNIT_ENOUGH = 1e-9; // how far the length of a quaternion may be from 1 in a state that is put back exactly

/** @param {import("./core.js").Core} core */
export function createConstraints(core) {
  const { program, about, nq, nv, m, x, y, p, gaps, gap, gapG, gapB, gapM, solve, zeros, shift, right, lam, read } = core;
  const { quaternions } = about.sizes, rateNow = new Float64Array(nq), rateStill = new Float64Array(nq);

  const lengthOf = (/** @type {number} */ k) => Math.hypot(y[k], y[k + 1], y[k + 2], y[k + 3]);

  function normalize() {
    for (const first of quaternions) {
      const length = lengthOf(first);
      for (let i = 0; i < 4; i++) y[first + i] /= length;
    }
  }

  /** Moves the coordinates along a displacement of the speeds: q + N s. @param {ArrayLike<number>} by */
  function move(by) {
    for (let j = 0; j < nv; j++) x[1 + nq + j] = 0;
    program.rates(x, p, rateStill);
    for (let j = 0; j < nv; j++) x[1 + nq + j] = by[j];
    program.rates(x, p, rateNow);
    for (let i = 0; i < nq; i++) y[i] += rateNow[i] - rateStill[i];
    normalize();
    read(core.t, y);
  }

  /** The largest entry of `gap`; NaN if one is not a number. */
  function worstGap() {
    let worst = 0;
    for (let r = 0; r < m; r++) if (!(Math.abs(gap[r]) <= worst)) worst = Math.abs(gap[r]);
    return worst;
  }

  /** Closes the loops, by the smallest change in the norm of the masses. False if that fails. */
  function close() {
    let best = Infinity, now = Infinity;
    for (let pass = 0; pass < MOST_PASSES; pass++) {
      program.gaps(x, p, gaps);
      now = worstGap();
      if (now <= CLOSED * about.length || (pass > 2 && now >= 0.5 * best)) break;
      best = Math.min(best, now);
      for (let r = 0; r < m; r++) right[r] = -gap[r];
      if (!solve(gapM, zeros, gapG, right, shift, lam)) return false;
      move(shift);
    }
    return now <= 1e-6 * about.length;
  }

  /** Closes the loops and makes the speeds agree with them. False if that fails. */
  function project() {
    normalize();
    read(core.t, y);
    if (m === 0) return true;
    if (!close()) return false;
    read(core.t, y);
    program.gaps(x, p, gaps);
    for (let r = 0; r < m; r++) {
      right[r] = gapB[r];
      for (let j = 0; j < nv; j++) right[r] -= gapG[r * nv + j] * y[nq + j];
    }
    if (!solve(gapM, zeros, gapG, right, shift, lam)) return false;
    for (let j = 0; j < nv; j++) y[nq + j] += shift[j];
    read(core.t, y);
    return true;
  }

  /** The largest gap of the loops at the present state. */
  function largestGap() {
    if (m === 0) return 0;
    read(core.t, y);
    program.gaps(x, p, gaps);
    return worstGap();
  }

  return {
    any: m > 0 || quaternions.length > 0, move, project, largestGap,
    /** Whether the present state needs no projection: nothing is open by more than rounding. */
    hold: () => quaternions.every(first => Math.abs(lengthOf(first) - 1) < UNIT_ENOUGH) && largestGap() <= UNIT_ENOUGH * about.length,
  };
}
