// Fields of the form: numbers and expressions, vectors, points of bodies, choices, tables; each at its place in the model.

import { element } from "../page.js";
import { namesOf, pointsOf, renameKey } from "./edits.js";

/** @typedef {(string | number)[]} Path where a value is in the model */

/**
 * @typedef {Object} FieldContext
 * @property {() => any} data
 * @property {(path: Path, value: any, redraw?: boolean) => void} set a value; undefined removes it
 * @property {(change: (data: any) => void) => void} change anything, and draw the form again
 */

/** What was typed as a scalar: a number if it is one, nothing if it is empty. @param {string} text */
export function readScalar(text) {
  const bare = text.trim();
  if (!bare) return undefined;
  return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(bare) ? Number(bare) : bare;
}

/** A scalar, or a list of them, as it is typed. @param {any} value @returns {string} */
export function writeScalar(value) {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return `[${value.map(writeScalar).join(", ")}]`;
  return String(value);
}

/** The value at a place. @param {any} data @param {Path} path */
export function valueAt(data, path) {
  return path.reduce((/** @type {any} */ at, key) => (at === undefined || at === null ? undefined : at[key]), data);
}

/**
 * Sets or removes the value at a place; tables on the way are made, and removed when they are empty.
 * @param {any} data
 * @param {Path} path
 * @param {any} value
 */
export function setAt(data, path, value) {
  const [key, ...rest] = path;
  if (!rest.length) {
    if (value === undefined) delete data[key];
    else data[key] = value;
    return;
  }
  if (typeof data[key] !== "object" || data[key] === null) data[key] = typeof rest[0] === "number" ? [] : {};
  setAt(data[key], rest, value);
}

/** The mark of a place, by which its field is found again. @param {Path} path */
export const markOf = path => path.join("/");

/**
 * A box with a label and room for a problem.
 * @param {string} label
 * @param {string} words
 * @param {Path} path
 * @returns {any}
 */
export function fieldBox(label, words, path) {
  const box = element("div", "field"), caption = element("span", "caption", label), problem = element("p", "problem");
  box.dataset.path = markOf(path);
  if (words) box.title = words;
  problem.hidden = true;
  box.append(caption);
  return { box, problem };
}

/**
 * One line of text.
 * @param {Path} path
 * @param {string} label
 * @param {any} value
 * @param {string} hint shown while it is empty
 * @returns {any}
 */
export function entry(path, label, value, hint = "") {
  const input = element("input", "entry-line");
  input.type = "text";
  input.spellcheck = false;
  input.autocomplete = "off";
  input.value = writeScalar(value);
  input.placeholder = hint;
  input.dataset.focus = markOf(path);
  input.setAttribute("aria-label", label);
  return input;
}

/** A choice. @param {Path} path @param {string} label @param {string[]} options @param {string} value @returns {any} */
export function choiceOf(path, label, options, value) {
  const select = element("select");
  select.dataset.focus = markOf(path);
  select.setAttribute("aria-label", label);
  for (const option of options.includes(value) || !value ? options : [value, ...options]) select.append(new Option(option, option));
  select.value = value;
  return select;
}

/** @type {Record<string, (context: FieldContext, about: any, path: Path, value: any) => HTMLElement[]>} */
const WIDGETS = {
  scalar, text, choice, vector, side, rotation, names, table, matrix, record: scalar, other, constant: other,
};

/**
 * A field of the form.
 * @param {FieldContext} context @param {any} about see schema.js @param {Path} path @param {any} value
 * @returns {HTMLElement}
 */
export function makeField(context, about, path, value) {
  const { box, problem } = fieldBox(about.name, about.words, path);
  const widget = pickList(context, about) ? picked : WIDGETS[about.kind] || other;
  box.append(...widget(context, about, path, value), problem);
  return box;
}

/**
 * Names that a field chooses from, if it refers to a part of the model.
 * @param {FieldContext} context
 * @param {any} about
 * @returns {string[] | null}
 */
function pickList(context, about) {
  if (about.kind !== "text") return null;
  if (about.name === "joint") return namesOf(context.data(), "joints");
  if (about.name === "body") return namesOf(context.data(), "bodies");
  return null;
}

/** @type {typeof scalar} */
function picked(context, about, path, value) {
  const options = pickList(context, about) || [];
  const select = choiceOf(path, labelOf(path), about.required ? options : ["", ...options], value ?? "");
  select.addEventListener("change", () => context.set(path, select.value || undefined));
  return [select];
}

/** A place in words, for screen readers. @param {Path} path */
function labelOf(path) {
  return path.map(part => (typeof part === "number" ? String(part + 1) : part)).join(" ");
}

/** @param {FieldContext} context @param {any} about @param {Path} path @param {any} value @returns {HTMLElement[]} */
function scalar(context, about, path, value) {
  const input = entry(path, labelOf(path), value, writeScalar(about.standard));
  input.addEventListener("input", () => context.set(path, readScalar(input.value)));
  return [input];
}

/** @type {typeof scalar} */
function text(context, about, path, value) {
  const input = entry(path, labelOf(path), value, writeScalar(about.standard));
  input.addEventListener("input", () => context.set(path, input.value || (about.required ? "" : undefined)));
  return [input];
}

/** @type {typeof scalar} */
function choice(context, about, path, value) {
  const options = about.required || about.standard ? about.choices : ["", ...about.choices];
  const select = choiceOf(path, labelOf(path), options, value ?? about.standard ?? "");
  select.addEventListener(
    "change", () => context.set(path, select.value === about.standard ? undefined : select.value || undefined),
  );
  return [select];
}

/** @type {typeof scalar} */
function vector(context, about, path, value) {
  const row = element("div", "triple"), standard = about.standard || [];
  const inputs = ["x", "y", "z"].map((axis, k) => entry(
    [...path, k], `${labelOf(path)} ${axis}`, value && value[k],
    writeScalar(standard[k] ?? (k === 2 || about.required ? 0 : "")),
  ));
  inputs.forEach(input => input.addEventListener("input", () => {
    const values = inputs.map(one => readScalar(one.value));
    context.set(
      path, values.every(one => one === undefined) ? undefined : values.map((one, k) => one ?? standard[k] ?? 0),
    );
  }));
  row.append(...inputs);
  return [row];
}

/** A body and a point of it: its origin, a named point, or a position. @type {typeof scalar} */
function side(context, about, path, value) {
  const data = context.data(), given = typeof value === "string" ? { body: value } : value || {};
  const row = element("div", "pair");
  const bodies = ["ground", ...namesOf(data, "bodies")];
  const body = choiceOf(
    [...path, "body"], `${labelOf(path)}: body`, about.required ? bodies : ["", ...bodies], given.body || "",
  );
  body.addEventListener("change", () => context.set(path, body.value ? { body: body.value } : undefined, true));
  row.append(body);
  if (!given.body) return [row];
  const named = [...pointsOf(data, given.body).keys()];
  const where = given.at ? given.at : given.position ? "position" : "origin";
  const point = choiceOf([...path, "at"], `${labelOf(path)}: point`, ["origin", ...named, "position"], where);
  point.addEventListener("change", () => {
    const { at: _a, position: _p, ...rest } = given;
    const place = point.value === "origin" ? {} : point.value === "position" ? { position: [0, 0, 0] } : { at: point.value };
    context.set(path, { ...rest, ...place }, true);
  });
  row.append(point);
  const shown = [row];
  if (given.position) shown.push(...vector(context, { required: true }, [...path, "position"], given.position));
  if (given.rotation) {
    shown.push(
      element("span", "caption", "rotation"),
      ...rotation(context, { name: "rotation" }, [...path, "rotation"], given.rotation),
    );
  }
  return shown;
}

/** @type {typeof scalar} */
function rotation(context, about, path, value) {
  const given = value || {}, row = element("div", "pair"), byAngles = given.sequence !== undefined;
  const kind = choiceOf(
    [...path, "kind"], `${labelOf(path)}: kind`, ["none", "axis and angle", "angles"],
    !value ? "none" : byAngles ? "angles" : "axis and angle",
  );
  kind.addEventListener("change", () => {
    const made = {
      none: undefined, "axis and angle": { axis: [0, 0, 1], angle: 0 }, angles: { sequence: "zyx", angles: [0, 0, 0] },
    };
    context.set(path, /** @type {any} */ (made)[kind.value], true);
  });
  row.append(kind);
  const shown = [row];
  if (!value) return shown;
  if (byAngles) {
    const sequence = entry([...path, "sequence"], "sequence", given.sequence);
    sequence.addEventListener("input", () => context.set([...path, "sequence"], sequence.value));
    row.append(sequence);
    shown.push(...vector(context, { required: true }, [...path, "angles"], given.angles));
  } else {
    const angle = entry([...path, "angle"], "angle", given.angle, "angle");
    angle.addEventListener("input", () => context.set([...path, "angle"], readScalar(angle.value)));
    row.append(angle);
    shown.push(...vector(context, { required: true }, [...path, "axis"], given.axis));
  }
  return shown;
}

/** @type {typeof scalar} */
function names(context, about, path, value) {
  const input = entry(path, labelOf(path), (value || []).join(", "), "names, separated by commas");
  input.addEventListener("input", () => {
    const found = input.value.split(",").map((/** @type {string} */ name) => name.trim()).filter(Boolean);
    context.set(path, found.length ? found : undefined);
  });
  return [input];
}

/** Inertia: a number, three numbers, or rows of three. @type {typeof scalar} */
function matrix(context, about, path, value) {
  const input = entry(
    path, labelOf(path), Array.isArray(value) ? writeScalar(value).slice(1, -1) : value, "Izz, or Ixx, Iyy, Izz",
  );
  input.disabled = Array.isArray(value) && Array.isArray(value[0]); // rows are edited in the text
  input.addEventListener("input", () => {
    const parts = input.value.split(",").map(readScalar).filter((/** @type {any} */ one) => one !== undefined);
    context.set(path, parts.length > 1 ? parts : parts[0]);
  });
  return [input];
}

/** A table of values by name. @type {typeof scalar} */
function table(context, about, path, value) {
  if (value !== undefined && (typeof value !== "object" || Array.isArray(value))) return scalar(context, about, path, value);
  const rows = element("div", "table");
  for (const [name, item] of Object.entries(value || {})) {
    const row = element("div", "table-row"), key = entry([...path, name, "name"], `${labelOf(path)}: name`, name);
    key.addEventListener("change", () => {
      const to = key.value.trim();
      if (to && to !== name) context.change(data => renameKey(valueAt(data, path), name, to));
    });
    const isVector = Array.isArray(item);
    const input = entry(
      [...path, name], `${labelOf(path)} ${name}`,
      isVector ? writeScalar(item).slice(1, -1) : typeof item === "object" ? JSON.stringify(item) : item,
    );
    input.disabled = typeof item === "object" && !isVector; // rotations are edited in the text
    input.addEventListener("input", () => {
      const typed = isVector ? input.value.split(",").map((/** @type {string} */ one) => readScalar(one) ?? 0) : readScalar(input.value);
      context.set([...path, name], typed ?? "");
    });
    const { box, problem } = fieldBox("", "", [...path, name]);
    box.replaceChildren(row, problem);
    row.append(
      key, element("span", "equals", "="), input,
      smallButton("\u00d7", `remove ${name}`, () => context.set([...path, name], undefined, true)),
    );
    rows.append(box);
  }
  rows.append(addRow(context, about, path));
  return [rows];
}

/**
 * The row by which an entry is added to a table.
 * @param {FieldContext} context
 * @param {any} about
 * @param {Path} path
 */
function addRow(context, about, path) {
  const row = element("div", "table-row new");
  const key = entry([...path, "+"], `new name in ${labelOf(path)}`, "", "new name");
  const value = entry(
    [...path, "+value"], `value of the new name in ${labelOf(path)}`, "", about.name === "points" ? "x, y, z" : "value",
  );
  const add = () => {
    const name = key.value.trim();
    if (!name) return;
    const parts = value.value.split(",").map(readScalar), vector3 = [0, 1, 2].map(k => parts[k] ?? 0);
    context.set([...path, name], about.name === "points" ? vector3 : readScalar(value.value) ?? 0, true);
  };
  for (const input of [key, value]) {
    input.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Enter") add();
    });
  }
  row.append(key, element("span", "equals", "="), value, smallButton("+", `add to ${labelOf(path)}`, add));
  return row;
}

/** What only the text shows. @type {typeof scalar} */
function other(context, about, path, value) {
  return [element("p", "quiet", value === undefined ? "can be given in the text" : "given: see the text")];
}

export const COPY = "M5 1.5h8.5v10H5zM6.5 3v7H12V3zM2.5 4.5H4V13h6.5v1.5h-8z";

/** A picture of 16 by 16. @param {string} path @returns {SVGElement} */
function iconOf(path) {
  const space = "http://www.w3.org/2000/svg", svg = document.createElementNS(space, "svg");
  const line = document.createElementNS(space, "path");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  line.setAttribute("d", path);
  line.setAttribute("fill-rule", "evenodd");
  svg.append(line);
  return svg;
}

/** A small button with a sign. @param {string} sign @param {string} label @param {() => void} act @returns {any} */
export function smallButton(sign, label, act) {
  const button = element("button", "small", sign === COPY ? "" : sign);
  if (sign === COPY) button.append(iconOf(COPY));
  button.type = "button";
  button.setAttribute("aria-label", label);
  button.title = label;
  button.addEventListener("click", (/** @type {Event} */ event) => {
    event.preventDefault();
    act();
  });
  return button;
}
