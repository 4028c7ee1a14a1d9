// The scene in the middle: the live mechanism, or a run, a mode or a pose that was computed, on one stage at a time.

import { labelled, short, spaced } from "../numbers.js";
import { byId, showPlaying, showTip } from "../page.js";
import { createPlayback } from "../playback.js";
import { usePointer } from "../pointer.js";
import { createStage } from "../stage.js";
import { createStrip } from "../strip.js";
import { useHands } from "../live/hands.js";
import { createHistory, createReactions } from "../live/history.js";
import { createLoop } from "../live/loop.js";
import { createPanel } from "../live/panel.js";
import { createSignals } from "../live/plots.js";
import { createScenery } from "../live/scenery.js";
import { createToy, weightOf } from "../live/toy.js";
import { createTraces } from "../live/trace.js";
import { createPuppet, motionAt } from "./puppet.js";

const SPEED_CHOICES = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 4];
const SHORTEST = 1.5; // seconds of the screen that a motion lasts at least
const MANY_FRAMES = 6; // frames between two updates of charts and numbers
const EMPTY = {
  planar: true, up: [0, 1, 0], low: [-1.2, -1.2, 0], high: [1.2, 0.6, 0], radius: 1.2, halfHeight: 0.9, length: "m",
  bodies: [{ name: "ground", ground: true, shapes: [] }], hinges: [], links: [],
};

/** Replaces what the scene contains by the parts of a template. @param {string} id */
function furnish(id) {
  byId("scene").replaceChildren(byId(id).content.cloneNode(true));
}

/**
 * Choices of the speed.
 * @param {(speed: number) => void} changed
 * @param {number} most the fastest that is chosen at first
 */
function fillSpeeds(changed, most = 1) {
  const select = byId("speed");
  const first = Math.max(SPEED_CHOICES[0], ...SPEED_CHOICES.filter(value => value <= Math.min(1, most)));
  for (const value of SPEED_CHOICES) select.append(new Option(
    `${value}\u00d7`, String(value), value === first, value === first,
  ));
  select.addEventListener("change", () => changed(Number(select.value)));
}

/** Chart or sliders below the picture; the choice is remembered. */
function useLower() {
  const buttons = /** @type {any[]} */ ([...document.querySelectorAll("#lower-choice button")]), lower = byId("lower");
  const choose = (/** @type {string} */ what) => {
    lower.dataset.shows = what;
    localStorage.setItem("pendula-lower", what);
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.lower === what));
  };
  for (const button of buttons) button.addEventListener("click", () => choose(button.dataset.lower));
  choose(localStorage.getItem("pendula-lower") === "sliders" ? "sliders" : "chart");
}

/** The name of a body beside the pointer. @param {any} stage @param {any[]} bodies */
function nameTip(stage, bodies) {
  return (/** @type {any} */ found, /** @type {number} */ x, /** @type {number} */ y) => {
    showTip(byId("tip"), found ? bodies[found.body].name : "", x, y, stage.extent());
  };
}

/** A scene without a mechanism, to build one in. */
function emptyShow() {
  furnish("empty-parts");
  const canvas = byId("view"), stage = createStage(canvas, structuredClone(EMPTY));
  const ground = [{ p: [0, 0, 0], R: [1, 0, 0, 0, 1, 0, 0, 0, 1] }];
  let marks = /** @type {any[]} */ ([]);
  const draw = () => stage.draw(ground, [], { marks });
  usePointer(canvas, stage, { changed: draw, planar: true });
  byId("hint").textContent = "nothing here yet: add a body in the scene, or take a mechanism from the library";
  return {
    kind: "empty", planar: true, stage, canvas, draw, size: 2.4, poses: () => ground, bodies: EMPTY.bodies,
    setMarks: (/** @type {any[]} */ given) => { marks = given; draw(); },
    retheme: () => { stage.retheme(); draw(); },
    end() {},
  };
}

/**
 * The live mechanism.
 * @param {{program: any, wrenches: any, record: any}} content @param {any} acts `keep(values)`, `moved`
 */
function liveShow(content, acts) {
  furnish("live-parts");
  const { record } = content, toy = createToy(content.program, record), { mechanism } = toy;
  const canvas = byId("view"), scenery = createScenery(record.scene, record.units.length);
  scenery.follow(mechanism);
  const stage = createStage(canvas, scenery.scene);
  stage.retheme();
  canvas.setAttribute(
    "aria-label", `${record.title} in motion. Bodies: ${record.about.names.bodies.slice(0, 12).join(", ")}.`,
  );
  const reactions = createReactions(content.wrenches, toy), past = createHistory(toy, reactions);
  const traces = createTraces(toy, stage, scenery, null);
  let poses = scenery.poses(mechanism), frames = 0, marks = /** @type {any[]} */ ([]), building = false;

  function picture(/** @type {boolean} */ moved) {
    if (!canvas.isConnected) return;
    scenery.follow(mechanism);
    poses = scenery.poses(mechanism);
    if (!hands.busy && scenery.widen(poses)) stage.measure();
    stage.draw(poses, scenery.links(poses), { trails: traces.trails(poses), pull: hands.line, marks });
    if (moved && ++frames % MANY_FRAMES) return;
    signals.update();
    signals.draw();
    panel.write();
    writeReadings();
  }

  function writeReadings() {
    const { units } = record;
    byId("clock").textContent = `${mechanism.time.toFixed(2)}${spaced(units.time)}`;
    byId("energy").textContent = `E ${short(mechanism.energy().total, 4)}${spaced(units.energy)}`;
    byId("drift").textContent = `drift ${mechanism.energyDrift ? mechanism.energyDrift.toExponential(0) : "0"}`;
    byId("untrace").hidden = traces.count === 0;
  }

  const loop = createLoop(toy, picture), { refresh } = loop;
  const hands = useHands(canvas, stage, toy, {
    scenery, weight: () => weightOf(toy), poses: () => poses, changed: refresh,
    click: (/** @type {any} */ found) => {
      if (!building) traces.toggle(found, poses);
      refresh();
    },
  });
  const signals = createSignals(toy, past, reactions, refresh), panel = createPanel(toy, refresh);
  if (record.about.sizes.quaternions.length) signals.choose("energy: T, V, E"); // quaternions say little to a reader
  const click = (/** @type {string} */ id, /** @type {() => void} */ act) => byId(id).addEventListener("click", () => {
    act();
    refresh();
  });
  const toggle = () => (toy.playing ? toy.pause() : toy.play());
  click("play", toggle);
  click("reset", () => toy.start());
  click("step", () => {
    toy.pause();
    toy.step(toy.speed / 60);
  });
  click("untrace", traces.clear);
  click("fit", () => {
    stage.home();
    scenery.fit(poses);
    stage.measure();
  });
  click("keep", () => {
    const changed = record.sliders.filter((/** @type {any} */ s) => mechanism.get(s.name) !== s.value);
    acts.keep(
      mechanism.state, Object.fromEntries(changed.map((/** @type {any} */ s) => [s.name, mechanism.get(s.name)])),
    );
  });
  canvas.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== " ") return;
    event.preventDefault();
    toggle();
  });
  fillSpeeds(value => { toy.speed = value; });
  useLower();
  const mode = () => {
    showPlaying(byId("play"), byId("play-icon"), toy.playing);
    byId("hint").textContent = building ? "click a point of a body, or beside it for the ground"
      : toy.playing ? "drag a body to pull it \u00b7 click to trace a point" : "paused: drag a body to set the pose";
  };
  toy.on("mode", mode);
  toy.on("told", text => {
    byId("message").textContent = text;
    byId("message").hidden = !text;
  });
  for (const event of ["jumped", "changed"]) toy.on(/** @type {any} */ (event), refresh);
  mode();
  return {
    kind: "live", planar: scenery.scene.planar, toy, stage, canvas, draw: loop.show, size: scenery.size, poses: () => poses, bodies: scenery.scene.bodies,
    setMarks: (/** @type {any[]} */ given) => { marks = given; refresh(); },
    build(/** @type {boolean} */ on) {
      building = on;
      if (on) {
        toy.pause();
        toy.start();
      }
      mode();
      refresh();
    },
    retheme() {
      stage.retheme();
      signals.retheme();
      refresh();
    },
    end: () => toy.pause(),
  };
}

/**
 * A motion that was computed.
 * @param {{program: any, record: any}} content
 * @param {{title: string, t: number[], q: number[][], rate?: number[][], groups?: any[], parameters?: Record<string, number>,
 *   ghost?: number[], end?: number}} motion `q` in the order of the program's coordinates; `end`: when a motion that is
 *   still being computed will end, see `grow`
 */
function motionShow(content, motion) {
  furnish("motion-parts");
  const { record } = content, puppet = createPuppet(content.program, record.about), at = motionAt(motion);
  if (motion.parameters) puppet.adjust(motion.parameters);
  const canvas = byId("view"), scenery = createScenery(record.scene, record.units.length), t0 = motion.t[0];
  const last = () => motion.t[motion.t.length - 1], span = (motion.end ?? last()) - t0;
  let seen = 0;
  /** Makes the picture so large that it holds the whole motion; whether it grew. */
  function hold() {
    const every = Math.max(1, Math.floor(motion.t.length / 200));
    let wider = false;
    for (seen = Math.min(seen, motion.q.length - 1); seen < motion.q.length; seen += every) {
      puppet.put(motion.t[seen], motion.q[seen]);
      scenery.follow(puppet);
      wider = scenery.widen(scenery.poses(puppet)) || wider;
    }
    return wider;
  }
  puppet.put(t0, motion.q[0]);
  scenery.follow(puppet);
  hold();
  const stage = createStage(canvas, scenery.scene);
  stage.retheme();
  canvas.setAttribute("aria-label", motion.title);
  byId("hint").textContent = motion.title;
  let ghost = /** @type {any} */ (null), poses = scenery.poses(puppet);
  if (motion.ghost) {
    puppet.put(t0, motion.ghost);
    const rest = scenery.poses(puppet);
    ghost = { poses: rest, links: scenery.links(rest), alpha: 0.5, grey: true };
  }
  const groups = motion.groups || [];
  byId("strip").hidden = !groups.length || !(span > 0);
  const strip = groups.length && span > 0 && createStrip(
    { canvas: byId("chart"), select: byId("signal"), legend: byId("legend") }, groups,
    { across: labelled("time", record.units.time), changed: () => playback.refresh() },
  );

  function picture(/** @type {number} */ now) {
    if (!canvas.isConnected) {
      playback.setPlaying(false);
      return;
    }
    if (t0 + now > last()) playback.seek(now = last() - t0); // it waits for what is computed next
    puppet.put(t0 + now, at(t0 + now));
    scenery.follow(puppet);
    poses = scenery.poses(puppet);
    stage.draw(poses, scenery.links(poses), { ghosts: ghost ? [ghost] : [] });
    if (strip) strip.draw(t0 + now);
  }
  fillSpeeds(() => playback.refresh(), span / SHORTEST);
  const playback = createPlayback(
    {
      play: byId("play"), symbol: byId("play-icon"), back: byId("back"), next: byId("next"), slider: byId("time"),
      clock: byId("clock"), speed: byId("speed"), loop: byId("loop"),
    },
    {
      span, step: span / Math.max(1, motion.t.length - 1), t0, unit: record.units.time ? ` ${record.units.time}` : "",
      picture,
    },
  );
  byId("controls").hidden = !(span > 0);
  usePointer(
    canvas, stage,
    { changed: playback.refresh, hover: nameTip(stage, scenery.scene.bodies), planar: scenery.scene.planar },
  );
  canvas.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== " ") return;
    event.preventDefault();
    playback.setPlaying(!playback.playing);
  });
  const widest = () => {
    if (strip && motion.end !== undefined) strip.refresh({ from: t0, to: motion.end });
  };
  widest();
  return {
    kind: "motion", motion, stage, canvas, draw: playback.show, playback, size: scenery.size, poses: () => poses, bodies: scenery.scene.bodies,
    setMarks() {},
    /** The motion has become longer. */
    grow() {
      if (hold()) stage.measure();
      byId("hint").textContent = motion.title;
      widest();
      playback.refresh();
    },
    retheme() {
      stage.retheme();
      if (strip) strip.retheme();
      widest();
      playback.refresh();
    },
    end: () => playback.setPlaying(false),
  };
}

/**
 * The scene of the studio.
 * @param {any} acts `keep(state, parameters)` writes the present state into the model
 */
export function createScene(acts) {
  /** @type {any} */ let show = emptyShow();
  /** @type {any} */ let content = null;
  /** @type {((show: any) => void)[]} */ const watchers = [];
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const resized = new ResizeObserver(() => show.draw());

  /** @param {() => any} make */
  function change(make) {
    const view = show.kind === "live" && show.bodies.length ? { ...show.stage.view } : null, before = show.kind;
    show.end();
    resized.disconnect();
    show = make();
    if (view && before === "live" && show.kind === "live") Object.assign(show.stage.view, view);
    for (const id of ["view", "chart"]) {
      const found = document.getElementById(id);
      if (found) resized.observe(found);
    }
    byId("middle").dataset.shows = show.kind;
    show.draw();
    for (const watch of watchers) watch(show);
  }
  change(emptyShow);

  return {
    get show() { return show; },
    get content() { return content; },
    watch: (/** @type {(show: any) => void} */ act) => watchers.push(act),
    /** No mechanism. */
    clear() {
      content = null;
      change(emptyShow);
    },
    /** The mechanism that is shown live next. @param {any} given */
    hold(given) { content = given; },
    /** Another live mechanism; null keeps the one there is. @param {any} given @param {boolean} play */
    live(given, play = true) {
      if (given) content = given;
      if (!content) return change(emptyShow);
      change(() => liveShow(content, acts));
      if (play && !still) show.toy.play();
    },
    /** Plays a motion with the program of the mechanism it belongs to. @param {any} of @param {any} motion */
    motion(of, motion) {
      change(() => motionShow(of, motion));
      if (!still) show.playback.setPlaying(true);
    },
    retheme: () => show.retheme(),
  };
}
