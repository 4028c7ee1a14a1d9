// The model as a form: its settings, parameters, inputs, bodies, joints, forces and initial values.

import { byId, element } from "../page.js";
import { addEntry, bodyOf, duplicateEntry, namesOf, removeEntry, renameBody, renameJoint } from "./edits.js";
import { choiceOf, COPY, entry, fieldBox, makeField, markOf, setAt, smallButton, valueAt, writeScalar } from "./fields.js";

const BODY_KINDS = ["rod", "point", "disc", "box", "sphere"];
const OWN = "own mass";
const FIRST_FIELDS = new Set([
  "axis", "stiffness", "damping", "length", "rest", "from", "to", "joint", "coordinate", "kind",
]);
const STARTING = {
  rod: { mass: 1, length: 1 }, point: { mass: 1 }, disc: { mass: 1, radius: 0.3 },
  box: { mass: 1, size: [0.4, 0.2, 0.2] }, sphere: { mass: 1, radius: 0.2 },
};
const LISTS = [
  { key: "bodies", title: "Bodies", one: "body" },
  { key: "joints", title: "Joints", one: "joint" },
  { key: "forces", title: "Forces", one: "force" },
];

/** @param {any} model the document @param {any} schema */
export function createForm(model, schema) {
  const host = byId("form");
  /** @type {Set<string>} */ const opened = new Set(["general", "parameters", "bodies", "joints", "forces"]);

  const context = {
    data: () => model.data,
    set(/** @type {(string | number)[]} */ path, /** @type {any} */ value, redraw = false) {
      model.edit((/** @type {any} */ data) => setAt(data, path, value), markOf(path), !redraw);
    },
    change: (/** @type {(data: any) => void} */ change) => model.edit(change),
  };

  /**
   * A part of the form that folds.
   * @param {string} key
   * @param {any} head
   * @param {() => HTMLElement[]} content made when it is opened
   * @param {string} kind
   */
  function fold(key, head, content, kind = "section") {
    const details = element("details", `fold ${kind}`), body = element("div", "fold-body");
    details.dataset.path = key;
    const fill = () => {
      if (!body.childElementCount) body.append(...content());
    };
    details.open = opened.has(key);
    if (details.open) fill();
    details.addEventListener("toggle", () => {
      if (details.open) {
        opened.add(key);
        fill();
        mark(model.shownProblems);
      } else {
        opened.delete(key);
      }
    });
    details.append(head, body);
    return details;
  }

  /** @param {string} title @param {string} note */
  function headOf(title, note = "") {
    const head = element("summary"), name = element("span", "title", title);
    head.append(name);
    if (note) head.append(element("span", "note", note));
    return head;
  }

  function general() {
    const about = schema.fields("");
    const wanted = ["name", "description", "units", "gravity"].map(name => about.find((/** @type {any} */ f) => f.name === name));
    return wanted.map(field => makeField(context, field, [field.name], model.data[field.name]));
  }

  /** @param {string} name of a table of the model @param {string} words */
  function tableOf(name, words) {
    const field = makeField(context, { name, kind: "table", words }, [name], model.data[name]);
    field.querySelector(".caption")?.remove();
    return [element("p", "quiet", words), field];
  }

  /** @param {any} list */
  function listOf(list) {
    const items = model.data[list.key] || [];
    const shown = items.map((/** @type {any} */ item, /** @type {number} */ k) => card(list, item, k));
    const add = element("button", "add", `Add ${list.one}`);
    add.type = "button";
    add.addEventListener("click", () => {
      opened.add(`${list.key}/${items.length}`);
      model.edit((/** @type {any} */ data) => addEntry(data, list.key));
    });
    return [...shown, add];
  }

  /** One body, joint or force. @param {any} list @param {any} item @param {number} k */
  function card(list, item, k) {
    const key = `${list.key}/${k}`;
    const head = headOf(item.name || item.type || `${list.one} ${k + 1}`, summaryOf(list.key, item));
    const acts = element("span", "acts");
    const name = item.name || `${list.one} ${k + 1}`;
    acts.append(
      smallButton(COPY, `duplicate ${name}`, () => context.change(data => duplicateEntry(data, list.key, k))),
      smallButton("\u00d7", `remove ${name}`, () => context.change(data => removeEntry(data, list.key, k))),
    );
    head.append(acts);
    return fold(
      key, head, () => (list.key === "bodies" ? bodyFields(item, k) : variantFields(list.key, item, k)), "card",
    );
  }

  /**
   * The name of an entry: committed as a whole, and followed by all that refer to it.
   * @param {any} list
   * @param {any} item
   * @param {number} k
   */
  function nameField(list, item, k) {
    const path = [list, k, "name"], { box, problem } = fieldBox("name", "", path);
    const input = entry(path, `${list} ${k + 1} name`, item.name);
    input.addEventListener("change", () => {
      const to = input.value.trim(), from = item.name;
      if (to === from) return;
      context.change(data => {
        setAt(data, path, to || undefined);
        if (to && from && list === "bodies" && !namesOf(data, "bodies").includes(from)) renameBody(data, from, to);
        if (to && from && list === "joints" && !namesOf(data, "joints").includes(from)) renameJoint(data, from, to);
      });
    });
    box.append(input, problem);
    return box;
  }

  /**
   * A choice that changes what the card contains.
   * @param {string} label
   * @param {string[]} options
   * @param {string} value
   * @param {(string | number)[]} path
   * @param {(to: string) => void} act
   */
  function kindField(label, options, value, path, act) {
    const { box, problem } = fieldBox(label, "", path);
    const select = choiceOf(path, `${path[0]} ${Number(path[1]) + 1} ${label}`, options, value);
    select.addEventListener("change", () => act(select.value));
    box.append(select, problem);
    return box;
  }

  /** @param {any} body @param {number} k */
  function bodyFields(body, k) {
    const path = ["bodies", k], kind = BODY_KINDS.find(name => body[name] !== undefined) || OWN;
    const fields = schema.fields("Body");
    const find = (/** @type {string} */ name) => fields.find((/** @type {any} */ f) => f.name === name);
    const setKind = (/** @type {string} */ to) => context.change(data => {
      const { name, points, shapes } = data.bodies[k];
      const kept = Object.fromEntries(Object.entries({ name, points, shapes }).filter(([, value]) => value !== undefined));
      data.bodies[k] = to === OWN ? { ...kept, mass: 1, com: [0, 0, 0], inertia: 0.1 } : {
        ...kept, [to]: structuredClone(/** @type {any} */ (STARTING)[to]),
      };
    });
    const choice = kindField("kind", [...BODY_KINDS, OWN], kind, [...path, "kind"], setKind);
    const shown = [nameField("bodies", body, k), choice];
    const more = ["points", "shapes"];
    if (kind === OWN) {
      shown.push(...["mass", "com", "inertia"].map(name => makeField(context, find(name), [...path, name], body[name])));
      return [...shown, ...moreFields(`${markOf(path)}/more`, more.map(find), path, body)];
    }
    const inner = schema.fields(find(kind).record), given = body[kind] || {};
    const isMain = (/** @type {any} */ f) => f.required || given[f.name] !== undefined;
    shown.push(...inner.filter(isMain).map((/** @type {any} */ f) => makeField(
      context, f, [...path, kind, f.name], given[f.name],
    )));
    const rest = inner.filter((/** @type {any} */ f) => !isMain(f)).map((/** @type {any} */ f) => makeField(
      context, f, [...path, kind, f.name], given[f.name],
    ));
    return [...shown, ...moreFields(`${markOf(path)}/more`, more.map(find), path, body, rest)];
  }

  /** @param {"joints" | "forces"} list @param {any} item @param {number} k */
  function variantFields(list, item, k) {
    const path = [list, k], types = schema.variants(list), definition = types.get(item.type);
    const setType = (/** @type {string} */ to) => context.change(data => {
      const known = new Set(schema.fields(types.get(to)).map((/** @type {any} */ f) => f.name)), old = data[list][k];
      data[list][k] = { ...Object.fromEntries(Object.entries(old).filter(([name]) => known.has(name))), type: to };
    });
    const choice = kindField("type", [...types.keys()], item.type || "", [...path, "type"], setType);
    const shown = [nameField(list, item, k), choice];
    if (!definition) return shown;
    const fields = schema.fields(definition).filter((/** @type {any} */ f) => f.name !== "name" && f.name !== "type");
    const isMain = (/** @type {any} */ f) => f.required || item[f.name] !== undefined || FIRST_FIELDS.has(f.name);
    shown.push(element("p", "quiet", schema.words(definition)));
    shown.push(...fields.filter(isMain).map((/** @type {any} */ f) => makeField(context, f, [...path, f.name], item[f.name])));
    return [
      ...shown, ...moreFields(`${markOf(path)}/more`, fields.filter((/** @type {any} */ f) => !isMain(f)), path, item),
    ];
  }

  /**
   * Fields that are seldom needed.
   * @param {string} key
   * @param {any[]} fields
   * @param {(string | number)[]} path
   * @param {any} item
   * @param {HTMLElement[]} also
   */
  function moreFields(key, fields, path, item, also = []) {
    if (!fields.length && !also.length) return [];
    return [fold(
      key, headOf("More"), () => [...also, ...fields.map(f => makeField(context, f, [...path, f.name], item[f.name]))],
      "more",
    )];
  }

  /** Draws the form again; focus and folds stay. */
  function draw() {
    const focus = /** @type {any} */ (document.activeElement)?.dataset?.focus, top = host.scrollTop, data = model.data;
    const count = (/** @type {any} */ of) => String(Array.isArray(of) ? of.length : Object.keys(of || {}).length);
    host.replaceChildren(
      fold("general", headOf("Model", data.name || ""), general),
      fold(
        "parameters", headOf("Parameters", count(data.parameters)),
        () => tableOf("parameters", "Named numbers; they may refer to each other: \"m*l**2/12\"."),
      ),
      ...LISTS.map(list => fold(list.key, headOf(list.title, count(data[list.key])), () => listOf(list))),
      fold(
        "initial", headOf("Initial values", count(data.initial)),
        () => tableOf("initial", "Coordinates and speeds at the start: 30deg, 0.5."),
      ),
      fold(
        "inputs", headOf("Inputs", count(data.inputs)),
        () => tableOf("inputs", "Named forces from outside: numbers, or expressions of t."),
      ),
    );
    host.scrollTop = top;
    if (focus) find(focus)?.focus();
    mark(model.shownProblems);
  }

  /**
   * The element with a mark.
   * @param {string} place @param {"focus" | "path"} kind of mark
   * @returns {any}
   */
  function find(place, kind = "focus") {
    const all = /** @type {any[]} */ ([...host.querySelectorAll(`[data-${kind}]`)]);
    return all.find(one => one.dataset[kind] === place);
  }

  /** Shows every problem at the innermost field that holds its place. @param {any[]} problems */
  function mark(problems) {
    for (const one of host.querySelectorAll(".wrong")) one.classList.remove("wrong");
    for (const one of host.querySelectorAll(".problem")) /** @type {any} */ (one).hidden = true;
    for (const one of host.querySelectorAll("[aria-invalid]")) one.removeAttribute("aria-invalid");
    const places = new Map([...host.querySelectorAll("[data-path]")].map(one => [/** @type {any} */ (one).dataset.path, one]));
    for (const { path = [], message } of problems) {
      for (let n = path.length; n > 0; n--) {
        const place = places.get(markOf(path.slice(0, n)));
        if (!place) continue;
        place.classList.add("wrong");
        const line = place.classList.contains("field") && place.querySelector(":scope > .problem");
        if (line) {
          line.textContent = message;
          line.hidden = false;
          place.querySelector("input, select")?.setAttribute("aria-invalid", "true");
        }
        break;
      }
    }
  }

  /** Opens the folds around a place and goes to its field. @param {(string | number)[]} path */
  function reveal(path) {
    for (let n = 1; n <= Math.max(path.length, 1); n++) opened.add(markOf(path.slice(0, n)));
    draw();
    for (let n = path.length; n > 0; n--) {
      const place = find(markOf(path.slice(0, n)), "path");
      if (!place) continue;
      place.scrollIntoView({ block: "center" });
      (place.querySelector("input, select") || place.querySelector("summary"))?.focus();
      return;
    }
  }

  model.on("data", draw);
  model.on("checked", () => {
    mark(model.shownProblems);
    const note = host.querySelector("[data-path=general] > summary > .note");
    if (note) note.textContent = model.data.name || "";
  });
  return { draw, reveal, open: (/** @type {string} */ key) => opened.add(key), valueAt };
}

/** A body, joint or force in a few words. @param {string} list @param {any} item */
function summaryOf(list, item) {
  if (list === "bodies") {
    const kind = BODY_KINDS.find(name => item[name] !== undefined);
    const size = kind && (item[kind].length ?? item[kind].radius);
    return kind ? `${kind}${size !== undefined ? ` ${writeScalar(size)}` : ""}` : "";
  }
  if (list === "joints") return `${item.type || ""} ${bodyOf(item.parent) || "?"} \u2192 ${bodyOf(item.child) || "?"}`;
  const between = item.from || item.to, alone = item.joint || item.body || item.coordinate || "";
  const ends = between ? `${bodyOf(item.from) || "?"} \u2192 ${bodyOf(item.to) || "?"}` : alone;
  return `${item.name ? item.type : ""} ${ends}`;
}
