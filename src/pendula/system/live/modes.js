// Small motion about an equilibrium, at the present parameters: M s'' + C s' + K s = 0 in independent directions.

import { createCore } from "./core.js";
import { eigenSymmetric, eigenvaluesOf, quadraticShape } from "./eigen.js";
import { factorSymmetric, solveFactored, solvePivoted } from "./solve.js";

const NUDGE = 1e-5; // displacements of differences, as fractions of an angle of 1 or of the typical length
const MOST_NEWTON = 30;
const SMALL = 1e-7; // damping, growth and asymmetry below this fraction are errors of differences

/**
 * Forces along the directions that the constraints allow, and how they change with pose and speeds.
 * @param {any} program @param {any} about @param {Float64Array} p
 */
function createBalance(program, about, p) {
  const { nq, nv, m, x, terms, f, gaps, gap, gapG: G, gapM: M, solve, zeros, shift, lam } = createCore(program, about);
  const units = about.units.slice(nq, nq + nv), rate = new Float64Array(nq), still = new Float64Array(nq);

  const read = (/** @type {number[]} */ q, /** @type {ArrayLike<number>} */ v = zeros) => {
    x.set(q, 1);
    x.set(v, 1 + nq);
  };
  /** N s: the change of the coordinates for a displacement of the speeds. */
  function change(/** @type {number[]} */ q, /** @type {ArrayLike<number>} */ s) {
    read(q);
    program.rates(x, p, still);
    read(q, s);
    program.rates(x, p, rate);
    return Array.from(rate, (value, k) => value - still[k]);
  }
  /** The pose after a displacement, with loops closed. @returns {number[]} */
  function moved(/** @type {number[]} */ from, /** @type {ArrayLike<number>} */ s) {
    let q = change(from, s).map((d, k) => from[k] + d);
    for (let pass = 0; pass < 8 && m > 0; pass++) {
      read(q);
      program.gaps(x, p, gaps);
      const open = gap.map(value => -value);
      if (open.every(value => Math.abs(value) <= 1e-14 * about.length)) break;
      solve(Float64Array.from(M), zeros, G, open, shift, lam);
      q = change(q, shift).map((d, k) => q[k] + d);
    }
    return q;
  }
  /** Columns of G that the others follow: by elimination with pivots. */
  function followers() {
    const A = Float64Array.from(G), found = /** @type {number[]} */ ([]);
    for (let r = 0; r < m; r++) {
      let best = -1, row = r, largest = 1e-9;
      for (let i = r; i < m; i++) for (let j = 0; j < nv; j++) {
        const size = Math.abs(A[i * nv + j]) * units[j];
        if (!found.includes(j) && size > largest) { largest = size; best = j; row = i; }
      }
      if (best < 0) break; // redundant rows
      for (let j = 0; j < nv; j++) [A[r * nv + j], A[row * nv + j]] = [A[row * nv + j], A[r * nv + j]];
      for (let i = r + 1; i < m; i++) {
        const factor = A[i * nv + best] / A[r * nv + best];
        for (let j = 0; j < nv; j++) A[i * nv + j] -= factor * A[r * nv + j];
      }
      found.push(best);
    }
    return found;
  }
  /** Directions that the constraints allow, one for each free speed. @returns {Float64Array[]} */
  function directions(/** @type {number[]} */ free, /** @type {number[]} */ bound) {
    const n = bound.length;
    return free.map(j => {
      const s = new Float64Array(nv);
      s[j] = 1;
      if (n) { // least squares of G over the bound columns, since rows may be redundant
        const A = new Float64Array(n * n), b = new Float64Array(n), found = new Float64Array(n);
        for (let a = 0; a < n; a++) for (let r = 0; r < m; r++) {
          b[a] -= G[r * nv + bound[a]] * G[r * nv + j];
          for (let c = 0; c < n; c++) A[a * n + c] += G[r * nv + bound[a]] * G[r * nv + bound[c]];
        }
        solvePivoted(A, n, b, found);
        bound.forEach((k, a) => { s[k] = found[a]; });
      }
      return s;
    });
  }
  /** Directions at a pose, and the forces along them. */
  function balance(/** @type {number[]} */ q, /** @type {number[]} */ free, /** @type {number[]} */ bound, /** @type {ArrayLike<number>} */ v = zeros) {
    read(q, v);
    program.gaps(x, p, gaps);
    program.dynamics(x, p, terms);
    const Z = directions(free, bound);
    return { Z, force: Z.map(s => s.reduce((sum, value, j) => sum + value * f[j], 0)) };
  }
  /** Derivatives of the forces along the directions, with the opposite sign, by central differences. @returns {number[][]} */
  function slopes(/** @type {number[]} */ free, /** @type {(s: Float64Array) => number[]} */ forcesAt, /** @type {Float64Array[]} */ Z) {
    const rows = Z.map((s, i) => {
      const h = NUDGE * units[free[i]], [up, down] = [h, -h].map(by => forcesAt(s.map(value => by * value)));
      return up.map((value, k) => -(value - down[k]) / (2 * h));
    });
    return rows.map((_, k) => rows.map(row => row[k]));
  }
  /** Stiffness along the directions, with what the forces of constraints add to it. @returns {number[][]} */
  function stiffness(/** @type {number[]} */ q, /** @type {number[]} */ free, /** @type {number[]} */ bound) {
    return slopes(free, s => balance(moved(q, s), free, bound).force, balance(q, free, bound).Z);
  }
  /** Damping and gyroscopic forces along the directions. @returns {number[][]} */
  function damping(/** @type {number[]} */ q, /** @type {number[]} */ free, /** @type {number[]} */ bound) {
    return slopes(free, s => balance(q, free, bound, s).force, balance(q, free, bound).Z);
  }
  /** Inertia along the directions. @returns {number[][]} */
  function inertia(/** @type {number[]} */ q, /** @type {Float64Array[]} */ Z) {
    read(q);
    program.gaps(x, p, gaps);
    return Z.map(a => Z.map(b => {
      let sum = 0;
      for (let i = 0; i < nv; i++) for (let j = 0; j < nv; j++) sum += a[i] * M[i * nv + j] * b[j];
      return sum;
    }));
  }

  /** Speeds that may be chosen freely at a pose, and those that follow. */
  function freedoms(/** @type {number[]} */ q) {
    read(q);
    program.gaps(x, p, gaps);
    const bound = followers();
    return { bound, free: Array.from({ length: nv }, (_, j) => j).filter(j => !bound.includes(j)) };
  }
  return { units, moved, change, freedoms, balance, stiffness, damping, inertia };
}

/**
 * Modes about the equilibrium next to a pose.
 * @param {any} program @param {any} about the description of the mechanism, without quaternions
 * @param {Float64Array} p parameters, prepared
 * @param {number[]} near coordinates
 * @returns {{q: number[], listed: {omega: number, damped: number, ratio: number, coordinate: string, q: number[], v: number[]}[]} | null}
 *   the equilibrium, and oscillations about it: |s| and damped frequency [rad/time], damping ratio, and a start of
 *   unit amplitude; null: no equilibrium found
 */
export function findModes(program, about, p, near) {
  const { units, moved, change, freedoms, balance, stiffness, damping, inertia } = createBalance(program, about, p), nv = units.length;
  let q = moved(Array.from(near), new Float64Array(nv));
  const { free, bound } = freedoms(q), n = free.length;
  for (let pass = 0; ; pass++) { // Newton's method for the equilibrium
    const { Z, force } = balance(q, free, bound), K = stiffness(q, free, bound), step = new Float64Array(n);
    solvePivoted(scaledMatrix(K, free, units), n, Float64Array.from(force, (value, i) => value * units[free[i]]), step);
    const size = Math.max(...step.map(Math.abs));
    if (!Number.isFinite(size) || pass > MOST_NEWTON) return null;
    if (size < 1e-9) break;
    const by = new Float64Array(nv), short = Math.min(1, 0.3 / size);
    Z.forEach((s, i) => { for (let j = 0; j < nv; j++) by[j] += short * step[i] * units[free[i]] * s[j]; });
    q = moved(q, by);
  }
  const { Z } = balance(q, free, bound), sizes = free.map(j => units[j]);
  const without = (/** @type {number[][]} */ A) => A.map((row, i) => row.map((value, k) => value * sizes[i] * sizes[k]));
  const found = smallMotions(without(inertia(q, Z)), without(damping(q, free, bound)), without(stiffness(q, free, bound)));
  return { q, listed: found.map(motion => modeOf(motion)) };

  /** A small motion in all coordinates and speeds: the angle that moves most moves by 1; without angles, any coordinate. */
  function modeOf(/** @type {SmallMotion} */ { root, shape }) {
    const spread = (/** @type {number[]} */ parts) => {
      const by = new Float64Array(nv);
      Z.forEach((z, i) => { for (let j = 0; j < nv; j++) by[j] += parts[i] * sizes[i] * z[j]; });
      return by;
    };
    const [re, im] = [spread(shape.map(s => s.re)), spread(shape.map(s => s.im))];
    const qr = change(q, re), qi = change(q, im), moves = qr.map((value, k) => Math.hypot(value, qi[k]));
    const turns = moves.map((size, k) => (about.names.kinds[k] === "angle" ? size : 0));
    const looked = Math.max(...turns) > 1e-9 * Math.max(...moves) ? turns : moves, most = looked.indexOf(Math.max(...looked));
    const cr = qr[most] / moves[most] ** 2, ci = -qi[most] / moves[most] ** 2; // 1 / change of that coordinate
    const vr = root.re * cr - root.im * ci, vi = root.re * ci + root.im * cr;
    const omega = Math.hypot(root.re, root.im);
    return {
      omega, damped: root.im, ratio: root.re === 0 ? 0 : -root.re / omega, coordinate: about.names.coordinates[most],
      q: qr.map((value, k) => value * cr - qi[k] * ci), v: Array.from(re, (value, j) => value * vr - im[j] * vi),
    };
  }
}

/** @typedef {{root: {re: number, im: number}, shape: {re: number, im: number}[]}} SmallMotion s = shape exp(root t) */

/**
 * Oscillations of M s'' + C s' + K s = 0 that do not grow, from slow to fast.
 * @param {number[][]} M @param {number[][]} C @param {number[][]} K entries of one unit each
 * @returns {SmallMotion[]}
 */
function smallMotions(M, C, K) {
  const n = M.length, factored = Float64Array.from(M.flat());
  if (n === 0 || !factorSymmetric(factored, n)) return [];
  const largest = (/** @type {number[][]} */ A) => Math.max(...A.flat().map(Math.abs), 1e-300), quick = Math.sqrt(largest(K) / largest(M));
  const skew = Math.max(...K.flatMap((row, i) => row.map((value, k) => Math.abs(value - K[k][i]))));
  if (largest(C) <= SMALL * quick * largest(M) && skew <= SMALL * largest(K)) return freeMotions(factored, n, K);
  // s = [shape, rate / quick]: a matrix of one unit, whose eigenvalues are roots / quick
  const solved = (/** @type {number[][]} */ A) => A[0].map((_, k) => {
    const column = Float64Array.from(A, row => row[k]);
    solveFactored(factored, n, column);
    return column;
  });
  const MK = solved(K), MC = solved(C);
  const upper = M.map((_, i) => Array.from({ length: 2 * n }, (_, k) => Number(k === n + i)));
  const lower = M.map((_, i) => Array.from({ length: 2 * n }, (_, k) => -(k < n ? MK[k][i] / quick ** 2 : MC[k - n][i] / quick)));
  return eigenvaluesOf([...upper, ...lower]).map(({ re, im }) => ({ re: re * quick, im: im * quick }))
    .filter(({ re, im }) => im > SMALL * quick && re <= SMALL * Math.hypot(re, im)) // one of each pair
    .sort((a, b) => Math.hypot(a.re, a.im) - Math.hypot(b.re, b.im))
    .map((root, k) => ({ root, shape: quadraticShape(M, C, K, root, k + 1) }));
}

/**
 * The same without damping: K s = omega^2 M s.
 * @param {Float64Array} factored M = U^T D U: 1 / D on the diagonal, D U beside it @param {number} n @param {number[][]} K
 * @returns {SmallMotion[]}
 */
function freeMotions(factored, n, K) {
  const root = (/** @type {number} */ i) => Math.sqrt(factored[i * n + i]);
  const U = (/** @type {number} */ i, /** @type {number} */ j) => (i === j ? 1 / root(i) : factored[i * n + j] * root(i)); // D^1/2 U
  const forward = (/** @type {number[]} */ b) => { // solves (D^1/2 U)^T y = b
    const y = b.slice();
    for (let i = 0; i < n; i++) { for (let k = 0; k < i; k++) y[i] -= U(k, i) * y[k]; y[i] /= U(i, i); }
    return y;
  };
  const backward = (/** @type {number[]} */ b) => {
    const y = b.slice();
    for (let i = n - 1; i >= 0; i--) { for (let k = i + 1; k < n; k++) y[i] -= U(i, k) * y[k]; y[i] /= U(i, i); }
    return y;
  };
  const even = K.map((row, i) => row.map((value, k) => (value + K[k][i]) / 2)), half = even.map(forward);
  const whole = half[0].map((_, k) => forward(half.map(row => row[k]))), largest = Math.max(...whole.flat().map(Math.abs), 1e-300);
  return eigenSymmetric(whole).filter(({ value }) => value > 1e-9 * largest).sort((a, b) => a.value - b.value).map(({ value, vector }) =>
    ({ root: { re: 0, im: Math.sqrt(value) }, shape: backward(vector).map(re => ({ re, im: 0 })) }));
}

/** A matrix along directions of unlike units, without units. @param {number[][]} K @param {number[]} free @param {number[]} units */
function scaledMatrix(K, free, units) {
  const n = K.length, found = new Float64Array(n * n), size = Math.max(...K.map((row, i) => Math.abs(row[i]) * units[free[i]] ** 2), 1e-300);
  K.forEach((row, i) => row.forEach((value, k) => { found[i * n + k] = value * units[free[i]] * units[free[k]] / size; }));
  return found.map(value => value * size);
}
