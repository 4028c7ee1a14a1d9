// The right side: one tab for every study, each with its settings, its work and its result.

import { css } from "../colours.js";
import { labelled } from "../numbers.js";
import { byId, element } from "../page.js";
import { createStrip } from "../strip.js";

/**
 * @typedef {Object} StudyTab
 * @property {string} key
 * @property {string} title
 * @property {string[]} kinds of jobs whose results it shows
 * @property {(host: HTMLElement, tools: any) => any} make returns `show(result, job)`, and `opened()`, `changed()` if it wants them
 */

/** The tabs. @param {any} tools @param {StudyTab[]} tabs */
export function createStudy(tools, tabs) {
  const bar = byId("study-tabs"), host = byId("study-views");
  /** @type {Map<string, any>} */ const made = new Map();
  let current = "";

  for (const tab of tabs) {
    const button = element("button", "", tab.title), view = element("div", "study-view");
    button.type = "button";
    button.setAttribute("role", "tab");
    button.id = `study-tab-${tab.key}`;
    view.id = `study-${tab.key}`;
    view.hidden = true;
    view.setAttribute("role", "tabpanel");
    view.setAttribute("aria-labelledby", button.id);
    button.setAttribute("aria-controls", view.id);
    button.addEventListener("click", () => open(tab.key));
    bar.append(button);
    host.append(view);
    made.set(tab.key, { tab, button, view, part: tab.make(view, tools) });
  }
  useTabKeys(bar);

  /** @param {string} key */
  function open(key) {
    if (!made.has(key)) return;
    current = key;
    for (const [name, { button, view }] of made) {
      button.setAttribute("aria-selected", String(name === key));
      button.tabIndex = name === key ? 0 : -1;
      view.hidden = name !== key;
    }
    localStorage.setItem("pendula-tab", key);
    const { part } = made.get(key);
    if (part.opened) part.opened();
  }

  return {
    open,
    get current() { return current; },
    /** The model has changed. */
    changed() {
      for (const [key, { part, view }] of made) {
        if (part.changed) part.changed();
        for (const note of view.querySelectorAll(".stale")) note.hidden = note.dataset.text === tools.model.text;
        if (key === current && part.opened) part.opened();
      }
    },
    /** Shows a finished job in its tab. @param {any} job with its result @param {boolean} front */
    show(job, front = true) {
      for (const [key, { tab, part }] of made) {
        if (!tab.kinds.includes(job.kind)) continue;
        if (front) open(key);
        part.show(job.result, job);
        return true;
      }
      return false;
    },
    /** Forgets all results: another model is opened. */
    clear() {
      tools.rest.reset();
      for (const one of made.values()) {
        one.view.replaceChildren();
        one.part = one.tab.make(one.view, tools);
      }
    },
    kinds: () => tabs.flatMap(tab => tab.kinds),
    retheme() {
      for (const { part } of made.values()) if (part.retheme) part.retheme();
    },
  };
}

/** Arrows go from tab to tab. @param {HTMLElement} bar */
export function useTabKeys(bar) {
  bar.addEventListener("keydown", event => {
    const buttons = /** @type {HTMLElement[]} */ ([...bar.querySelectorAll("[role=tab]")]);
    const k = buttons.indexOf(/** @type {any} */ (document.activeElement));
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (k < 0 || !by) return;
    const next = buttons[(k + by + buttons.length) % buttons.length];
    next.click();
    next.focus();
    event.preventDefault();
  });
}

/**
 * A button that starts work, with a line for what it says.
 * @param {string} label @param {(tell: (text: string) => void) => Promise<any>} act
 */
export function createTask(label, act) {
  const button = element("button", "main", label), note = element("p", "task-note");
  button.type = "button";
  note.setAttribute("role", "status");
  const tell = (/** @type {string} */ text, bad = false) => {
    note.textContent = text;
    note.classList.toggle("error", bad);
    note.hidden = !text;
  };
  tell("");
  let running = false;
  const run = async () => {
    if (running) return;
    running = true;
    button.disabled = true;
    tell("working \u2026");
    try {
      await act(tell);
      if (note.textContent === "working \u2026") tell("");
    } catch (/** @type {any} */ error) {
      tell(error.message || String(error), error.state !== "cancelled");
    } finally {
      running = false;
      button.disabled = false;
    }
  };
  button.addEventListener("click", run);
  return { button, note, run, tell };
}

/**
 * A line that says that a result belongs to an earlier version of the model.
 * @param {any} tools
 * @param {any} job
 * @returns {any}
 */
export function staleNote(tools, job) {
  const note = element("p", "stale", "Of an earlier version of the model.");
  note.dataset.text = (job.asked && job.asked.text) || job.text || "";
  note.hidden = note.dataset.text === tools.model.text;
  return note;
}

/** A row of settings. @param {(HTMLElement | string)[]} parts @returns {any} */
export function settings(...parts) {
  const row = element("div", "settings");
  row.append(...parts.map(part => (typeof part === "string" ? element("span", "", part) : part)));
  return row;
}

/** A labelled choice. @param {string} label @param {[string, string][]} options text and value @returns {any} */
export function pick(label, options = []) {
  const box = element("label", "quiet-label", label), select = element("select");
  box.append(select);
  fillOptions(select, options);
  return { box, select };
}

/**
 * Other options of a choice; the chosen one stays if it can.
 * @param {any} select
 * @param {[string, string][]} options text and value
 */
export function fillOptions(select, options) {
  const before = select.value;
  select.replaceChildren(...options.map(([text, value]) => new Option(text, value)));
  if (options.some(([, value]) => value === before)) select.value = before;
}

/** A labelled number or expression. @param {string} label @param {string} value @returns {any} */
export function typed(label, value) {
  const box = element("label", "quiet-label", label), input = element("input", "number");
  input.value = value;
  input.spellcheck = false;
  box.append(input);
  return { box, input };
}

/** A table. @param {string[]} heads @param {(string | HTMLElement)[][]} rows @returns {any} */
export function tableOf(heads, rows) {
  const box = element("div", "wide"), table = element("table"), head = element("tr");
  box.tabIndex = 0;
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", `Table: ${heads.join(", ")}`);
  head.append(...heads.map(text => element("th", "", text)));
  table.append(head, ...rows.map(cells => {
    const row = element("tr");
    row.append(...cells.map(cell => {
      const one = element("td");
      one.append(cell);
      return one;
    }));
    return row;
  }));
  box.append(table);
  return box;
}

/** Facts in two columns. @param {[string, string][]} entries @returns {any} */
export function factsOf(entries) {
  const list = element("dl", "facts");
  for (const [name, value] of entries) list.append(element("dt", "", name), element("dd", "", value));
  return list;
}

/** Notes of a result. @param {string[]} notes @returns {HTMLElement[]} */
export function notesOf(notes) {
  if (!notes || !notes.length) return [];
  const list = element("ul", "notes");
  list.append(...notes.map(text => element("li", "", text)));
  return [list];
}

/**
 * A chart with a choice of signals; it follows the pointer.
 * @param {any[]} groups see strip.js
 * @param {string} across
 * @returns {any}
 */
export function stripOf(groups, across) {
  const panel = element("section", "panel strip study-strip"), head = element("div", "head");
  const select = element("select");
  const legend = element("div", "legend"), chart = element("div", "chart"), canvas = element("canvas");
  select.setAttribute("aria-label", "Signals shown");
  canvas.setAttribute("role", "img");
  head.append(select, legend);
  chart.append(canvas);
  panel.append(head, chart);
  let at = groups[0] && groups[0].lines[0] ? groups[0].lines[0].x[groups[0].lines[0].x.length - 1] : 0;
  const draw = () => {
    if (canvas.clientWidth) strip.draw(at);
  };
  const strip = createStrip({ canvas, select, legend }, groups, { across, changed: draw });
  canvas.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
    at = strip.at(event.offsetX);
    draw();
  });
  new ResizeObserver(draw).observe(canvas);
  return {
    panel, draw, retheme() { strip.retheme(); draw(); },
    choose: (/** @type {number} */ k) => { strip.choose(k); draw(); },
  };
}

/**
 * Groups of lines by unit.
 * @param {number[]} t
 * @param {Record<string, number[]>} states
 * @param {Record<string, string>} units
 */
export function groupsOf(t, states, units) {
  /** @type {Map<string, any>} */ const found = new Map();
  for (const [name, y] of Object.entries(states)) {
    const unit = units[name] || "", speed = name.endsWith("_dot") || /^omega|_u\d?$/.test(name);
    const key = `${speed ? "speeds" : "coordinates"} ${unit}`;
    if (!found.has(key)) found.set(
      key,
      {
        name: labelled(speed ? "speeds" : "coordinates", unit),
        up: unit ? `[${unit}]` : "", lines: [],
      },
    );
    if (found.get(key).lines.length < 12) found.get(key).lines.push({ name, x: t, y });
  }
  return [...found.values()];
}

/** A swatch of a colour. @param {number[]} colour @returns {any} */
export function swatch(colour) {
  const made = element("i", "swatch");
  made.style.background = css(colour);
  return made;
}
