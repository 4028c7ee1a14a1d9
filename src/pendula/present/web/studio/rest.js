// Tabs of equilibria and of small motion about them: stability, eigenvalues, root locus, modes to play.

import { labelled, short, spaced } from "../numbers.js";
import { element } from "../page.js";
import { createPlane, rootText } from "./plane.js";
import { inOrder } from "./runs.js";
import { createTask, factsOf, fillOptions, notesOf, pick, settings, staleNote, tableOf, typed } from "./study.js";

/** A value of a coordinate; angles in degrees. @param {number} value @param {string} unit */
function shownValue(value, unit) {
  if (unit !== "rad") return `${short(value, 4)}${spaced(unit)}`;
  return `${short(Number((value * 180 / Math.PI).toFixed(4)), 5)}\u00b0`;
}

/** @param {HTMLElement} host @param {any} tools */
function makeEquilibria(host, tools) {
  const out = element("div", "result"), prove = element("input");
  const label = element("label", "quiet-label", " prove that there are no others");
  prove.type = "checkbox";
  label.prepend(prove);
  const task = createTask("Find equilibria", async () => {
    const { text } = tools.model, piece = (/** @type {any} */ found) => showPositions(found, { asked: { text } });
    const job = await tools.compute("equilibria", prove.checked ? { prove: 20 } : {}, { piece });
    show(job.result, job);
  });
  host.append(settings(task.button, label), task.note, out);

  /** The equilibria before it is known whether they are stable. @param {any} found @param {any} job */
  function showPositions(found, job) {
    if (!found.equilibria.length) return;
    const words = `${found.equilibria.length} found; examining their stability \u2026`;
    out.replaceChildren(element("p", "verdict", words), tableFor(found, job));
  }

  /** @param {any} result @param {any} job */
  function show(result, job) {
    const list = result.equilibria;
    tools.rest.set(list.length, job);
    const count = list.length ? `${list.length} found` : "There is no equilibrium.";
    out.replaceChildren(staleNote(tools, job), element("p", "verdict", count),
      ...(list.length ? [
        tableFor(result, job),
        element("p", "quiet", "Click a row to start there; its number also chooses it for eigenvalues and modes."),
      ] : []),
      element("p", "quiet", `Complete: ${result.complete} (${result.reason}).`));
  }

  /** One row for each equilibrium. @param {any} result @param {any} job */
  function tableFor(result, job) {
    const list = result.equilibria, names = Object.keys(list[0]?.q || {});
    const differ = names.filter(name => list.some((/** @type {any} */ one) => Math.abs(one.q[name] - list[0].q[name]) > 1e-9));
    const columns = (differ.length && list.length > 1 ? differ : names).slice(0, 6);
    const rows = list.map((/** @type {any} */ one, /** @type {number} */ k) => {
      const start = element("button", "link", `${k + 1}`);
      start.type = "button";
      start.title = "start here";
      start.setAttribute("aria-label", `start at equilibrium ${k + 1}`);
      start.addEventListener("click", () => startAt(one, k, job).catch(error => task.tell(error.message, true)));
      const words = one.verdict || "\u2026";
      const kind = /unstable/.test(words) ? "bad" : /^(asymptotically )?stable/.test(words) ? "good" : "";
      const verdict = element("span", `tag ${kind}`, words);
      verdict.title = one.proof || "";
      return [
        start, ...columns.map(name => shownValue(one.q[name], result.units[name] || "")), verdict,
        short(one.potential, 4),
      ];
    });
    const table = tableOf(["", ...columns, "stability", labelled("V", result.units.potential)], rows);
    table.classList.add("clickable");
    [...table.querySelectorAll("tr")].slice(1).forEach((row, k) => row.addEventListener("click", (/** @type {Event} */ event) => {
      if (/** @type {any} */ (event.target).tagName !== "BUTTON") startAt(list[k], k, job).catch(error => task.tell(error.message, true));
    }));
    return table;
  }

  /** Starts the live scene at an equilibrium. @param {any} one @param {number} k @param {any} job */
  async function startAt(one, k, job) {
    const content = await tools.content((job.asked && job.asked.text) || job.text), { names } = content.record.about;
    tools.scene.live(content, false);
    const { toy } = tools.scene.show;
    const done = toy.startFrom({
      q: names.coordinates.map((/** @type {string} */ n) => one.q[n]),
      v: names.speeds.map((/** @type {string} */ n) => one.v[n] ?? 0),
    });
    if (done) {
      tools.rest.choose(k + 1);
      toy.play();
      toy.tell(`at equilibrium ${k + 1}${one.verdict ? `, ${one.verdict}` : ""}: give it a push`);
    }
    tools.shown("live");
    tools.look();
  }
  return { show };
}

/** Which equilibrium eigenvalues and modes refer to: shared by the tabs. @returns {any} */
export function createRest() {
  /** @type {any[]} */ const selects = [];
  let count = 0, chosen = "";
  const options = () => /** @type {[string, string][]} */ ([
    ["least potential", ""], ...Array.from({ length: count }, (_, k) => [`equilibrium ${k + 1}`, String(k + 1)]),
  ]);
  return {
    /** A choice of the equilibrium. */
    select() {
      const made = pick("at", options());
      made.select.setAttribute("aria-label", "Equilibrium");
      selects.push(made.select);
      made.select.addEventListener("change", () => this.choose(made.select.value));
      return made;
    },
    /** For another model. */
    reset() {
      selects.length = count = 0;
      chosen = "";
    },
    set(/** @type {number} */ n) {
      count = n;
      for (const select of selects) fillOptions(select, options());
    },
    choose(/** @type {string | number} */ value) {
      chosen = String(value);
      for (const select of selects) select.value = chosen;
    },
    /** As an option of a job. */
    get at() { return chosen ? { at: Number(chosen) } : {}; },
  };
}

/** @param {HTMLElement} host @param {any} tools */
function makeEigenvalues(host, tools) {
  const at = tools.rest.select(), list = element("div", "result"), canvas = element("canvas");
  const panel = element("div", "panel plane");
  canvas.setAttribute("role", "img");
  panel.append(canvas);
  panel.hidden = true;
  const plane = createPlane(
    canvas, root => playRoot(root).catch(error => task.tell(error.message, true)),
    { across: "real part [1/s]", up: "imaginary part [rad/s]" },
  );
  /** @type {any} */ let locus = null;
  /** @type {any} */ let modes = null;
  let point = -1;
  const task = createTask("Eigenvalues, modes", async () => {
    const job = await tools.compute("modes", tools.rest.at);
    showModes(job.result, job);
  });
  const parameter = pick("over", []), low = typed("from", ""), high = typed("to", ""), slider = element("input");
  const value = element("output");
  parameter.select.setAttribute("aria-label", "Parameter");
  parameter.select.classList.add("short");
  slider.type = "range";
  slider.hidden = true;
  slider.setAttribute("aria-label", "Value of the parameter");
  const wander = createTask("Root locus", async () => {
    /** @type {any[]} */ const known = [];
    const piece = (/** @type {any} */ found) => { // the roots so far, without a slider yet
      known.push(...found.points);
      panel.hidden = false;
      plane.show([], known.map(point => point.roots));
      plane.mark(null);
    };
    const job = await tools.compute(
      "locus",
      { ...tools.rest.at, parameter: parameter.select.value, low: low.input.value, high: high.input.value, count: 80 },
      { piece },
    );
    showLocus(job.result, job);
  });
  const stable = createTask("Stability", async tell => {
    const job = await tools.compute("stability", tools.rest.at);
    tell(`${job.result.verdict} (${job.result.certainty}): ${job.result.proof || job.result.grounds || ""}`);
  });
  stable.button.classList.remove("main");
  wander.button.classList.remove("main");
  const over = element("div", "over");
  over.append(slider, value);
  over.hidden = true;
  host.append(
    settings(at.box, task.button, stable.button), task.note, stable.note,
    settings(parameter.box, low.box, high.box, wander.button), wander.note, over, panel, list,
  );

  const suggest = () => {
    const known = (tools.model.about?.parameters || []).find((/** @type {any} */ p) => p.name === parameter.select.value);
    if (!known) return;
    const span = Math.abs(known.value) || 1;
    low.input.value = String(Number((known.value > 0 ? known.value / 5 : known.value - span).toPrecision(3)));
    high.input.value = String(Number((known.value > 0 ? known.value * 3 : known.value + span).toPrecision(3)));
  };
  parameter.select.addEventListener("change", suggest);

  function changed() {
    const before = parameter.select.value;
    const names = (tools.model.about?.parameters || []).map((/** @type {any} */ p) => [p.name, p.name]);
    fillOptions(parameter.select, names);
    if (parameter.select.value !== before || !low.input.value) suggest();
  }

  /** Roots of modes, each conjugate too. @param {any} result @returns {[number, number][]} */
  const rootsOf = result => result.eigenvalues.flatMap((/** @type {any} */ e) => {
    if (e.im) return [[e.re, e.im], [e.re, -e.im]];
    return e.roots > 1 && e.re ? [[e.re, 0], [-e.re, 0]] : [[e.re, 0]];
  });

  /** @param {any} result @param {any} job */
  function showModes(result, job) {
    modes = { result, job };
    locus = null;
    over.hidden = true;
    panel.hidden = false;
    plane.show(rootsOf(result));
    plane.mark(null);
    drawList(result, job);
  }

  /** @param {any} result @param {any} job */
  function drawList(result, job) {
    const rows = result.eigenvalues.map((/** @type {any} */ e, /** @type {number} */ k) => {
      const motion = result.motions.find((/** @type {any} */ m) => m.number === k + 1);
      const play = element("button", "link", `\u25b6 ${k + 1}`);
      play.type = "button";
      play.disabled = !motion || motion.missing;
      play.title = motion?.missing || "play this mode";
      play.setAttribute("aria-label", `play mode ${k + 1}`);
      play.addEventListener("click", () => playMode(k + 1, result, job).catch(error => task.tell(error.message, true)));
      const hertz = result.frequencies_hz[k], ratio = result.damping_ratios[k];
      return [
        play, rootText([e.re, e.im]), hertz === null ? result.kinds[k] : `${short(hertz, 4)} Hz`,
        ratio === null ? "" : short(ratio, 3),
      ];
    });
    const words = result.description.map((/** @type {string} */ text) => element("li", "", text));
    const sentences = element("ul", "words");
    sentences.append(...words);
    list.replaceChildren(
      staleNote(tools, job), tableOf(["mode", "eigenvalue", "frequency", "damping"], rows), sentences,
      ...notesOf(result.notes),
    );
  }

  /** @param {number} number @param {any} result @param {any} job */
  async function playMode(number, result, job) {
    const motion = result.motions.find((/** @type {any} */ m) => m.number === number);
    if (!motion || motion.missing) throw new Error(motion ? motion.missing : "this mode has no motion to play");
    const content = await tools.content(job.asked ? job.asked.text : job.text);
    const q = inOrder(content, motion.coordinates, motion.q);
    const names = content.record.about.names.coordinates;
    const rest = names.map((/** @type {string} */ n) => result.equilibrium.q[n]);
    const parameters = (job.asked ? job.asked.options : job.options || {}).parameters || {};
    const e = result.eigenvalues[number - 1];
    plane.mark([e.re, e.im]);
    tools.scene.motion(content, { title: result.description[number - 1], t: motion.t, q, ghost: rest, parameters });
    tools.shown("mode", `mode ${number}`);
    tools.look();
  }

  /** @param {any} result @param {any} job */
  function showLocus(result, job) {
    locus = { result, job };
    panel.hidden = over.hidden = slider.hidden = false;
    slider.min = "0";
    slider.max = String(result.points.length - 1);
    slider.step = "1";
    const own = result.points.reduce((/** @type {number} */ best, /** @type {any} */ p, /** @type {number} */ k) =>
      (Math.abs(p.value - result.value) < Math.abs(result.points[best].value - result.value) ? k : best), 0);
    slider.value = String(own);
    goTo(own);
    list.replaceChildren(staleNote(tools, job), element(
      "p", "quiet", "Move the slider; click a root to play its mode at that value.",
    ),
      ...(result.lost.length ? [element(
        "p", "quiet",
        `The equilibrium ends at ${result.parameter} = ${result.lost.map((/** @type {number} */ x) => short(x, 4)).join(", ")}.`,
      )] : []));
  }

  /** @param {number} k */
  function goTo(k) {
    point = k;
    const one = locus.result.points[k];
    value.textContent = `${locus.result.parameter} = ${short(one.value, 4)}`;
    slider.setAttribute("aria-valuetext", value.textContent);
    plane.show(one.roots, locus.result.points.map((/** @type {any} */ p) => p.roots));
    plane.mark(null);
  }
  slider.addEventListener("input", () => goTo(Number(slider.value)));

  /**
   * Plays the mode of a root: of the modes shown, or those at the value of the slider.
   * @param {[number, number]} root
   */
  async function playRoot(root) {
    plane.mark(root);
    let from = modes;
    if (locus) {
      const one = locus.result.points[point];
      const asked = { at: one.at, parameters: { [locus.result.parameter]: one.value } };
      const job = await tools.compute("modes", asked, { text: (locus.job.asked || locus.job).text, quiet: true });
      from = { result: job.result, job: { ...job, asked: job.asked || { text: locus.job.text, options: asked } } };
    }
    const far = (/** @type {any} */ e) => Math.hypot(e.re - root[0], Math.abs(e.im) - Math.abs(root[1]));
    const list2 = from.result.eigenvalues;
    const k = list2.reduce(
      (/** @type {number} */ best, /** @type {any} */ e, /** @type {number} */ i) => (far(e) < far(list2[best]) ? i : best),
      0,
    );
    await playMode(k + 1, from.result, from.job);
    plane.mark(root);
  }

  return {
    changed, opened: () => plane.draw(), retheme: plane.draw, plane,
    show(/** @type {any} */ result, /** @type {any} */ job) {
      if (job.kind === "locus") showLocus(result, job);
      else if (job.kind === "modes") showModes(result, job);
      else if (job.kind === "stability") stable.tell(`${result.verdict} (${result.certainty})`);
    },
  };
}

/** @param {HTMLElement} host @param {any} tools */
function makeFloquet(host, tools) {
  const out = element("div", "result"), canvas = element("canvas"), panel = element("div", "panel plane");
  canvas.setAttribute("role", "img");
  panel.append(canvas);
  panel.hidden = true;
  const plane = createPlane(canvas, () => {}, { circle: true });
  const close = element("input"), label = element("label", "quiet-label", " search for a periodic motion near the start");
  const period = typed("period", "");
  period.input.placeholder = "automatic";
  close.type = "checkbox";
  label.prepend(close);
  const task = createTask("Floquet multipliers", async () => {
    const given = period.input.value.trim() ? { period: period.input.value.trim() } : {};
    const job = await tools.compute("floquet", close.checked ? { ...given, close: true } : given);
    show(job.result, job);
  });
  host.append(
    element("p", "quiet", "Stability of the motion of a mechanism that is driven periodically, over one period."),
    settings(period.box, task.button), settings(label), task.note, panel, out,
  );

  /** @param {any} result @param {any} job */
  function show(result, job) {
    panel.hidden = false;
    plane.show(result.multipliers.map((/** @type {any} */ m) => [m.re, m.im]));
    plane.draw();
    const play = element("button", "", "\u25b6 Play one period");
    play.type = "button";
    play.addEventListener("click", async () => {
      const content = await tools.content(job.asked ? job.asked.text : job.text), { motion } = result;
      tools.scene.motion(
        content,
        { title: `one period, ${result.verdict}`, t: motion.t, q: inOrder(content, motion.coordinates, motion.q) },
      );
      tools.shown("floquet", "one period");
      tools.look();
    });
    out.replaceChildren(staleNote(tools, job), element(
      "p", `verdict ${result.verdict.includes("unstable") ? "bad" : "good"}`, `${result.verdict} (${result.certainty})`,
    ),
      element("p", "quiet", result.reason), factsOf([[
        "period", `${short(result.period, 6)} ${result.time_unit}`,
      ]]), play,
      tableOf(
        ["multiplier", "size"],
        result.multipliers.map((/** @type {any} */ m) => [rootText([m.re, m.im]), short(m.size, 6)]),
      ), ...notesOf(result.notes));
  }
  return { show, opened: () => plane.draw(), retheme: plane.draw };
}

export const REST_TABS = [
  { key: "equilibria", title: "Equilibria", kinds: ["equilibria"], make: makeEquilibria },
  { key: "eigenvalues", title: "Eigenvalues", kinds: ["modes", "locus", "stability"], make: makeEigenvalues },
];
export const FLOQUET_TAB = { key: "floquet", title: "Floquet", kinds: ["floquet"], make: makeFloquet };
