// The page around a stage: its elements, its data, and what it says when something goes wrong.

import { clamp } from "./vectors.js";

/** The element with this id; pages are written so that it exists. @param {string} id @returns {any} */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element "${id}"`);
  return found;
}

/** The data of the page. @param {string} id of a script element with JSON @returns {any} */
export function readData(id) {
  return JSON.parse(byId(id).textContent);
}

/** Shows an error in the page. @param {any} reason */
export function fail(reason) {
  const text = "This cannot be shown: " + ((reason && reason.message) || reason);
  byId("error").textContent = text;
  byId("error").hidden = false;
  document.body.dataset.error = text;
}

/** Shows every error that nothing else handles. */
export function watchErrors() {
  addEventListener("error", event => fail(event.message));
  addEventListener("unhandledrejection", event => fail(event.reason));
}

const PLAY = "M4 2.5v11L13 8z", PAUSE = "M3.5 2.5h3v11h-3zM9.5 2.5h3v11h-3z";

/** What the button that plays and pauses shows and says. @param {any} button @param {any} icon @param {boolean} playing */
export function showPlaying(button, icon, playing) {
  icon.setAttribute("d", playing ? PAUSE : PLAY);
  button.setAttribute("aria-label", playing ? "Pause" : "Play");
}

/**
 * Writes a name beside the pointer; an empty one hides the tip.
 * @param {any} tip @param {string} name @param {number} x @param {number} y @param {number[]} extent of the picture
 */
export function showTip(tip, name, x, y, [wide, high]) {
  tip.hidden = !name;
  if (!name) return;
  tip.textContent = name;
  tip.style.left = clamp(x + 14, 0, Math.max(0, wide - tip.offsetWidth - 4)) + "px";
  tip.style.top = clamp(y - 28, 4, high - 28) + "px";
}

/** A new element with a class and a text. @param {string} tag @param {string} kind @param {string} text @returns {any} */
export function element(tag, kind = "", text = "") {
  const made = document.createElement(tag);
  if (kind) made.className = kind;
  if (text) made.textContent = text;
  return made;
}
