// The controls of a live page: what its buttons, its choices and its keys do.

import { byId, showPlaying } from "../page.js";
import { clamp } from "../vectors.js";
import { shareLink } from "./share.js";

const SPEEDS = [0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 4];
const MESSAGE_FOR = 5000; // milliseconds

/**
 * What a reader can ask for, by name.
 * @param {any} toy @param {any} stage
 * @param {{traces: any, watch: (signal: string) => void, fit: () => void}} page
 */
export function createActs(toy, stage, { traces, watch, fit }) {
  return {
    play: () => (toy.playing ? toy.pause() : toy.play()),
    step: () => {
      toy.pause();
      toy.step(toy.speed / 60);
    },
    reset: () => toy.start(),
    here: () => {
      toy.startHere();
      toy.tell("reset now comes back to this state");
    },
    share: () => shareLink(toy).then(toy.tell),
    fit: () => {
      stage.home();
      fit();
      stage.measure();
    },
    untrace: traces.clear,
    help: () => byId("keys").showModal(),
    twin: () => byId("twin").click(),
    slower: () => changeSpeed(toy, -1),
    faster: () => changeSpeed(toy, 1),
    nearer: () => stage.zoom(1.2),
    farther: () => stage.zoom(1 / 1.2),
    watch,
  };
}

/** Buttons and choices below the picture. @param {any} toy @param {any} acts @param {() => void} changed */
export function useControls(toy, acts, changed) {
  const click = (/** @type {string} */ id, /** @type {() => void} */ act) => byId(id).addEventListener("click", () => {
    act();
    changed();
  });
  byId("close-keys").addEventListener("click", () => byId("keys").close());
  for (const id of ["play", "step", "reset", "here", "share", "fit", "untrace", "help"]) click(id, acts[id]);
  const speed = byId("speed");
  for (const value of SPEEDS) speed.append(new Option(`${value}\u00d7`, String(value), value === 1, value === 1));
  speed.addEventListener("change", () => {
    toy.speed = Number(speed.value);
    changed();
  });
  byId("twin").addEventListener("change", () => {
    toy.split(byId("twin").checked);
    byId("apart-row").hidden = !toy.twin;
    if (toy.twin) acts.watch("distance of two copies");
    changed();
  });
  byId("apart").addEventListener("change", () => {
    const value = Number(byId("apart").value);
    if (value > 0) toy.apart = value;
    changed();
  });
  const mode = () => {
    showPlaying(byId("play"), byId("play-icon"), toy.playing);
    byId("play").title = toy.playing ? "Pause (space)" : "Play (space)";
    document.body.dataset.playing = String(toy.playing);
    byId("hint").textContent = toy.playing ? "drag a body \u00b7 click to trace" : "paused: drag to set the pose";
  };
  toy.on("mode", mode);
  mode();
  let timer = 0;
  toy.on("told", (/** @type {string} */ text) => {
    clearTimeout(timer);
    byId("message").textContent = text;
    byId("message").hidden = !text;
    if (!/^(stopped|slowed|opened)/.test(text)) timer = window.setTimeout(() => { byId("message").hidden = true; }, MESSAGE_FOR);
  });
}

/** Another speed from the list. @param {any} toy @param {number} by */
function changeSpeed(toy, by) {
  const k = SPEEDS.findIndex(value => value >= toy.speed), next = SPEEDS[clamp(k + by, 0, SPEEDS.length - 1)];
  toy.speed = next;
  byId("speed").value = String(next);
}
