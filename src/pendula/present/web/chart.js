// Charts: lines over time, portraits (one quantity over another) and points, with ticks, units and a cursor.

import { css } from "./colours.js";
import { decadeTicks, linearTicks, short } from "./numbers.js";
import { FONT, fitCanvas, readTheme } from "./theme.js";
import { clamp } from "./vectors.js";

/**
 * @typedef {Object} ChartLine
 * @property {string} name
 * @property {ArrayLike<number>} x increasing, if the chart has a cursor
 * @property {ArrayLike<number>} y
 * @property {number} [count] how many of the values are used; default: all
 * @property {number[]} [colour] default: by its place
 * @property {boolean} [dots] points instead of a line
 * @property {boolean} [faint] drawn weakly, behind others
 */

/**
 * @typedef {Object} ChartContent
 * @property {ChartLine[]} lines
 * @property {string} [across] label of the horizontal axis with its unit, e.g. "time [s]"
 * @property {string} [up] label of the vertical axis with its unit
 * @property {number} [from] start of the horizontal axis; default: the least x
 * @property {number} [to] its end
 * @property {boolean} [calm] a linear range that is kept while the values of a moving picture fit into it
 * @property {{x: number, name: string, kind: number}[]} [marks] instants on the horizontal axis, by time: rules with names
 * @property {boolean | "auto"} [log] logarithmic vertical axis; "auto": where values are positive over several decades
 */

const LOG_SPAN = 30;        // ratio of values above which a positive signal is drawn logarithmically
const LOG_DECADES = 18;     // decades below the largest value that are shown at most

/**
 * A chart on a canvas. `show` takes the content, `draw` draws it with a cursor.
 * @param {HTMLCanvasElement} canvas
 */
export function createChart(canvas) {
  /** @type {any} */ let theme = null;
  /** @type {Required<ChartContent>} */
  let content = { lines: [], across: "", up: "", from: 0, to: 1, log: false, calm: false, marks: [] };
  let low = 0, high = 1, left = 56, width = 1, height = 1;
  const right = 16, top = 22, bottom = 32;

  /** Sets what is drawn and finds the ranges. @param {ChartContent} given */
  function show(given) {
    const kept = given.calm && content.calm && content.up === given.up && !content.log && sameNames(content.lines, given.lines);
    content = { across: "", up: "", from: NaN, to: NaN, log: "auto", calm: false, marks: [], ...given };
    let least = Infinity, most = -Infinity, tiny = Infinity, first = Infinity, last = -Infinity;
    for (const line of content.lines) {
      const n = line.count ?? line.y.length;
      for (let k = 0; k < n; k++) {
        const y = line.y[k], x = line.x[k];
        if (y < least) least = y;
        if (y > most) most = y;
        if (y > 0 && y < tiny) tiny = y;
        if (x < first) first = x;
        if (x > last) last = x;
      }
    }
    if (!Number.isFinite(content.from)) content.from = Number.isFinite(first) ? first : 0;
    if (!Number.isFinite(content.to)) content.to = Number.isFinite(last) ? last : 1;
    if (!(least <= most)) [least, most] = [0, 1];
    if (content.log === "auto") content.log = least >= 0 && tiny < Infinity && most / tiny > LOG_SPAN;
    if (content.log) {
      high = Math.ceil(Math.log10(most) - 1e-9);
      low = Math.max(Math.floor(Math.log10(tiny) + 1e-9), high - LOG_DECADES);
      if (high === low) high++;
    } else {
      if (kept && least >= low && most <= high && most - least > 0.4 * (high - low)) return;
      const pad = (content.calm ? 0.15 : 0.08) * (most - least) || 0.1 * Math.abs(most) || 1;
      low = least - pad;
      high = most + pad;
    }
  }

  /** Reads the colours of the page again. */
  function retheme() {
    theme = readTheme();
  }

  /** The colour of a line. @param {number} k */
  function colourOf(k) {
    if (!theme) retheme();
    return content.lines[k]?.colour || theme.lines[k % theme.lines.length];
  }

  const xOf = (/** @type {number} */ x) => {
    const span = content.to - content.from;
    return left + (width - left - right) * (span ? (x - content.from) / span : 0.5);
  };
  // `height` of a value on the axis: the value itself, or its logarithm. Zero lies on the bottom of a logarithmic axis.
  const onAxis = (/** @type {number} */ y) => (content.log ? (y > 0 ? Math.max(Math.log10(y), low) : y === y ? low : NaN) : y);
  const yOf = (/** @type {number} */ level) => height - bottom - (height - top - bottom) * (level - low) / (high - low);

  /** Draws the chart. @param {number | null} cursor a value of x, marked on every line */
  function draw(cursor = null) {
    if (!theme) retheme();
    [width, height] = fitCanvas(canvas);
    const ctx = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    drawAxes(ctx);
    ctx.save();
    ctx.beginPath();
    ctx.rect(left - 1, top - 4, width - left - right + 2, height - top - bottom + 8);
    ctx.clip();
    content.lines.forEach((line, k) => drawLine(ctx, line, css(colourOf(k))));
    drawMarks(ctx);
    ctx.restore();
    if (cursor !== null) drawCursor(ctx, cursor);
  }

  /** @param {CanvasRenderingContext2D} ctx */
  function drawAxes(ctx) {
    const rows = Math.max(2, (height - top - bottom) / 32), columns = Math.max(2, (width - left - right) / 90);
    const ticks = content.log ? decadeTicks(low, high, rows) : linearTicks(low, high, rows);
    ctx.font = `11px ${FONT}`;
    left = Math.ceil(Math.max(30, ...ticks.map(tick => ctx.measureText(tick[1]).width)) + 18);
    ctx.lineWidth = 1;
    ctx.textBaseline = "middle";
    ctx.textAlign = "right";
    for (const [level, text] of ticks) {
      const y = Math.round(yOf(level)) + 0.5;
      strokeRule(ctx, left, y, width - right, y, css(theme.grid2));
      ctx.fillStyle = css(theme.muted);
      ctx.fillText(text, left - 7, y);
    }
    ctx.textAlign = "center";
    ctx.textBaseline = "top";
    const edge = height - bottom, label = content.across, room = ctx.measureText(label).width + 8;
    strokeRule(ctx, left, edge + 0.5, width - right, edge + 0.5, css(theme.line));
    for (const [value, text] of linearTicks(content.from, content.to, columns)) {
      const x = Math.round(xOf(value)) + 0.5;
      strokeRule(ctx, x, edge, x, edge + 4, css(theme.muted));
      ctx.fillStyle = css(theme.muted);
      if (x + ctx.measureText(text).width / 2 < width - right - room) ctx.fillText(text, x, edge + 7);
    }
    ctx.textAlign = "right";
    ctx.fillText(label, width - right, edge + 7);
    ctx.textAlign = "left";
    ctx.fillText(content.up, 10, 5, width - 20);
  }

  /** @param {CanvasRenderingContext2D} ctx @param {ChartLine} line @param {string} colour */
  function drawLine(ctx, line, colour) {
    const n = line.count ?? line.y.length;
    ctx.strokeStyle = ctx.fillStyle = colour;
    ctx.lineWidth = line.faint ? 1 : 1.6;
    ctx.globalAlpha = line.faint ? 0.35 : 1;
    ctx.lineJoin = "round";
    ctx.beginPath();
    let on = false;   // a value that is not a number ends a line
    for (let k = 0; k < n; k++) {
      const x = xOf(line.x[k]), y = yOf(onAxis(line.y[k]));
      if (line.dots) ctx.fillRect(x - 1.25, y - 1.25, 2.5, 2.5);
      else if (on) ctx.lineTo(x, y);
      else ctx.moveTo(x, y);
      on = y === y;
    }
    if (!line.dots) ctx.stroke();
    ctx.globalAlpha = 1;
  }

  /** Instants as dashed rules; their names are written where there is room. @param {CanvasRenderingContext2D} ctx */
  function drawMarks(ctx) {
    let free = -Infinity;
    ctx.font = `10.5px ${FONT}`;
    ctx.textAlign = "left";
    ctx.textBaseline = "top";
    for (const { x, name, kind } of content.marks) {
      const at = Math.round(xOf(x)) + 0.5, colour = css(markColour(theme, kind));
      if (!(at >= left && at <= width - right)) continue;
      ctx.setLineDash([3, 3]);
      strokeRule(ctx, at, top - 2, at, height - bottom, colour);
      ctx.setLineDash([]);
      ctx.fillStyle = colour;
      ctx.fillRect(at - 2, height - bottom - 3, 4, 6);
      const wide = ctx.measureText(name).width;
      if (at > free && at + 4 + wide < width - right) {
        ctx.fillText(name, at + 4, top - 3);
        free = at + 12 + wide;
      }
    }
  }

  /** Marks a point, after `draw`. @param {number} x @param {number} y */
  function mark(x, y) {
    const ctx = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    ctx.fillStyle = css(theme.ink);
    ctx.beginPath();
    ctx.arc(xOf(x), yOf(onAxis(y)), 3.5, 0, 2 * Math.PI);
    ctx.fill();
  }

  /** @param {CanvasRenderingContext2D} ctx @param {number} cursor */
  function drawCursor(ctx, cursor) {
    const x = xOf(cursor);
    strokeRule(ctx, Math.round(x) + 0.5, top - 2, Math.round(x) + 0.5, height - bottom, css(theme.muted));
    content.lines.forEach((line, k) => {
      const [i, j, f] = bracket(line, cursor);
      if (i < 0) return;
      const level = (1 - f) * onAxis(line.y[i]) + f * onAxis(line.y[j]);
      ctx.fillStyle = css(colourOf(k));
      ctx.beginPath();
      ctx.arc(x, yOf(level), 3.5, 0, 2 * Math.PI);
      ctx.fill();
    });
  }

  /** The value of a line at x: interpolated, on a logarithmic axis the nearest. @param {number} k @param {number} x */
  function valueAt(k, x) {
    const line = content.lines[k], [i, j, f] = bracket(line, x);
    if (i < 0) return NaN;
    return content.log ? line.y[f < 0.5 ? i : j] : (1 - f) * line.y[i] + f * line.y[j];
  }

  /** The value of x under a pixel of the canvas. @param {number} px */
  function at(px) {
    return content.from + (content.to - content.from) * clamp((px - left) / (width - left - right), 0, 1);
  }

  /** Lines with their least and largest values, for screen readers. */
  function words() {
    const told = content.lines.slice(0, 6).map(line => {
      const list = Array.from(line.y).slice(0, line.count ?? line.y.length);
      return list.length ? `${line.name} from ${short(Math.min(...list))} to ${short(Math.max(...list))}` : line.name;
    });
    return `${content.up || "values"} over ${content.across || "x"}: ${told.join(", ")}`;
  }

  return {
    show, draw, mark, at, valueAt, colourOf, retheme, words,
    get content() { return content; },
    get log() { return content.log; },
  };
}

/** The colour of a kind of mark. @param {any} theme @param {number} kind @returns {number[]} */
export function markColour(theme, kind) {
  return theme.lines[(3 + kind) % theme.lines.length];
}

/** Whether two lists of lines have the same names. @param {ChartLine[]} a @param {ChartLine[]} b */
function sameNames(a, b) {
  return a.length === b.length && a.every((line, k) => line.name === b[k].name);
}

/** The neighbours of x in a line and the fraction between them; -1 for an empty one. @param {ChartLine} line @param {number} x */
function bracket(line, x) {
  let i = 0, j = (line.count ?? line.y.length) - 1;
  if (j < 0) return [-1, -1, 0];
  while (j - i > 1) {
    const c = (i + j) >> 1;
    if (line.x[c] <= x) i = c;
    else j = c;
  }
  const gap = line.x[j] - line.x[i];
  return [i, j, gap > 0 ? clamp((x - line.x[i]) / gap, 0, 1) : 0];
}

/** @param {CanvasRenderingContext2D} ctx @param {number} x0 @param {number} y0 @param {number} x1 @param {number} y1 @param {string} colour */
function strokeRule(ctx, x0, y0, x1, y1, colour) {
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1;
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
}
