// Mouse, pen and fingers on the stage: move or turn the view, zoom, point at bodies, click, or take hold of them.

import { clamp } from "./vectors.js";

const CLICK = 5;           // pixels that a pointer may move during a click
const FINGER = 16;         // reach of a finger, in pixels
const MOUSE = 6;

/**
 * @typedef {Object} PointerActs
 * @property {() => void} changed the view has changed: draw again
 * @property {(found: any, x: number, y: number) => void} [hover] a body (or null) is under the pointer
 * @property {(found: any, x: number, y: number, event: PointerEvent) => void} [click]
 * @property {(found: any, x: number, y: number, event: PointerEvent) => boolean} [press] true: this pointer is taken,
 *   and `drag` and `release` follow instead of moving the view
 * @property {(x: number, y: number, event: PointerEvent) => void} [drag]
 * @property {(x: number, y: number, event: PointerEvent) => void} [release]
 * @property {boolean} [planar]
 * @property {boolean} [wheelNeedsKey] zoom by the wheel only with Ctrl, so that a page around it can be scrolled
 */

/**
 * Connects a canvas and its stage to pointers.
 * @param {HTMLCanvasElement} canvas @param {any} stage @param {PointerActs} acts
 */
export function usePointer(canvas, stage, acts) {
  /** @type {Map<number, any>} */
  const held = new Map();
  /** @type {number | null} */
  let taken = null;

  /** @param {MouseEvent} event @returns {[number, number]} */
  function place2(event) {
    const area = canvas.getBoundingClientRect();
    return [event.clientX - area.left, event.clientY - area.top];
  }
  const find = (/** @type {PointerEvent} */ event) => stage.pick(...place2(event), event.pointerType === "mouse" ? MOUSE : FINGER);

  canvas.addEventListener("pointerdown", event => {
    canvas.setPointerCapture(event.pointerId);
    const [x, y] = place2(event);
    held.set(event.pointerId, { x, y, x0: x, y0: y, still: true });
    if (held.size === 1 && acts.press && acts.press(find(event), x, y, event)) taken = event.pointerId;
    if (acts.hover) acts.hover(null, x, y);
  });

  canvas.addEventListener("pointermove", event => {
    const [x, y] = place2(event), old = held.get(event.pointerId);
    if (!old) {
      if (acts.hover) acts.hover(find(event), x, y);
      return;
    }
    if (Math.hypot(x - old.x0, y - old.y0) > CLICK) old.still = false;
    if (taken === event.pointerId) {
      if (acts.drag) acts.drag(x, y, event);
    } else if (held.size === 2) {   // two fingers: zoom by the change of their distance
      const other = [...held].filter(([id]) => id !== event.pointerId)[0][1];
      const was = Math.hypot(old.x - other.x, old.y - other.y), is = Math.hypot(x - other.x, y - other.y);
      old.still = other.still = false;
      if (was > 5 && is > 5) stage.zoom(is / was, (x + other.x) / 2, (y + other.y) / 2);
      acts.changed();
    } else if (!old.still) {
      if (acts.planar || event.shiftKey) stage.pan(x - old.x, y - old.y);
      else stage.spin(x - old.x, y - old.y);
      acts.changed();
    }
    old.x = x;
    old.y = y;
  });

  const lift = (/** @type {PointerEvent} */ event) => {
    const [x, y] = place2(event), old = held.get(event.pointerId);
    held.delete(event.pointerId);
    if (taken === event.pointerId) {
      taken = null;
      if (acts.release) acts.release(x, y, event);
    }
    if (old && old.still && event.type === "pointerup" && acts.click) acts.click(find(event), x, y, event);
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("pointerleave", () => acts.hover && acts.hover(null, 0, 0));
  canvas.addEventListener("wheel", event => {
    if (acts.wheelNeedsKey && !event.ctrlKey) return;
    event.preventDefault();
    const [x, y] = place2(event);
    stage.zoom(Math.exp(-clamp(event.deltaY, -120, 120) * 0.002), x, y);
    acts.changed();
  }, { passive: false });
}
