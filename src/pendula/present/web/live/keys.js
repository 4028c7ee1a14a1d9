// The keyboard: play, step, reset, view, and inputs that are pushed while a key is held.

import { INPUT_KEYS } from "./panel.js";

/** What keys ask for. @type {Record<string, string>} */
const KEYS = {
  " ": "play", ".": "step", ArrowRight: "step", r: "reset", h: "here", c: "untrace", b: "twin", 0: "fit", "?": "help",
  "[": "slower", "]": "faster", "+": "nearer", "=": "nearer", "-": "farther",
};

/**
 * @param {any} toy @param {any} stage @param {any[]} inputs sliders of inputs
 * @param {Record<string, any>} acts what a reader can ask for, by name
 * @param {() => void} changed
 */
export function useKeys(toy, stage, inputs, acts, changed) {
  /** @type {Map<string, {slider: any, value: number}>} */ const pushes = new Map();
  inputs.slice(0, INPUT_KEYS.length).forEach((slider, k) => {
    INPUT_KEYS[k].forEach((key, side) => pushes.set(key, { slider, value: (side ? slider.high : slider.low) / 2 }));
  });
  /** @type {Set<string>} */ const down = new Set();

  const isTyping = (/** @type {any} */ target) => target.tagName === "SELECT" || (target.tagName === "INPUT" && target.type === "text");

  addEventListener("keydown", event => {
    const target = /** @type {any} */ (event.target);
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(target)) return;
    if (event.key === " " && /^(BUTTON|SUMMARY|A)$/.test(target.tagName)) return;
    if (target.type === "range" && event.key.startsWith("Arrow")) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key, push = pushes.get(key);
    if (push) {
      if (!down.has(key)) toy.set(push.slider.name, push.value);
      down.add(key);
    } else if (event.shiftKey && event.key.startsWith("Arrow")) {
      const [dx, dy] = { ArrowLeft: [-20, 0], ArrowRight: [20, 0], ArrowUp: [0, -20], ArrowDown: [0, 20] }[event.key] || [0, 0];
      if (toy.record.scene.planar) stage.pan(-dx, -dy);
      else stage.spin(dx, dy);
    } else if (Object.hasOwn(KEYS, key)) {
      acts[KEYS[key]]();
    } else {
      return;
    }
    event.preventDefault();
    changed();
  });

  const lift = (/** @type {string} */ key) => {
    const push = pushes.get(key);
    if (!push || !down.delete(key)) return;
    toy.set(push.slider.name, push.slider.value);
    changed();
  };
  addEventListener("keyup", event => lift(event.key.toLowerCase()));
  addEventListener("blur", () => [...down].forEach(lift));
}
