// Tabs of the equations: formulas in any formulation and language, and the certificate that all formulations agree.

import { element } from "../page.js";
import { createTask, factsOf, pick, settings, staleNote, tableOf } from "./study.js";

const MATH = "http://www.w3.org/1998/Math/MathML";
const MATH_NAMES = new Set(("math semantics mrow mi mn mo mtext mspace ms mfrac msqrt mroot mstyle mpadded mphantom " +
  "mfenced msub msup msubsup " +
  "munder mover munderover mtable mtr mtd mlabeledtr").split(" "));
const MATH_MARKS = new Set(["display", "mathvariant", "stretchy", "fence", "separator", "form", "lspace", "rspace", "columnalign",
  "accent", "linethickness", "width", "displaystyle", "rowspacing", "columnspacing", "minsize", "maxsize"]);
/** @type {Record<string, string>} */
const LANGUAGE_TITLES = { latex: "LaTeX", python: "Python", c: "C", javascript: "JavaScript", json: "JSON", text: "plain text" };

/** A formula from its MathML, rebuilt from known elements only. @param {string} text @returns {Element} */
export function mathElement(text) {
  const parsed = new DOMParser().parseFromString(text, "application/xml");
  if (parsed.querySelector("parsererror")) return element("span", "quiet", "this formula cannot be shown");
  const copy = (/** @type {Node} */ node) => {
    if (node.nodeType === Node.TEXT_NODE) return document.createTextNode(node.nodeValue || "");
    const given = /** @type {Element} */ (node);
    if (node.nodeType !== Node.ELEMENT_NODE || !MATH_NAMES.has(given.localName)) return document.createTextNode(node.textContent || "");
    const made = document.createElementNS(MATH, given.localName);
    for (const { name, value } of given.attributes) if (MATH_MARKS.has(name)) made.setAttribute(name, value);
    if (given.getAttribute("class") === "matrix") made.setAttribute("class", "matrix");
    made.append(...[...given.childNodes].map(copy));
    return made;
  };
  return /** @type {Element} */ (copy(parsed.documentElement));
}

/** @param {HTMLElement} host @param {any} tools */
function makeEquations(host, tools) {
  const { formulations, languages } = tools.choices;
  const by = pick("by", formulations.map((/** @type {string} */ name) => [name, name])), as = pick("as", [
    ["formulas", "mathml"], ...languages.map((/** @type {any} */ l) => [LANGUAGE_TITLES[l.name] || l.name, l.name]),
  ]);
  by.select.setAttribute("aria-label", "Formulation");
  as.select.setAttribute("aria-label", "Language of the equations");
  for (const { select } of [by, as]) select.classList.add("narrow"); // all in one line
  const copy = element("button", "", "Copy"), out = element("div", "formulas-out"), note = element("p", "task-note");
  copy.type = "button";
  out.tabIndex = 0;
  out.setAttribute("role", "region");
  out.setAttribute("aria-label", "Equations of motion");
  host.append(settings(by.box, as.box, copy), note, out);
  let shownFor = "", latest = 0, plain = "";

  async function compute() {
    const key = `${by.select.value} ${as.select.value} ${tools.model.text}`;
    if (!tools.model.data.bodies?.length) out.replaceChildren(element(
      "p", "quiet", "The equations appear here as soon as the model has a body.",
    ));
    if (host.hidden || key === shownFor || !tools.model.ok || !tools.model.data.bodies?.length) return;
    shownFor = key;
    const number = ++latest;
    out.classList.add("waiting");
    try {
      const job = await tools.compute(
        "equations", { formulation: by.select.value, format: as.select.value }, { quiet: true },
      );
      if (number === latest) show(job.result);
      note.textContent = "";
    } catch (/** @type {any} */ error) {
      if (number === latest) {
        note.textContent = error.message;
        out.replaceChildren();
      }
      shownFor = "";
    }
    out.classList.remove("waiting");
  }

  /** @param {any} result */
  function show(result) {
    plain = result.text || "";
    if (result.groups) {
      plain = "";
      const parts = result.groups.flatMap((/** @type {any} */ group) => [
        element("h3", "", group.words), ...group.formulas.map((/** @type {string} */ text) => {
          const line = element("div", "formula");
          line.append(mathElement(text));
          return line;
        }),
      ]);
      out.replaceChildren(...(parts.length ? parts : [element(
        "p", "quiet", "These equations are too long for a page: choose a language to copy them.",
      )]));
    } else {
      const code = element("pre", "", plain);
      out.replaceChildren(code);
    }
    copy.title = result.groups ? "copy as LaTeX" : "copy";
  }

  copy.addEventListener("click", async () => {
    let text = plain;
    try {
      if (!text) text = (await tools.compute(
        "equations", { formulation: by.select.value, format: "latex" }, { quiet: true },
      )).result.text;
      await navigator.clipboard.writeText(text);
      note.textContent = "copied";
    } catch (/** @type {any} */ error) {
      note.textContent = `could not be copied: ${error.message}`;
    }
  });
  for (const select of [by.select, as.select]) select.addEventListener("change", compute);
  return { show, opened: compute, get text() { return plain; } };
}

/** @param {HTMLElement} host @param {any} tools */
function makeCertificate(host, tools) {
  const out = element("div", "result"), task = createTask("Check all formulations", async () => {
    const job = await tools.compute("certificate", {});
    show(job.result, job);
  });
  host.append(
    element(
      "p", "quiet",
      "Derives the equations by every formulation and compares the accelerations of all bodies at random states.",
    ),
    settings(task.button), task.note, out,
  );

  /** @param {any} result @param {any} job */
  function show(result, job) {
    const worst = Math.max(0, ...result.pairs.map((/** @type {any} */ p) => p.max_difference));
    const verdict = element("p", `verdict ${result.passed ? "good" : "bad"}`, result.passed
      ? `${result.formulations.length} formulations agree at ${result.states} states` : "the formulations do not agree");
    const rows = result.pairs.map((/** @type {any} */ p) => [p.a, p.b, p.max_difference.toExponential(1)]);
    out.replaceChildren(staleNote(tools, job), verdict, factsOf([
      ["largest difference", worst.toExponential(1)], ["tolerance", result.tolerance.toExponential(0)],
      ["formulations", result.formulations.join(", ")], ["expressions compared", String(result.expressions.count)],
    ]), tableOf(["formulation", "against", "difference"], rows));
  }
  return { show };
}

export const FORMULA_TABS = [
  { key: "equations", title: "Equations", kinds: ["equations"], make: makeEquations },
  { key: "certificate", title: "Certificate", kinds: ["certificate"], make: makeCertificate },
];
