// Runs that were computed: their list, their results, and the motion that the scene plays.

import { labelled } from "../numbers.js";
import { groupsOf } from "./study.js";

const KEPT = 6; // results of runs that are kept in the page

/** @param {any} tools `jobs`, `content(text)` */
export function createRuns(tools) {
  /** @type {Map<string, any>} */ const results = new Map();

  return {
    /** Finished runs, newest first: those of the present file before others. */
    list() {
      const done = tools.jobs.all.filter((/** @type {any} */ job) => job.kind === "simulate" && job.state === "done");
      return done.sort((/** @type {any} */ a, /** @type {any} */ b) =>
        Number(b.title === tools.model.file) - Number(a.title === tools.model.file) || b.created - a.created);
    },
    /** The name of a run. @param {any} job */
    label(job) {
      const name = job.files && job.files[0] ? job.files[0].replace(/\.npz$/, "") : job.id;
      const number = /-run(?:-(\d+))?$/.exec(name);
      return number && job.title === tools.model.file ? `run ${number[1] || 1}` : name;
    },
    /** Names and numbers for a choice. @returns {[string, string][]} */
    options() {
      return this.list().map((/** @type {any} */ job) => /** @type {[string, string]} */ ([this.label(job), job.id]));
    },
    /** A whole run. @param {string} id */
    async load(id) {
      if (!results.has(id)) {
        results.set(id, await tools.jobs.load(id));
        if (results.size > KEPT) results.delete(/** @type {any} */ (results.keys().next().value));
      }
      return results.get(id);
    },
    /** The model of a run that was loaded. @param {string} id @returns {string | undefined} */
    textOf: id => results.get(id)?.asked.text,
    /** Plays a run in the scene. @param {string} id */
    async play(id) {
      const job = await this.load(id), content = await tools.content(job.asked.text);
      tools.scene.motion(content, motionOfRun(job.result, content, this.label(job)));
    },
  };
}

/**
 * The coordinates of a motion in the order of a program.
 * @param {any} content
 * @param {string[]} names
 * @param {number[][]} q
 */
export function inOrder(content, names, q) {
  const wanted = content.record.about.names.coordinates;
  const places = wanted.map((/** @type {string} */ name) => names.indexOf(name));
  if (places.includes(-1)) throw new Error(`the motion has no coordinate ${wanted[places.indexOf(-1)]}`);
  return q.map(row => places.map((/** @type {number} */ k) => row[k]));
}

/** The motion of a run, with its signals. @param {any} result @param {any} content @param {string} title */
export function motionOfRun(result, content, title) {
  const names = content.record.about.names.coordinates, { states, t } = result;
  const rows = (/** @type {string[]} */ of) => t.map((/** @type {number} */ _, /** @type {number} */ k) => of.map(name => states[name][k]));
  const rates = names.map((/** @type {string} */ name) => `${name}_dot`);
  const rate = rates.every((/** @type {string} */ name) => states[name]) ? rows(rates) : undefined;
  const energy = energyGroups(result);
  return {
    title, t, q: rows(names), rate, parameters: result.parameters,
    groups: [...groupsOf(t, states, result.units), ...energy],
  };
}

/** Energies of a run as groups of lines. @param {any} result @returns {any[]} */
export function energyGroups(result) {
  const { energies, t, energy_unit: unit } = result;
  if (!energies) return [];
  const line = (/** @type {string} */ name, /** @type {string} */ key) => ({
    name, x: t, y: energies[key].map((/** @type {any} */ y) => y ?? NaN),
  });
  const groups = [{
    name: "energy: T, V, E", up: labelled("energy", unit), log: false,
    lines: [line("T kinetic", "kinetic"), line("V potential", "potential"), line("E total", "energy")],
  }];
  if (energies.work.some((/** @type {number} */ w) => w !== 0)) groups.push({
    name: "work", up: labelled("work", unit), log: false, lines: [line("work", "work")],
  });
  const error = {
    name: "|error| of the balance", x: t, y: energies.error.map((/** @type {any} */ y) => Math.abs(y ?? NaN)),
  };
  groups.push({
    name: "error of the energy balance", up: labelled("|error|", unit), log: /** @type {any} */ ("auto"), lines: [error],
  });
  return groups;
}
