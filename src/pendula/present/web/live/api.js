// window.pendula: the page for scripts of lecturers, and for tests.

import { place } from "../vectors.js";

/**
 * @param {any} toy @param {{loop: any, stage: any, scenery: any, events: any}} page
 * @param {() => void} changed draws again
 */
export function createApi(toy, { loop, stage, scenery, events }, changed) {
  const { mechanism, record } = toy;
  const drawn = (/** @type {any} */ result) => {
    changed();
    return result;
  };
  return Object.freeze({
    title: record.title,
    coordinates: Object.freeze([...record.about.names.coordinates]),
    speeds: Object.freeze([...record.about.names.speeds]),
    /** Time of the mechanism. */
    get time() { return mechanism.time; },
    /** Coordinates and speeds by name. */
    get state() { return mechanism.state; },
    /** Parameters and inputs by name. */
    get parameters() { return mechanism.parameters(); },
    /** Kinetic, potential and total energy, and the work done from outside since the start. */
    get energy() { return mechanism.energy(); },
    /** Largest error of the energy account since the start, as a fraction of the largest energy in motion. */
    get energy_drift() { return mechanism.energyDrift; },
    /** Largest gap of the loops, in units of length. */
    get gap() { return mechanism.largestGap(); },
    /** Times of the events since the start, by name. */
    get events() { return events.times(); },
    get playing() { return toy.playing; },
    /** Time of the mechanism per second of the screen. */
    get speed() { return toy.speed; },
    set speed(value) { toy.speed = value; changed(); },
    /** The fraction of that speed which the page reaches. */
    get pace() { return loop.pace; },
    /** Tolerance of a step. */
    get tolerance() { return toy.tolerance; },
    set tolerance(value) { toy.tolerance = value; },
    /** What the page says at the moment. */
    get message() { return toy.message; },
    /** Changes a parameter or an input. */
    set(/** @type {string} */ name, /** @type {number} */ value) {
      if (!drawn(toy.set(name, value))) throw new Error(toy.message);
    },
    /** Starts again at time 0, with these coordinates and speeds by name. */
    start(/** @type {Record<string, number>} */ values = {}) {
      if (!drawn(toy.start(values))) throw new Error(toy.message);
    },
    /** Where a point of a body (in its own axes) is in the window, in pixels. */
    where(/** @type {string} */ body, /** @type {number[]} */ at = [0, 0, 0]) {
      const k = scenery.scene.bodies.findIndex((/** @type {any} */ one) => one.name === body);
      if (k < 0) throw new Error(`there is no body ${body}`);
      const [x, y] = stage.toScreen(place(scenery.poses(mechanism)[k], at)), area = stage.area();
      return { x: area.left + x, y: area.top + y };
    },
    pause() { drawn(toy.pause()); },
    play() { drawn(toy.play()); },
    /** Moves on by a time; without one, by a frame (1/60 s of the screen). */
    step(/** @type {number} */ by = toy.speed / 60) {
      toy.pause();
      toy.step(by);
      changed();
    },
  });
}
