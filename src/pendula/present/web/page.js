// The page around a stage: its elements, its data, and what it says when something goes wrong.

/** The element with this id; pages are written so that it exists. @param {string} id @returns {any} */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element "${id}"`);
  return found;
}

/** The data of the page. @param {string} id of a script element with JSON @returns {any} */
export function readData(id) {
  return JSON.parse(byId(id).textContent);
}

/** Shows an error in the page. @param {any} reason */
export function fail(reason) {
  const text = "This cannot be shown: " + ((reason && reason.message) || reason);
  byId("error").textContent = text;
  byId("error").hidden = false;
  document.body.dataset.error = text;
}

/** Shows every error that nothing else handles. */
export function watchErrors() {
  addEventListener("error", event => fail(event.message));
  addEventListener("unhandledrejection", event => fail(event.reason));
}

/** A new element with a class and a text. @param {string} tag @param {string} kind @param {string} text @returns {any} */
export function element(tag, kind = "", text = "") {
  const made = document.createElement(tag);
  if (kind) made.className = kind;
  if (text) made.textContent = text;
  return made;
}
