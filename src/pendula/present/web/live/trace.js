// Paths of points that were clicked.

import { place } from "../vectors.js";

const TRAIL = 2400; // points of a path
const TRAIL_RATE = 150; // points for each second of the screen, at most
const NEAR = 14; // pixels within which a click meets a traced point
const MOST = 4; // paths at once
const MOST_MARKS = 40;

/**
 * @param {any} toy @param {any} stage @param {any} scenery
 * @param {{body: string, at: number[]} | null} first the point traced at the beginning
 */
export function createTraces(toy, stage, scenery, first) {
  /** @type {{body: number, at: number[], points: Float64Array, count: number}[]} */ let traces = [];
  const add = (/** @type {number} */ body, /** @type {number[]} */ at) => {
    traces.push({ body, at, points: new Float64Array(3 * (TRAIL + 1)), count: 0 });
    if (traces.length > MOST) traces.shift();
  };
  const start = first ? scenery.scene.bodies.findIndex((/** @type {any} */ b) => b.name === first.body) : -1;
  if (first && start >= 0) add(start, first.at);

  let then = 0;
  toy.on("jumped", () => {
    for (const trace of traces) trace.count = 0;
    then = 0;
  });
  toy.on("moved", () => {
    const t = toy.mechanism.time;
    if (!traces.length || t < then + toy.speed / TRAIL_RATE) return;
    then = t;
    for (const trace of traces) keep(trace, toy.mechanism.point(scenery.scene.bodies[trace.body].pose, trace.at));
  });

  /** @param {any} trace @param {number[]} point */
  function keep(trace, point) {
    if (trace.count === TRAIL) {
      trace.points.copyWithin(0, 3 * (TRAIL >> 2), 3 * TRAIL);
      trace.count = TRAIL - (TRAIL >> 2);
    }
    trace.points.set(point, 3 * trace.count++);
  }

  return {
    /** Traces a point, or no longer, if it was traced. @param {any} found @param {any[]} poses */
    toggle(found, poses) {
      const at = stage.toScreen(found.world);
      const near = traces.findIndex(trace => {
        const p = stage.toScreen(place(poses[trace.body], trace.at));
        return trace.body === found.body && Math.hypot(p[0] - at[0], p[1] - at[1]) < NEAR;
      });
      if (near >= 0) traces.splice(near, 1);
      else add(found.body, found.at);
    },
    clear() { traces = []; },
    get count() { return traces.length; },
    /** What the stage draws; every path ends where its point is now. @param {any[]} poses */
    trails: poses => traces.map(trace => {
      trace.points.set(place(poses[trace.body], trace.at), 3 * trace.count);
      return { points: trace.points, count: trace.count + 1, colour: stage.colourOf(trace.body), recent: 160, head: true };
    }),
    /**
     * Places of the traced points at states that were kept.
     * @param {ArrayLike<number>[]} states @param {(k: number) => number[] | null} colour of a state; null: that of the body
     */
    marks(states, colour = () => null) {
      const first = Math.max(0, states.length - MOST_MARKS);
      return traces.flatMap(trace => states.slice(first).map((values, k) => ({
        at: toy.mechanism.point(scenery.scene.bodies[trace.body].pose, trace.at, values), colour: colour(first + k) || stage.colourOf(trace.body),
      })));
    },
  };
}
