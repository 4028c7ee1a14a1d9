// Modes to excite: small motion about the equilibrium, which follows the sliders.

import { findModes } from "../../../system/live/modes.js";
import { short } from "../numbers.js";
import { byId, element } from "../page.js";
import { TURN } from "../vectors.js";

const PATIENCE = 150; // milliseconds after the last change of a parameter
const MOST_BUTTONS = 8;
const LEAST_RATIO = 1e-6; // a damping ratio below this is a rounding error

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
  const { time } = record.units, perTime = time === "s" ? "Hz" : time ? `cycles/${time}` : "cycles per unit of time";
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
      const button = element("button", "mode"), frequency = `${short(mode.hertz, 3)} ${perTime}`, damped = mode.ratio > LEAST_RATIO;
      button.type = "button";
      button.append(element("b", "", `Mode ${mode.number}`), element("span", "", frequency));
      if (damped) button.append(element("span", "", `\u03b6 ${short(mode.ratio, 2)}`));
      const words = damped ? `damped frequency ${frequency}, |s|/2\u03c0 = ${short(mode.modulus, 3)} ${perTime}, damping ratio \u03b6 = ${short(mode.ratio, 3)}`
        : `frequency ${frequency}, undamped`;
      button.title = mode.words ? `${words}; ${mode.words}` : words;
      button.setAttribute("aria-label", `Start mode ${mode.number}, ${words}, with the chosen amplitude`);
      button.addEventListener("click", () => excite(from, mode));
      return button;
    }));
    const turns = from.listed.some(isAngle), slides = from.listed.some((/** @type {any} */ mode) => !isAngle(mode));
    byId("amplitude-unit").textContent = turns && slides ? "degrees, or % of the size" : turns ? "degrees" : "% of the size";
  }

  /** Modes at the present parameters, with damping. */
  function follow() {
    if (!isChanged()) {
      show(own);
      tellAbout("");
    } else if (!own.simple) {
      tellAbout("These are the modes at the model's own parameters, which have been changed.");
    } else {
      const found = findModes(program, record.about, mechanism.p, own.q);
      const listed = found ? found.listed.map((mode, k) => ({
        ...mode, number: own.listed[k]?.number ?? k + 1, hertz: mode.damped / TURN, modulus: mode.omega / TURN, words: "",
      })) : [];
      show({ q: found ? found.q : own.q, listed });
      tellAbout(listed.length ? "At the changed parameters." : "No modes are found at the changed parameters.");
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
