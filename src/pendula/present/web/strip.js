// The strip below a stage: a choice of signals, a legend whose entries switch lines on and off, and their chart.

import { createChart } from "./chart.js";
import { css, ramp } from "./colours.js";
import { short } from "./numbers.js";
import { element } from "./page.js";

/** @typedef {{name: string, up: string, lines: any[], log?: boolean | "auto"}} SignalGroup `up`: label with unit */

const FEW = 6;   // lines that get distinct colours; more are coloured along a ramp

/**
 * @param {{canvas: HTMLCanvasElement, select: HTMLSelectElement, legend: HTMLElement}} parts
 * @param {SignalGroup[]} groups
 * @param {{across: string, changed: () => void, marks?: () => {x: number, name: string, kind: number}[]}} options
 */
export function createStrip(parts, groups, options) {
  const chart = createChart(parts.canvas);
  let chosen = 0;
  /** @type {any[]} */ let entries = [];
  /** @type {any[]} */ let lines = [];   // those shown of the chosen group
  /** @type {Set<string>} */ const hidden = new Set();

  groups.forEach((group, k) => parts.select.append(new Option(group.name, String(k))));
  parts.select.hidden = groups.length < 2;
  parts.select.addEventListener("change", () => {
    choose(Number(parts.select.value));
    options.changed();
  });

  /** Colours of the lines of a group. @param {number} k @param {number} n */
  function colourFor(k, n) {
    return n <= FEW ? undefined : ramp(0.95 * k / (n - 1));
  }

  /** Shows a group. @param {number} k */
  function choose(k) {
    chosen = k;
    parts.select.value = String(k);
    const group = groups[k];
    parts.legend.replaceChildren();
    chart.show({ lines: group.lines, across: options.across, up: group.up, log: group.log ?? "auto" });
    entries = group.lines.map((line, i) => {
      line.colour = colourFor(i, group.lines.length) || chart.colourOf(i);
      const entry = element("button", "entry"), swatch = element("i"), value = element("b");
      entry.type = "button";
      swatch.style.background = css(line.colour);
      entry.append(swatch, document.createTextNode(line.name + " "), value);
      entry.addEventListener("click", () => toggle(line.name));
      parts.legend.append(entry);
      return { entry, value, line };
    });
    refresh();
  }

  /** Switches a line on or off; the last one stays. @param {string} name */
  function toggle(name) {
    if (hidden.has(name)) hidden.delete(name);
    else if (lines.length > 1) hidden.add(name);
    refresh();
    options.changed();
  }

  /** Gives the chart the lines that are on. @param {{from?: number, to?: number, calm?: boolean}} range of a moving picture */
  function refresh(range = {}) {
    const group = groups[chosen], all = group.lines.every(line => hidden.has(line.name));
    lines = group.lines.filter(line => all || !hidden.has(line.name));
    for (const { entry, line } of entries) entry.setAttribute("aria-pressed", String(lines.includes(line)));
    chart.show({ lines, across: options.across, up: group.up, log: group.log ?? "auto", marks: options.marks?.() || [], ...range });
    parts.canvas.setAttribute("aria-label", chart.words());
  }

  /** Draws the chart with its cursor, and the values there. @param {number} x */
  function draw(x) {
    if (!groups.length) return;
    chart.draw(x);
    for (const { value, line } of entries) {
      const k = lines.indexOf(line);
      value.textContent = k < 0 ? "" : short(chart.valueAt(k, x));
    }
  }

  /** Takes over changed colours of the page. */
  function retheme() {
    chart.retheme();
    for (const group of groups) for (const line of group.lines) line.colour = undefined;
    if (groups.length) choose(chosen);
  }

  if (groups.length) choose(0);
  return { draw, choose, refresh, retheme, chart, at: chart.at };
}
