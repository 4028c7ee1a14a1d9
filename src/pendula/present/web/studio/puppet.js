// A mechanism that is put into given poses: runs, modes and equilibria are played with the program of the live scene.

/**
 * Poses and the drawing at a given state; it offers what scenery.js asks of a mechanism.
 * @param {any} program functions written by Pendula @param {any} about their description
 */
export function createPuppet(program, about) {
  const { coordinates: nq, speeds: nv, bodies } = about.sizes;
  const p = new Float64Array(program.PARAMETERS + program.PREPARED), x = new Float64Array(1 + nq + nv);
  const pose = new Float64Array(12 * bodies);
  const place = new Map(about.names.adjustable.map((/** @type {string} */ name, /** @type {number} */ k) => [name, k]));
  about.adjustable.forEach((/** @type {number} */ value, /** @type {number} */ k) => { p[k] = value; });
  program.prepare(p);
  return {
    /**
     * Values of parameters by name; names that it does not have are left out.
     * @param {Record<string, number>} values
     */
    adjust(values) {
      for (const [name, value] of Object.entries(values)) {
        if (place.has(name) && Number.isFinite(value)) p[place.get(name)] = value;
      }
      program.prepare(p);
    },
    /** @param {number} t @param {ArrayLike<number>} q */
    put(t, q) {
      x[0] = t;
      for (let k = 0; k < nq; k++) x[1 + k] = q[k];
    },
    poses() {
      program.poses(x, p, pose);
      return Array.from({ length: bodies }, (_, k) => ({
        p: Array.from(pose.subarray(12 * k + 9, 12 * k + 12)), R: Array.from(pose.subarray(12 * k, 12 * k + 9)),
      }));
    },
    geometry(/** @type {Float64Array} */ out) {
      program.geometry(x, p, out);
      return out;
    },
  };
}

/**
 * Coordinates of a stored motion at any time, by cubic interpolation where rates are known, else linear.
 * @param {{t: number[], q: number[][], rate?: number[][]}} motion `q` and `rate` by sample
 * @returns {(time: number) => number[]}
 */
export function motionAt({ t, q, rate }) {
  return time => {
    let i = 0, j = t.length - 1;
    if (time <= t[0] || j === 0) return q[0];
    if (time >= t[j]) return q[j];
    while (j - i > 1) {
      const c = (i + j) >> 1;
      if (t[c] <= time) i = c;
      else j = c;
    }
    const h = t[j] - t[i], f = h > 0 ? (time - t[i]) / h : 0;
    if (!rate) return q[i].map((value, k) => value + f * (q[j][k] - value));
    const a = (1 + 2 * f) * (1 - f) ** 2, b = f * (1 - f) ** 2 * h, c = f * f * (3 - 2 * f), d = f * f * (f - 1) * h;
    return q[i].map((value, k) => a * value + b * rate[i][k] + c * q[j][k] + d * rate[j][k]);
  };
}
