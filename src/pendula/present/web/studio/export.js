// The export menu: model, live page, report, figures, data, and a script that reproduces what is on the screen.

import { element } from "../page.js";
import { fileLink } from "./files.js";
import { pick, settings } from "./study.js";

/** @type {[string, string][]} */
const PICTURES = [
  ["the mechanism", "model"], ["the last run", "simulate"], ["reactions", "reactions"], ["equilibria", "equilibria"],
  ["eigenvalues", "linear"], ["modes", "modes"], ["certificate", "certificate"],
];

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
      const picture = pick("of", PICTURES), format = pick("as", [["PNG", "png"], ["SVG", "svg"]]);
      const figure = () => ({
        of: picture.select.value, format: format.select.value,
        ...(["simulate", "reactions"].includes(picture.select.value) ? { run: lastRun().id } : {}),
      });
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
        line("Data", "arrays of the last run, NPZ", async () => lastRun().files),
        line(
          "Python script", "reproduces what is on the screen",
          job("script", async () => ({ shown: await tools.onScreen(), write: true })),
        ),
      ]);
    },
  };
}
