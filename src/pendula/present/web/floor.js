// What lies behind the mechanism: the grid of a planar picture, the floor and shadows of a spatial one, the scale.

import { css } from "./colours.js";
import { nice, short, spaced } from "./numbers.js";
import { fill, stroke, strokeLine, tracePath, writeLabel } from "./pen.js";
import { shapeOutlines } from "./shapes.js";
import { add, dot } from "./vectors.js";

/** Lines at round distances, five fine ones to each coarse one. @param {any} picture */
export function drawGrid(picture) {
  const { ctx, camera, theme } = picture, { middle, scale, width, height } = camera;
  const step = nice(92 / scale);
  const x0 = middle[0] - camera.x / scale, x1 = x0 + width / scale;
  const y1 = middle[1] + camera.y / scale, y0 = y1 - height / scale;
  for (const [gap, colour] of [[step / 5, theme.grid], [step, theme.grid2]]) {
    ctx.beginPath();
    for (let i = Math.ceil(x0 / gap); i * gap < x1; i++) {
      const x = Math.round(camera.x + (i * gap - middle[0]) * scale) + 0.5;
      ctx.moveTo(x, 0);
      ctx.lineTo(x, height);
    }
    for (let i = Math.ceil(y0 / gap); i * gap < y1; i++) {
      const y = Math.round(camera.y - (i * gap - middle[1]) * scale) + 0.5;
      ctx.moveTo(0, y);
      ctx.lineTo(width, y);
    }
    stroke(ctx, css(colour), 1);
  }
}

/** The point of the floor below a point. @param {any} camera @param {number[]} p */
function onFloor(camera, p) {
  return add(p, camera.up, camera.floor - dot(camera.up, p));
}

/** A round floor with lines at round distances. @param {any} picture @param {number} radius */
export function drawFloor(picture, radius) {
  const { ctx, camera, theme } = picture, { flat1, flat2 } = camera;
  const reach = 1.08 * Math.max(radius, 0.02 * camera.size), step = nice(reach / 4), foot = onFloor(camera, camera.middle);
  const at = (/** @type {number} */ x, /** @type {number} */ y) => camera.show(add(add(foot, flat1, x), flat2, y));
  const edge = [];
  for (let k = 0; k < 90; k++) edge.push(at(reach * Math.cos(k * Math.PI / 45), reach * Math.sin(k * Math.PI / 45)));
  tracePath(ctx, edge, true);
  fill(ctx, css(theme.grid, 0.7));
  stroke(ctx, css(theme.grid2), 1);
  const chord = (/** @type {number} */ d) => Math.sqrt(Math.max(0, reach * reach - d * d));
  const x0 = dot(foot, flat1), y0 = dot(foot, flat2);
  for (let k = Math.ceil((x0 - reach) / step); k * step < x0 + reach; k++) {
    const d = k * step - x0, c = chord(d);
    strokeLine(ctx, at(d, -c), at(d, c), css(theme.grid2), 1);
  }
  for (let k = Math.ceil((y0 - reach) / step); k * step < y0 + reach; k++) {
    const d = k * step - y0, c = chord(d);
    strokeLine(ctx, at(-c, d), at(c, d), css(theme.grid2), 1);
  }
}

/** Shadows of all moving bodies on the floor, as one shade. @param {any} picture @param {any} scene @param {any[]} poses */
export function drawShadows(picture, scene, poses) {
  const { ctx, camera, theme } = picture;
  if (dot(camera.toward, camera.up) <= 0.02) return;
  const shade = new Path2D();
  const cover = (/** @type {number[][]} */ points) => {
    const px = points.map(p => camera.show(onFloor(camera, p)));
    let area = 0;
    px.forEach((p, k) => {
      const q = px[(k + 1) % px.length];
      area += p[0] * q[1] - q[0] * p[1];
    });
    if (area < 0) px.reverse();   // one sense of turning, so that overlaps join
    px.forEach((p, k) => (k ? shade.lineTo(p[0], p[1]) : shade.moveTo(p[0], p[1])));
    shade.closePath();
  };
  scene.bodies.forEach((/** @type {any} */ body, /** @type {number} */ i) => {
    if (body.ground) return;
    for (const shape of body.shapes) shapeOutlines(shape, poses[i], camera).forEach(cover);
  });
  ctx.fillStyle = css(theme.shadow, theme.dark ? 0.38 : 0.1);
  ctx.fill(shade);
}

/** A bar of a round length. @param {any} picture @param {string} unitName */
export function drawScale(picture, unitName) {
  const { ctx, camera, theme } = picture, length = nice(Math.min(105, 0.26 * camera.width) / camera.scale), w = length * camera.scale;
  const x = 16, y = camera.height - 18;
  tracePath(ctx, [[x, y - 5], [x, y], [x + w, y], [x + w, y - 5]]);
  ctx.lineCap = "butt";
  ctx.lineJoin = "miter";
  stroke(ctx, css(theme.muted), 1.5);
  writeLabel(ctx, theme, short(length) + spaced(unitName), x + w / 2, y - 6, { align: "center" });
}

const AXIS_COLOURS = [[205, 72, 72], [60, 150, 84], [70, 110, 220]];

/** The directions of x, y and z. @param {any} picture */
export function drawTriad(picture) {
  const { ctx, camera, theme } = picture, x = camera.width - 46, y = camera.height - 42;
  const arms = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map((a, k) => ({ a, name: "xyz"[k], colour: AXIS_COLOURS[k] }));
  arms.sort((p, q) => dot(camera.toward, p.a) - dot(camera.toward, q.a));
  ctx.lineCap = "round";
  for (const { a, name, colour } of arms) {
    const dx = 26 * dot(camera.right, a), dy = -26 * dot(camera.over, a);
    strokeLine(ctx, [x, y], [x + dx, y + dy], css(colour), 2.25);
    writeLabel(ctx, theme, name, x + 1.32 * dx, y + 1.32 * dy + 4, { align: "center", colour, font: "600 11px" });
  }
}
