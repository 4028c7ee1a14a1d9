// Paths of points that were clicked.

import { place } from "../vectors.js";

const TRAIL = 1500; // points of a path
const NEAR = 14; // pixels within which a click meets a traced point
const MOST = 4;

/**
 * @param {any} toy @param {any} stage @param {any} scenery
 * @param {{body: string, at: number[]} | null} first the point traced at the beginning
 */
export function createTraces(toy, stage, scenery, first) {
  /** @type {{body: number, at: number[], points: Float64Array, count: number}[]} */ let traces = [];
  const add = (/** @type {number} */ body, /** @type {number[]} */ at) => {
    traces.push({ body, at, points: new Float64Array(3 * TRAIL), count: 0 });
    if (traces.length > MOST) traces.shift();
  };
  const start = first ? scenery.scene.bodies.findIndex((/** @type {any} */ b) => b.name === first.body) : -1;
  if (first && start >= 0) add(start, first.at);

  toy.on("jumped", () => {
    for (const trace of traces) trace.count = 0;
  });

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
    /** Keeps where the points are now. @param {any[]} poses */
    sample(poses) {
      for (const trace of traces) {
        if (trace.count === TRAIL) {
          trace.points.copyWithin(0, 3 * TRAIL >> 2);
          trace.count = TRAIL - (TRAIL >> 2);
        }
        trace.points.set(place(poses[trace.body], trace.at), 3 * trace.count++);
      }
    },
    trails: () => traces.map(trace => ({
      points: trace.points, count: trace.count, colour: stage.colourOf(trace.body), recent: 90, head: true,
    })),
  };
}
