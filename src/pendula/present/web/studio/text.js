// The model as text: a field with line numbers, lines with problems marked, and the list of problems below both views.

import { byId, element } from "../page.js";

const SHOWN = 8; // problems that are listed

/** The text of the model with its line numbers. @param {any} model the document */
export function createText(model) {
  const area = byId("text"), gutter = byId("lines");

  /** Numbers of the lines; those with problems are marked. */
  function number() {
    const count = area.value.split("\n").length;
    const wrong = new Map(model.shownProblems.filter((/** @type {any} */ p) => p.line).map((/** @type {any} */ p) => [p.line, p.message]));
    while (gutter.childElementCount > count) gutter.lastElementChild.remove();
    while (gutter.childElementCount < count) gutter.append(element("span", "", String(gutter.childElementCount + 1)));
    [...gutter.children].forEach((line, k) => {
      line.classList.toggle("wrong", wrong.has(k + 1));
      if (wrong.has(k + 1)) line.title = wrong.get(k + 1);
      else line.removeAttribute("title");
    });
    area.setAttribute("aria-invalid", String(wrong.size > 0));
    follow();
  }

  const follow = () => { gutter.style.transform = `translateY(${-area.scrollTop}px)`; };

  area.addEventListener("input", () => {
    model.type(area.value);
    number();
  });
  area.addEventListener("scroll", follow);
  area.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const undo = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z";
    if (undo) event.preventDefault(); // the studio undoes, for both views
  });
  model.on("text", () => {
    if (area.value === model.text) return;
    const { scrollTop, selectionStart } = area;
    area.value = model.text;
    area.scrollTop = scrollTop;
    if (document.activeElement === area) area.setSelectionRange(selectionStart, selectionStart);
    number();
  });
  model.on("checked", number);

  return {
    /** Goes to a line. @param {number} line from 1 on */
    reveal(line) {
      const lines = area.value.split("\n"), start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
      area.focus();
      area.setSelectionRange(start, start + (lines[line - 1] || "").length);
      area.scrollTop = Math.max(0, (line - 4) * parseFloat(getComputedStyle(area).lineHeight));
    },
    number,
  };
}

/** The list of problems. @param {any} model @param {(problem: any) => void} go goes to the place of a problem */
export function createProblems(model, go) {
  const host = byId("problems");

  function draw() {
    const empty = !model.data.bodies?.length && !model.data.joints?.length, problems = model.shownProblems;
    const shown = problems.slice(0, SHOWN).map((/** @type {any} */ problem) => {
      const button = element("button", "problem-line"), place = element("b", "", placeOf(problem));
      button.type = "button";
      button.append(place, document.createTextNode(` ${problem.message}`));
      if (problem.advice) button.append(element("span", "quiet", ` ${problem.advice}`));
      button.addEventListener("click", () => go(problem));
      return button;
    });
    const rest = problems.length - shown.length;
    if (rest > 0) shown.push(element("p", "quiet", `and ${rest} more`));
    host.replaceChildren(...shown);
    host.hidden = !problems.length;
    const count = byId("problem-count");
    const some = `${problems.length} ${problems.length === 1 ? "problem" : "problems"}`;
    count.textContent = problems.length ? some : empty ? "empty" : "valid";
    count.classList.toggle("empty", empty);
    count.classList.toggle("bad", problems.length > 0);
  }

  model.on("checked", draw);
  return { draw };
}

/** Where a problem is, in words: the element and its field. @param {any} problem */
function placeOf(problem) {
  const path = problem.path || [];
  const inside = path.slice(/^(body|joint|force|parameter|input|initial) /.test(problem.element || "") ? 2 : 0);
  return [
    problem.element || (problem.line ? `line ${problem.line}` : "model"), inside.join("."),
  ].filter(Boolean).join(", ") + ":";
}
