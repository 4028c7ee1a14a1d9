// Runs: their settings, the button that starts one, and the motion so far, which plays while the rest is computed.

import { short } from "../numbers.js";
import { byId, element } from "../page.js";
import { fillOptions, groupsOf, pick, settings, typed } from "./study.js";

const STORED = "pendula-run"; // where the browser keeps the settings of runs

/**
 * A motion that grows piece by piece.
 * @param {any} first the first piece: `coordinates`, `units`, `t_end`, `t`, `q`
 * @param {any} content the program of its mechanism
 */
export function growingMotion(first, content) {
  const names = content.record.about.names.coordinates, time = content.record.units.time;
  const places = names.map((/** @type {string} */ name) => first.coordinates.indexOf(name));
  if (places.includes(-1)) throw new Error(`the run has no coordinate ${names[places.indexOf(-1)]}`);
  /** @type {number[]} */ const t = [];
  /** @type {number[][]} */ const q = [];
  /** @type {Record<string, number[]>} */ const states = Object.fromEntries(
    first.coordinates.map((/** @type {string} */ name) => [name, []]),
  );
  /** Takes over a piece; where the computation went back, it replaces what was there. @param {any} piece */
  function take(piece) {
    let kept = t.length;
    while (kept && t[kept - 1] >= piece.t[0]) kept--;
    for (const list of [t, q, ...Object.values(states)]) list.length = kept;
    t.push(...piece.t);
    for (const row of piece.q) {
      q.push(places.map((/** @type {number} */ k) => row[k]));
      first.coordinates.forEach((/** @type {string} */ name, /** @type {number} */ k) => states[name].push(row[k]));
    }
    motion.title = `so far: ${short(t[t.length - 1], 3)} of ${short(first.t_end, 3)}${time ? ` ${time}` : ""}`;
  }
  const motion = { title: "", t, q, end: first.t_end, groups: /** @type {any[]} */ ([]) };
  take(first);
  motion.groups = groupsOf(t, states, first.units);
  return { motion, take };
}

/** What runs are computed with, as the dialog shows it. @param {any} tools */
function createSettings(tools) {
  const { tol, samples } = tools.choices.runs;
  const STANDARD = { tol: String(tol), samples: String(samples), stepper: "", formulation: "" };
  let chosen = { ...STANDARD };
  try {
    chosen = { ...STANDARD, ...JSON.parse(localStorage.getItem(STORED) || "{}") };
  } catch {
    // what another version of the page stored
  }
  const isStandard = () => Object.entries(STANDARD).every(([name, value]) => /** @type {any} */ (chosen)[name] === value);
  const mark = () => {
    byId("run-settings").dataset.changed = String(!isStandard());
    byId("run-settings").title = isStandard() ? "Settings of runs" : "Settings of runs: changed";
  };
  const keep = (/** @type {any} */ changes) => {
    chosen = { ...chosen, ...changes };
    localStorage.setItem(STORED, JSON.stringify(chosen));
    mark();
  };
  mark();
  byId("run-settings").addEventListener("click", () => {
    const { steppers, formulations } = tools.choices;
    const tol = typed("tolerance of a step", chosen.tol), samples = typed("samples that are kept", chosen.samples);
    const stepper = pick("stepper", [
      ["automatic", ""], ...steppers.filter((/** @type {any} */ s) => s.name !== "rk4").map((/** @type {any} */ s) => [s.name, s.name]),
    ]);
    const by = pick("equations by", [["automatic", ""], ...formulations.map((/** @type {string} */ name) => [name, name])]);
    stepper.select.value = chosen.stepper;
    by.select.value = chosen.formulation;
    const rows = [tol.box, samples.box, stepper.box, by.box].map(box => {
      box.classList.add("setting-line");
      return box;
    });
    const reset = element("button", "", "Reset"), done = element("button", "main", "Done");
    reset.type = done.type = "button";
    const read = () => keep({
      tol: tol.input.value.trim() || STANDARD.tol, samples: samples.input.value.trim() || STANDARD.samples,
      stepper: stepper.select.value, formulation: by.select.value,
    });
    for (const field of [tol.input, samples.input, stepper.select, by.select]) field.addEventListener("change", read);
    reset.addEventListener("click", () => {
      tol.input.value = STANDARD.tol;
      samples.input.value = STANDARD.samples;
      stepper.select.value = by.select.value = "";
      read();
    });
    done.addEventListener("click", () => {
      read();
      tools.dialog.close();
    });
    tools.dialog.open("Settings of runs", [
      element("p", "quiet", "For Simulate. Smaller tolerances are more accurate and take longer."), ...rows, settings(done, reset),
    ]);
  });
  return {
    /** As options of a job. */
    get options() {
      const given = /** @type {any} */ ({ duration: byId("duration").value });
      if (chosen.tol !== STANDARD.tol) given.tol = chosen.tol;
      if (chosen.samples !== STANDARD.samples) given.samples = Number(chosen.samples);
      for (const name of ["stepper", "formulation"]) {
        if (/** @type {any} */ (chosen)[name]) given[name] = /** @type {any} */ (chosen)[name];
      }
      return given;
    },
  };
}

/** What the scene shows, and runs that are computed. @param {any} tools */
export function useRuns(tools) {
  const { jobs, runs } = tools, source = byId("source"), chosen = createSettings(tools);
  let shown = "live", special = "";
  /** @type {any} */ let partial = null; // the run that is computed now: its number, content and motion so far

  const options = () => {
    const list = /** @type {[string, string][]} */ ([["live", "live"]]);
    if (special) list.push([special, "special"]);
    if (partial) list.push(["run, so far", "partial"]);
    fillOptions(source, [...list, ...runs.options().slice(0, 30)]);
    source.value = shown;
  };
  /** What the scene shows now. @param {string} kind live, mode, floquet, partial or the number of a run @param {string} words */
  tools.shown = (kind, words = "") => {
    special = kind === "mode" || kind === "floquet" ? words : "";
    shown = special ? "special" : kind;
    options();
  };
  /** Whether the scene shows a run of a model. @param {string} text */
  tools.showsRunOf = text => runs.textOf(shown) === text;
  /** Something was chosen to be looked at: where only one part of the page is seen, it is the scene now. */
  tools.look = () => {
    if (matchMedia("(max-width: 900px)").matches) tools.goTo("middle");
  };
  tools.playRun = async (/** @type {string} */ id, /** @type {any} */ from = null) => {
    try {
      await runs.play(id);
      if (from) {
        tools.scene.show.playback.seek(from.now);
        if (!from.playing) tools.scene.show.playback.setPlaying(false);
      }
      tools.shown(id);
      tools.look();
    } catch (error) {
      tools.tell(error);
    }
  };
  source.addEventListener("change", () => {
    if (source.value === "live") {
      tools.scene.live(null);
      tools.shown("live");
    } else if (source.value === "partial") showPartial();
    else if (source.value !== "special") tools.playRun(source.value);
  });

  const isShown = () => partial && tools.scene.show.motion === partial.growing?.motion;
  function showPartial() {
    tools.scene.motion(partial.content, partial.growing.motion);
    tools.shown("partial");
  }

  /**
   * Plays what a run has computed so far, as soon as there is something.
   * @param {string} id @param {string} text of its model
   * @param {string} before what the scene showed when it began; empty if it is to show the run in any case
   */
  async function preview(id, text, before) {
    const content = await tools.content(text);
    jobs.follow(id, (/** @type {any} */ piece) => {
      if (partial?.id === id) {
        partial.growing.take(piece);
        if (isShown()) tools.scene.show.grow();
        return;
      }
      partial = { id, content, growing: growingMotion(piece, content) };
      if (!before || shown === before) showPartial();
      else options();
    });
  }

  /**
   * Waits for a run and shows it, unless the person has turned to something else meanwhile.
   * @param {Promise<any>} done @param {string} before what the scene showed when it began
   */
  async function finish(done, before) {
    try {
      const job = await done;
      const playback = isShown() && partial.id === job.id ? tools.scene.show.playback : null;
      const from = playback && { now: playback.now, playing: playback.playing };
      const look = from || shown === before;
      if (look) await tools.playRun(job.id, from);
      if (!isShown()) partial = null;
      options();
      tools.study.show(await runs.load(job.id), look && ["energy", "equations"].includes(tools.study.current));
      tools.tell(null);
    } catch (/** @type {any} */ error) {
      if (isShown()) byId("hint").textContent = `${partial.growing.motion.title}; the run was not finished and is not saved`;
      tools.tell(error);
    }
  }

  byId("simulate").addEventListener("click", async () => {
    const before = shown;
    byId("simulate").disabled = true;
    const begun = (/** @type {string} */ id, /** @type {string} */ text) => preview(id, text, before).catch(() => {});
    await finish(tools.compute("simulate", chosen.options, { begun }), before);
    byId("simulate").disabled = false;
  });
  tools.model.on("file", () => { partial = null; });
  jobs.watch((/** @type {any} */ job) => {
    if (job && job.kind === "simulate" && job.state === "done") options();
  });

  /** Follows the work that this page had begun before it was loaded again. @param {any} job */
  tools.adopt = async job => {
    tools.follow(job.id);
    const done = jobs.wait(job.id);
    if (job.kind === "simulate") {
      preview(job.id, tools.model.text, "").catch(() => {});
      await finish(done, "");
      return;
    }
    try {
      const whole = await done;
      if (whole.title === tools.model.file) tools.study.show(whole, false);
      tools.remember(whole);
    } catch (error) {
      tools.tell(error);
    }
  };
  options();
}
