// Colours of the page, read from its style sheet, and canvases in device pixels.

import { hex } from "./colours.js";

/** @typedef {Object<string, any>} Theme colours by name, `dark`, and `lines`: colours of lines in charts */

export const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
const NAMES = ["page", "panel", "ink", "muted", "line", "accent", "grid", "grid2", "metal", "hinge", "shadow"];
const LINES = ["c0", "c1", "c2", "c3", "c4", "c5"];

/** The colours of the style sheet (variables of :root). @returns {Theme} */
export function readTheme() {
  const style = getComputedStyle(document.documentElement);
  const get = (/** @type {string} */ name) => hex(style.getPropertyValue("--" + name).trim());
  /** @type {Theme} */
  const theme = {};
  for (const name of NAMES) theme[name] = get(name);
  theme.lines = LINES.map(get);
  theme.dark = theme.panel[0] < 128;
  return theme;
}

/** Calls `changed` when the page goes from light to dark or back. @param {() => void} changed */
export function watchTheme(changed) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
}

/**
 * Clears a canvas, gives it as many pixels as the screen has, and returns its width and height in CSS pixels.
 * @param {HTMLCanvasElement} canvas
 * @returns {[number, number]}
 */
export function fitCanvas(canvas) {
  const ratio = devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
  const wide = Math.round(w * ratio), tall = Math.round(h * ratio);
  if (canvas.width !== wide || canvas.height !== tall) {
    canvas.width = wide;
    canvas.height = tall;
  }
  const ctx = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  ctx.setTransform(wide / (w || 1), 0, 0, tall / (h || 1), 0, 0);
  ctx.clearRect(0, 0, w, h);
  return [w, h];
}
