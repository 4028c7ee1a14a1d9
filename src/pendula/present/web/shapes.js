// Shapes of bodies: rods, balls, discs, rings, boxes and lines, each drawn as pieces that know their depth.

import { css, mix, WHITE } from "./colours.js";
import { circlePath, fill, stroke, strokeLine, tracePath } from "./pen.js";
import { add, aside, between, clamp, cross, dot, norm, place, unit } from "./vectors.js";

/**
 * A picture being drawn. Shapes put pieces on its list, which are drawn from back to front, and leave in `hits` what
 * a pointer can find.
 * @typedef {Object} Picture
 * @property {CanvasRenderingContext2D} ctx
 * @property {any} camera
 * @property {any} theme
 * @property {boolean} planar
 * @property {number} moving number of moving bodies
 * @property {(depth: number, draw: () => void) => void} put
 * @property {(hit: any) => void} hit
 */

/** @typedef {{colour: number[], edge: number[], light: number[]}} Paint */

const BOX_FACES = [[0, 1, 3, 2], [4, 5, 7, 6], [0, 1, 5, 4], [2, 3, 7, 6], [0, 2, 6, 4], [1, 3, 7, 5]];
const FRONT_FACE = BOX_FACES[5];   // towards +z: the one seen in a planar picture

/**
 * Fills in what the description of a scene leaves out: radii, axes of discs, corners of boxes.
 * @param {any} scene @param {number} extent the longest side of its box
 */
export function completeShapes(scene, extent) {
  for (const body of scene.bodies) {
    const lengths = body.shapes.filter((/** @type {any} */ s) => s.kind === "rod")
      .map((/** @type {any} */ s) => norm(add(s.end, s.start, -1)));
    const longest = lengths.length ? Math.max(...lengths) : extent;
    for (const s of body.shapes) {
      if (s.kind === "rod" && !s.radius) s.radius = Math.min(0.0105 * extent, 0.13 * longest || extent);
      if ((s.kind === "point" || s.kind === "sphere") && !s.radius) s.radius = Math.min(0.022 * extent, 0.32 * longest);
      if (s.kind === "disc" || s.kind === "ring") {
        s.e1 = aside(s.normal);
        s.e2 = cross(s.normal, s.e1);
      }
      if (s.kind === "box") s.corners = boxCorners(s);
    }
  }
}

/** @param {any} s @returns {number[][]} */
function boxCorners(s) {
  const found = [];
  for (const i of [-0.5, 0.5]) {
    for (const j of [-0.5, 0.5]) {
      for (const k of [-0.5, 0.5]) found.push(add(s.center, [i * s.size[0], j * s.size[1], k * s.size[2]]));
    }
  }
  return found;
}

/**
 * Draws one shape of a body.
 * @param {Picture} picture @param {number} i index of the body @param {Paint} paint @param {any} body @param {any} pose
 * @param {any} shape
 */
export function drawShape(picture, i, paint, body, pose, shape) {
  const { camera } = picture;
  switch (shape.kind) {
    case "rod": {
      const a = shape.atStart ? shape.atStart.at : place(pose, shape.start);
      const b = shape.atEnd ? shape.atEnd.at : place(pose, shape.end);
      return drawRod(picture, i, paint, a, b, shape.radius);
    }
    case "point":
      return drawBall(picture, i, paint, place(pose, shape.at), shape.radius);
    case "sphere":
      return drawBall(picture, i, paint, place(pose, shape.center), shape.radius);
    case "disc":
      return drawDisc(picture, i, paint, pose, shape);
    case "ring":
      return drawRing(picture, i, paint, pose, shape);
    case "box":
      return drawBox(picture, i, paint, pose, shape);
    case "polyline":
      return drawPolyline(picture, i, paint, body, pose, shape, camera.size);
  }
}

/** The direction to the light: over the left shoulder of the viewer. @param {any} camera */
function lightOf(camera) {
  return unit(add(add(camera.toward, camera.over, 0.9), camera.right, -0.5));
}

/** @param {Picture} picture @param {number} i @param {Paint} paint @param {number[]} at @param {number} radius */
function drawBall(picture, i, paint, at, radius) {
  const { ctx, camera } = picture, p = camera.show(at), r = Math.max(2, radius * camera.scale);
  picture.hit({ body: i, a: p, b: p, a3: at, b3: at, r });
  picture.put(picture.planar ? 0 : p[2] + 0.9 * r / camera.scale, () => {
    circlePath(ctx, p, r);
    const g = ctx.createRadialGradient(p[0] - 0.35 * r, p[1] - 0.4 * r, 0.05 * r, p[0], p[1], 1.05 * r);
    g.addColorStop(0, css(paint.light));
    g.addColorStop(0.55, css(paint.colour));
    g.addColorStop(1, css(mix(paint.colour, paint.edge, 0.6)));
    fill(ctx, g);
    if (r > 3) stroke(ctx, css(paint.edge), 1.1);
  });
}

/**
 * @param {Picture} picture @param {number} i @param {Paint} paint
 * @param {number[]} a3 @param {number[]} b3 @param {number} radius
 */
function drawRod(picture, i, paint, a3, b3, radius) {
  const { ctx, camera } = picture, a = camera.show(a3), b = camera.show(b3), r = Math.max(1.4, radius * camera.scale);
  picture.hit({ body: i, a, b, a3, b3, r });
  if (picture.planar) {
    picture.put(0, () => {
      ctx.lineCap = "round";
      strokeLine(ctx, a, b, css(paint.edge), 2 * r);
      strokeLine(ctx, a, b, css(paint.colour), r > 2 ? 2 * r - 2 : 1.2 * r);
    });
    return;
  }
  // Cut in parts so that a rod can pass through a disc or behind another rod.
  const parts = picture.moving > 40 ? 1 : picture.moving > 12 ? 3 : picture.moving > 3 ? 9 : 21;
  const n = Math.hypot(b[0] - a[0], b[1] - a[1]), ink = rodShade(ctx, paint, a, b, n, r);
  for (let k = 0; k < parts; k++) {
    const inner = k > 0 && k < parts - 1, lap = inner && n ? Math.min(0.7 / n, 0.5 / parts) : 0;
    picture.put(between(a, b, (k + 0.5) / parts)[2], () => {
      ctx.lineCap = inner ? "butt" : "round";
      strokeLine(ctx, between(a, b, k / parts - lap), between(a, b, (k + 1) / parts + lap), ink, 2 * r);
    });
  }
}

/**
 * The shading of a round rod: a gradient across it.
 * @param {CanvasRenderingContext2D} ctx @param {Paint} paint
 * @param {number[]} a @param {number[]} b @param {number} n its length in pixels @param {number} r
 */
function rodShade(ctx, paint, a, b, n, r) {
  if (n <= 0.5) return css(paint.colour);
  const nx = -(b[1] - a[1]) / n * r, ny = (b[0] - a[0]) / n * r, sign = nx * -0.5 + ny * -0.9 > 0 ? 1 : -1;
  const g = ctx.createLinearGradient(a[0] + sign * nx, a[1] + sign * ny, a[0] - sign * nx, a[1] - sign * ny);
  g.addColorStop(0, css(paint.colour));
  g.addColorStop(0.3, css(paint.light));
  g.addColorStop(0.6, css(paint.colour));
  g.addColorStop(1, css(paint.edge));
  return g;
}

/** Points of a circle in world axes. @param {any} pose @param {any} s @param {number} count @returns {number[][]} */
export function circlePoints(pose, s, count) {
  const found = [];
  for (let k = 0; k < count; k++) {
    const f = 2 * Math.PI * k / count;
    const p = add(add(s.center, s.e1, s.radius * Math.cos(f)), s.e2, s.radius * Math.sin(f));
    found.push(place(pose, p));
  }
  return found;
}

/** @param {Picture} picture @param {number} i @param {Paint} paint @param {any} pose @param {any} s */
function drawDisc(picture, i, paint, pose, s) {
  const { ctx, camera } = picture, center = place(pose, s.center), c = camera.show(center);
  const rim = circlePoints(pose, s, 64).map(camera.show);
  const normal = unit(add(place(pose, add(s.center, s.normal)), center, -1));
  picture.hit({ body: i, polygon: rim, a: c, through: center });
  picture.put(picture.planar ? 0 : c[2], () => {
    const bright = picture.planar ? 0.1 : 0.3 * Math.abs(dot(normal, lightOf(camera)));
    tracePath(ctx, rim, true);
    fill(ctx, css(mix(paint.colour, WHITE, bright)));
    ctx.beginPath();
    for (const first of [0, 32]) {   // two lighter sectors show the rotation
      ctx.moveTo(c[0], c[1]);
      for (let k = 0; k <= 16; k++) ctx.lineTo(rim[(k + first) % 64][0], rim[(k + first) % 64][1]);
      ctx.closePath();
    }
    fill(ctx, css(mix(paint.colour, WHITE, bright + 0.2)));
    tracePath(ctx, rim, true);
    ctx.lineJoin = "round";
    stroke(ctx, css(paint.edge), 1.5);
  });
}

/** @param {Picture} picture @param {number} i @param {Paint} paint @param {any} pose @param {any} s */
function drawRing(picture, i, paint, pose, s) {
  const { ctx, camera, theme } = picture, count = 96, width = clamp(0.012 * camera.size * camera.scale, 2.5, 9);
  const rim3 = circlePoints(pose, s, count), rim = rim3.map(camera.show);
  for (let k = 0; k < count; k += 3) {
    const m = (k + 3) % count;
    picture.hit({ body: i, a: rim[k], b: rim[m], a3: rim3[k], b3: rim3[m], r: width / 2 });
  }
  if (picture.planar) {
    picture.put(-1, () => {
      tracePath(ctx, rim, true);
      ctx.lineJoin = "round";
      stroke(ctx, css(paint.edge), width);
      stroke(ctx, css(paint.colour), Math.max(1, width - 2));
    });
    return;
  }
  rim.forEach((p, k) => {   // in parts, paler where it is farther away
    const q = rim[(k + 1) % count], depth = (p[2] + q[2]) / 2, f = clamp(0.5 - 0.5 * depth / (s.radius || 1), 0, 1);
    const n = Math.hypot(q[0] - p[0], q[1] - p[1]) || 1, ux = 0.6 * (q[0] - p[0]) / n, uy = 0.6 * (q[1] - p[1]) / n;
    picture.put(depth, () => {
      ctx.lineCap = "butt";
      const colour = css(mix(paint.colour, theme.panel, 0.45 * f));
      strokeLine(ctx, [p[0] - ux, p[1] - uy], [q[0] + ux, q[1] + uy], colour, width);
    });
  });
}

/** @param {Picture} picture @param {number} i @param {Paint} paint @param {any} pose @param {any} s */
function drawBox(picture, i, paint, pose, s) {
  const { ctx, camera } = picture, center = place(pose, s.center);
  const world = s.corners.map((/** @type {number[]} */ c) => place(pose, c)), px = world.map(camera.show);
  for (const face of BOX_FACES) {
    const mid = face.reduce((m, k) => add(m, world[k], 0.25), [0, 0, 0]), normal = add(mid, center, -1);
    if (picture.planar ? face !== FRONT_FACE : dot(normal, camera.toward) <= 0) continue;
    const outline = face.map(k => px[k]);
    const bright = picture.planar ? 0 : 0.42 * dot(unit(normal), lightOf(camera)) - 0.12;
    const colour = bright >= 0 ? mix(paint.colour, WHITE, bright) : mix(paint.colour, paint.edge, -2 * bright);
    picture.hit({ body: i, polygon: outline, a: camera.show(mid), through: picture.planar ? center : mid });
    picture.put(picture.planar ? 0 : camera.show(mid)[2], () => {
      tracePath(ctx, outline, true);
      ctx.lineJoin = "round";
      fill(ctx, css(colour));
      stroke(ctx, css(paint.edge), 1.5);
    });
  }
}

/**
 * @param {Picture} picture @param {number} i @param {Paint} paint @param {any} body @param {any} pose @param {any} s
 * @param {number} extent
 */
function drawPolyline(picture, i, paint, body, pose, s, extent) {
  const { ctx, camera, theme } = picture, width = body.ground ? 2 : clamp(0.009 * extent * camera.scale, 2.5, 8);
  const world = s.points.map((/** @type {number[]} */ p) => place(pose, p)), px = world.map(camera.show);
  for (let k = 1; k < px.length; k++) {
    picture.hit({ body: i, a: px[k - 1], b: px[k], a3: world[k - 1], b3: world[k], r: width / 2 });
  }
  const closed = px.length > 3 && norm(add(s.points[0], s.points[s.points.length - 1], -1)) < 1e-9 * extent;
  const draw = (/** @type {number[][]} */ list) => {
    ctx.lineCap = ctx.lineJoin = "round";
    tracePath(ctx, list, closed && list === px);
    if (body.ground) return stroke(ctx, css(theme.metal), width);
    if (closed && picture.planar) fill(ctx, css(paint.colour, 0.25));
    stroke(ctx, css(paint.edge), width);
    stroke(ctx, css(paint.colour), Math.max(1, width - 2));
  };
  if (picture.planar || body.ground) {
    picture.put(picture.planar ? -2 : Math.min(...px.map((/** @type {number[]} */ p) => p[2])), () => draw(px));
    return;
  }
  for (let k = 1; k < px.length; k++) {
    picture.put((px[k - 1][2] + px[k][2]) / 2, () => draw([px[k - 1], px[k]]));
  }
}

/** The outlines of a body's shapes, for shadows: closed polygons in world axes. @param {any} shape @param {any} pose @param {any} camera @returns {number[][][]} */
export function shapeOutlines(shape, pose, camera) {
  const { flat1, flat2, up } = camera;
  const round = (/** @type {number[]} */ c, /** @type {number} */ r) => {
    const list = [];
    for (let k = 0; k < 24; k++) {
      list.push(add(add(c, flat1, r * Math.cos(k * Math.PI / 12)), flat2, r * Math.sin(k * Math.PI / 12)));
    }
    return list;
  };
  switch (shape.kind) {
    case "rod": {
      const a = place(pose, shape.start), b = place(pose, shape.end), r = Math.max(shape.radius, 1 / camera.scale);
      const along = add(b, a, -1), flat = add(along, up, -dot(along, up)), found = [round(a, r), round(b, r)];
      if (norm(flat) > 1e-9 * camera.size) {
        const n = unit(cross(up, flat));
        found.push([add(a, n, r), add(b, n, r), add(b, n, -r), add(a, n, -r)]);
      }
      return found;
    }
    case "point":
    case "sphere":
      return [round(place(pose, shape.at || shape.center), shape.radius)];
    case "disc":
      return [circlePoints(pose, shape, 40)];
    case "box":
      return BOX_FACES.map(face => face.map(k => place(pose, shape.corners[k])));
  }
  return [];
}
