// The studio: builds the page, keeps the model, the scene and the studies together, and remembers what is shown.

import { byId, element, watchErrors } from "../page.js";
import { watchTheme } from "../theme.js";
import { place } from "../vectors.js";
import { createBuilder } from "./build.js";
import { createDocument } from "./document.js";
import { createExport } from "./export.js";
import { createDialog, createFiles, showResults } from "./files.js";
import { createForm } from "./form.js";
import { FORMULA_TABS } from "./formulas.js";
import { createJobs } from "./jobs.js";
import { MOTION_TABS } from "./motions.js";
import { createRest, FLOQUET_TAB, REST_TABS } from "./rest.js";
import { createRuns } from "./runs.js";
import { createScene } from "./scene.js";
import { createSchema } from "./schema.js";
import { createServer, findToken } from "./server.js";
import { useRuns } from "./simulating.js";
import { createStudy, useTabKeys } from "./study.js";
import { createProblems, createText } from "./text.js";

const KEPT_PROGRAMS = 8;
const SHOW_WORK_AFTER = 350; // milliseconds of work that are not worth a progress bar
const SAVED_WORDS = {
  new: "", waiting: "\u2022 changed", saving: "saving \u2026", saved: "saved", conflict: "changed elsewhere",
  failed: "not saved",
};

/** What all parts of the page share. @param {any} server @returns {any} */
function createTools(server) {
  const tools = /** @type {any} */ ({
    server, model: createDocument(server), jobs: createJobs(server), dialog: createDialog(), rest: createRest(),
  });
  /** @type {Map<string, Promise<any>>} */ const programs = new Map();

  /**
   * Starts a job for the present model.
   * @param {string} kind
   * @param {any} options
   * @param {{quiet?: boolean, text?: string, begun?: (id: string, text: string) => void, piece?: (piece: any) => void}} how
   *   `piece` gets parts of the result that are known early
   */
  tools.compute = async (kind, options = {}, how = {}) => {
    await tools.model.settle();
    if (how.text === undefined && !tools.model.ok) throw new Error("the model has problems: correct them first");
    const text = how.text === undefined ? tools.model.text : how.text;
    const job = await tools.jobs.run(kind, { text, options, title: tools.model.file }, (/** @type {string} */ id) => {
      if (!how.quiet) tools.follow(id);
      if (how.piece) tools.jobs.follow(id, how.piece);
      if (how.begun) how.begun(id, text);
    });
    return { ...job, asked: job.asked || { text, options } };
  };

  /** The program and the drawing of a model. @param {string} text @returns {Promise<any>} */
  tools.content = text => {
    const kept = programs.get(text);
    if (kept) return kept;
    const made = (async () => {
      const job = await tools.compute("live", {}, { text, quiet: true });
      const { program, wrenches } = await import(server.program(job.id));
      return { program, wrenches, record: job.result.record, text };
    })();
    programs.set(text, made);
    made.catch(() => programs.delete(text));
    if (programs.size > KEPT_PROGRAMS) programs.delete(/** @type {any} */ (programs.keys().next().value));
    return made;
  };

  /** Shows an error, with buttons that mend it. @param {any} error @param {[string, () => any][]} acts */
  tools.tell = (error, acts = []) => {
    const text = error ? error.message || String(error) : "";
    byId("error").replaceChildren(text, ...acts.map(([label, act]) => {
      const button = element("button", "mend", label);
      button.type = "button";
      button.addEventListener("click", act);
      return button;
    }));
    byId("error").hidden = !text;
  };
  /** A notice that is no error, until the model changes. @param {string} text */
  tools.say = text => {
    byId("notice").textContent = text;
    byId("notice").hidden = !text;
  };
  tools.runs = createRuns(tools);
  return tools;
}

/** The progress bar. @param {any} tools */
function useWork(tools) {
  tools.work = new Set();
  /** Shows the progress of a job in the head of the page, once it takes a while. @param {string} id */
  tools.follow = id => {
    tools.work.add(id);
    setTimeout(draw, SHOW_WORK_AFTER);
  };
  const draw = () => {
    const running = tools.jobs.all.filter((/** @type {any} */ job) => tools.work.has(job.id) && !tools.jobs.isFinished(job));
    const job = running.find((/** @type {any} */ one) => one.state === "running") || running[0];
    byId("work").hidden = !job;
    if (!job) return;
    const { fraction = null, text = "" } = job.progress || {};
    const more = running.length > 1 ? ` (+${running.length - 1})` : "";
    byId("work-text").textContent = `${job.kind}: ${text || job.state}${more}`;
    if (fraction === null) byId("work-bar").removeAttribute("value");
    else byId("work-bar").value = fraction;
    byId("work-cancel").onclick = () => tools.jobs.cancel(job.id).catch(tools.tell);
  };
  tools.jobs.watch((/** @type {any} */ job) => {
    if (job && tools.jobs.isFinished(job)) tools.work.delete(job.id);
    if (!job || tools.work.has(job.id) || byId("work").hidden === false) draw();
    if (job === null) document.body.classList.toggle("offline", !tools.jobs.connected);
  });
}

/** The scene of the model. @param {any} tools */
function useScene(tools) {
  const { model } = tools;
  let wanted = "";
  tools.scene = createScene({
    keep(/** @type {Record<string, number>} */ state, /** @type {Record<string, number>} */ parameters) {
      model.edit((/** @type {any} */ data) => {
        const names = new Set((model.about?.coordinates || []).concat(model.about?.speeds || []).map((/** @type {any} */ c) => c.name));
        data.initial ||= {};
        for (const [name, value] of Object.entries(data.initial)) if (typeof value === "object") delete data.initial[name]; // rotations
        for (const [name, value] of Object.entries(state)) if (names.has(name)) data.initial[name] = Number(value.toPrecision(12));
        for (const [name, value] of Object.entries(parameters)) {
          if (data.parameters && name in data.parameters) data.parameters[name] = value;
          else if (data.inputs && name in data.inputs) data.inputs[name] = value;
        }
      });
    },
  });

  /** The live scene of the present model. */
  tools.refreshScene = async () => {
    if (!model.ok && !tools.scene.content && model.data.bodies?.length) {
      byId("hint").textContent = "the mechanism appears here when its model has no problems";
    }
    if (!model.data.bodies?.length && tools.scene.show.kind !== "empty") tools.scene.clear();
    if (!model.ok || model.text === wanted) return;
    wanted = model.text;
    const { text } = model;
    try {
      const content = await tools.content(text);
      if (text !== wanted) return;
      const play = !tools.builder.active && (tools.scene.show.kind !== "live" || tools.scene.show.toy.playing);
      if (tools.showsRunOf(text)) tools.scene.hold(content); // it was quicker
      else {
        tools.scene.live(content, play);
        tools.shown("live");
      }
      byId("time-unit").textContent = content.record.units.time;
      document.body.dataset.live = content.record.title;
      document.body.dataset.lived = String(Number(document.body.dataset.lived || 0) + 1);
    } catch (/** @type {any} */ error) {
      if (text !== wanted) return;
      wanted = "";
      tools.scene.clear(); // nothing else is shown in its place
      byId("hint").textContent = "";
      byId("message").textContent = error.message;
      byId("message").hidden = false;
    }
  };
}

/** The two views of the model. @param {any} tools @param {any} schema */
function useModel(tools, schema) {
  const { model } = tools, form = createForm(model, schema), text = createText(model);
  const choose = (/** @type {boolean} */ asText) => {
    byId("form-view").hidden = asText;
    byId("text-view").hidden = !asText;
    byId("tab-form").setAttribute("aria-selected", String(!asText));
    byId("tab-text").setAttribute("aria-selected", String(asText));
    byId("tab-form").tabIndex = asText ? -1 : 0;
    byId("tab-text").tabIndex = asText ? 0 : -1;
    if (asText) text.number();
  };
  byId("tab-form").addEventListener("click", () => choose(false));
  byId("tab-text").addEventListener("click", () => choose(true));
  useTabKeys(byId("tab-form").parentElement);
  choose(false);
  createProblems(model, problem => {
    if (!byId("text-view").hidden && problem.line) text.reveal(problem.line);
    else if (problem.path?.length) form.reveal(problem.path);
    else {
      choose(true);
      if (problem.line) text.reveal(problem.line);
    }
  });
  byId("model").addEventListener("focusout", model.pause);
  byId("undo").addEventListener("click", model.undo);
  byId("redo").addEventListener("click", model.redo);
  const history = () => {
    byId("undo").disabled = !model.canUndo;
    byId("redo").disabled = !model.canRedo;
    tools.say("");
  };
  model.on("history", history);
  history();
  addEventListener("keydown", event => {
    if (!(event.ctrlKey || event.metaKey) || tools.dialog.isOpen) return;
    const key = event.key.toLowerCase();
    if (key === "z" || key === "y") {
      if (key === "y" || event.shiftKey) model.redo();
      else model.undo();
    } else if (key === "s") model.save();
    else return;
    event.preventDefault();
  });
  model.on("file", (/** @type {string} */ name) => {
    byId("file-name").textContent = name;
    document.title = `${name} \u00b7 Pendula studio`;
    localStorage.setItem("pendula-file", name);
    tools.study.clear();
    restoreResults(tools);
  });
  model.on("saved", (/** @type {any} */ { state, message }) => {
    byId("saved").textContent = /** @type {any} */ (SAVED_WORDS)[state];
    byId("saved").dataset.state = state;
    if (state === "failed") tools.tell(message);
    if (state === "conflict") tools.tell(`${message}.`, [
      ["Keep this version", () => model.save(true)], ["Open the other one", () => tools.files.openFile(model.file).catch(tools.tell)],
    ]);
    if (state === "saved" && byId("error").querySelector(".mend")) tools.tell(null);
  });
  model.on("trouble", tools.tell);
  model.on("comments", () => tools.say("The comments of the text could not be kept; Undo brings them back."));
  model.on("checked", () => {
    if (byId("saved").dataset.state !== "conflict") tools.tell(null);
    tools.study.changed();
    tools.refreshScene();
  });
  addEventListener("beforeunload", event => {
    if (model.unsaved) event.preventDefault();
  });
  addEventListener("pagehide", model.flush);
}

/** Model, scene and study one at a time, where there is no room for all. */
function usePlaces() {
  const buttons = /** @type {any[]} */ ([...document.querySelectorAll("#places [data-place]")]);
  const choose = (/** @type {string} */ place) => {
    document.body.dataset.place = place;
    for (const button of buttons) {
      button.setAttribute("aria-selected", String(button.dataset.place === place));
      button.tabIndex = button.dataset.place === place ? 0 : -1;
    }
  };
  for (const button of buttons) button.addEventListener("click", () => choose(button.dataset.place));
  useTabKeys(byId("places"));
  choose("middle");
  return choose;
}

/** Results of this file that were computed before, each in its tab. @param {any} tools */
async function restoreResults(tools) {
  const { file } = tools.model;
  /** @type {Map<string, any>} */ const latest = new Map();
  for (const job of tools.jobs.all.filter((/** @type {any} */ j) => j.state === "done" && j.title === file)) {
    if (!latest.has(job.kind) || latest.get(job.kind).created < job.created) latest.set(job.kind, job);
  }
  for (const kind of tools.study.kinds()) {
    if (!latest.has(kind) || kind === "equations") continue;
    try {
      const job = await tools.jobs.load(latest.get(kind).id);
      if (tools.model.file !== file) return;
      tools.study.show(job, false);
      tools.remember(job);
    } catch {
      // a result that is no longer there is not shown
    }
  }
}

/** What is open, as jobs that a script can do again. @param {any} tools */
async function onScreen(tools) {
  const kinds = new Set([
    "simulate", "equilibria", "modes", "stability", "locus", "certificate", "reactions", "floquet", "ensemble", "section",
    "compare",
  ]);
  const seen = tools.results.filter(
    (/** @type {any} */ job) => kinds.has(job.kind) && job.asked.text === tools.model.text,
  );
  const pairs = await Promise.all(seen.map(async (/** @type {any} */ job) => {
    const { run, runs, name: _, ...options } = job.asked.options;
    if (job.kind === "compare") {
      const both = await Promise.all(runs.map((/** @type {string} */ id) => tools.runs.load(id)));
      if (both.some((/** @type {any} */ one) => one.asked.text !== tools.model.text)) return null; // of another model
      const [first, second] = both.map((/** @type {any} */ one) => ({ ...one.asked.options, name: null }));
      return { kind: job.kind, options: { first, second } };
    }
    if (runs !== undefined) options.runs = runs; // of an ensemble, a number
    if (!run) return { kind: job.kind, options };
    const { name: _also, ...ofRun } = (await tools.runs.load(run)).asked.options;
    return { kind: job.kind, options: { ...ofRun, ...options } };
  }));
  return pairs.filter(Boolean);
}

/** What scripts of lecturers and tests can ask the page. @param {any} tools */
function handles(tools) {
  return {
    get model() { return structuredClone(tools.model.data); },
    get text() { return tools.model.text; },
    get problems() { return structuredClone(tools.model.problems); },
    /** Where a point of a body is on the screen, in pixels of the window. @param {string} body @param {number[]} at */
    screen(body, at = [0, 0, 0]) {
      const { show } = tools.scene, k = show.bodies.findIndex((/** @type {any} */ b) => b.name === body);
      const area = show.canvas.getBoundingClientRect();
      if (k < 0) throw new Error(`the scene has no body ${body}`);
      const [x, y] = show.stage.toScreen(place(show.poses()[k], at));
      return [area.left + x, area.top + y];
    },
    /** State of the live mechanism; null while something else is shown. */
    get state() { return tools.scene.show.kind === "live" ? tools.scene.show.toy.mechanism.state : null; },
    get shows() { return tools.scene.show.kind; },
  };
}

async function start() {
  watchErrors();
  const tools = createTools(createServer(await findToken()));
  tools.choices = await tools.server.get("/api/choices");
  useWork(tools);
  useScene(tools);
  useRuns(tools);
  tools.builder = createBuilder(tools.scene, tools.model);
  tools.results = [];
  tools.study = createStudy(tools, [...FORMULA_TABS, ...REST_TABS, ...MOTION_TABS, FLOQUET_TAB]);
  tools.remember = (/** @type {any} */ job) => {
    tools.results = [...tools.results.filter((/** @type {any} */ old) => old.kind !== job.kind), job];
  };
  const compute = tools.compute;
  tools.compute = async (/** @type {any[]} */ ...given) => {
    const job = await compute(...given);
    tools.remember(job);
    return job;
  };
  tools.onScreen = () => onScreen(tools);
  const files = (tools.files = createFiles(tools)), exports = createExport(tools), goTo = (tools.goTo = usePlaces());
  tools.openResult = async (/** @type {any} */ job) => {
    try {
      const whole = await tools.jobs.load(job.id);
      if (tools.study.show(whole)) goTo("study");
      tools.remember(whole);
      if (job.kind === "simulate") await tools.playRun(job.id);
    } catch (error) {
      tools.tell(error);
    }
  };
  byId("export").addEventListener("click", exports.open);
  byId("jobs").addEventListener("click", () => showResults(tools, tools.jobs.all));
  watchTheme(() => {
    tools.scene.retheme();
    tools.study.retheme();
  });
  const [schema, state, listing] = await Promise.all([
    tools.server.get("/api/schema"), tools.server.get("/api/state"), tools.server.get("/api/files"),
  ]);
  useModel(tools, createSchema(schema));
  const known = listing.models.map((/** @type {any} */ f) => f.name), last = localStorage.getItem("pendula-file") || "";
  const first = state.model || (known.includes(last) ? last : known[0]);
  await tools.jobs.refresh();
  tools.study.open(localStorage.getItem("pendula-tab") || "equations");
  await (first ? files.openFile(first) : files.startNew());
  const mine = (/** @type {any} */ job) => job.client === tools.server.client && job.kept && !tools.jobs.isFinished(job);
  tools.jobs.all.filter(mine).forEach(tools.adopt);
  Object.defineProperty(window, "pendula", { value: handles(tools), enumerable: true });
  document.body.dataset.ready = "true";
}

start().catch(error => {
  byId("error").textContent = `The studio could not start: ${error.message}`;
  byId("error").hidden = false;
});
