// Vectors of three numbers, poses, and the few operations that drawing needs.

/** A whole turn [rad]. */
export const TURN = 2 * Math.PI;

/** @typedef {number[]} Vector three numbers */
/** @typedef {{p: Vector, R: number[]}} Pose origin of a body in world axes, and its rotation matrix row by row */

/** A vector of a body in world axes. @param {Pose} pose @param {Vector} a @returns {Vector} */
export function rotate({ R }, a) {
  return [0, 3, 6].map(k => R[k] * a[0] + R[k + 1] * a[1] + R[k + 2] * a[2]);
}

/**
 * A point of a body in world axes.
 * @param {Pose} pose
 * @param {Vector} a the point in body axes
 * @returns {Vector}
 */
export function place(pose, a) {
  const R = pose.R, p = pose.p;
  return [
    p[0] + R[0] * a[0] + R[1] * a[1] + R[2] * a[2],
    p[1] + R[3] * a[0] + R[4] * a[1] + R[5] * a[2],
    p[2] + R[6] * a[0] + R[7] * a[1] + R[8] * a[2],
  ];
}

/**
 * A point in world axes as a point of a body: the inverse of `place`.
 * @param {Pose} pose
 * @param {Vector} world
 * @returns {Vector}
 */
export function inBody(pose, world) {
  const R = pose.R, d = add(world, pose.p, -1);
  return [
    R[0] * d[0] + R[3] * d[1] + R[6] * d[2],
    R[1] * d[0] + R[4] * d[1] + R[7] * d[2],
    R[2] * d[0] + R[5] * d[1] + R[8] * d[2],
  ];
}

/** a + f b @param {Vector} a @param {Vector} b @param {number} f @returns {Vector} */
export function add(a, b, f = 1) {
  return [a[0] + f * b[0], a[1] + f * b[1], a[2] + f * b[2]];
}

/** @param {Vector} a @param {number} f @returns {Vector} */
export function scaled(a, f) {
  return [f * a[0], f * a[1], f * a[2]];
}

/** @param {Vector} a @param {Vector} b @returns {number} */
export function dot(a, b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/** @param {Vector} a @param {Vector} b @returns {Vector} */
export function cross(a, b) {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

/** The length of a vector. @param {Vector} a @returns {number} */
export function norm(a) {
  return Math.hypot(a[0], a[1], a[2]);
}

/** The vector scaled to length one; zero stays zero. @param {Vector} a @returns {Vector} */
export function unit(a) {
  return scaled(a, 1 / (norm(a) || 1));
}

/** A unit vector normal to a unit vector. @param {Vector} n @returns {Vector} */
export function aside(n) {
  return unit(cross(n, Math.abs(n[0]) < 0.8 ? [1, 0, 0] : [0, 1, 0]));
}

/** The point at fraction f between a and b. @param {Vector} a @param {Vector} b @param {number} f @returns {Vector} */
export function between(a, b, f) {
  return [a[0] + f * (b[0] - a[0]), a[1] + f * (b[1] - a[1]), a[2] + f * (b[2] - a[2])];
}

/** @param {number} x @param {number} low @param {number} high @returns {number} */
export function clamp(x, low, high) {
  return Math.max(low, Math.min(high, x));
}
