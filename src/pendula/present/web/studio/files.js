// Files and dialogs: new, open, library, rename, results, export.

import { byId, element } from "../page.js";
import { emptyModel } from "./document.js";

const ALLOWED = /^[A-Za-z0-9_][A-Za-z0-9_. -]*$/;

/** A name of a file that is not taken. @param {string} base @param {string[]} taken @param {string} ending */
export function freeFile(base, taken, ending = ".toml") {
  const stem = base.replace(/[^A-Za-z0-9_]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 60) || "model";
  const known = new Set(taken.map(name => name.toLowerCase()));
  if (!known.has(`${stem}${ending}`.toLowerCase())) return `${stem}${ending}`;
  for (let k = 2; ; k++) if (!known.has(`${stem}-${k}${ending}`.toLowerCase())) return `${stem}-${k}${ending}`;
}

/** Time of a file in words. @param {number} seconds since 1970 */
function ago(seconds) {
  const passed = Date.now() / 1000 - seconds;
  if (passed < 90) return "just now";
  if (passed < 5400) return `${Math.round(passed / 60)} min ago`;
  return new Date(1000 * seconds).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
}

/** The dialog of the page: one at a time. */
export function createDialog() {
  const dialog = byId("dialog");
  byId("dialog-close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => byId("dialog-body").replaceChildren());
  return {
    /** @param {string} title @param {HTMLElement[]} content */
    open(title, content) {
      byId("dialog-title").textContent = title;
      byId("dialog-body").replaceChildren(...content);
      if (!dialog.open) dialog.showModal();
      const first = /** @type {any} */ (byId("dialog-body").querySelector("input, button, select"));
      if (first) first.focus();
    },
    close: () => dialog.close(),
    get isOpen() { return dialog.open; },
  };
}

/**
 * A row of a list that can be chosen.
 * @param {string} name
 * @param {string} note
 * @param {() => void} act
 * @returns {any}
 */
export function listRow(name, note, act) {
  const row = element("button", "list-row");
  row.type = "button";
  row.append(element("b", "", name), element("span", "", note));
  row.addEventListener("click", act);
  return row;
}

/** @param {any} tools `server`, `model`, `dialog`, `jobs`, `openResult(job)`, `tell(text)`, `show(place)` */
export function createFiles(tools) {
  const { server, model, dialog } = tools;
  const names = async () => (await server.get("/api/files")).models.map((/** @type {any} */ f) => f.name);

  /** @param {string} name */
  async function openFile(name) {
    await model.openFound(name, await server.get(`/api/models/${encodeURIComponent(name)}`));
  }

  async function startNew() {
    await model.open({ data: emptyModel(), file: freeFile("untitled", await names()), fresh: true });
  }

  async function chooseFile() {
    const { models } = await server.get("/api/files");
    const rows = models.map((/** @type {any} */ f) => listRow(f.name, ago(f.changed), () => {
      dialog.close();
      openFile(f.name).catch(tools.tell);
    }));
    dialog.open(
      "Open a model of this folder",
      rows.length ? rows : [element("p", "quiet", "There is no model in this folder yet.")],
    );
  }

  async function chooseTemplate() {
    const list = await server.get("/api/library"), filter = element("input", "entry-line");
    const host = element("div", "list");
    filter.type = "search";
    filter.placeholder = "search the library";
    filter.setAttribute("aria-label", "Search the library");
    const draw = () => {
      const wanted = filter.value.trim().toLowerCase();
      const found = list.filter((/** @type {any} */ m) => `${m.name} ${m.summary}`.toLowerCase().includes(wanted));
      host.replaceChildren(...found.map((/** @type {any} */ m) => listRow(m.name, m.summary, () => askArguments(m))));
    };
    filter.addEventListener("input", draw);
    draw();
    dialog.open("Start from the library", [filter, host]);
  }

  /** Arguments of a library mechanism, then the mechanism itself. @param {any} mechanism */
  function askArguments(mechanism) {
    const fields = Object.entries(mechanism.arguments).map(([name, standard]) => {
      const label = element("label", "argument", name), input = element("input", "entry-line");
      input.placeholder = standard === null ? "" : String(standard);
      input.setAttribute("aria-label", name);
      label.append(input);
      return { name, input, label };
    });
    const use = element("button", "main", "Use this mechanism"), problem = element("p", "error");
    const back = element("button", "", "Back");
    use.type = back.type = "button";
    back.addEventListener("click", () => chooseTemplate());
    use.addEventListener("click", async () => {
      const query = new URLSearchParams(fields.filter(f => f.input.value.trim()).map(f => [f.name, f.input.value.trim()]));
      try {
        const { text } = await server.get(`/api/library/${encodeURIComponent(mechanism.name)}?${query}`);
        dialog.close();
        await model.open({ text, file: freeFile(mechanism.name, await names()) });
      } catch (/** @type {any} */ error) {
        problem.textContent = error.message;
      }
    });
    const row = element("div", "line"), grid = element("div", "arguments");
    row.append(use, back);
    grid.append(...fields.map(f => f.label));
    dialog.open(
      mechanism.name,
      [
        element("p", "quiet", mechanism.summary), row, problem,
        element("p", "quiet", "Arguments; empty ones keep the value shown."), grid,
      ],
    );
    use.focus();
  }

  function rename() {
    const input = element("input", "entry-line"), save = element("button", "main", "Save under this name");
    const problem = element("p", "error");
    input.value = model.file.replace(/\.toml$/i, "");
    input.setAttribute("aria-label", "Name of the file");
    save.type = "button";
    const act = async () => {
      const name = `${input.value.trim().replace(/\.toml$/i, "")}.toml`;
      if (!ALLOWED.test(name)) {
        problem.textContent = "A name consists of letters, digits, spaces, dots, hyphens and underscores.";
        return;
      }
      if (name !== model.file && (await names()).includes(name)) {
        problem.textContent = `There is a file ${name} already: choose another name.`;
        return;
      }
      dialog.close();
      if (name === model.file) model.save(true);
      else model.rename(name);
    };
    save.addEventListener("click", act);
    input.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Enter") act();
    });
    const row = element("div", "line");
    row.append(input, save);
    dialog.open(
      "Save the model as",
      [
        element(
          "p", "quiet",
          "Every change is saved at once. Another name makes a copy; the file under the old name stays as it is.",
        ),
        row, problem,
      ],
    );
  }

  byId("new").addEventListener("click", () => startNew().catch(tools.tell));
  byId("open").addEventListener("click", () => chooseFile().catch(tools.tell));
  byId("library").addEventListener("click", () => chooseTemplate().catch(tools.tell));
  byId("file").addEventListener("click", rename);

  return { openFile, startNew, names, ago, chooseTemplate };
}

/** The list of everything that was computed. @param {any} tools @param {any[]} jobs */
export function showResults(tools, jobs) {
  const finished = jobs.filter(job => job.kept !== false && job.kind !== "live").sort((a, b) => b.created - a.created);
  const rows = finished.slice(0, 200).map(job => {
    const ended = job.state === "done" ? (job.ok === false ? "done, with doubts" : "done") : job.state;
    const row = listRow(`${job.kind} \u00b7 ${job.title || "model"}`, `${ended} \u00b7 ${ago(job.created)}`, () => {
      tools.dialog.close();
      tools.openResult(job);
    });
    row.disabled = job.state !== "done";
    const line = element("div", "result-line");
    line.append(row, ...(job.files || []).map((/** @type {string} */ name) => fileLink(tools.server, name)));
    if (job.error) line.append(element("span", "error", job.error));
    return line;
  });
  tools.dialog.open(
    "Results in this folder", rows.length ? rows : [element("p", "quiet", "Nothing has been computed here yet.")],
  );
}

/** A link that saves a file. @param {any} server @param {string} name @returns {any} */
export function fileLink(server, name) {
  const link = element("a", "file-link", name);
  link.href = `/download/${encodeURIComponent(name)}`;
  link.addEventListener("click", (/** @type {any} */ event) => {
    event.preventDefault();
    server.download(name).catch((/** @type {any} */ error) => link.replaceChildren(`${name}: ${error.message}`));
  });
  return link;
}
