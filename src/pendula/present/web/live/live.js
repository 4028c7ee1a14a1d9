// The live page: a mechanism that is simulated here and now, under the hands of its reader.

import { markColour } from "../chart.js";
import { css } from "../colours.js";
import { short, spaced } from "../numbers.js";
import { byId, readData, watchErrors } from "../page.js";
import { createStage } from "../stage.js";
import { readTheme, watchTheme } from "../theme.js";
import { createApi } from "./api.js";
import { createActs, useControls } from "./controls.js";
import { createEvents } from "./events.js";
import { createModes } from "./excite.js";
import { useHands } from "./hands.js";
import { createHistory, createReactions, createSection } from "./history.js";
import { useKeys } from "./keys.js";
import { createLoop } from "./loop.js";
import { createNumbers, createPanel } from "./panel.js";
import { createPortrait, createSignals } from "./plots.js";
import { createScenery } from "./scenery.js";
import { openLink } from "./share.js";
import { createToy, distanceOf, weightOf } from "./toy.js";
import { createTraces } from "./trace.js";

const SHORT_EQUATIONS = 3; // speeds up to which the equations are open at the beginning
const WORDS_EVERY = 8; // frames between two updates of numbers
const PLOTS_EVERY = 3; // frames between two pictures of the charts

/** Time and energy in words. @param {any} toy @param {any} poses @param {any} ghost */
function writeReadings(toy, poses, ghost) {
  const { mechanism, record } = toy, { units } = record, energy = mechanism.energy();
  byId("clock").textContent = `${mechanism.time.toFixed(mechanism.time < 100 ? 2 : 1)}${spaced(units.time)}`;
  const total = Math.abs(energy.total) < 1e-6 * record.about.energy ? 0 : energy.total;
  byId("energy").textContent = `E ${short(total, 4)}${spaced(units.energy)}`;
  byId("drift").textContent = `energy error ${short(mechanism.energyDrift, 3)}`;
  if (ghost) byId("distance").textContent = `${short(distanceOf(poses, ghost, record.about.length), 3)}${spaced(units.length)} apart`;
}

/** Wide pages have room for charts, and for short equations. @param {any} record */
function unfoldByWidth(record) {
  const narrow = matchMedia("(max-width: 860px)");
  const unfold = () => {
    byId("charts-fold").open = !narrow.matches;
    byId("equations-fold").open = !narrow.matches && record.about.sizes.speeds <= SHORT_EQUATIONS;
  };
  narrow.addEventListener("change", unfold);
  unfold();
}

/**
 * Runs the page.
 * @param {any} program @param {any} wrenches functions written by Pendula; `wrenches` may be null
 */
export function startLive(program, wrenches) {
  watchErrors();
  const record = readData("record"), toy = createToy(program, record), { mechanism } = toy;
  const canvas = byId("view"), scenery = createScenery(record.scene, record.units.length);
  scenery.follow(mechanism);
  const stage = createStage(canvas, scenery.scene);
  stage.retheme();
  const events = createEvents(toy); // first of all that listens to steps: it may end one early
  const reactions = createReactions(wrenches, toy), past = createHistory(toy, reactions), section = createSection(toy);
  const traces = createTraces(toy, stage, scenery, scenery.trace);
  /** @type {any[]} */ let poses = scenery.poses(mechanism);
  /** @type {any[] | null} */ let ghost = null;
  let frames = 0, theme = readTheme(), twinColour = theme.lines[2];
  unfoldByWidth(record);

  /** Draws everything; `moved`: time went on. @param {boolean} moved */
  function picture(moved) {
    scenery.follow(mechanism);
    poses = scenery.poses(mechanism);
    ghost = toy.twin && scenery.poses(toy.twin);
    if (ghost) past.setDistance(distanceOf(poses, ghost, record.about.length));
    if (!hands.busy && scenery.widen(poses)) stage.measure();   // what a hand holds stays under it
    const ghosts = ghost ? [{ poses: ghost, links: scenery.links(ghost), alpha: 0.75, colour: twinColour }] : [];
    stage.draw(poses, scenery.links(poses), {
      trails: traces.trails(poses), ghosts, pull: hands.line, marks: [...traces.marks(section.points), ...eventMarks()],
    });
    frames++;
    if (!moved || frames % PLOTS_EVERY === 0) drawPlots();
    if (!moved || frames % WORDS_EVERY === 0) writeWords();
  }

  /** Places of the traced points at the events. */
  function eventMarks() {
    const { found } = events;
    return traces.marks(events.states, k => markColour(theme, found[k].kind));
  }

  function drawPlots() {
    if (!byId("charts-fold").open) return;
    signals.update();
    signals.draw();
    portrait.update();
    portrait.draw();
  }

  function writeWords() {
    writeReadings(toy, poses, ghost);
    panel.write();
    numbers.write();
    events.write();
    byId("untrace").disabled = traces.count === 0;
  }

  const loop = createLoop(toy, picture), refresh = loop.refresh;
  const hands = useHands(canvas, stage, toy, {
    scenery, weight: () => weightOf(toy), poses: () => poses, changed: refresh, click: found => traces.toggle(found, poses),
  });
  const signals = createSignals(toy, past, reactions, refresh, () => events.found), portrait = createPortrait(toy, past, section, refresh);
  const panel = createPanel(toy, refresh), numbers = createNumbers(toy);
  createModes(toy, program, refresh);
  if (record.about.sizes.quaternions.length) {   // quaternions say little to a reader
    signals.choose("energy: T, V, E");
    portrait.choose(toy.count - 3, toy.count - 2);
  }
  const acts = createActs(toy, stage, { traces, watch: signals.choose, fit: () => scenery.fit(poses) });
  useControls(toy, acts, refresh);
  useKeys(toy, stage, panel.inputs, acts, refresh);
  canvas.addEventListener("dblclick", (/** @type {MouseEvent} */ event) => {
    if (stage.pick(event.offsetX, event.offsetY)) return;
    acts.fit();
    refresh();
  });

  const open = () => openLink(toy, refresh);
  addEventListener("hashchange", open);
  watchTheme(() => {
    stage.retheme();
    theme = readTheme();
    twinColour = theme.lines[2];
    byId("twin-colour").style.background = css(twinColour);
    signals.retheme();
    portrait.retheme();
    refresh();
  });
  byId("twin-colour").style.background = css(twinColour);
  for (const event of ["jumped", "changed"]) toy.on(/** @type {any} */ (event), refresh);
  for (const fold of document.querySelectorAll("details")) fold.addEventListener("toggle", refresh);
  const resized = new ResizeObserver(loop.show);
  for (const id of ["view", "chart", "portrait"]) resized.observe(byId(id));

  Object.defineProperty(window, "pendula", { value: createApi(toy, { loop, stage, scenery, events }, refresh), enumerable: true });
  const still = open() || matchMedia("(prefers-reduced-motion: reduce)").matches;
  loop.show();
  if (!still) toy.play();
  document.body.dataset.ready = "true";
}
