// What has happened: samples of the state, of energies and of forces, kept for charts; points of a section.

import { TURN } from "../vectors.js";

const ROOM = 6000; // samples that are kept
const RATE = 200; // samples for each second of the screen, at most

/** An angle between -pi and pi. @param {number} x */
export function wrapped(x) {
  return x - TURN * Math.round(x / TURN);
}

/**
 * Forces and torques in the joints at the current state, in world axes.
 * @param {any} wrenches functions written by Pendula, or null @param {any} toy
 */
export function createReactions(wrenches, toy) {
  const { mechanism, record, count } = toy, joints = record.about.names.joints;
  if (!wrenches || !joints.length) return null;
  const p = new Float64Array(wrenches.PARAMETERS + wrenches.PREPARED), out = new Float64Array(6 * joints.length);
  const { speeds, rows } = record.about.sizes, x = new Float64Array(1 + count + speeds + rows);
  const prepare = () => {
    p.set(mechanism.p.subarray(0, wrenches.PARAMETERS));
    wrenches.prepare(p);
  };
  toy.on("changed", prepare);
  prepare();
  return {
    joints,
    /** Six numbers for each joint. @returns {Float64Array} */
    now() {
      const { accelerations, multipliers } = mechanism.forces();
      x[0] = mechanism.time;
      x.set(mechanism.values.subarray(0, count), 1);
      x.set(accelerations, 1 + count);
      x.set(multipliers, 1 + count + speeds);
      wrenches.wrenches(x, p, out);
      return out;
    },
  };
}

/**
 * The record of a motion. Columns: t, coordinates and speeds, T, V, E, work, error, then forces in joints and the
 * distance of the twin, which are computed only while they are watched.
 * @param {any} toy @param {any} reactions
 */
export function createHistory(toy, reactions) {
  const { mechanism, record, count } = toy, joints = reactions ? reactions.joints.length : 0;
  const ENERGY = 1 + count, JOINTS = ENERGY + 5, DISTANCE = JOINTS + 2 * joints;
  const columns = Array.from({ length: DISTANCE + 1 }, () => new Float64Array(ROOM));
  const watch = { joints: false };
  let size = 0, distance = NaN;

  /** Keeps the present state, unless the last sample is very near. */
  function sample() {
    const t = mechanism.time;
    if (size && t < columns[0][size - 1] + toy.speed / RATE) return;
    if (size === ROOM) {
      const kept = ROOM >> 1;
      for (const column of columns) column.copyWithin(0, ROOM - kept, ROOM);
      size = kept;
    }
    const energy = mechanism.energy();
    columns[0][size] = t;
    for (let i = 0; i < count; i++) columns[1 + i][size] = mechanism.values[i];
    const parts = [energy.kinetic, energy.potential, energy.total, energy.work, mechanism.energyError()];
    parts.forEach((value, k) => { columns[ENERGY + k][size] = value; });
    if (watch.joints) sampleJoints();
    else for (let k = JOINTS; k < DISTANCE; k++) columns[k][size] = NaN;
    columns[DISTANCE][size] = toy.twin ? distance : NaN;
    size++;
  }

  function sampleJoints() {
    const found = reactions.now();
    for (let j = 0; j < joints; j++) {
      columns[JOINTS + 2 * j][size] = Math.hypot(found[6 * j], found[6 * j + 1], found[6 * j + 2]);
      columns[JOINTS + 2 * j + 1][size] = Math.hypot(found[6 * j + 3], found[6 * j + 4], found[6 * j + 5]);
    }
  }

  const clear = () => {
    size = 0;
    sample();
  };
  toy.on("jumped", clear);
  toy.on("moved", sample);
  clear();

  /** The first sample at or after a time. @param {number} t */
  function indexAt(t) {
    let low = 0, high = size;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (columns[0][middle] < t) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  return {
    watch, indexAt, columns, at: { ENERGY, JOINTS, DISTANCE },
    get size() { return size; },
    /** The distance of the twin, once for every frame. @param {number} value */
    setDistance(value) { distance = value; },
    /** The last samples of a column, from an index on. @param {number} k @param {number} from */
    tail: (k, from = 0) => columns[k].subarray(from, size),
  };
}

/**
 * Points of a section (Poincare): the state whenever a coordinate or a speed passes a value upwards, or after every
 * period of time. Between two frames, states are interpolated linearly.
 * @param {any} toy
 */
export function createSection(toy) {
  const { mechanism, count } = toy, names = [...toy.record.about.names.coordinates, ...toy.record.about.names.speeds];
  const angular = names.map((name, k) => k < toy.record.about.sizes.coordinates && toy.record.about.names.kinds[k] === "angle");
  /** @type {number[][]} */ let points = [];
  const before = new Float64Array(count);
  let then = mechanism.time;
  /** @type {{by: number | "period" | null, level: number, period: number}} */
  const rule = { by: null, level: 0, period: 1 };

  const remember = () => {
    before.set(mechanism.values.subarray(0, count));
    then = mechanism.time;
  };
  toy.on("jumped", () => {
    points = [];
    remember();
  });
  toy.on("changed", () => { points = []; });
  toy.on("moved", () => {
    const f = crossing();
    if (f >= 0 && f <= 1) {
      points.push(Array.from(before, (value, k) => value + f * (mechanism.values[k] - value)));
      if (points.length > 4000) points.splice(0, 1000);
    }
    remember();
  });

  /** The fraction of the last frame at which the rule is met; -1: not at all. */
  function crossing() {
    if (rule.by === null || !(mechanism.time > then)) return -1;
    if (rule.by === "period") {
      const k = Math.floor(mechanism.time / rule.period);
      return k > Math.floor(then / rule.period) ? (k * rule.period - then) / (mechanism.time - then) : -1;
    }
    let a = before[rule.by] - rule.level, b = mechanism.values[rule.by] - rule.level;
    if (angular[rule.by]) {
      const turns = TURN * Math.round(a / TURN);
      a -= turns;
      b -= turns;
    }
    return a < 0 && b >= 0 ? a / (a - b) : -1;
  }

  return {
    names, angular, rule,
    get points() { return points; },
    clear() { points = []; },
  };
}
