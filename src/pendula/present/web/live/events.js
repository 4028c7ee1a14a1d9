// Events of the model's author: found while the mechanism moves, marked in charts and on paths; some stop the page.

import { short, spaced } from "../numbers.js";
import { byId, element } from "../page.js";

const MOST_KEPT = 500; // occurrences that are kept
const MOST_PASSES_OF_ROOT = 40;
const NEAR_ENOUGH = 1e-9; // of a step: the instant is found

/** @typedef {{x: number, name: string, kind: number, values: Float64Array}} Occurrence */

/**
 * The record of a page names the events (`name`, `way`: 1 rising, -1 falling, 0 any, `strict`, `stop`: how many end the run).
 * @param {any} toy
 */
export function createEvents(toy) {
  const { mechanism, record, count } = toy, rules = record.events || [], n = rules.length;
  const values = new Float64Array(n), sides = new Int8Array(n), counts = new Int32Array(n);
  const before = Float64Array.from(mechanism.values);
  let then = mechanism.time;
  /** @type {Occurrence[]} */ let found = [];

  const remember = () => {
    before.set(mechanism.values);
    then = mechanism.time;
  };
  /** Which side of an event a value is on; a strict inequality does not hold at zero. @param {number} k @param {number} value */
  const sideOf = (k, value) => (value > 0 ? 1 : value < 0 ? -1 : rules[k].strict ? -(rules[k].way || 1) : 0);

  function clear() {
    found = [];
    counts.fill(0);
    see();
  }
  /** Takes notice of the sides without events: after a jump or a change from outside. */
  function see() {
    mechanism.watch(values).forEach((/** @type {number} */ value, /** @type {number} */ k) => { sides[k] = sideOf(k, value); });
    remember();
  }

  /** Whether an event occurred since the last step. @param {number} k @param {number} now the side now */
  function occurs(k, now) {
    const was = sides[k];
    if (now !== 0) sides[k] = now;
    else if (was !== 0) sides[k] = -was; // it reached zero: that is the event, and leaving zero is none
    return was !== 0 && now !== was && (rules[k].way === 0 || rules[k].way === -was);
  }

  /** The instant of an event in the last step, and the state there: by steps from its beginning. @param {number} k */
  function locate(k) {
    const after = Float64Array.from(mechanism.values), end = mechanism.time;
    const at = (/** @type {number} */ t) => {
      mechanism.rewind(then, before);
      if (t > then && mechanism.advance(t, toy.tolerance).stuck) return NaN;
      return mechanism.watch(values)[k];
    };
    let low = then, high = end, a = at(low), b = at(high);
    for (let pass = 0; pass < MOST_PASSES_OF_ROOT && high - low > NEAR_ENOUGH * (end - then) && b !== 0; pass++) { // Illinois
      const t = pass % 8 === 7 ? (low + high) / 2 : low + (high - low) * a / (a - b), value = at(t);
      if (!Number.isFinite(value) || !(t > low && t < high)) break;
      if (Math.sign(value) === Math.sign(a)) { low = t; a = value; b /= 2; }
      else { high = t; b = value; a /= 2; }
    }
    at(high);
    const occurrence = { x: mechanism.time, name: rules[k].name, kind: k, values: Float64Array.from(mechanism.values) };
    mechanism.rewind(end, after);
    return occurrence;
  }

  /** Looks for events in the last step; the first that ends the run leaves the mechanism there. */
  function look() {
    const crossed = [];
    mechanism.watch(values);
    for (let k = 0; k < n; k++) if (occurs(k, sideOf(k, values[k]))) crossed.push(k);
    if (crossed.length) {
      const instants = crossed.map(locate).sort((a, b) => a.x - b.x);
      const last = instants.findIndex(one => rules[one.kind].stop && counts[one.kind] + 1 >= rules[one.kind].stop);
      for (const one of last < 0 ? instants : instants.slice(0, last + 1)) {
        counts[one.kind]++;
        found.push(one);
      }
      if (found.length > MOST_KEPT) found.splice(0, MOST_KEPT >> 2);
      if (last >= 0) stopAt(instants[last]);
    }
    remember();
  }

  /** @param {Occurrence} one */
  function stopAt(one) {
    mechanism.rewind(one.x, one.values);
    counts[one.kind] = 0;
    toy.halt(`stopped: ${one.name}, at ${short(one.x, 6)}${spaced(record.units.time)}. Play continues from here.`);
  }

  const rows = rules.map((/** @type {any} */ rule) => {
    const row = element("div", "row event"), value = element("output", "told");
    row.append(element("span", "name", rule.name), value);
    value.setAttribute("aria-live", "off");
    return { row, value };
  });
  byId("events-fold").hidden = !n;
  byId("events").append(...rows.map((/** @type {any} */ one) => one.row));
  if (n) {
    toy.on("jumped", clear);
    toy.on("changed", see);
    toy.on("moved", look);
    see();
  }

  return {
    /** Occurrences since the start, by time. */
    get found() { return found; },
    /** States at them. */
    get states() { return found.map(one => one.values.subarray(0, count)); },
    /** Times by name. @returns {Record<string, number[]>} */
    times: () => Object.fromEntries(rules.map((/** @type {any} */ rule, /** @type {number} */ k) =>
      [rule.name, found.filter(one => one.kind === k).map(one => one.x)])),
    /** Writes counts and last instants. */
    write() {
      rows.forEach((/** @type {any} */ { value }, /** @type {number} */ k) => {
        const own = found.filter(one => one.kind === k), last = own.at(-1);
        const text = last ? `${own.length}\u00d7, last at ${short(last.x, 5)}${spaced(record.units.time)}` : "not yet";
        if (value.textContent !== text) value.textContent = text;
      });
    },
  };
}
