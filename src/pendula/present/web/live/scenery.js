// The drawing of a mechanism whose parameters change: shapes that follow the numbers which the program computes.

import { completeShapes } from "../shapes.js";
import { add, dot, norm, place, unit } from "../vectors.js";

const STILL = { p: [0, 0, 0], R: [1, 0, 0, 0, 1, 0, 0, 0, 1] };
const SPIRAL = ["at", "axis", "outer_arm", "inner_arm"];
const VECTORS = ["at", "start", "end", "center", "normal", "size", "axis"];
const RAIL = 20; // half the length of a rail in a planar picture, in sizes of the picture
const RAIL_IN_SPACE = 1;
const MOST_GROWTH = 12; // the picture grows to this many times its first size

/**
 * The scene of a live page. Its numbers are filled in by `follow`, and again whenever they have changed.
 * @param {any} record the scene as Python wrote it, with indices in place of numbers
 * @param {string} lengthUnit
 */
export function createScenery(record, lengthUnit) {
  const numbers = new Float64Array(record.geometry), shown = new Float64Array(record.geometry).fill(NaN);
  /** @type {{into: any, key: string | number, index: number}[]} */ const slots = [];
  /** @type {{shape: any, at: number[], axis: number[]}[]} */ const rails = [];

  /** @param {number[]} indices @returns {number[]} */
  function vector(indices) {
    const made = [0, 0, 0];
    indices.forEach((index, key) => slots.push({ into: made, key, index }));
    return made;
  }

  /** @param {any} given @returns {any} */
  function shapeOf(given) {
    const shape = { ...given };
    for (const name of VECTORS) if (given[name]) shape[name] = vector(given[name]);
    if (given.points) shape.points = given.points.map(vector);
    if (given.radius !== undefined) slots.push({ into: shape, key: "radius", index: given.radius });
    if (given.kind === "rail") {
      rails.push({ shape, at: shape.at, axis: shape.axis });
      shape.kind = "polyline";
      shape.points = [[0, 0, 0], [0, 0, 0]];
    }
    return shape;
  }

  const bodies = record.bodies.map((/** @type {any} */ body) => ({
    name: body.name, pose: body.pose, ground: body.pose < 0, base: body.base && vector(body.base), shapes: body.shapes.map(shapeOf),
  }));
  const ends = record.links.map((/** @type {any} */ link) =>
    [link.start, link.end].map(end => ({ body: end.body, at: vector(end.at) })));
  const scene = {
    planar: record.planar, up: record.up, low: [...record.low], high: [...record.high], radius: record.radius,
    halfHeight: record.halfHeight, length: lengthUnit, bodies,
    hinges: record.hinges.map((/** @type {any} */ parts) => parts.map((/** @type {any} */ [body, at]) => [body, vector(at)])),
    links: record.links.map((/** @type {any} */ link) => link.kind),
    spirals: (record.spirals || []).map((/** @type {any} */ one) => ({
      ...one, ...Object.fromEntries(SPIRAL.map(name => [name, vector(one[name])])),
    })),
  };
  const size = Math.max(...scene.high.map((h, k) => h - scene.low[k])) || 1;
  let grown = 1;

  /** Takes over the numbers of the drawing; true if they have changed. @param {any} mechanism */
  function follow(mechanism) {
    mechanism.geometry(numbers);
    if (numbers.every((value, k) => value === shown[k])) return false;
    shown.set(numbers);
    for (const { into, key, index } of slots) into[key] = numbers[index];
    for (const { shape, at, axis } of rails) {
      const far = (scene.planar ? RAIL * grown : RAIL_IN_SPACE) * size, along = unit(axis);
      shape.points = [add(at, along, -far), add(at, along, far)];
    }
    completeShapes(scene, size);
    return true;
  }

  /** Poses of all drawn bodies. @param {any} mechanism @returns {any[]} */
  function poses(mechanism) {
    const found = mechanism.poses();
    return bodies.map((/** @type {any} */ body) =>
      (body.pose >= 0 ? found[body.pose] : body.base ? { p: [...body.base], R: STILL.R } : STILL));
  }

  /** Ends of springs, dampers and strings. @param {any[]} at poses */
  function links(at) {
    return ends.map((/** @type {any[]} */ pair) => pair.map(end => place(at[end.body], end.at)));
  }

  /** Points that show how far the moving bodies reach. @param {any[]} at poses @returns {number[][]} */
  function reach(at) {
    const found = [];
    for (let i = 0; i < bodies.length; i++) {
      if (bodies[i].ground && !bodies[i].base) continue;
      for (const s of bodies[i].shapes) {
        for (const p of [s.at, s.start, s.end, s.center, ...(s.points || [])]) if (p) found.push(place(at[i], p));
      }
    }
    return found;
  }

  /** Widens the picture where bodies leave it; true if it has changed. @param {any[]} at poses */
  function widen(at) {
    const room = MOST_GROWTH * size, before = grown, middle = middleOf(scene);
    for (const p of reach(at)) {
      if (!p.every(Number.isFinite)) continue;
      const d = add(p, middle, -1);
      if (scene.planar) {
        for (let k = 0; k < 2; k++) {
          if (p[k] < scene.low[k] && scene.high[k] - p[k] < room) scene.low[k] = p[k];
          if (p[k] > scene.high[k] && p[k] - scene.low[k] < room) scene.high[k] = p[k];
        }
        grown = Math.max(grown, (scene.high[0] - scene.low[0]) / size, (scene.high[1] - scene.low[1]) / size);
      } else {
        const h = dot(scene.up, d), flat = norm(add(d, scene.up, -h));
        if (flat > scene.radius && flat < room) scene.radius = flat;
        if (Math.abs(h) > scene.halfHeight && Math.abs(h) < room) scene.halfHeight = Math.abs(h);
        grown = Math.max(1, scene.radius / record.radius, scene.halfHeight / (record.halfHeight || size));
      }
    }
    if (grown > before) shown.fill(NaN); // rails grow with the picture
    return grown > before;
  }

  /** The first picture, widened for these poses; around the bodies, if they are far from it. @param {any[]} at poses */
  function fit(at) {
    const points = reach(at), lost = points.length > 0 && points.every(isFar);
    const move = lost ? add(points[0], middleOf(record), -1) : [0, 0, 0];
    if (scene.planar) move[2] = 0;
    Object.assign(scene, { low: add(record.low, move), high: add(record.high, move), radius: record.radius, halfHeight: record.halfHeight });
    grown = 1;
    shown.fill(NaN);
    widen(at);
  }

  /** @param {{low: number[], high: number[]}} box */
  function middleOf(box) {
    return box.low.map((l, k) => (l + box.high[k]) / 2);
  }

  /** Whether a point is out of reach of a picture that grows. @param {number[]} p */
  function isFar(p) {
    return norm(add(p, middleOf(record), -1)) > MOST_GROWTH * size;
  }

  const trace = record.trace && { body: record.trace.body, at: vector(record.trace.at) };
  return { scene, size, trace, follow, poses, links, widen, fit };
}
