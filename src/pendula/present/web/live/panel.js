// The panel beside the mechanism: sliders for parameters and inputs, the state, numbers of the equations.

import { byId, element } from "../page.js";
import { short } from "../numbers.js";
import { numberField, slider, writeField } from "./entries.js";

const MOST_NUMBERS = 8; // size of the largest mass matrix that is shown

/** Keys that push an input while they are held: down, up. */
export const INPUT_KEYS = [["a", "d"], ["s", "w"], ["j", "l"], ["k", "i"]];

/** A unit with exponents as a reader expects them. @param {string} unit */
function exponents(unit) {
  return unit.replace(/\^([0-9])/g, (_, digit) => "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"[digit]);
}

/** A name that may be broken after an underscore. @param {string} name @returns {any[]} */
function breakable(name) {
  return name.split(/(?<=_)/).flatMap((part, k) => (k ? [element("wbr"), part] : [part]));
}

/** @param {any} toy @param {() => void} changed */
export function createPanel(toy, changed) {
  const { record, mechanism } = toy, { names, sizes } = record.about;
  /** @type {(() => void)[]} */ const writers = [];
  const inputs = record.sliders.filter((/** @type {any} */ s) => s.input);

  /** One row: name with unit, slider, value, reset. @param {any} given */
  function sliderRow(given) {
    const row = element("div", "row"), name = element("span", "name", given.name);
    if (given.unit) name.append(element("small", "", ` ${exponents(given.unit)}`));
    const keys = given.input ? INPUT_KEYS[inputs.indexOf(given)] : null;
    if (keys) {
      name.append(" ", element("kbd", "", keys[0].toUpperCase()), element("kbd", "", keys[1].toUpperCase()));
      name.title = `hold ${keys[0].toUpperCase()} or ${keys[1].toUpperCase()} to push`;
    }
    const set = (/** @type {number} */ value) => {
      toy.set(given.name, value);
      changed();
    };
    const label = given.unit ? `${given.name} in ${given.unit}` : given.name;
    const bar = slider({ ...given, name: label }, set), field = numberField(`${label}, value`, set);
    const reset = element("button", "undo", "\u21ba");
    reset.type = "button";
    reset.title = `back to ${short(given.value, 5)}`;
    reset.setAttribute("aria-label", `reset ${given.name} to ${short(given.value, 5)}`);
    reset.addEventListener("click", () => set(given.value));
    row.append(name, bar.element, field, reset);
    const write = () => {
      const value = mechanism.get(given.name);
      bar.write(value, `${short(value, 5)} ${given.unit}`);
      writeField(field, value);
      reset.classList.toggle("off", value === given.value);
      reset.disabled = value === given.value;
    };
    writers.push(write);
    write();
    return row;
  }

  byId("inputs").append(...inputs.map(sliderRow));
  byId("inputs-fold").hidden = !inputs.length;
  const parameters = record.sliders.filter((/** @type {any} */ s) => !s.input);
  byId("parameters").append(...parameters.map(sliderRow));
  byId("parameters-fold").hidden = !parameters.length;
  byId("reset-parameters").addEventListener("click", () => {
    const back = Object.fromEntries(record.sliders.map((/** @type {any} */ s) => [s.name, s.value]));
    toy.restore(mechanism.time, Float64Array.from(mechanism.values), back);
    changed();
  });
  toy.on("changed", () => writers.forEach(write => write()));

  // the state: every coordinate with its speed
  const all = [...names.coordinates, ...names.speeds];
  const fields = all.map((name, k) => {
    const unit = record.units.of[name] || "", row = element("div", "row state"), label = element("span", "name");
    label.append(...breakable(name));
    if (unit) label.append(element("small", "", ` ${exponents(unit)}`));
    const field = numberField(`${name}${unit ? ` in ${unit}` : ""}`, value => {
      toy.pause();
      toy.put({ [name]: value });
      changed();
    });
    row.append(label, field);
    byId(k < sizes.coordinates ? "state" : "speeds").append(row);
    return field;
  });

  return {
    inputs,
    /** Writes the state; not for every frame. */
    write() {
      if (byId("state-fold").open) fields.forEach((field, k) => writeField(field, mechanism.values[k], 4));
    },
  };
}

/** The numbers of M v' = f beside the equations. @param {any} toy */
export function createNumbers(toy) {
  const { sizes, names } = toy.record.about, n = sizes.speeds, table = byId("numbers");
  const fold = byId("equations-fold");
  if (n > MOST_NUMBERS) {
    byId("numbers-note").textContent = `The mass matrix has ${n} rows; its numbers are not shown here.`;
    table.hidden = true;
    return { write() {} };
  }
  const head = element("tr"), folding = (/** @type {string} */ name) => name.replaceAll("_", "_\u200b");   // may wrap
  head.append(element("th"), ...[...names.speeds, "f", "v\u2032"].map(name => element("th", "", folding(name))));
  table.append(head);
  const cells = names.speeds.map((/** @type {string} */ name) => {
    const row = element("tr"), found = Array.from({ length: n + 2 }, () => element("td"));
    row.append(element("th", "", folding(name)), ...found);
    table.append(row);
    return found;
  });
  return {
    write() {
      if (!fold.open) return;
      const { M, f } = toy.mechanism.terms(), { accelerations } = toy.mechanism.forces();
      const largest = Math.max(...M.flat().map(Math.abs));
      cells.forEach((/** @type {any[]} */ row, /** @type {number} */ i) => {
        M[i].forEach((/** @type {number} */ value, /** @type {number} */ j) => {
          row[j].textContent = short(Math.abs(value) < 1e-13 * largest ? 0 : value, 4);   // not rounding errors
        });
        row[n].textContent = short(f[i], 4);
        row[n + 1].textContent = short(accelerations[i], 4);
      });
    },
  };
}
