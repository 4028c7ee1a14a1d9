// Numbers that a reader can type: values with degrees, sliders with a logarithmic or a linear scale.

import { element } from "../page.js";
import { short } from "../numbers.js";
import { clamp } from "../vectors.js";

const STEPS = 1000; // positions of a slider

/** A number from what was typed; "90deg" and "90°" are angles in degrees. NaN if it is none. @param {string} text */
export function readNumber(text) {
  const found = /^\s*([-+\u2212]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*(deg|°)?\s*$/i.exec(text);
  return found ? Number(found[1].replace("\u2212", "-")) * (found[2] ? Math.PI / 180 : 1) : NaN;
}

/** A field for a number. @param {string} label for screen readers @param {(value: number) => void} changed @returns {any} */
export function numberField(label, changed) {
  const field = element("input", "number");
  field.type = "text";
  field.inputMode = "text";
  field.spellcheck = false;
  field.autocomplete = "off";
  field.setAttribute("aria-label", label);
  field.addEventListener("change", () => {
    const value = readNumber(field.value), fine = Number.isFinite(value);
    field.setAttribute("aria-invalid", String(!fine));
    if (fine) changed(value);
  });
  field.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Enter") field.blur();
  });
  return field;
}

/** Writes a value into a field, unless it is being edited. @param {any} field @param {number} value @param {number} digits */
export function writeField(field, value, digits = 5) {
  if (document.activeElement === field) return;
  const text = short(value, digits);
  if (field.value !== text) field.value = text;
  field.setAttribute("aria-invalid", "false");
}

/**
 * A slider with a scale.
 * @param {{low: number, high: number, log: boolean, name: string}} scale
 * @param {(value: number) => void} changed
 */
export function slider(scale, changed) {
  const range = element("input");
  range.type = "range";
  range.min = "0";
  range.max = String(STEPS);
  range.setAttribute("aria-label", scale.name);
  const toValue = (/** @type {number} */ k) => {
    const f = k / STEPS;
    const value = scale.log ? scale.low * (scale.high / scale.low) ** f : scale.low + f * (scale.high - scale.low);
    return Number(value.toPrecision(4));
  };
  const toPlace = (/** @type {number} */ value) => {
    const f = scale.log ? Math.log(value / scale.low) / Math.log(scale.high / scale.low)
      : (value - scale.low) / (scale.high - scale.low);
    return Math.round(STEPS * clamp(Number.isFinite(f) ? f : 0, 0, 1));
  };
  range.addEventListener("input", () => changed(toValue(Number(range.value))));
  return {
    element: range,
    /** @param {number} value @param {string} words for screen readers */
    write(value, words) {
      range.value = String(toPlace(value));
      range.setAttribute("aria-valuetext", words);
    },
  };
}
