// Tabs about runs: energies, forces in joints, two runs compared, many runs, sections.

import { createChart } from "../chart.js";
import { labelled, short } from "../numbers.js";
import { element } from "../page.js";
import { energyGroups } from "./runs.js";
import { createTask, factsOf, fillOptions, notesOf, pick, settings, staleNote, stripOf, tableOf, typed } from "./study.js";

/**
 * A choice among the runs of the folder: the newest of this model, until another one is chosen.
 * @param {any} tools @param {string} label @param {number} first the place of the one chosen at first
 * @returns {any}
 */
function pickRun(tools, label, first = 0) {
  const made = pick(label, tools.runs.options());
  made.select.setAttribute("aria-label", label);
  let chosen = false;
  made.select.addEventListener("change", () => { chosen = true; });
  return {
    ...made,
    refresh() {
      fillOptions(made.select, tools.runs.options());
      if (!chosen) made.select.selectedIndex = Math.min(first, made.select.length - 1);
    },
  };
}

/** What a tab says while there is no run. */
const NO_RUN = "There is no run yet: press Simulate above the scene.";

/** @param {HTMLElement} host @param {any} tools */
function makeEnergy(host, tools) {
  const run = pickRun(tools, "run"), out = element("div", "result"), note = element("p", "task-note");
  /** @type {any} */ let strip = null;
  let shown = "";
  host.append(settings(run.box), note, out);
  const load = async () => {
    if (!run.select.value) {
      note.textContent = NO_RUN;
      return;
    }
    note.textContent = "";
    const job = await tools.runs.load(run.select.value);
    show(job.result, job);
  };
  run.select.addEventListener("change", () => load().catch(error => { note.textContent = error.message; }));

  /** @param {any} result @param {any} job */
  function show(result, job) {
    run.refresh();
    run.select.value = shown = job.id;
    strip = stripOf(energyGroups(result), labelled("time", result.time_unit));
    const play = element("button", "", "\u25b6 Play this run");
    play.type = "button";
    play.addEventListener("click", () => tools.playRun(job.id));
    const facts = /** @type {[string, string][]} */ ([
      ["outcome", result.outcome], [
        "energy drift", result.energy_drift === null ? "" : result.energy_drift.toExponential(1),
      ],
      ["constraints", result.constraint_violation ? result.constraint_violation.toExponential(1) : "none"],
      ["steps", `${result.steps}, ${result.rejected} rejected`], [
        "by", `${result.formulation}, ${result.stepper}, tolerance ${result.tolerance}`,
      ],
      ["computed in", `${short(result.seconds, 3)} s`],
    ]).filter(([, value]) => value);
    out.replaceChildren(
      staleNote(tools, job), strip.panel, settings(play), factsOf(facts),
      ...notesOf([...result.doubts, ...result.notes]),
    );
    strip.draw();
  }
  return {
    show, retheme: () => strip?.retheme(),
    opened() {
      run.refresh();
      if (shown) run.select.value = shown;
      if (!out.childElementCount) load().catch(error => { note.textContent = error.message; });
      else if (run.select.value) note.textContent = "";
    },
  };
}

/** @param {HTMLElement} host @param {any} tools */
function makeReactions(host, tools) {
  const run = pickRun(tools, "along run"), out = element("div", "result");
  /** @type {any} */ let strip = null;
  const task = createTask("Forces in joints", async () => {
    if (!run.select.value) throw new Error(NO_RUN);
    const job = await tools.compute("reactions", { run: run.select.value });
    show(job.result, job);
  });
  host.append(settings(run.box, task.button), task.note, out);

  /** @param {any} result @param {any} job */
  function show(result, job) {
    const size = (/** @type {number[][]} */ rows) => rows.map(row => Math.hypot(...row));
    const lines = (/** @type {string} */ field) => Object.entries(result.joints).slice(0, 12).map(([name, of]) => ({
      name, x: result.t, y: size(/** @type {any} */ (of)[field]),
    }));
    const part = (/** @type {number} */ axis) => Object.entries(result.joints).slice(0, 12).map(([name, of]) => ({
      name, x: result.t, y: /** @type {any} */ (of).force_world.map((/** @type {number[]} */ f) => f[axis]),
    }));
    const { force, torque, time } = result.units, groups = [
      { name: "size of forces", up: `force [${force}]`, lines: lines("force_world"), log: false },
      {
        name: "forces along x", up: `force x [${force}]`, lines: part(0), log: false,
      }, { name: "forces along y", up: `force y [${force}]`, lines: part(1), log: false },
      ...(result.planar ? [] : [{ name: "forces along z", up: `force z [${force}]`, lines: part(2), log: false }]),
      { name: "size of torques", up: `torque [${torque}]`, lines: lines("torque_world"), log: false },
    ];
    strip = stripOf(groups, labelled("time", time));
    const most = Math.max(0, ...result.peaks.map((/** @type {any} */ p) => Math.max(p.force, p.torque)));
    const shown = (/** @type {number} */ value) => short(value < 1e-12 * most ? 0 : value, 4); // not rounding errors
    const rows = result.peaks.map((/** @type {any} */ p) => [
      p.joint, `${shown(p.force)} ${force}`, `${short(p.force_at, 3)} ${time}`, `${shown(p.torque)} ${torque}`,
    ]);
    const largest = (/** @type {number[]} */ values) => values.reduce((a, b) => Math.abs(b) > Math.abs(a) ? b : a, 0);
    const coupled = Object.entries(result.couplings).flatMap(([name, forces]) => Object.entries(forces).map(
      ([on, of]) => [name, on, `${short(largest(of.values), 4)} ${of.unit}`],
    ));
    out.replaceChildren(staleNote(tools, job), strip.panel, tableOf(
      ["joint", "largest force", "at", "largest torque"], rows,
    ),
      ...(coupled.length ? [tableOf(["coupling", "acts on", "largest"], coupled)] : []),
      ...notesOf([
        ...result.indeterminate.map((/** @type {any} */ x) => `${x.joint}, ${x.component}: ${x.why}`), ...result.doubts,
      ]));
    strip.draw();
  }
  return { show, opened: run.refresh, changed: run.refresh, retheme: () => strip?.retheme() };
}

/** Sizes of the differences of two lists. @param {number[][]} pair */
function distances([a, b]) {
  return a.map((value, k) => Math.abs(value - b[k]));
}

/** @param {HTMLElement} host @param {any} tools */
function makeCompare(host, tools) {
  const first = pickRun(tools, "run"), second = pickRun(tools, "with", 1), out = element("div", "result");
  /** @type {any} */ let strip = null;
  const task = createTask("Compare", async () => {
    if (!first.select.value || !second.select.value) throw new Error(NO_RUN);
    if (first.select.value === second.select.value) {
      throw new Error("choose two different runs: simulate again with another start or parameter");
    }
    const job = await tools.compute("compare", { runs: [first.select.value, second.select.value] });
    show(job.result, job);
  });
  host.append(settings(first.box, second.box, task.button), task.note, out);
  const refresh = () => {
    first.refresh();
    second.refresh();
  };

  /** @param {any} result @param {any} job */
  function show(result, job) {
    const runs = tools.runs.list(), who = result.runs.map((/** @type {string} */ id, /** @type {number} */ k) => {
      const run = runs.find((/** @type {any} */ one) => one.id === id);
      return run ? tools.runs.label(run) : ["first", "second"][k];
    });
    const groups = Object.entries(result.states).slice(0, 24).map(([name, pair]) => {
      const [a, b] = /** @type {number[][]} */ (pair);
      return {
        name, up: labelled(name, result.units[name]), log: false,
        lines: [{ name: who[0], x: result.t, y: a }, { name: who[1], x: result.t, y: b }],
      };
    });
    const gaps = Object.entries(result.states).slice(0, 6).map(([name, pair]) => ({
      name, x: result.t,
      y: distances(/** @type {any} */ (pair)),
    }));
    groups.push({ name: "differences", up: "|difference|", log: /** @type {any} */ ("auto"), lines: gaps });
    strip = stripOf(groups, "time");
    const rows = Object.entries(result.largest).map(([name, gap]) => [
      name, `${short(/** @type {any} */ (gap), 4)} ${result.units[name] || ""}`,
    ]);
    out.replaceChildren(
      strip.panel,
      factsOf([[
        "energy drift",
        result.energy_drift.map((/** @type {number} */ d) => (d === null ? "-" : d.toExponential(1))).join(" and "),
      ]]),
      tableOf(["state", "largest difference"], rows),
    );
    strip.draw();
  }
  return { show, opened: refresh, changed: refresh, retheme: () => strip?.retheme() };
}

/** @param {HTMLElement} host @param {any} tools */
function makeEnsemble(host, tools) {
  const name = pick("vary", []), low = typed("from", ""), high = typed("to", ""), runs = typed("runs", "200");
  const out = element("div", "result");
  const time = typed("for", "10");
  /** @type {any} */ let strip = null;
  name.select.setAttribute("aria-label", "What differs between the runs");
  name.select.classList.add("short");
  const task = createTask("Run the ensemble", async () => {
    const job = await tools.compute(
      "ensemble",
      {
        vary: { [name.select.value]: [low.input.value, high.input.value] }, runs: Number(runs.input.value),
        duration: time.input.value,
      },
    );
    show(job.result, job);
  });
  host.append(element("p", "quiet", "Many runs whose start or parameters are drawn at random between two ends."),
    settings(name.box, low.box, high.box), settings(runs.box, time.box, task.button), task.note, out);
  const suggest = () => {
    const { about } = tools.model;
    const known = (about?.parameters || []).find((/** @type {any} */ p) => p.name === name.select.value);
    const angle = (about?.coordinates || []).find((/** @type {any} */ c) => c.name === name.select.value)?.unit === "rad";
    const near = known && [0.8, 1.2].map(f => String(Number((f * known.value).toPrecision(3))));
    [low.input.value, high.input.value] = near || (angle ? ["-30deg", "30deg"] : ["-0.1", "0.1"]);
  };
  name.select.addEventListener("change", suggest);
  function changed() {
    const before = name.select.value, { about } = tools.model;
    const options = [
      ...(about?.coordinates || []), ...(about?.speeds || []), ...(about?.parameters || []),
    ].map(c => /** @type {[string, string]} */ ([c.name, c.name]));
    fillOptions(name.select, options);
    if (name.select.value !== before) suggest();
  }

  /** @param {any} result @param {any} job */
  function show(result, job) {
    const groups = Object.entries(result.states).slice(0, 24).map(([state, levels]) => ({
      name: state, up: labelled(state, result.units[state]), log: false,
      lines: result.quantiles.map((/** @type {number} */ level, /** @type {number} */ k) => ({
        name: level === 0.5 ? "median" : `${short(100 * level, 3)} %`, x: result.t, y: /** @type {any} */ (levels)[k],
      })),
    }));
    const time_unit = tools.model.about?.units.time;
    const outcomes = Object.entries(result.outcomes).map(([text, count]) => `${count}: ${text}`);
    strip = groups.length ? stripOf(groups, labelled("time", time_unit)) : null;
    out.replaceChildren(staleNote(tools, job), ...(strip ? [strip.panel] : []), factsOf([
      ["runs", String(result.runs)], ["outcomes", outcomes.join("; ")], [
        "energy drift, largest",
        result.energy_drift.largest === null ? "-" : result.energy_drift.largest.toExponential(1),
      ],
      ["computed in", `${short(result.seconds, 3)} s`],
    ]));
    strip?.draw();
  }
  return { show, changed, retheme: () => strip?.retheme() };
}

/** @param {HTMLElement} host @param {any} tools */
function makeSection(host, tools) {
  const event = typed("where", ""), of = pick("of", []), time = typed("for", "200"), out = element("div", "result");
  event.input.classList.add("long");
  event.input.setAttribute("aria-label", "Where the section is");
  const canvas = element("canvas"), panel = element("section", "panel study-strip"), box = element("div", "chart");
  canvas.setAttribute("role", "img");
  box.append(canvas);
  panel.append(box);
  panel.hidden = true;
  const chart = createChart(canvas), draw = () => {
    if (canvas.clientWidth) chart.draw();
  };
  new ResizeObserver(draw).observe(canvas);
  const task = createTask("Compute the section", async () => {
    const job = await tools.compute(
      "section",
      { event: event.input.value, ...(of.select.value ? { of: of.select.value } : {}), duration: time.input.value },
    );
    show(job.result, job);
  });
  host.append(element(
    "p", "quiet",
    "Points of a long run (Poincar\u00e9): a coordinate and its speed, wherever an expression passes zero.",
  ),
    settings(event.box), settings(of.box, time.box, task.button), task.note, panel, out);
  function changed() {
    const names = (tools.model.about?.coordinates || []).map((/** @type {any} */ c) => c.name);
    fillOptions(
      of.select,
      [["automatic", ""], ...names.map((/** @type {string} */ n) => /** @type {[string, string]} */ ([n, n]))],
    );
    const ball = names.some((/** @type {string} */ n) => /_q0$/.test(n)) && tools.model.about?.speeds[0];
    if (!event.input.value && names.length) event.input.value = `${ball ? ball.name : names[0]} = 0 rising`; // not a quaternion
  }

  /** @param {any} result @param {any} job */
  function show(result, job) {
    const { of: coordinate, units, against = `${coordinate}_dot` } = result;
    const label = (/** @type {string} */ n) => labelled(n, units[n]);
    panel.hidden = false;
    chart.show({
      lines: [{ name: "section", x: result.x, y: result.y, dots: true }], across: label(coordinate),
      up: label(against), log: false,
    });
    canvas.setAttribute("aria-label", chart.words());
    out.replaceChildren(
      staleNote(tools, job),
      factsOf([
        ["points", String(result.x.length)], ["event", result.event], ["outcome", result.outcome],
        ["energy drift", result.energy_drift === null ? "-" : result.energy_drift.toExponential(1)],
      ]),
      ...notesOf(result.notes),
    );
    draw();
  }
  return { show, changed, opened: draw, retheme() { chart.retheme(); draw(); } };
}

/** Many runs, and the section of a long one. @param {HTMLElement} host @param {any} tools */
function makeMany(host, tools) {
  const parts = [element("div"), element("div")], many = makeEnsemble(parts[0], tools);
  const section = makeSection(parts[1], tools);
  host.append(element("h3", "", "Ensemble"), parts[0], element("h3", "", "Section"), parts[1]);
  const both = (/** @type {"changed" | "retheme"} */ act) => () => [many, section].forEach(part => part[act]());
  return {
    changed: both("changed"), retheme: both("retheme"), opened: section.opened,
    show: (/** @type {any} */ result, /** @type {any} */ job) => (job.kind === "section" ? section : many).show(result, job),
  };
}

export const MOTION_TABS = [
  { key: "energy", title: "Energy", kinds: ["simulate"], make: makeEnergy },
  { key: "reactions", title: "Reactions", kinds: ["reactions"], make: makeReactions },
  { key: "compare", title: "Compare", kinds: ["compare"], make: makeCompare },
  { key: "ensemble", title: "Ensemble", kinds: ["ensemble", "section"], make: makeMany },
];
