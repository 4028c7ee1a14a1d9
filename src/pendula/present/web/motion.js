// A stored motion: bytes -> channels of whole numbers -> poses at any time. The writer is player/packing.py.

import { place } from "./vectors.js";

const HALF = 0.4937;   // grid points are found by floor(x + HALF), as when the motion was stored

/** The bytes of base64 text that was deflated. @param {string} text @returns {Promise<Uint8Array>} */
export async function inflate(text) {
  if (typeof DecompressionStream === "undefined") {
    throw new Error("this browser is too old (it has no DecompressionStream); any from 2023 on will do");
  }
  const raw = Uint8Array.from(atob(text), c => c.charCodeAt(0));
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Channels of n whole numbers each. @param {Uint8Array} bytes @param {number} n @returns {Float64Array[]} */
export function readChannels(bytes, n) {
  const rows = [];
  for (let at = 0; at < bytes.length;) {
    const order = bytes[at++], row = new Float64Array(n);
    for (let i = 0; i < n; i++) {
      let value = 0, scale = 1, byte;
      do {
        byte = bytes[at++];
        value += (byte & 127) * scale;
        scale *= 128;
      } while (byte > 127);
      row[i] = value % 2 ? -(value + 1) / 2 : value / 2;
    }
    for (let k = order; k > 0; k--) for (let i = k; i < n; i++) row[i] += row[i - 1];
    rows.push(row);
  }
  return rows;
}

/**
 * The scalar part of a quaternion is stored as the difference to what the other three and its last sign say.
 * @param {Float64Array[]} rows @param {number} at @param {number} turn
 */
function readScalar(rows, at, turn) {
  const [i, j, k, w] = rows.slice(at, at + 4);
  for (let f = 0; f < w.length; f++) {
    const rest = 1 / (turn * turn) - (i[f] * i[f] + j[f] * j[f] + k[f] * k[f]);
    const size = Math.floor(Math.sqrt(Math.max(0, rest)) + HALF);
    w[f] += f && w[f - 1] < 0 ? -size : size;
  }
}

/**
 * Values between frames: Catmull-Rom through four of them, beyond the ends a parabola through the outer three.
 * @param {number} n number of frames
 */
function createFrames(n) {
  const w = [0, 0, 0, 0];
  let j = 0;

  /** Goes to a frame, or between two. @param {number} s */
  function seek(s) {
    j = Math.max(0, Math.min(n - 2, Math.floor(s)));
    const f = n > 1 ? s - j : 0, f2 = f * f, f3 = f2 * f;
    if (n < 3) {
      w[0] = w[3] = 0;
      w[1] = 1 - f;
      w[2] = f;
      return;
    }
    w[0] = -0.5 * f + f2 - 0.5 * f3;
    w[1] = 1 - 2.5 * f2 + 1.5 * f3;
    w[2] = 0.5 * f + 2 * f2 - 1.5 * f3;
    w[3] = 0.5 * (f3 - f2);
    if (j === 0) {
      w[1] += 3 * w[0];
      w[2] -= 3 * w[0];
      w[3] += w[0];
      w[0] = 0;
    }
    if (j === n - 2) {
      w[2] += 3 * w[3];
      w[1] -= 3 * w[3];
      w[0] += w[3];
      w[3] = 0;
    }
  }

  /** The value of a channel there. @param {ArrayLike<number>} row */
  function value(row) {
    let sum = w[1] * row[j];
    if (j + 1 < n) sum += w[2] * row[j + 1];
    if (w[0] && j > 0) sum += w[0] * row[j - 1];
    if (w[3] && j + 2 < n) sum += w[3] * row[j + 2];
    return sum;
  }

  return { seek, value };
}

/** The rotation matrix of a body at the present frame. @param {any} body @param {(row: any) => number} value @returns {number[]} */
function rotationOf(body, value) {
  if (body.angle) {
    const a = value(body.angle), c = Math.cos(a), s = Math.sin(a);
    return [c, -s, 0, s, c, 0, 0, 0, 1];
  }
  let [a, x, y, z] = body.q.map(value);
  const length = Math.hypot(a, x, y, z) || 1;
  [a, x, y, z] = [a / length, x / length, y / length, z / length];
  if (body.spin) {   // times the rotation about the axis of its spin
    const h = value(body.spin) / 2, c = Math.cos(h), [u, v, t] = body.axis.map((/** @type {number} */ k) => k * Math.sin(h));
    [a, x, y, z] = [
      a * c - x * u - y * v - z * t,
      a * u + x * c + y * t - z * v,
      a * v - x * t + y * c + z * u,
      a * t + x * v - y * u + z * c,
    ];
  }
  return [
    1 - 2 * (y * y + z * z), 2 * (x * y - a * z), 2 * (x * z + a * y),
    2 * (x * y + a * z), 1 - 2 * (x * x + z * z), 2 * (y * z - a * x),
    2 * (x * z - a * y), 2 * (y * z + a * x), 1 - 2 * (x * x + y * y),
  ];
}

/**
 * The motion of a scene from its channels: `seek(s)` goes to a frame, or between two; `pose(i)` and `link(i)` give what
 * is there.
 * @param {any} scene @param {Float64Array[]} rows
 */
export function createMotion(scene, rows) {
  const n = scene.frames, dims = scene.planar ? 2 : 3, o = scene.origin, { seek, value } = createFrames(n);
  let at = 0;
  const take = (/** @type {number} */ scale, /** @type {number} */ offset) => rows[at++].map(x => offset + scale * x);
  /** @type {any[]} */
  const bodies = [];
  const pose = (/** @type {number} */ i) => {
    const p = bodies[i].position;
    return { p: [value(p[0]), value(p[1]), p[2] ? value(p[2]) : 0], R: rotationOf(bodies[i], value) };
  };
  scene.bodies.forEach((/** @type {any} */ given, /** @type {number} */ i) => {
    /** @type {any} */
    const body = { axis: given.axis };
    if (scene.planar) {
      body.angle = take(given.turn, 0);
    } else {
      readScalar(rows, at, given.turn);
      const [x, y, z, w] = [0, 1, 2, 3].map(() => take(given.turn, 0));
      body.q = [w, x, y, z];
      body.spin = given.spin ? take(given.spin, 0) : null;
    }
    body.position = rows.slice(at, at + dims);
    at += dims;
    bodies.push(body);
    // A body on a hinge is stored as the distance, in grid steps, from where the hinge and its rotation put it.
    const parts = given.anchor === null ? null : scene.hinges[given.anchor];
    const here = parts && parts.find((/** @type {any} */ part) => part[0] === i)[1];
    for (let k = 0; k < n; k++) {
      let guess = [0, 0, 0];
      if (parts) {
        seek(k);
        const held = place({ p: [0, 0, 0], R: rotationOf(body, value) }, here);
        const there = place(pose(parts[0][0]), parts[0][1]);
        guess = there.map((x, d) => Math.floor((x - held[d] - o[d]) / scene.step + HALF));
      }
      for (let d = 0; d < dims; d++) body.position[d][k] = o[d] + scene.step * (body.position[d][k] + guess[d]);
    }
  });
  const ends = scene.links.map(() => Array.from({ length: 2 * dims }, (_, d) => take(scene.step, o[d % dims])));
  if (at !== rows.length) throw new Error("the stored motion does not match the bodies");
  const link = (/** @type {number} */ i) => {
    const e = ends[i].map(value);
    return scene.planar ? [[e[0], e[1], 0], [e[2], e[3], 0]] : [e.slice(0, 3), e.slice(3)];
  };
  return { seek, pose, link };
}
