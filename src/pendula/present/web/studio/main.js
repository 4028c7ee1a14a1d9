/** The page of the studio: lists the models, runs and results of the folder. */

/** @typedef {{name: string, bytes: number, changed: number}} FolderFile */

const studioToken = new URLSearchParams(location.search).get("token") || "";

/**
 * Asks the server.
 * @param {string} path
 * @returns {Promise<any>}
 */
async function askStudio(path) {
  const answer = await fetch(path, { headers: { "X-Pendula-Token": studioToken } });
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
}

/**
 * @param {HTMLElement} into
 * @param {string} title
 * @param {string[]} names
 */
function showNames(into, title, names) {
  const heading = document.createElement("h2");
  heading.textContent = title;
  const list = document.createElement("ul");
  for (const name of names) {
    const item = document.createElement("li");
    item.textContent = name;
    list.append(item);
  }
  into.append(heading, list);
}

async function showFolder() {
  const into = /** @type {HTMLElement} */ (document.getElementById("studio"));
  const files = await askStudio("/api/files");
  for (const kind of ["models", "runs", "exports"]) {
    showNames(into, kind, files[kind].map((/** @type {FolderFile} */ file) => file.name));
  }
  showNames(into, "results", files.results.map((/** @type {{id: string}} */ result) => result.id));
}

showFolder();
