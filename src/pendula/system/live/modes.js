// Small undamped motion about an equilibrium, at the present parameters: K s = omega^2 M s in independent directions.

import { factorSymmetric, makeSolver, solvePivoted } from "./solve.js";

const NUDGE = 1e-5; // displacements of differences, as fractions of an angle of 1 or of the typical length
const MOST_NEWTON = 30;

/**
 * Eigenvalues and eigenvectors (rows) of a symmetric matrix, by Jacobi's rotations.
 * @param {number[][]} A is overwritten
 * @returns {{value: number, vector: number[]}[]}
 */
export function eigenSymmetric(A) {
  const n = A.length, V = A.map((_, i) => A.map((_, j) => Number(i === j)));
  for (let sweep = 0; sweep < 60; sweep++) {
    let off = 0, all = 0;
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) { all += A[i][j] ** 2; if (i !== j) off += A[i][j] ** 2; }
    if (off <= 1e-28 * all) break;
    for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) {
      if (A[i][j] === 0) continue;
      const tau = (A[j][j] - A[i][i]) / (2 * A[i][j]);
      const t = (tau < 0 ? -1 : 1) / (Math.abs(tau) + Math.sqrt(1 + tau * tau)), c = 1 / Math.sqrt(1 + t * t), s = c * t;
      for (let k = 0; k < n; k++) [A[k][i], A[k][j]] = [c * A[k][i] - s * A[k][j], s * A[k][i] + c * A[k][j]];
      for (let k = 0; k < n; k++) [A[i][k], A[j][k]] = [c * A[i][k] - s * A[j][k], s * A[i][k] + c * A[j][k]];
      for (let k = 0; k < n; k++) [V[i][k], V[j][k]] = [c * V[i][k] - s * V[j][k], s * V[i][k] + c * V[j][k]];
    }
  }
  return V.map((vector, i) => ({ value: A[i][i], vector }));
}

/**
 * Modes about the equilibrium next to a pose.
 * @param {any} program @param {any} about the description of the mechanism, without quaternions
 * @param {Float64Array} p parameters, prepared
 * @param {number[]} near coordinates
 * @returns {{q: number[], listed: {omega: number, coordinate: string, q: number[]}[]} | null} null: no equilibrium found
 */
export function findModes(program, about, p, near) {
  const { coordinates: nq, speeds: nv, rows: m, drives: nd } = about.sizes;
  const x = new Float64Array(1 + nq + nv), rate = new Float64Array(nq), still = new Float64Array(nq);
  const terms = new Float64Array(nv * nv + nv + nq + m * nv + m + 1 + 2 * nd + nd * nv + m * nd);
  const gaps = new Float64Array(2 * m + m * nv + nv * nv), solve = makeSolver(nv, m);
  const G = gaps.subarray(m, m + m * nv), M = gaps.subarray(2 * m + m * nv), f = terms.subarray(nv * nv, nv * nv + nv);
  const units = about.units.slice(nq, nq + nv), zeros = new Float64Array(nv), shift = new Float64Array(nv), lam = new Float64Array(m);

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
      const open = gaps.slice(0, m).map(value => -value);
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
  function balance(/** @type {number[]} */ q, /** @type {number[]} */ free, /** @type {number[]} */ bound) {
    read(q);
    program.gaps(x, p, gaps);
    program.dynamics(x, p, terms);
    const Z = directions(free, bound);
    return { Z, force: Z.map(s => s.reduce((sum, value, j) => sum + value * f[j], 0)) };
  }
  /** Stiffness along the directions, by central differences of the forces; made symmetric. @returns {number[][]} */
  function stiffness(/** @type {number[]} */ q, /** @type {number[]} */ free, /** @type {number[]} */ bound) {
    const { Z } = balance(q, free, bound);
    const rows = Z.map((s, i) => {
      const h = NUDGE * units[free[i]];
      const [up, down] = [h, -h].map(by => balance(moved(q, s.map(value => by * value)), free, bound).force);
      return up.map((value, k) => -(value - down[k]) / (2 * h));
    });
    return rows.map((row, i) => row.map((value, k) => (value + rows[k][i]) / 2));
  }

  let q = moved(Array.from(near), zeros);
  read(q);
  program.gaps(x, p, gaps);
  const bound = followers(), free = Array.from({ length: nv }, (_, j) => j).filter(j => !bound.includes(j)), n = free.length;
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
  return { q, listed: modesAt(q) };

  /** Frequencies and shapes at an equilibrium, from slow to fast. */
  function modesAt(/** @type {number[]} */ at) {
    const { Z } = balance(at, free, bound), K = stiffness(at, free, bound);
    read(at);
    program.gaps(x, p, gaps);
    const inertia = Float64Array.from({ length: n * n }, (_, e) => {
      let sum = 0;
      for (let i = 0; i < nv; i++) for (let j = 0; j < nv; j++) sum += Z[Math.floor(e / n)][i] * M[i * nv + j] * Z[e % n][j];
      return sum;
    });
    if (!factorSymmetric(inertia, n)) return []; // 1 / D on the diagonal, D U beside it
    const root = (/** @type {number} */ i) => Math.sqrt(inertia[i * n + i]);
    const U = (/** @type {number} */ i, /** @type {number} */ j) => (i === j ? 1 / root(i) : inertia[i * n + j] * root(i)); // D^1/2 U
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
    const half = K.map(forward), whole = half[0] ? half[0].map((_, k) => forward(half.map(row => row[k]))) : [];
    const largest = Math.max(...whole.flat().map(Math.abs), 1e-300);
    return eigenSymmetric(whole).filter(({ value }) => value > 1e-9 * largest).sort((a, b) => a.value - b.value).map(({ value, vector }) => {
      const s = backward(vector), by = new Float64Array(nv);
      Z.forEach((z, i) => { for (let j = 0; j < nv; j++) by[j] += s[i] * z[j]; });
      const shape = change(at, by), sizes = shape.map((d, k) => Math.abs(d) / about.units[k]), most = sizes.indexOf(Math.max(...sizes));
      return { omega: Math.sqrt(value), coordinate: about.names.coordinates[most], q: shape.map(d => d / shape[most]) };
    });
  }
}

/** A matrix along directions of unlike units, without units. @param {number[][]} K @param {number[]} free @param {number[]} units */
function scaledMatrix(K, free, units) {
  const n = K.length, found = new Float64Array(n * n), size = Math.max(...K.map((row, i) => Math.abs(row[i]) * units[free[i]] ** 2), 1e-300);
  K.forEach((row, i) => row.forEach((value, k) => { found[i * n + k] = value * units[free[i]] * units[free[k]] / size; }));
  return found.map(value => value * size);
}
