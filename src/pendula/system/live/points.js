// Points of bodies: where they are, how they move, and what a force on one of them does.

const AXES = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];

/** All functions refer to the state that was read last. @param {import("./core.js").Core} core */
export function createPoints(core) {
  const { program, nv, count, bodies, x, p, pose, poseRate } = core;
  const weights = new Float64Array(1 + count + 12 * bodies), rate = new Float64Array(3);
  const jacobian = new Float64Array(3 * nv);

  /** Generalized forces of a force on a point of a body. */
  function push(/** @type {number} */ body, /** @type {number[]} */ point, /** @type {ArrayLike<number>} */ force, /** @type {Float64Array} */ out) {
    const first = 1 + count + 12 * body;
    weights.set(x);
    weights.fill(0, 1 + count);
    for (let d = 0; d < 3; d++) {
      weights[first + 9 + d] = force[d];
      for (let k = 0; k < 3; k++) weights[first + 3 * d + k] = force[d] * point[k];
    }
    program.pushes(weights, p, out);
  }

  return {
    push,
    /** Velocities of a point of a body per unit of each speed: rows x, y, z. */
    jacobianOf(/** @type {number} */ body, /** @type {number[]} */ point) {
      for (let d = 0; d < 3; d++) push(body, point, AXES[d], jacobian.subarray(d * nv, d * nv + nv));
      return jacobian;
    },
    /** The velocity of a point of a body. */
    rateOf(/** @type {number} */ body, /** @type {number[]} */ point) {
      program.pose_rates(x, p, poseRate);
      for (let d = 0, R = 12 * body; d < 3; d++) {
        rate[d] = poseRate[R + 9 + d] + poseRate[R + 3 * d] * point[0] + poseRate[R + 3 * d + 1] * point[1]
          + poseRate[R + 3 * d + 2] * point[2];
      }
      return rate;
    },
    /** A point of a body in world axes. */
    placeOf(/** @type {number} */ body, /** @type {number[]} */ point) {
      program.poses(x, p, pose);
      const R = 12 * body;
      return [0, 1, 2].map(d => pose[R + 9 + d] + pose[R + 3 * d] * point[0] + pose[R + 3 * d + 1] * point[1]
        + pose[R + 3 * d + 2] * point[2]);
    },
  };
}
