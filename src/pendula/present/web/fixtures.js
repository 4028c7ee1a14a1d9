// What holds the bodies: supports on the ground, and pins.

import { css, mix } from "./colours.js";
import { circlePath, fill, stroke, strokeLine, tracePath } from "./pen.js";
import { add, clamp, dot, place } from "./vectors.js";

/** @typedef {{parts: [number, number[]][], r: number, at: number[]}} HingeSpot */

/**
 * Hinges of a scene: rods that end in one are drawn to it. Between the frames of a stored motion, places and angles
 * are interpolated separately, so a fast link would leave its hinge a little.
 * @param {any} scene
 * @returns {HingeSpot[]}
 */
export function findHinges(scene) {
  const same = (/** @type {number[]} */ a, /** @type {number[]} */ b) => a[0] === b[0] && a[1] === b[1] && a[2] === b[2];
  const hinges = (scene.hinges || []).map((/** @type {any} */ parts) => ({ parts, r: Infinity, at: [0, 0, 0] }));
  for (const hinge of hinges) {
    for (const [i, a] of hinge.parts) {
      for (const s of scene.bodies[i].shapes) {
        if (s.kind === "pivot" && same(s.at, a)) s.atHinge = hinge;
        if (s.kind !== "rod") continue;
        if (same(s.start, a)) s.atStart = hinge;
        if (same(s.end, a)) s.atEnd = hinge;
        if (same(s.start, a) || same(s.end, a)) hinge.r = Math.min(hinge.r, s.radius);
      }
    }
  }
  return hinges;
}

/** Puts every hinge midway between the points of the bodies it joins. @param {HingeSpot[]} hinges @param {any[]} poses */
export function setHinges(hinges, poses) {
  for (const hinge of hinges) {
    hinge.at = [0, 0, 0];
    for (const [i, a] of hinge.parts) hinge.at = add(hinge.at, place(poses[i], a), 1 / hinge.parts.length);
  }
}

/** A pin: a small circle. @param {any} picture @param {number[]} at @param {number} radius of what it holds [length] */
export function drawPin(picture, at, radius) {
  const { ctx, camera, theme } = picture, p = camera.show(at), r = 0.52 * radius * camera.scale;
  if (r < 1.6) return;
  picture.put(picture.planar ? 4 : p[2] + 0.01 * camera.size, () => {
    circlePath(ctx, p, Math.min(r, 6));
    fill(ctx, css(theme.hinge));
    stroke(ctx, css(theme.ink, 0.8), 1.25);
  });
}

/**
 * A support on the ground.
 * @param {any} picture @param {number[]} at @param {string} side "above" or "below": where the ground is; otherwise
 *   the side away from the middle of the picture
 */
export function drawSupport(picture, at, side) {
  const { camera } = picture;
  const high = dot(picture.planar ? [0, 1, 0] : camera.up, add(at, camera.middle, -1)) >= -0.02 * camera.size;
  const above = side ? side === "above" : high;
  if (picture.planar) drawFlatSupport(picture, at, above);
  else drawPlateSupport(picture, at, above);
}

/** @param {any} picture @param {number[]} at @param {boolean} above */
function drawFlatSupport(picture, at, above) {
  const { ctx, camera, theme } = picture, p = camera.show(at), sign = above ? -1 : 1;
  const u = clamp(0.024 * Math.min(camera.width, camera.height), 10, 17), y = p[1] + sign * 1.35 * u;
  picture.put(-3, () => {
    tracePath(ctx, [p, [p[0] - 0.85 * u, y], [p[0] + 0.85 * u, y]], true);
    fill(ctx, css(mix(theme.panel, theme.metal, 0.22)));
    ctx.lineJoin = "round";
    stroke(ctx, css(theme.metal), 1.5);
    const left = p[0] - 1.5 * u, right = p[0] + 1.5 * u, n = Math.max(3, Math.round((right - left) / 6));
    strokeLine(ctx, [left, y], [right, y], css(theme.metal), 1.75);
    ctx.beginPath();
    ctx.lineCap = "butt";
    for (let k = 0; k < n; k++) {   // hatching on the side of the ground
      const x = left + (k + 0.75) / n * (right - left);
      ctx.moveTo(x, y);
      ctx.lineTo(x - 5.25, y + sign * 7);
    }
    stroke(ctx, css(theme.metal), 1.25);
  });
  picture.put(5, () => {
    circlePath(ctx, p, 0.3 * u);
    fill(ctx, css(theme.hinge));
    stroke(ctx, css(theme.ink), 1.5);
  });
}

/** @param {any} picture @param {number[]} at @param {boolean} above */
function drawPlateSupport(picture, at, above) {
  const { ctx, camera, theme } = picture, p = camera.show(at), { flat1, flat2, up } = camera;
  const half = 0.05 * camera.size, c = add(at, up, (above ? 0.012 : -0.004) * camera.size);
  const corner = (/** @type {number} */ i, /** @type {number} */ j) => camera.show(add(add(c, flat1, i * half), flat2, j * half));
  const near = above === dot(camera.toward, up) > 0;
  picture.put(near ? p[2] + 1e-3 * camera.size : p[2] - 0.2 * camera.size, () => {
    tracePath(ctx, [corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1)], true);
    fill(ctx, css(mix(theme.panel, theme.metal, 0.3), 0.92));
    ctx.lineJoin = "round";
    stroke(ctx, css(theme.metal), 1.25);
    ctx.beginPath();
    for (let k = -5; k < 6; k++) {
      const f = k / 3, low = Math.max(-1, f - 1), high = Math.min(1, f + 1);
      if (low >= high) continue;
      const a = corner(low, f - low), b = corner(high, f - high);
      ctx.moveTo(a[0], a[1]);
      ctx.lineTo(b[0], b[1]);
    }
    stroke(ctx, css(theme.metal, 0.7), 1);
  });
  picture.put(p[2] + 2e-3 * camera.size, () => {
    circlePath(ctx, p, clamp(0.011 * camera.size * camera.scale, 2.5, 6));
    fill(ctx, css(theme.metal));
    stroke(ctx, css(theme.ink, 0.7), 1);
  });
}
