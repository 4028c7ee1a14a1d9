// The mechanism on the page: it plays, pauses, starts again, changes its parameters, and has a twin on request.

import { createMechanism } from "../../../system/live/mechanism.js";

export const TOLERANCE = 1e-7;
const FINENESS = 200; // steps for each second of the screen, at least: paths and charts are drawn through them

/** @typedef {"moved" | "jumped" | "changed" | "mode" | "told"} ToyEvent
 * moved: a step was made; jumped: another state; changed: parameters; mode: play or pause; told: another message */

/**
 * @param {any} program functions of the mechanism
 * @param {any} record its description
 */
export function createToy(program, record) {
  const { about } = record, mechanism = createMechanism(program, about), count = about.sizes.coordinates + about.sizes.speeds;
  /** @type {Map<string, ((what: any) => void)[]>} */ const listeners = new Map();
  /** @type {{q: number[], v: number[]}} */ let home = about.start;
  /** @type {any} */ let twin = null;
  let playing = false, halted = false, speed = 1, tolerance = TOLERANCE, apart = 1e-4, message = "";

  const emit = (/** @type {ToyEvent} */ event, /** @type {any} */ what = null) => {
    for (const act of listeners.get(event) || []) act(what);
  };

  /** Says something in the page; "" takes it away. @param {string} text */
  function tell(text) {
    if (text === message) return;
    message = text;
    emit("told", text);
  }

  const toy = {
    mechanism, record, count, emit, tell,
    /** @param {ToyEvent} event @param {(what: any) => void} act */
    on(event, act) {
      listeners.set(event, [...(listeners.get(event) || []), act]);
    },
    get twin() { return twin; },
    get playing() { return playing; },
    get message() { return message; },
    get speed() { return speed; },
    set speed(value) { speed = value > 0 ? value : 1; },
    get tolerance() { return tolerance; },
    set tolerance(value) {
      if (!(value >= 1e-13 && value <= 0.1)) throw new Error(`the tolerance must lie between 1e-13 and 0.1, found ${value}`);
      tolerance = value;
    },
    /** Difference between the starts of the two copies. */
    get apart() { return apart; },
    set apart(value) {
      apart = value;
      if (twin) separate();
    },

    play() {
      if (playing) return;
      playing = true;
      tell("");
      emit("mode");
    },
    pause() {
      if (!playing) return;
      playing = false;
      emit("mode");
    },

    /** Changes a parameter or an input. False if loops cannot be closed with it. @param {string} name @param {number} value */
    set(name, value) {
      const done = mechanism.set(name, value);
      if (done && twin) twin.set(name, value);
      tell(done ? "" : `the loops cannot be closed with ${name} = ${value}`);
      emit("changed", name);
      return done;
    },

    /** Starts again at time 0; values by name differ from the start of the page. @param {Record<string, number>} values */
    start(values = {}) {
      for (const [name, value] of Object.entries(values)) {
        if (!Number.isFinite(value)) throw new Error(`${name} must be a number, found ${value}`);
      }
      if (!mechanism.start(values, home)) {
        tell("the loops cannot be closed at this start");
        return false;
      }
      jump();
      return true;
    },
    /** Starts again from a pose and speeds. @param {{q: number[], v: number[]}} from */
    startFrom(from) {
      const done = mechanism.start({}, from);
      tell(done ? "" : "the loops cannot be closed at this start");
      if (done) jump();
      return done;
    },
    /** From now on, "reset" comes back to the present state. */
    startHere() {
      const { coordinates } = about.sizes, y = mechanism.values;
      home = { q: Array.from(y.subarray(0, coordinates)), v: Array.from(y.subarray(coordinates, count)) };
      toy.start();
    },
    /** Takes over time, values and parameters exactly. */
    restore(/** @type {number} */ time, /** @type {ArrayLike<number>} */ values, /** @type {Record<string, number>} */ parameters) {
      const done = mechanism.restore(time, values, parameters);
      tell(done ? "" : "this link does not hold a state of this mechanism");
      if (!done) return false;
      if (twin) separate();
      emit("changed", null);
      jump();
      return true;
    },
    /** Other values of some coordinates or speeds, now. @param {Record<string, number>} values */
    put(values) {
      const done = mechanism.put(values);
      tell(done ? "" : "the loops cannot be closed with this value");
      if (done) jump();
      return done;
    },
    /** Moves the pose so that a point of a body comes close to a place. */
    bring(/** @type {number} */ body, /** @type {number[]} */ at, /** @type {number[]} */ to) {
      mechanism.bring(body, at, to);
      jump();
    },

    /** Moves by a time, exactly. @param {number} by */
    step(by) {
      if (!(by > 0 && by < 1e6)) throw new Error(`a step needs a positive time, found ${by}`);
      const until = mechanism.time + by;
      halted = false;
      while (mechanism.time < until && !halted) {
        if (!advance(until)) throw new Error(message);
      }
      follow();
    },

    /**
     * Moves by at most this time, within a budget of milliseconds.
     * @param {number} by @param {number} budget
     * @returns {number} the time it moved by
     */
    run(by, budget) {
      const before = mechanism.time, until = before + by, end = performance.now() + budget;
      halted = false;
      while (mechanism.time < until && !halted && advance(Math.min(until, mechanism.time + speed / FINENESS)) && performance.now() < end);
      follow();
      return mechanism.time - before;
    },

    /** Stops where the mechanism is, and says why. @param {string} text */
    halt(text) {
      playing = false;
      halted = true;
      tell(text);
      emit("mode");
    },
    /** Stops since no step succeeds. */
    fail() {
      playing = false;
      const finite = mechanism.values.every(Number.isFinite);
      tell(finite ? "stopped: no step is small enough here. Reset, or change a parameter."
        : "stopped: the state is not finite. Reset, or change a parameter.");
      emit("mode");
    },

    /** A second copy from an almost equal start, or none. @param {boolean} on */
    split(on) {
      twin = on ? createMechanism(program, about) : null;
      if (twin) separate();
      emit("changed", null);
    },
  };

  /** One step, at most up to a time; false if none succeeds. @param {number} until */
  function advance(until) {
    const { stuck } = mechanism.advance(until, tolerance, 1);
    if (stuck) toy.fail();
    else emit("moved");
    return !stuck;
  }

  /** Moves the twin to the same time. */
  function follow() {
    if (!twin || twin.advance(mechanism.time, tolerance, 1e5).ok) return;
    toy.split(false);
    tell("the second copy could not be moved on");
  }

  /** The twin at the state of the mechanism, its first coordinate a little off. */
  function separate() {
    const y = Float64Array.from(mechanism.values);
    const values = Object.fromEntries(about.names.adjustable.map((/** @type {string} */ name) => [name, mechanism.get(name)]));
    twin.restore(mechanism.time, y, values);
    const name = about.names.coordinates[0];
    twin.put({ [name]: y[0] + apart * about.units[0] });
  }

  function jump() {
    if (twin) separate();
    emit("jumped");
  }

  return toy;
}

/** Largest distance between the same points of two copies. @param {any[]} a poses @param {any[]} b poses @param {number} length */
export function distanceOf(a, b, length) {
  let most = 0;
  a.forEach((pose, i) => {
    let turned = 0, moved = 0;
    for (let k = 0; k < 9; k++) turned += (pose.R[k] - b[i].R[k]) ** 2;
    for (let k = 0; k < 3; k++) moved += (pose.p[k] - b[i].p[k]) ** 2;
    most = Math.max(most, Math.sqrt(moved), length * Math.sqrt(turned / 2));
  });
  return most;
}

/** The weight of the mechanism now; masses are those of the model. @param {any} toy */
export function weightOf(toy) {
  const { name, value, weight } = toy.record.gravity;
  return toy.mechanism.knows(name) && value ? Math.abs(weight * toy.mechanism.get(name) / value) : weight;
}
