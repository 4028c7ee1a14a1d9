// Paths of points: strong where the point has just been, fainter but legible farther back.

import { BLACK, css, mix, WHITE } from "./colours.js";
import { fill, circlePath, stroke, tracePath } from "./pen.js";

const CHUNKS = 16;   // steps of strength along the recent part

/**
 * A colour of a body that can be read as a thin line on the panel.
 * @param {number[]} colour @param {any} theme
 */
export function trailColour(colour, theme) {
  return theme.dark ? mix(colour, WHITE, 0.2) : mix(colour, BLACK, 0.3);
}

/**
 * @param {any} picture
 * @param {{points: Float64Array | number[][], count?: number, colour: number[], recent?: number, head?: boolean}} trail
 *   `points` in world axes, oldest first, as triples or as flat numbers, `count` of them used; `recent`: how many of
 *   them are drawn strongly; `head`: whether to mark the last one
 */
export function drawTrail(picture, trail) {
  const { ctx, camera, theme } = picture, { points } = trail, flat = points.length > 0 && typeof points[0] === "number";
  const all = trail.count ?? (flat ? points.length / 3 : points.length);
  if (all < 2) return;
  const px = [];
  for (let k = 0; k < all; k++) {
    const p = flat ? [points[3 * k], points[3 * k + 1], points[3 * k + 2]] : points[k];
    px.push(camera.show(/** @type {number[]} */ (p)));
  }
  const colour = trailColour(trail.colour, theme), recent = Math.max(40, trail.recent ?? Math.round(0.12 * all));
  const from = Math.max(0, all - recent), chunk = Math.ceil((all - from) / CHUNKS);
  ctx.lineJoin = "round";
  ctx.lineCap = "butt";
  if (from > 0) {
    tracePath(ctx, px.slice(0, from + 1));
    stroke(ctx, css(colour, 0.6), 1.5);
  }
  for (let k = from; k < all - 1; k += chunk) {
    const f = Math.min(1, (k + chunk - from) / (all - from));
    tracePath(ctx, px.slice(k, k + chunk + 1));
    stroke(ctx, css(colour, 0.6 + 0.4 * f), 1.5 + 1.3 * f);
  }
  if (trail.head) {
    const last = px[all - 1];
    picture.put(picture.planar ? 6 : last[2] + camera.size, () => {
      circlePath(ctx, last, 4);
      fill(ctx, css(theme.panel));
      stroke(ctx, css(colour), 2);
    });
  }
}
