// Hands on the mechanism: drag a body, set its pose, click a point to trace it; empty space moves the view.

import { byId, showTip } from "../page.js";
import { usePointer } from "../pointer.js";
import { place } from "../vectors.js";

const STILL_PIXELS = 5; // a pointer that has moved less may still be a click
const HOLD = 160; // milliseconds after which a pointer holds the body even without moving
const QUICK = 16; // how fast a hand pulls, per second on the screen
const SAG = 0.02; // how far the whole weight draws a hand down, in sizes of the picture

/**
 * @param {HTMLCanvasElement} canvas @param {any} stage @param {any} toy
 * @param {{scenery: any, weight: () => number, poses: () => any[], changed: () => void, click: (found: any) => void}} page
 */
export function useHands(canvas, stage, toy, page) {
  const { scenery, changed } = page, bodies = scenery.scene.bodies, tip = byId("tip");
  /** @type {any} */ let held = null; // what is under the pointer that is down
  let timer = 0;

  const isFree = (/** @type {any} */ found) => Boolean(found) && bodies[found.body].pose >= 0;

  /** Takes hold: the mechanism is pulled if it plays, and put if it is paused. */
  function hold() {
    clearTimeout(timer);
    if (!held || held.active) return;
    held.active = true;
    canvas.classList.add("holding");
    follow();
  }

  /** Moves what is held to the pointer. */
  function follow() {
    held.to = stage.toWorld(held.x, held.y, held.depth);
    held.to = held.to.map((/** @type {number} */ value, /** @type {number} */ k) => value + held.offset[k]);
    if (toy.playing) {
      toy.mechanism.pull({ body: held.pose, at: held.at, to: held.to }, QUICK / toy.speed, page.weight() / (SAG * scenery.size));
    } else {
      toy.mechanism.pull(null);
      toy.bring(held.pose, held.at, held.to);
    }
    changed();
  }

  /** @param {any} found @param {number} x @param {number} y */
  function press(found, x, y) {
    if (!isFree(found)) return false;
    const depth = place(page.poses()[found.body], found.at), under = stage.toWorld(x, y, depth);
    const offset = depth.map((value, k) => value - under[k]);
    held = { body: found.body, pose: bodies[found.body].pose, at: found.at, depth, offset, x, y, x0: x, y0: y, active: false, to: depth };
    timer = window.setTimeout(hold, HOLD);
    return true;
  }

  /** @param {number} x @param {number} y */
  function drag(x, y) {
    if (!held) return;
    held.x = x;
    held.y = y;
    if (!held.active && Math.hypot(x - held.x0, y - held.y0) > STILL_PIXELS) hold();
    else if (held.active) follow();
  }

  function release() {
    clearTimeout(timer);
    if (!held) return;
    held = null;
    toy.mechanism.pull(null);
    canvas.classList.remove("holding");
    changed();
  }

  /** The name of the body under the pointer, beside it. @param {any} found @param {number} x @param {number} y */
  function hover(found, x, y) {
    showTip(tip, isFree(found) ? bodies[found.body].name : "", x, y, stage.extent());
    canvas.classList.toggle("over", isFree(found));
  }

  toy.on("mode", () => {   // a hand that holds a body keeps it when the page plays or pauses
    if (held && held.active) follow();
  });
  let wasActive = false;
  usePointer(canvas, stage, {
    changed, hover, press, drag, planar: scenery.scene.planar,
    release: () => {
      wasActive = Boolean(held && held.active);
      release();
    },
    click: found => {
      if (!wasActive && isFree(found)) page.click(found);
      wasActive = false;
    },
  });

  return {
    /** Whether a body is held. */
    get busy() { return Boolean(held && held.active); },
    /** The line of the hand for the stage. @returns {{from: number[], to: number[]} | null} */
    get line() {
      return held && held.active ? { from: place(page.poses()[held.body], held.at), to: held.to } : null;
    },
  };
}
