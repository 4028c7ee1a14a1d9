// The state of a mechanism, and the arrays that its program fills.

import { makeSolver } from "./solve.js";

/**
 * @typedef {object} Description
 * @property {{coordinates: number, speeds: number, rows: number, drives: number, bodies: number, geometry: number,
 *   values: number, quaternions: number[], joints: number}} sizes
 * @property {{coordinates: string[], speeds: string[], adjustable: string[], values: string[], prescribed: string[],
 *   bodies: string[], joints: string[]}} names
 * @property {number[]} units sizes of coordinates and speeds to which the tolerance refers
 * @property {number[]} adjustable values of parameters and inputs that may change
 * @property {{q: number[], v: number[]}} start
 * @property {number} freedoms degrees of freedom, at regular poses
 * @property {number} length typical length
 * @property {number} energy typical energy
 */

/** @typedef {ReturnType<typeof createCore>} Core */

/**
 * What all parts of a mechanism work on: time `t`, state `y = [q, v, work]`, parameters `p`, the place `x = [t, q, v]` at
 * which the program is evaluated, and views of its results. All arrays are made once.
 * @param {any} program functions written by Pendula (`dynamics`, `gaps`, ...)
 * @param {Description} about
 */
export function createCore(program, about) {
  const { coordinates: nq, speeds: nv, rows: m, drives: nd, bodies } = about.sizes, count = nq + nv;
  const x = new Float64Array(1 + count);
  const [terms, M, f, qdot, G, c, power, driveRate, driveForce, driveM, driveG] =
    viewsOf([nv * nv, nv, nq, m * nv, m, 1, nd, nd, nd * nv, m * nd]);
  const [gaps, gap, gapG, gapB, gapM] = viewsOf([m, m * nv, m, nv * nv]);
  return {
    program, about, nq, nv, m, nd, bodies, count, x,
    p: new Float64Array(program.PARAMETERS + program.PREPARED),
    y: new Float64Array(count + 1),
    t: 0,
    terms, M, f, qdot, G, c, power, driveRate, driveForce, driveM, driveG,
    gaps, gap, gapG, gapB, gapM,
    a: new Float64Array(nv), lam: new Float64Array(m), solve: makeSolver(nv, m, nv - about.freedoms, about.length),
    zeros: new Float64Array(nv), shift: new Float64Array(nv), right: new Float64Array(m),
    energies: new Float64Array(2), pose: new Float64Array(12 * bodies), poseRate: new Float64Array(12 * bodies),
    /** Evaluates the program at a time and a state from now on. @param {number} time @param {ArrayLike<number>} state */
    read(time, state) {
      x[0] = time;
      for (let i = 0; i < count; i++) x[1 + i] = state[i];
    },
  };
}

/** One array, and views of its parts of these sizes. @param {number[]} sizes @returns {Float64Array[]} */
function viewsOf(sizes) {
  const whole = new Float64Array(sizes.reduce((sum, size) => sum + size, 0));
  let at = 0;
  return [whole, ...sizes.map(size => whole.subarray(at, (at += size)))];
}
