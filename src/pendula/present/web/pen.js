// Lines, dots and texts on a canvas.

import { css } from "./colours.js";
import { FONT } from "./theme.js";

/** A path through points in pixels. @param {CanvasRenderingContext2D} ctx @param {number[][]} points @param {boolean} closed */
export function tracePath(ctx, points, closed = false) {
  ctx.beginPath();
  points.forEach((p, i) => (i ? ctx.lineTo(p[0], p[1]) : ctx.moveTo(p[0], p[1])));
  if (closed) ctx.closePath();
}

/** @param {CanvasRenderingContext2D} ctx @param {string | CanvasGradient} colour @param {number} width */
export function stroke(ctx, colour, width) {
  ctx.strokeStyle = colour;
  ctx.lineWidth = width;
  ctx.stroke();
}

/** @param {CanvasRenderingContext2D} ctx @param {string | CanvasGradient} colour */
export function fill(ctx, colour) {
  ctx.fillStyle = colour;
  ctx.fill();
}

/**
 * @param {CanvasRenderingContext2D} ctx @param {number[]} a @param {number[]} b
 * @param {string | CanvasGradient} colour @param {number} width
 */
export function strokeLine(ctx, a, b, colour, width) {
  tracePath(ctx, [a, b]);
  stroke(ctx, colour, width);
}

/** The path of a circle. @param {CanvasRenderingContext2D} ctx @param {number[]} p @param {number} r */
export function circlePath(ctx, p, r) {
  ctx.beginPath();
  ctx.arc(p[0], p[1], r, 0, 2 * Math.PI);
}

/**
 * A text with a halo in the colour of the panel, so that it is legible over lines.
 * @param {CanvasRenderingContext2D} ctx @param {any} theme @param {string} text @param {number} x @param {number} y
 * @param {{align?: CanvasTextAlign, colour?: number[], font?: string}} options
 */
export function writeLabel(ctx, theme, text, x, y, { align = "left", colour = theme.muted, font = "12px" } = {}) {
  ctx.font = `${font} ${FONT}`;
  ctx.textAlign = align;
  ctx.textBaseline = "alphabetic";
  ctx.lineJoin = "round";
  ctx.lineWidth = 3;
  ctx.strokeStyle = css(theme.panel, 0.85);
  ctx.strokeText(text, x, y);
  ctx.fillStyle = css(colour);
  ctx.fillText(text, x, y);
}

/** An arrow between two points in pixels. @param {CanvasRenderingContext2D} ctx @param {number[]} a @param {number[]} b @param {string} colour @param {number} width */
export function strokeArrow(ctx, a, b, colour, width) {
  const dx = b[0] - a[0], dy = b[1] - a[1], n = Math.hypot(dx, dy);
  if (n < 1) return;
  const head = Math.min(9, 0.6 * n), ex = dx / n, ey = dy / n;
  ctx.lineCap = "round";
  strokeLine(ctx, a, [b[0] - 0.7 * head * ex, b[1] - 0.7 * head * ey], colour, width);
  const back = [b[0] - head * ex, b[1] - head * ey], half = 0.45 * head;
  tracePath(ctx, [b, [back[0] - half * ey, back[1] + half * ex], [back[0] + half * ey, back[1] - half * ex]], true);
  fill(ctx, colour);
}
