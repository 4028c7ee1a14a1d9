// The export menu: model, live page, report, figures, data, and a script that reproduces what is on the screen.

import { element } from "../page.js";
import { fileLink } from "./files.js";
import { pick, settings } from "./study.js";

/** @type {Record<string, string>} */
const FIGURE_TITLES = { model: "the mechanism", simulate: "the last run", linear: "eigenvalues" };
const OF_RUNS = ["simulate", "reactions"], ABOUT_REST = ["linear", "modes"]; // figures that need a run, or an equilibrium

/** @param {any} tools */
export function createExport(tools) {
  const { dialog, server, model } = tools;

  /**
   * A line of the menu: what it makes, and where it ends.
   * @param {string} title
   * @param {string} words
   * @param {(row: any) => Promise<string[]>} make names of files
   * @param {HTMLElement[]} also
   */
  function line(title, words, make, also = []) {
    const row = element("div", "export-line"), text = element("div"), button = element("button", "", "Make");
    const ends = element("span", "export-end");
    button.type = "button";
    button.setAttribute("aria-label", `make ${title}`);
    ends.setAttribute("role", "status");
    text.append(element("b", "", title), element("span", "quiet", words));
    button.addEventListener("click", async () => {
      button.disabled = true;
      ends.className = "export-end";
      ends.textContent = "working \u2026";
      try {
        const names = await make(row);
        ends.replaceChildren(...names.map(name => fileLink(server, name)));
      } catch (/** @type {any} */ error) {
        ends.textContent = error.message;
        ends.className = "export-end error";
      }
      button.disabled = false;
    });
    row.append(text, ...also, button, ends);
    return row;
  }

  /** @param {string} kind @param {any} options */
  const job = (kind, options) => async () => (await tools.compute(kind, await options())).files;

  const lastRun = () => {
    const run = tools.runs.list().find((/** @type {any} */ job) => job.title === model.file);
    if (!run) throw new Error("there is no run yet: press Simulate above the scene");
    return run;
  };

  return {
    open() {
      const picture = pick("of", tools.choices.figures.map((/** @type {string} */ of) => [FIGURE_TITLES[of] || of, of]));
      const format = pick("as", [["PNG", "png"], ["SVG", "svg"]]), table = pick("as", [["NPZ", "npz"], ["CSV", "csv"]]);
      const figure = () => {
        const of = picture.select.value, chosen = { of, format: format.select.value };
        if (OF_RUNS.includes(of)) return { ...chosen, run: lastRun().id };
        const seen = tools.results.find((/** @type {any} */ job) => job.kind === of && job.asked.text === model.text);
        if (seen) return { ...seen.asked.options, ...chosen }; // as it is on the screen
        if (of === "ensemble") throw new Error("there is no ensemble of this model yet: see the tab Ensemble");
        return ABOUT_REST.includes(of) ? { ...tools.rest.at, ...chosen } : chosen;
      };
      dialog.open("Export", [
        element("p", "quiet", "Files are written into the folder of the studio, and a link saves a copy elsewhere."),
        line("Model", "the model file, TOML", async () => {
          await model.settle();
          await model.save();
          return [model.file];
        }),
        line("Report", "everything about the mechanism in one page", job("report", () => ({}))),
        line("Live page", "one page that moves under your hand, without a server", job("page", () => ({}))),
        line("Animation", "the last run as a page", job("page", () => ({ of: "simulate", run: lastRun().id }))),
        line("Figure", "", job("figure", figure), [settings(picture.box, format.box)]),
        line("Data", "the last run: arrays for NumPy, or a table for spreadsheets", async () => (
          table.select.value === "npz" ? lastRun().files : (await tools.compute("data", { run: lastRun().id })).files
        ), [settings(table.box)]),
        line(
          "Python script", "reproduces what is on the screen",
          job("script", async () => ({ shown: await tools.onScreen(), write: true })),
        ),
      ]);
    },
  };
}
