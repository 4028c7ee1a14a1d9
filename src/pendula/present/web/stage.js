// The stage: draws a mechanism from the poses of its bodies, and finds what lies under a pointer.

import { createCamera } from "./camera.js";
import { BLACK, css, mix, ramp, WHITE } from "./colours.js";
import { drawPin, drawSupport, findHinges, setHinges } from "./fixtures.js";
import { drawFloor, drawGrid, drawScale, drawShadows, drawTriad } from "./floor.js";
import { circlePath, fill, stroke, strokeArrow, strokeLine } from "./pen.js";
import { completeShapes, drawShape } from "./shapes.js";
import { drawLink, drawSpiral } from "./springs.js";
import { fitCanvas, readTheme } from "./theme.js";
import { drawTrail } from "./trails.js";
import { between, clamp, inBody, place } from "./vectors.js";

/**
 * A picture of a mechanism on a canvas.
 *
 * A scene has `planar`, `up`, the box `low`, `high`, `radius`, `halfHeight`, `length` (the name of the unit), `bodies`
 * (`name`, `ground`, `shapes`), `hinges`, `links` (kinds) and `spirals` (as in drawSpiral).
 * @param {HTMLCanvasElement} canvas
 * @param {any} scene
 */
export function createStage(canvas, scene) {
  const ctx = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const camera = createCamera(scene), moving = scene.bodies.filter((/** @type {any} */ b) => !b.ground).length;
  completeShapes(scene, camera.size);
  const hinges = findHinges(scene);
  /** @type {any} */ let theme = null;
  /** @type {any[]} */ let paints = [];
  /** @type {any[]} */ let hits = [];
  /** @type {any[]} */ let shown = [];   // poses of the last picture
  /** @type {number[]} */ const wound = [];   // how far spirals were wound in it
  const stage = {
    camera, view: camera.view, draw, pick, retheme, resize, measure,
    toScreen: camera.show, toWorld: camera.toWorld,
    home: camera.home, zoom: camera.zoom, spin: camera.spin, pan: camera.pan,
    /** The colour of a body. @param {number} i */
    colourOf: i => paints[i].colour,
    /** Width and height in CSS pixels. */
    extent: () => [camera.width, camera.height],
    /** Where the canvas is in the window. */
    area: () => canvas.getBoundingClientRect(),
  };

  /** Reads the colours of the page; to be called again when they have changed. */
  function retheme() {
    theme = readTheme();
    let index = 0;
    paints = scene.bodies.map((/** @type {any} */ body) => {
      const along = body.ground ? 0 : moving < 2 ? 0.08 : 0.9 * index++ / (moving - 1);
      const own = theme.dark ? mix(ramp(along), WHITE, 0.2 * (1 - along)) : ramp(along);
      return paintOf(body.ground ? theme.metal : own);
    });
  }

  /** @param {number[]} colour */
  function paintOf(colour) {
    const edge = mix(colour, theme.dark ? BLACK : theme.ink, theme.dark ? 0.5 : 0.42);
    return { colour, edge, light: mix(colour, WHITE, 0.38) };
  }

  /** Takes over the size of the canvas; `draw` does that too. */
  function resize() {
    const [w, h] = fitCanvas(canvas);
    camera.aim(w, h);
  }

  /** Reads the box of the scene again. */
  function measure() {
    camera.measure();
  }

  /**
   * Draws one picture.
   * @param {any[]} poses of all bodies, the ground included: `{p, R}`
   * @param {number[][][]} links start and end of every link in world axes
   * @param {{trails?: any[], ghosts?: any[], pull?: {from: number[], to: number[]} | null,
   *   arrows?: {from: number[], to: number[], colour?: number[]}[], marks?: {at: number[], colour: number[]}[]}} extras
   *   `trails` as in drawTrail; `ghosts`: `{poses, links, alpha, grey, colour}`, drawn behind; `pull`: a line from a body to
   *   the pointer; `arrows` and `marks` on top
   */
  function draw(poses, links = [], extras = {}) {
    if (!theme) retheme();
    resize();
    hits = [];
    shown = poses;
    const picture = newPicture(hit => hits.push(hit));
    if (scene.planar) drawGrid(picture);
    else drawFloor(picture, scene.radius);
    for (const ghost of extras.ghosts || []) drawGhost(ghost);
    for (const trail of extras.trails || []) drawTrail(picture, trail);
    drawBodies(picture, poses, links, paints);
    (scene.spirals || []).forEach((/** @type {any} */ one, /** @type {number} */ k) => { wound[k] = drawSpiral(picture, one, poses, wound[k] ?? NaN); });
    if (!scene.planar) drawShadows(picture, scene, poses);
    finish(picture);
    drawExtras(extras);
    drawScale(picture, scene.length);
    if (!scene.planar) drawTriad(picture);
  }

  /** @param {(hit: any) => void} hit @returns {any} */
  function newPicture(hit) {
    /** @type {any[]} */ const pieces = [];
    const put = (/** @type {number} */ depth, /** @type {() => void} */ paint) =>
      pieces.push({ depth, paint, n: pieces.length });
    return { ctx, camera, theme, planar: scene.planar, moving, put, hit, pieces };
  }

  /** Draws the pieces of a picture from back to front. @param {any} picture */
  function finish(picture) {
    picture.pieces.sort((/** @type {any} */ a, /** @type {any} */ b) => a.depth - b.depth || a.n - b.n);
    for (const piece of picture.pieces) piece.paint();
  }

  /** @param {any} picture @param {any[]} poses @param {number[][][]} links @param {any[]} colours */
  function drawBodies(picture, poses, links, colours) {
    setHinges(hinges, poses);
    links.forEach((ends, i) => drawLink(picture, scene.links[i], ends));
    scene.bodies.forEach((/** @type {any} */ body, /** @type {number} */ i) => {
      for (const shape of body.shapes) {
        if (shape.kind !== "pivot") drawShape(picture, i, colours[i], body, poses[i], shape);
        else if (body.ground) drawSupport(picture, place(poses[i], shape.at), shape.side);
        else if (!shape.atHinge || shape.atHinge.r === Infinity) drawPin(picture, place(poses[i], shape.at), 0.018 * camera.size);
      }
    });
    if (scene.planar) for (const hinge of hinges) if (Number.isFinite(hinge.r)) drawPin(picture, hinge.at, hinge.r);
  }

  /** @param {any} ghost */
  function drawGhost(ghost) {
    const picture = newPicture(() => {});
    const one = ghost.grey ? paintOf(mix(theme.metal, theme.panel, 0.35)) : ghost.colour && paintOf(ghost.colour);
    ctx.save();
    ctx.globalAlpha = ghost.alpha ?? 0.4;
    drawBodies(picture, ghost.poses, ghost.links || [], one ? scene.bodies.map(() => one) : paints);
    for (const spiral of scene.spirals || []) drawSpiral(picture, spiral, ghost.poses, NaN);
    finish(picture);
    ctx.restore();
  }

  /** @param {any} extras */
  function drawExtras(extras) {
    for (const { from, to, colour } of extras.arrows || []) {
      strokeArrow(ctx, camera.show(from), camera.show(to), css(colour || theme.accent), 2.25);
    }
    for (const { at, colour } of extras.marks || []) {
      circlePath(ctx, camera.show(at), 4);
      fill(ctx, css(theme.panel));
      stroke(ctx, css(colour || theme.accent), 2);
    }
    if (extras.pull) {
      const a = camera.show(extras.pull.from), b = camera.show(extras.pull.to);
      ctx.setLineDash([5, 4]);
      strokeLine(ctx, a, b, css(theme.accent), 2);
      ctx.setLineDash([]);
      for (const p of [a, b]) {
        circlePath(ctx, p, 4.5);
        fill(ctx, css(theme.accent));
      }
    }
  }

  /**
   * What lies under a pixel, in the last picture: moving bodies first, of several the nearest.
   * @param {number} x @param {number} y in CSS pixels from the corner of the canvas
   * @param {number} reach how far from a shape it is still found, in pixels
   * @returns {{body: number, at: number[], world: number[], distance: number} | null} `at` in body axes
   */
  function pick(x, y, reach = 6) {
    let best = null, least = Infinity;
    for (const hit of hits) {
      const found = hit.polygon ? inPolygon(hit, x, y) : nearSegment(hit, x, y);
      const rank = found.distance + (scene.bodies[hit.body].ground ? 1e6 : 0);
      if (found.distance <= reach && rank <= least) {
        least = rank;
        best = { body: hit.body, world: found.world, distance: found.distance };
      }
    }
    return best && { ...best, at: inBody(shown[best.body], best.world) };
  }

  /** @param {any} hit @param {number} x @param {number} y */
  function nearSegment(hit, x, y) {
    const dx = hit.b[0] - hit.a[0], dy = hit.b[1] - hit.a[1], n = dx * dx + dy * dy;
    const f = n ? clamp(((x - hit.a[0]) * dx + (y - hit.a[1]) * dy) / n, 0, 1) : 0;
    const distance = Math.max(0, Math.hypot(x - hit.a[0] - f * dx, y - hit.a[1] - f * dy) - hit.r);
    return { distance, world: between(hit.a3, hit.b3, f) };
  }

  /** @param {any} hit @param {number} x @param {number} y */
  function inPolygon(hit, x, y) {
    let inside = false, near = Infinity;
    hit.polygon.forEach((/** @type {number[]} */ p, /** @type {number} */ k) => {
      const q = hit.polygon[(k + 1) % hit.polygon.length];
      if (p[1] > y !== q[1] > y && x < p[0] + (y - p[1]) / (q[1] - p[1]) * (q[0] - p[0])) inside = !inside;
      near = Math.min(near, nearSegment({ a: p, b: q, a3: p, b3: q, r: 0 }, x, y).distance);
    });
    return { distance: inside ? 0 : near, world: camera.toWorld(x, y, hit.through) };
  }

  return stage;
}
