// The complex plane: roots, their paths while a parameter changes, and a click that finds a root.

import { css } from "../colours.js";
import { linearTicks, short } from "../numbers.js";
import { FONT, fitCanvas, readTheme } from "../theme.js";

const REACH = 12; // pixels within which a click finds a root
const LEFT = 52, RIGHT = 14, TOP = 20, BOTTOM = 30;

/** @typedef {[number, number]} Root real and imaginary part */

/**
 * @param {HTMLCanvasElement} canvas @param {(root: Root) => void} chosen a root was clicked
 * @param {{circle?: boolean, across?: string, up?: string}} options `circle`: the unit circle, for multipliers
 */
export function createPlane(canvas, chosen, options = {}) {
  /** @type {Root[]} */ let roots = [];
  /** @type {Root[][]} */ let paths = [];
  /** @type {Root | null} */ let marked = null;
  let centre = [0, 0], half = [1, 1], width = 1, height = 1;

  const xOf = (/** @type {number} */ x) => (LEFT + width - RIGHT) / 2 + (x - centre[0]) / half[0] * (width - LEFT - RIGHT) / 2;
  const yOf = (/** @type {number} */ y) => (TOP + height - BOTTOM) / 2 - (y - centre[1]) / half[1] * (height - TOP - BOTTOM) / 2;

  /** Roots now, and those of all values of a parameter. @param {Root[]} now @param {Root[][]} all */
  function show(now, all = []) {
    roots = now;
    paths = all;
    let [right, left, top] = [0, 0, 0];
    for (const [re, im] of [...all.flat(), ...now]) {
      right = Math.max(right, re);
      left = Math.min(left, re);
      top = Math.max(top, Math.abs(im));
    }
    if (options.circle) [right, left, top] = [Math.max(right, 1), Math.min(left, -1), Math.max(top, 1)];
    const size = Math.max(right - left, 2 * top) || 2, wide = Math.max(right - left, 0.3 * size);
    centre = [(right + left) / 2, 0];
    half = [0.6 * wide, 1.2 * (top || 0.5 * size)];
  }

  /** @param {Root | null} root is marked */
  function mark(root) {
    marked = root;
    draw();
  }

  function draw() {
    if (!canvas.isConnected || !canvas.clientWidth) return;
    const theme = readTheme(), ctx = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    [width, height] = fitCanvas(canvas);
    if (options.circle) {   // a circle stays round
      const scale = Math.max(half[0] / (width - LEFT - RIGHT), half[1] / (height - TOP - BOTTOM));
      half = [scale * (width - LEFT - RIGHT), scale * (height - TOP - BOTTOM)];
    }
    drawAxes(ctx, theme);
    ctx.strokeStyle = css(theme.muted);
    if (options.circle) {
      ctx.beginPath();
      ctx.ellipse(xOf(0), yOf(0), xOf(1) - xOf(0), yOf(0) - yOf(1), 0, 0, 2 * Math.PI);
      ctx.stroke();
    }
    ctx.fillStyle = css(theme.lines[0], 0.35);
    for (const [re, im] of paths.flat()) ctx.fillRect(xOf(re) - 1.25, yOf(im) - 1.25, 2.5, 2.5);
    for (const root of roots) {
      const at = [xOf(root[0]), yOf(root[1])];
      const unstable = options.circle ? Math.hypot(...root) > 1 + 1e-9 : root[0] > 1e-9 * half[1];
      ctx.strokeStyle = css(unstable ? theme.lines[1] : theme.lines[0]);
      ctx.lineWidth = 2.2;
      ctx.beginPath();
      ctx.moveTo(at[0] - 4.5, at[1] - 4.5);
      ctx.lineTo(at[0] + 4.5, at[1] + 4.5);
      ctx.moveTo(at[0] - 4.5, at[1] + 4.5);
      ctx.lineTo(at[0] + 4.5, at[1] - 4.5);
      ctx.stroke();
      if (marked && Math.hypot(
        root[0] - marked[0], Math.abs(root[1]) - Math.abs(marked[1]),
      ) < 1e-6 * (1 + Math.hypot(...root))) {
        ctx.beginPath();
        ctx.arc(at[0], at[1], 9, 0, 2 * Math.PI);
        ctx.stroke();
      }
    }
    canvas.dataset.places = JSON.stringify(roots.map(([re, im]) => [xOf(re), yOf(im)])); // in pixels of the canvas
    canvas.setAttribute("aria-label", `${roots.length} roots: ${roots.slice(0, 12).map(rootText).join(", ")}`);
  }

  /** @param {CanvasRenderingContext2D} ctx @param {any} theme */
  function drawAxes(ctx, theme) {
    ctx.font = `11px ${FONT}`;
    const label = options.across || "real part", room = ctx.measureText(label).width + 8;
    ctx.lineWidth = 1;
    ctx.textBaseline = "middle";
    ctx.textAlign = "right";
    const rule = (/** @type {number[]} */ a, /** @type {number[]} */ b, /** @type {any} */ colour) => {
      ctx.strokeStyle = css(colour);
      ctx.beginPath();
      ctx.moveTo(a[0], a[1]);
      ctx.lineTo(b[0], b[1]);
      ctx.stroke();
    };
    for (const [value, text] of linearTicks(centre[1] - half[1], centre[1] + half[1], height / 44)) {
      const y = Math.round(yOf(value)) + 0.5;
      rule([LEFT, y], [width - RIGHT, y], value === 0 ? theme.metal : theme.grid2);
      ctx.fillStyle = css(theme.muted);
      ctx.fillText(text, LEFT - 7, y);
    }
    ctx.textAlign = "center";
    ctx.textBaseline = "top";
    for (const [value, text] of linearTicks(centre[0] - half[0], centre[0] + half[0], width / 80)) {
      const x = Math.round(xOf(value)) + 0.5;
      rule([x, TOP], [x, height - BOTTOM], Math.abs(value) < 1e-12 * half[0] ? theme.metal : theme.grid2);
      ctx.fillStyle = css(theme.muted);
      if (x + ctx.measureText(text).width / 2 < width - RIGHT - room) ctx.fillText(text, x, height - BOTTOM + 6);
    }
    ctx.textAlign = "left";
    ctx.fillText(options.up || "imaginary part", 10, 4);
    ctx.textAlign = "right";
    ctx.fillText(label, width - RIGHT, height - BOTTOM + 6);
  }

  /** The root near a pixel. @param {MouseEvent} event @returns {Root | null} */
  function find(event) {
    let best = null, least = REACH;
    for (const root of roots) {
      const far = Math.hypot(xOf(root[0]) - event.offsetX, yOf(root[1]) - event.offsetY);
      if (far < least) [best, least] = [root, far];
    }
    return best;
  }

  canvas.addEventListener("click", event => {
    const root = find(event);
    if (root) chosen(root);
  });
  canvas.addEventListener("pointermove", event => {
    const root = find(event);
    canvas.style.cursor = root ? "pointer" : "default";
    canvas.title = root ? `${rootText(root)}: click to play` : "";
  });
  new ResizeObserver(draw).observe(canvas);

  return { show, mark, draw };
}

/** A root in a few characters. @param {Root} root */
export function rootText([re, im]) {
  const tiny = 1e-12 * (Math.abs(re) + Math.abs(im));
  if (Math.abs(im) <= tiny) return short(re, 4);
  const size = `${short(Math.abs(im), 4)}i`;
  if (Math.abs(re) <= tiny) return im < 0 ? `\u2212${size}` : size;
  return `${short(re, 4)} ${im < 0 ? "\u2212" : "+"} ${size}`;
}
