// What joins bodies without mass: springs, dampers and strings between points, spirals around hinges.

import { css, mix } from "./colours.js";
import { circlePath, fill, stroke, strokeLine, tracePath } from "./pen.js";
import { add, clamp, cross, dot, place, rotate, TURN } from "./vectors.js";

const SPIRAL_TURNS = 2; // of a spiral whose ends point in the same direction
const LEAST_TURNS = 0.75, MOST_TURNS = 4.5;
const SPIRAL_INNER = 0.3; // inner radius, as a fraction of the outer one
const SPIRAL_POINTS = 64;

/** A spring, damper or string between two world points. @param {any} picture @param {string} kind @param {number[][]} ends */
export function drawLink(picture, kind, ends) {
  const { ctx, camera, theme } = picture, a = camera.show(ends[0]), b = camera.show(ends[1]);
  const dx = b[0] - a[0], dy = b[1] - a[1], n = Math.hypot(dx, dy) || 1e-6, ex = dx / n, ey = dy / n;
  const u = clamp(0.014 * camera.size * camera.scale, 4, 9), lead = Math.min(0.16 * n, 3 * u);
  const at = (/** @type {number} */ s, /** @type {number} */ h) => [a[0] + s * ex - h * ey, a[1] + s * ey + h * ex];
  picture.put(picture.planar ? -1.5 : (a[2] + b[2]) / 2, () => {
    ctx.lineCap = ctx.lineJoin = "round";
    const ink = css(mix(theme.metal, theme.ink, 0.35));
    if (kind === "string") {
      strokeLine(ctx, a, b, ink, 1.5);
    } else if (kind === "spring") {
      const list = [a, at(lead, 0)], turns = 9;
      for (let k = 0; k < 2 * turns; k++) {
        list.push(at(lead + (n - 2 * lead) * (k + 0.5) / (2 * turns), k % 2 ? -u : u));
      }
      list.push(at(n - lead, 0), b);
      tracePath(ctx, list);
      stroke(ctx, ink, 1.75);
    } else {
      const c0 = 0.32 * n, c1 = 0.68 * n, mid = 0.5 * n;
      strokeLine(ctx, a, at(c0, 0), ink, 1.75);
      strokeLine(ctx, b, at(mid, 0), ink, 1.75);
      tracePath(ctx, [at(c1, u), at(c0, u), at(c0, -u), at(c1, -u)]);
      stroke(ctx, ink, 1.75);
      strokeLine(ctx, at(mid, 0.75 * u), at(mid, -0.75 * u), ink, 2.5);
    }
  });
}

/**
 * A torsion spring around a hinge. Its outer end turns with one body, its inner end with another.
 * @param {any} picture
 * @param {any} spiral `outer`, `inner` (bodies), `at` and `inner_arm` in axes of the inner body, `axis` and `outer_arm` in
 *   those of the outer one
 * @param {any[]} poses
 * @param {number} before how far it was wound in the last picture [rad]; NaN: unknown
 * @returns {number} how far it is wound now: of the possible values, which differ by whole turns, the nearest
 */
export function drawSpiral(picture, spiral, poses, before) {
  const { ctx, camera, theme } = picture, outer = poses[spiral.outer], inner = poses[spiral.inner];
  const first = rotate(outer, spiral.outer_arm), second = cross(rotate(outer, spiral.axis), first), last = rotate(inner, spiral.inner_arm);
  const begin = Math.atan2(dot(last, second), dot(last, first));
  let wound = SPIRAL_TURNS * TURN - begin;
  if (Number.isFinite(before)) wound += TURN * Math.round((before - wound) / TURN);
  while (wound < LEAST_TURNS * TURN) wound += TURN;
  while (wound > MOST_TURNS * TURN) wound -= TURN;
  const at = place(inner, spiral.at), radius = clamp(0.034 * camera.size, 10 / camera.scale, 24 / camera.scale), list = [];
  for (let k = 0; k <= SPIRAL_POINTS; k++) {
    const f = k / SPIRAL_POINTS, angle = begin + f * wound, r = radius * (SPIRAL_INNER + (1 - SPIRAL_INNER) * f);
    list.push(camera.show(add(add(at, first, r * Math.cos(angle)), second, r * Math.sin(angle))));
  }
  picture.put(picture.planar ? 3 : list[0][2] + 0.02 * camera.size, () => {
    ctx.lineCap = ctx.lineJoin = "round";
    tracePath(ctx, list);
    stroke(ctx, css(theme.panel, 0.75), 3.5);
    tracePath(ctx, list);
    stroke(ctx, css(mix(theme.metal, theme.ink, 0.35)), 1.6);
    circlePath(ctx, list[SPIRAL_POINTS], 2);
    fill(ctx, css(mix(theme.metal, theme.ink, 0.35)));
  });
  return wound;
}
