// Colours as [red, green, blue] from 0 to 255, mixed in OKLab so that equal steps look equal.

import { clamp } from "./vectors.js";

/** @typedef {number[]} Colour red, green, blue from 0 to 255 */

/** @type {Colour} */
export const WHITE = [255, 255, 255];
/** @type {Colour} */
export const BLACK = [0, 0, 0];

/** A colour from text such as "#2f4fc4". @param {string} text @returns {Colour} */
export function hex(text) {
  return [1, 3, 5].map(i => parseInt(text.slice(i, i + 2), 16));
}

/** The colour as CSS. @param {Colour} c @param {number} alpha @returns {string} */
export function css(c, alpha = 1) {
  return alpha < 1 ? `rgba(${c[0]},${c[1]},${c[2]},${alpha})` : `rgb(${c[0]},${c[1]},${c[2]})`;
}

/** @param {number} c one channel, 0 to 255 @returns {number} linear light, 0 to 1 */
function toLinear(c) {
  const x = c / 255;
  return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
}

/** @param {number} c linear light @returns {number} one channel, 0 to 255 */
function fromLinear(c) {
  return Math.round(255 * clamp(c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055, 0, 1));
}

/** @param {Colour} colour @returns {number[]} L, a, b */
function toLab(colour) {
  const [r, g, b] = colour.map(toLinear);
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

/** @param {number[]} lab @returns {Colour} */
function fromLab([L, a, b]) {
  const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    fromLinear(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    fromLinear(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    fromLinear(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

/** A mixture: a for f = 0, b for f = 1. @param {Colour} a @param {Colour} b @param {number} f @returns {Colour} */
export function mix(a, b, f) {
  const p = toLab(a), q = toLab(b);
  return fromLab(p.map((x, i) => x + f * (q[i] - x)));
}

const RAMP = ["#2f4fc4", "#7446c2", "#b83f96", "#e2585f", "#f08a3c", "#f3b93a"].map(hex);

/** A ramp that gets steadily lighter, for bodies along a chain: f from 0 to 1. @param {number} f @returns {Colour} */
export function ramp(f) {
  const x = clamp(f, 0, 1) * (RAMP.length - 1), i = Math.min(RAMP.length - 2, Math.floor(x));
  return mix(RAMP[i], RAMP[i + 1], x - i);
}
