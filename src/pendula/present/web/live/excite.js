// Modes to excite: small motion about the equilibrium, which follows the sliders.

import { findModes } from "../../../system/live/modes.js";
import { short } from "../numbers.js";
import { byId, element } from "../page.js";

const PATIENCE = 150; // milliseconds after the last change of a parameter
const MOST_BUTTONS = 8;

/**
 * Buttons that start a mode.
 * @param {any} toy @param {any} program @param {() => void} changed
 */
export function createModes(toy, program, changed) {
  const { record, mechanism } = toy, own = record.modes;
  byId("modes-fold").hidden = !own;
  if (!own) return;
  const isAngle = (/** @type {any} */ mode) => (record.units.of[mode.coordinate] || "rad") === "rad";
  const isChanged = () => record.sliders.some((/** @type {any} */ s) => mechanism.get(s.name) !== s.value);
  let timer = 0;

  /** Starts a mode with the chosen amplitude. @param {any} from @param {any} mode */
  function excite(from, mode) {
    const value = Math.abs(Number(byId("amplitude").value)) || 10;
    const by = isAngle(mode) ? value * Math.PI / 180 : value / 100 * record.about.length;
    const done = toy.startFrom({
      q: from.q.map((/** @type {number} */ q, /** @type {number} */ k) => q + by * mode.q[k]),
      v: mode.v.map((/** @type {number} */ v) => by * v),
    });
    if (done) {
      toy.play();
      toy.tell(`mode ${mode.number}, ${value}${isAngle(mode) ? "\u00b0" : " %"} of ${mode.coordinate}`);
    }
    changed();
  }

  /** @param {any} from the equilibrium `q` and the modes `listed` */
  function show(from) {
    byId("modes").replaceChildren(...from.listed.slice(0, MOST_BUTTONS).map((/** @type {any} */ mode) => {
      const button = element("button", "mode"), frequency = `${short(mode.hertz, 3)} Hz`;
      button.type = "button";
      button.append(element("b", "", `Mode ${mode.number}`), element("span", "", frequency));
      button.title = mode.words;
      button.setAttribute("aria-label", `Start mode ${mode.number}, ${frequency}, with the chosen amplitude`);
      button.addEventListener("click", () => excite(from, mode));
      return button;
    }));
    const turns = from.listed.some(isAngle), slides = from.listed.some((/** @type {any} */ mode) => !isAngle(mode));
    byId("amplitude-unit").textContent = turns && slides ? "degrees, or % of the size" : turns ? "degrees" : "% of the size";
  }

  /** Modes at the present parameters: the model's own with damping, others without. */
  function follow() {
    if (!isChanged()) {
      show(own);
      tellAbout("");
    } else if (!own.simple) {
      tellAbout("These are the modes at the model's own parameters, which have been changed.");
    } else {
      const found = findModes(program, record.about, mechanism.p, own.q), zeros = record.about.start.v.map(() => 0);
      const listed = found ? found.listed.map((mode, k) => ({
        ...mode, number: own.listed[k]?.number ?? k + 1, hertz: mode.omega / (2 * Math.PI), v: zeros, words: "undamped, at the present parameters",
      })) : [];
      show({ q: found ? found.q : own.q, listed });
      tellAbout(listed.length ? "Undamped modes at the changed parameters." : "No modes are found at the changed parameters.");
    }
  }

  /** @param {string} text */
  function tellAbout(text) {
    byId("modes-note").textContent = text;
    byId("modes-note").hidden = !text;
  }

  toy.on("changed", () => {
    clearTimeout(timer);
    timer = window.setTimeout(follow, PATIENCE);
  });
  follow();
}
