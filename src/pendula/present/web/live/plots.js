// The charts beside the mechanism: signals over time, and one quantity over another with the points of a section.

import { createChart } from "../chart.js";
import { labelled } from "../numbers.js";
import { byId } from "../page.js";
import { createStrip } from "../strip.js";
import { wrapped } from "./history.js";

const WINDOW = 12; // seconds of the screen that a strip shows
const FEW_LINES = 6; // more lines than this share MOST_POINTS
const MOST_POINTS = 9000;
const PORTRAIT = 2400; // samples in a portrait

/**
 * Groups of signals by what they are: energies, coordinates and speeds of one unit each, forces in joints.
 * @param {any} record @param {any} history @param {any} reactions
 * @returns {{name: string, up: string, columns: {name: string, column: number}[], log?: boolean | "auto", joints?: boolean}[]}
 */
function signalGroups(record, history, reactions) {
  const { names, sizes } = record.about, units = record.units, at = history.at;
  const byUnit = (/** @type {string[]} */ list, /** @type {number} */ first, /** @type {string} */ word) => {
    /** @type {Map<string, any>} */ const found = new Map();
    list.forEach((name, k) => {
      const unit = units.of[name] || "";
      if (!found.has(unit)) found.set(unit, { name: word, up: labelled(word, unit), log: false, columns: [] });
      found.get(unit).columns.push({ name, column: first + k });
    });
    if (found.size > 1) for (const [unit, group] of found) group.name = labelled(word, unit);
    return [...found.values()];
  };
  const groups = [
    ...byUnit(names.coordinates, 1, "coordinates"),
    ...byUnit(names.speeds, 1 + sizes.coordinates, "speeds"),
    {
      name: "energy: T, V, E", up: labelled("energy", units.energy), log: false, columns: ["T kinetic", "V potential", "E total"]
        .map((name, k) => ({ name, column: at.ENERGY + k })),
    },
    { name: "work and energy error", up: labelled("energy", units.energy), log: false, columns: [
      { name: "work from outside", column: at.ENERGY + 3 }, { name: "error of the account", column: at.ENERGY + 4 }] },
  ];
  if (reactions) {
    const joints = reactions.joints;
    groups.push({ name: "forces in joints", up: labelled("force", units.force), log: false, joints: true, columns:
      joints.map((/** @type {string} */ name, /** @type {number} */ j) => ({ name, column: at.JOINTS + 2 * j })) });
    groups.push({ name: "torques in joints", up: labelled("torque", units.torque), log: false, joints: true, columns:
      joints.map((/** @type {string} */ name, /** @type {number} */ j) => ({ name, column: at.JOINTS + 2 * j + 1 })) });
  }
  groups.push({ name: "distance of two copies", up: labelled("distance", units.length), log: true, columns: [
    { name: "distance", column: at.DISTANCE }] });
  return groups;
}

/**
 * The chart over time.
 * @param {any} toy @param {any} history @param {any} reactions @param {() => void} refresh
 * @param {() => {x: number, name: string, kind: number}[]} marks instants to mark
 */
export function createSignals(toy, history, reactions, refresh, marks = () => []) {
  const { record } = toy, choices = signalGroups(record, history, reactions);
  const none = /** @type {ArrayLike<number>} */ ([]), groups = choices.map(choice => ({
    ...choice, lines: choice.columns.map(({ name }) => ({ name, x: none, y: none })),
  }));
  const select = byId("signal"), across = labelled("time", record.units.time);
  const strip = createStrip({ canvas: byId("chart"), select, legend: byId("legend") }, groups, { across, changed: update, marks });

  /** Gives the lines the last samples. */
  function update() {
    const choice = choices[Number(select.value)], group = groups[Number(select.value)];
    history.watch.joints = Boolean(choice.joints);
    const now = toy.mechanism.time, span = WINDOW * toy.speed, from = Math.max(0, now - span), first = history.indexAt(from);
    const many = choice.columns.length, every = many > FEW_LINES ? Math.ceil(many * (history.size - first) / MOST_POINTS) : 1;
    const thin = (/** @type {Float64Array} */ values) => (every > 1 ? values.filter((_, k) => k % every === 0) : values);
    const x = thin(history.tail(0, first));
    choice.columns.forEach(({ column }, k) => {
      group.lines[k].x = x;
      group.lines[k].y = thin(history.tail(column, first));
    });
    strip.refresh({ from, to: Math.max(now, from + span), calm: true });
    refresh();
  }

  return {
    update, retheme: strip.retheme,
    draw: () => strip.draw(toy.mechanism.time),
    choose(/** @type {string} */ name) {
      const k = choices.findIndex(choice => choice.name === name);
      if (k >= 0) strip.choose(k);
      update();
    },
  };
}

/**
 * The portrait: any coordinate or speed over any other, with the points of a section.
 * @param {any} toy @param {any} history @param {any} section @param {() => void} refresh
 */
export function createPortrait(toy, history, section, refresh) {
  const { record, count } = toy, { sizes } = record.about, units = record.units.of, names = section.names;
  const chart = createChart(byId("portrait")), across = byId("portrait-x"), up = byId("portrait-y"), by = byId("section");
  const line = { name: "path", x: new Float64Array(PORTRAIT), y: new Float64Array(PORTRAIT), count: 0 };
  const dots = { name: "section", x: /** @type {number[]} */ ([]), y: /** @type {number[]} */ ([]), dots: true };
  for (const select of [across, up]) {
    names.forEach((/** @type {string} */ name, /** @type {number} */ k) => select.append(new Option(name, String(k))));
  }
  across.value = "0";
  up.value = String(Math.min(sizes.coordinates, count - 1));
  by.append(new Option("none", ""));
  names.forEach((/** @type {string} */ name, /** @type {number} */ k) => by.append(new Option(`${name} passes`, String(k))));
  by.append(new Option("every period of", "period"));
  for (const select of [across, up]) select.addEventListener("change", () => refresh());

  const value = byId("section-value");
  const setRule = () => {
    const { rule } = section, number = Number(value.value);
    rule.by = by.value === "" ? null : by.value === "period" ? "period" : Number(by.value);
    rule.level = Number.isFinite(number) ? number : 0;
    rule.period = number > 0 ? number : 1;
    value.hidden = by.value === "";
    section.clear();
    refresh();
  };
  by.addEventListener("change", () => {
    value.value = by.value === "period" ? "1" : "0";
    setRule();
  });
  value.addEventListener("change", setRule);

  const fold = (/** @type {number} */ k) => (section.angular[k] ? wrapped : (/** @type {number} */ x) => x);

  /** Gives the chart the last samples; a line is broken where an angle jumps by a turn. */
  function update() {
    const i = Number(across.value), j = Number(up.value), foldX = fold(i), foldY = fold(j);
    const first = Math.max(0, history.size - PORTRAIT / 2), xs = history.tail(1 + i, first), ys = history.tail(1 + j, first);
    let n = 0;
    for (let k = 0; k < xs.length; k++) {
      const x = foldX(xs[k]), y = foldY(ys[k]);
      if (n && (Math.abs(x - line.x[n - 1]) > 4 && section.angular[i] || Math.abs(y - line.y[n - 1]) > 4 && section.angular[j])) {
        line.x[n] = line.y[n] = NaN;
        n++;
      }
      line.x[n] = x;
      line.y[n] = y;
      n++;
    }
    line.count = n;
    dots.x = section.points.map((/** @type {number[]} */ p) => foldX(p[i]));
    dots.y = section.points.map((/** @type {number[]} */ p) => foldY(p[j]));
    const lines = section.rule.by === null ? [line] : [{ ...line, faint: true }, dots];
    chart.show({ lines, across: labelled(names[i], units[names[i]]), up: labelled(names[j], units[names[j]]), log: false, calm: true });
    byId("portrait").setAttribute("aria-label", chart.words());
  }

  return {
    update, retheme: chart.retheme,
    /** @param {number} i across @param {number} j upwards */
    choose(i, j) {
      across.value = String(i);
      up.value = String(j);
    },
    draw() {
      chart.draw();
      const last = history.size - 1;
      if (last >= 0) chart.mark(fold(Number(across.value))(toy.mechanism.values[Number(across.value)]),
        fold(Number(up.value))(toy.mechanism.values[Number(up.value)]));
    },
  };
}
