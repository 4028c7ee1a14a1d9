// The page that plays a stored motion: stage, strip of signals, traced point, controls.

import { markColour } from "./chart.js";
import { css } from "./colours.js";
import { createMotion, inflate, readChannels } from "./motion.js";
import { labelled, short, spaced } from "./numbers.js";
import { byId, element, fail, readData, showTip, watchErrors } from "./page.js";
import { createPlayback } from "./playback.js";
import { usePointer } from "./pointer.js";
import { createStage } from "./stage.js";
import { createStrip } from "./strip.js";
import { readTheme, watchTheme } from "./theme.js";
import { clamp, place } from "./vectors.js";

const MOST_PLACES = 40;   // events marked on the traced path
const SNAP = 14;   // pixels within which a click takes a known point of a body

/** Words around the picture: title, size of the mechanism, notes. @param {any} scene */
function writeWords(scene) {
  const bodies = scene.bodies.filter((/** @type {any} */ b) => !b.ground), n = bodies.length;
  const frames = scene.frames === scene.samples ? `${scene.frames} frames` : `${scene.frames} frames of ${scene.samples} samples`;
  byId("title").textContent = scene.title;
  byId("about").textContent = [`${n} ${n === 1 ? "body" : "bodies"}`, scene.units && "units " + scene.units, frames].filter(Boolean).join(" · ");
  byId("hint").textContent = (scene.planar ? "drag to move" : "drag to turn") + " · wheel to zoom · click a body to trace it";
  const names = bodies.slice(0, 12).map((/** @type {any} */ b) => b.name).join(", "), more = n > 12 ? ` and ${n - 12} more` : "";
  byId("view").setAttribute("aria-label", `Animation of ${scene.title}. Bodies: ${names}${more}.`);
  for (const note of scene.notes) byId("notes").append(element("li", "", note));
  byId("notes").hidden = !scene.notes.length;
}

/** n equally spaced times. @param {number} first @param {number} last @param {number} n */
function evenTimes(first, last, n) {
  return Float64Array.from({ length: n }, (_, k) => first + (last - first) * k / Math.max(1, n - 1));
}

/** Signals of a scene as groups of lines: packed ones at the times of the frames, others at separate times. @param {any} scene */
async function readSignals(scene) {
  const groups = [];
  if (scene.signals) {
    const { count, text } = scene.signals, rows = readChannels(await inflate(text), count);
    const t = evenTimes(scene.t0, scene.t0 + scene.dt * (scene.frames - 1), count);
    let at = 0;
    for (const group of scene.signals.groups) {
      const lines = group.lines.map((/** @type {any} */ line) => ({
        name: line.name, x: t, y: rows[at++].map(v => line.low + line.step * v),
      }));
      groups.push({ name: group.name, up: group.up, lines, log: false });
    }
  }
  for (const { name, t, y } of scene.series) {
    const x = t.length === y.length ? t : evenTimes(t[0], t[1], y.length);
    groups.push({ name, up: name, lines: [{ name, x, y }] });
  }
  return groups;
}

/**
 * The path of a point of a body through the whole motion, a few points for each frame.
 * @param {any} motion @param {number} last the last frame @param {{body: number, at: number[]}} point
 */
function pathOf(motion, last, point) {
  const fine = Math.max(4, Math.ceil(240 / (last || 1))), count = last * fine + 1, points = new Float64Array(3 * (count + 1));
  for (let k = 0; k < count; k++) {
    motion.seek(k / fine);
    points.set(place(motion.pose(point.body), point.at), 3 * k);
  }
  return { points, fine, count };
}

/**
 * The traced point: a choice among known points, or any point that is clicked.
 * @param {any} scene @param {any} motion @param {() => void} changed
 */
function createTrace(scene, motion, changed) {
  const select = byId("trace"), last = scene.frames - 1;
  const points = scene.points.map((/** @type {any} */ p) => ({ ...p }));
  /** @type {any} */ let point = null;
  /** @type {any} */ let path = null;
  select.append(new Option("off", ""));
  points.forEach((/** @type {any} */ p, /** @type {number} */ k) => select.append(new Option(p.name, String(k))));
  const clicked = new Option("clicked point", "clicked");
  byId("tracing").hidden = !points.length;

  /** @param {any} p a point, or null @param {string} value of the choice */
  function follow(p, value) {
    point = p;
    path = p && pathOf(motion, last, p);
    select.value = value;
    changed();
  }
  const choose = (/** @type {string} */ value) => follow(value === "clicked" ? point : value === "" ? null : points[Number(value)], value);
  select.addEventListener("change", () => choose(select.value));

  /** Traces what was clicked: a known point nearby, or the point itself. @param {any} found @param {any} stage @param {any[]} poses */
  function click(found, stage, poses) {
    if (!found || scene.bodies[found.body].ground) return;
    const at = stage.toScreen(found.world);
    const near = points.findIndex((/** @type {any} */ p) => {
      const q = stage.toScreen(place(poses[p.body], p.at));
      return p.body === found.body && Math.hypot(q[0] - at[0], q[1] - at[1]) < SNAP;
    });
    if (near >= 0) return follow(points[near], String(near));
    clicked.textContent = `${scene.bodies[found.body].name}, clicked`;
    if (!clicked.isConnected) select.append(clicked);
    follow({ body: found.body, at: found.at }, "clicked");
  }

  /** What the stage draws at frame s. @param {number} s @param {any[]} poses @param {any} stage */
  function trails(s, poses, stage) {
    if (!point) return [];
    const stop = Math.min(path.count - 1, Math.floor(s * path.fine)), points = path.points.slice(0, 3 * (stop + 2));
    points.set(place(poses[point.body], point.at), 3 * (stop + 1));
    return [{ points, colour: stage.colourOf(point.body), recent: Math.round(0.12 * path.count), head: true }];
  }
  return { choose, click, trails, get point() { return point; } };
}

/**
 * Events of the run: marks for charts, ticks on the slider, points of the traced path.
 * @param {any} scene @param {any} motion @param {number} span
 */
function createEventMarks(scene, motion, span) {
  const all = (scene.events || []).flatMap((/** @type {any} */ event, /** @type {number} */ kind) =>
    event.t.map((/** @type {number} */ x) => ({ x, name: event.name, kind }))).sort((/** @type {any} */ a, /** @type {any} */ b) => a.x - b.x);
  const ticks = byId("ticks");
  let colours = readTheme();
  const retheme = () => {
    colours = readTheme();
    ticks.replaceChildren(...all.map((/** @type {any} */ mark) => {
      const tick = element("i");
      tick.style.left = `${100 * (mark.x - scene.t0) / (span || 1)}%`;
      tick.style.background = css(markColour(colours, mark.kind));
      tick.title = `${mark.name} at ${short(mark.x, 6)}${spaced(scene.time)}`;
      return tick;
    }));
  };
  retheme();
  return {
    all, retheme,
    /** Places of a traced point at the events up to a time since the first frame. @param {any} point @param {number} now */
    places(point, now) {
      if (!point || !scene.dt) return [];
      return all.filter((/** @type {any} */ mark) => mark.x <= now + scene.t0).slice(-MOST_PLACES).map((/** @type {any} */ mark) => {
        motion.seek(clamp((mark.x - scene.t0) / scene.dt, 0, scene.frames - 1));
        return { at: place(motion.pose(point.body), point.at), colour: markColour(colours, mark.kind) };
      });
    },
  };
}

/** Keys: space, arrows, Home, End, + - 0. @param {any} playback @param {any} stage @param {boolean} planar @param {number} span */
function useKeys(playback, stage, planar, span) {
  const seen = (/** @type {() => void} */ act) => () => {
    act();
    playback.refresh();
  };
  addEventListener("keydown", event => {
    const target = /** @type {any} */ (event.target), tag = target.tagName;
    if (event.ctrlKey || event.metaKey || event.altKey || tag === "SELECT") return;
    if (event.key === " " && (tag === "BUTTON" || target.type === "checkbox")) return;
    const turn = event.shiftKey && !planar;
    /** @type {Object<string, () => void>} */
    const time = {
      " ": () => playback.setPlaying(!playback.playing),
      ArrowLeft: () => playback.stepBy(-1),
      ArrowRight: () => playback.stepBy(1),
      Home: () => playback.seek(0),
      End: () => {
        playback.setPlaying(false);
        playback.seek(span);
      },
    };
    /** @type {Object<string, () => void>} */
    const view = {
      0: seen(stage.home), "+": seen(() => stage.zoom(1.2)), "=": seen(() => stage.zoom(1.2)), "-": seen(() => stage.zoom(1 / 1.2)),
    };
    if (turn) {
      view.ArrowLeft = seen(() => stage.spin(-20, 0));
      view.ArrowRight = seen(() => stage.spin(20, 0));
      view.ArrowUp = seen(() => stage.spin(0, -20));
      view.ArrowDown = seen(() => stage.spin(0, 20));
    }
    const act = view[event.key] || (playback.still ? null : time[event.key]);
    if (!act) return;
    event.preventDefault();
    act();
  });
}

/** Chooses a speed; one that is not in the list is added. @param {number} speed */
function setSpeed(speed) {
  const select = byId("speed");
  if (![...select.options].some(o => Number(o.value) === speed)) select.append(new Option(`${speed}×`, String(speed)));
  for (const option of select.options) option.selected = Number(option.value) === speed;
}

async function startPlayer() {
  const scene = readData("scene"), compact = Boolean(scene.compact);
  if (compact) document.documentElement.classList.add("compact", scene.compact);
  const motion = createMotion(scene, readChannels(await inflate(scene.motion), scene.frames));
  const groups = await readSignals(scene), last = scene.frames - 1, span = scene.dt * last;
  const unit = spaced(scene.time), canvas = byId("view");
  writeWords(scene);
  const stage = createStage(canvas, scene);
  stage.retheme();
  const frameOf = (/** @type {number} */ now) => (scene.dt ? clamp(now / scene.dt, 0, last) : 0);
  /** @type {any[]} */ let poses = [];
  const ghosts = scene.rest ? [{ ...scene.rest, alpha: 0.5, grey: true }] : [];

  /** Draws stage and strip at a time since the first frame. @param {number} now */
  function picture(now) {
    const s = frameOf(now), marks = events.places(trace.point, now);
    motion.seek(s);
    poses = scene.bodies.map((/** @type {any} */ _, /** @type {number} */ i) => motion.pose(i));
    const links = scene.links.map((/** @type {any} */ _, /** @type {number} */ i) => motion.link(i));
    stage.draw(poses, links, { trails: trace.trails(s, poses, stage), ghosts, marks });
    strip.draw(now + scene.t0);
  }

  const events = createEventMarks(scene, motion, span);
  const strip = createStrip({ canvas: byId("chart"), select: byId("signal"), legend: byId("legend") }, groups,
    { across: labelled("time", scene.time), changed: () => playback.refresh(), marks: () => events.all });
  byId("strip").hidden = !groups.length;
  const playback = createPlayback({
    play: byId("play"), symbol: byId("symbol"), back: byId("back"), next: byId("next"), slider: byId("time"), clock: byId("clock"),
    speed: byId("speed"), loop: byId("loop"),
  }, { span, step: scene.dt, t0: scene.t0, unit, picture });
  const trace = createTrace(scene, motion, playback.refresh);
  const plain = scene.trace === null || scene.compact === "mode" || scene.compact === "pose";
  trace.choose(plain ? "" : "0");   // the first point is the one to trace
  setSpeed(scene.speed || 1);

  const home = () => {
    stage.home();
    playback.refresh();
  };
  byId("reset").addEventListener("click", home);
  canvas.addEventListener("dblclick", home);
  useKeys(playback, stage, scene.planar, span);
  usePointer(canvas, stage, {
    changed: playback.refresh, planar: scene.planar, wheelNeedsKey: compact,
    hover: (found, x, y) => showTip(byId("tip"), found ? scene.bodies[found.body].name : "", x, y, stage.extent()),
    click: found => trace.click(found, stage, poses),
  });
  const scrub = (/** @type {PointerEvent} */ event) => {
    playback.setPlaying(false);
    playback.seek(strip.at(event.clientX - byId("chart").getBoundingClientRect().left) - scene.t0);
  };
  byId("chart").addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    byId("chart").setPointerCapture(event.pointerId);
    scrub(event);
  });
  byId("chart").addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
    if (event.buttons) scrub(event);
  });

  watchTheme(() => {
    stage.retheme();
    events.retheme();
    strip.retheme();
    playback.refresh();
  });
  const resized = new ResizeObserver(playback.show);   // at once: waiting for a frame would show a stretched picture
  resized.observe(canvas);
  resized.observe(byId("chart"));
  if (compact) new IntersectionObserver(list => playback.setSeen(list[list.length - 1].isIntersecting)).observe(canvas);
  // The address may ask for a time: page.html#t=2.5
  const asks = /^#t=([-+.\deE]+)$/.exec(location.hash), still = asks || matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (asks) playback.seek(Number(asks[1]) - scene.t0 || 0);
  playback.show();
  playback.setPlaying(!still);
  if (trace.point) document.body.dataset.tip = place(poses[trace.point.body], trace.point.at).join(" ");
  document.body.dataset.frames = scene.frames;
  document.body.dataset.ready = "true";
}

watchErrors();
startPlayer().catch(fail);
