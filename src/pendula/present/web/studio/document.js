// The model that is edited: its text and its data are two views of one thing, checked while it changes, with undo.

const CHECK_AFTER = 250; // milliseconds after the last change
const SAVE_AFTER = 700;
const TOGETHER = 900; // changes of one field within this time are undone together
const MOST_STEPS = 200;
const UNSENT = "pendula-unsent"; // where the browser keeps a change that the folder does not have yet
const LONGEST_UNSENT = 1_000_000; // characters of such a change
const LONGEST_BEFORE = 700_000; // characters of a text whose comments the server is asked to keep

/** @typedef {{text: string, data: any}} Version */

/** A model without anything in it yet. @returns {any} */
export function emptyModel() {
  return { name: "untitled", gravity: [0, "-g", 0], parameters: { g: 9.81 }, bodies: [] };
}

/** Whether a text in TOML has comments: a # outside of quotes. @param {string} text */
function hasComments(text) {
  return text.split("\n").some(line => line.replace(/"(\\.|[^"\\])*"|'[^']*'/g, "").includes("#"));
}

/**
 * Events: `text` and `data` (that view has to be written again), `checked` (problems are known), `comments` (those of the
 * text were lost), `saved`, `file`.
 * @param {any} server
 */
export function createDocument(server) {
  /** @type {Map<string, ((what: any) => void)[]>} */ const listeners = new Map();
  /** @type {Version[]} */ let past = [];
  /** @type {Version[]} */ let future = [];
  /** @type {Version} */ let now = { text: "", data: emptyModel() };
  /** @type {any[]} */ let problems = [];
  /** @type {any} */ let about = null; // names and units of the last valid version
  let file = "", version = "", lastKey = "", lastTime = 0, asked = 0, checkTimer = 0, saveTimer = 0, stale = false;
  let conflict = false;
  let savedText = "", saving = false, pristine = false; // pristine: a new model that nobody has touched is not saved
  /** @type {"text" | "data"} */ let source = "data";

  const emit = (/** @type {string} */ event, /** @type {any} */ what = null) => {
    for (const act of listeners.get(event) || []) act(what);
  };

  /** Remembers the version before a change. @param {string} key changes with the same key, in a row, are one step */
  function remember(key) {
    const clock = performance.now();
    if (key && key === lastKey && clock - lastTime < TOGETHER) {
      lastTime = clock;
      return;
    }
    pristine = false;
    past.push({ text: now.text, data: now.data });
    if (past.length > MOST_STEPS) past.shift();
    future = [];
    lastKey = key;
    lastTime = clock;
  }

  function checkSoon() {
    stale = true;
    clearTimeout(checkTimer);
    checkTimer = window.setTimeout(check, CHECK_AFTER);
    if (!conflict) emit("saved", { state: "waiting" });
  }

  /** Asks the server what is wrong with the model and for its other view. */
  async function check() {
    clearTimeout(checkTimer);
    const number = ++asked, from = source, before = now.text.length < LONGEST_BEFORE ? now.text : "";
    let found;
    try {
      found = await server.post("/api/check", from === "text" ? { text: now.text } : { data: now.data, before });
    } catch (error) {
      if (number === asked) emit("trouble", error);
      return;
    }
    if (number !== asked) return;
    problems = found.problems || [];
    about = found.about || about;
    stale = false;
    if (from === "data" && typeof found.text === "string") {
      const lost = found.rewritten && hasComments(now.text);
      now.text = found.text;
      emit("text");
      if (lost) emit("comments");
    }
    if (from === "text" && found.data) {
      now.data = found.data;
      emit("data");
    }
    emit("checked", { ok: found.ok, problems });
    saveSoon();
  }

  function saveSoon() {
    if (!file || conflict || pristine) return;
    clearTimeout(saveTimer);
    if (now.text === savedText) {
      emit("saved", { state: "saved" });
      return;
    }
    saveTimer = window.setTimeout(save, SAVE_AFTER);
    keepUnsent();
    emit("saved", { state: "waiting" });
  }

  /** Keeps a change in the browser until the folder has it: a page that goes may be ended before it can send anything. */
  function keepUnsent() {
    if (now.text.length < LONGEST_UNSENT) sessionStorage.setItem(UNSENT, JSON.stringify({ text: now.text, version, file }));
  }

  /** Writes the model into the folder. @param {boolean} force also over a file that someone else has changed */
  async function save(force = false) {
    clearTimeout(saveTimer);
    if (!file || saving) return;
    saving = true;
    const text = now.text, name = file;
    emit("saved", { state: "saving" });
    try {
      const given = version && !force ? { text, version } : { text };
      const found = await server.put(`/api/models/${encodeURIComponent(name)}`, given);
      if (name !== file) return;
      savedText = text;
      version = (found && found.version) || "";
      conflict = false;
      sessionStorage.removeItem(UNSENT);
      emit("saved", { state: "saved" });
    } catch (/** @type {any} */ error) {
      conflict = error.status === 409;
      emit("saved", { state: conflict ? "conflict" : "failed", message: error.message });
    } finally {
      saving = false;
      if (now.text !== savedText && !conflict && name === file && savedText === text) saveSoon();
    }
  }

  /** Goes to a version that was remembered. @param {Version[]} from @param {Version[]} to */
  function travel(from, to) {
    const next = from.pop();
    if (!next) return;
    pristine = false;
    to.push({ text: now.text, data: now.data });
    now = { ...next };
    source = now.text ? "text" : "data";
    lastKey = "";
    emit("data");
    emit("text");
    emit("history");
    checkSoon();
  }

  const self = {
    on(/** @type {string} */ event, /** @type {(what: any) => void} */ act) {
      listeners.set(event, [...(listeners.get(event) || []), act]);
    },
    get text() { return now.text; },
    get data() { return now.data; },
    get problems() { return problems; },
    /** Problems to show: that a new model is still empty is none. */
    get shownProblems() {
      const empty = !now.data.bodies?.length && !now.data.joints?.length;
      return problems.filter(one => !(empty && one.path?.length === 1 && one.path[0] === "bodies"));
    },
    /** Names, units and values of the model when it was last valid; null before. */
    get about() { return about; },
    get file() { return file; },
    get ok() { return !stale && problems.length === 0; },
    get stale() { return stale; },
    get canUndo() { return past.length > 0; },
    get canRedo() { return future.length > 0; },
    /** Whether something would be lost now: the last change of the form has no text yet, or nothing could be saved. */
    get unsaved() { return !pristine && (conflict || (stale && source === "data")); },
    /** Saves at once, when the page is about to go. */
    flush() {
      if (!file || conflict || pristine || now.text === savedText) return;
      const given = version ? { text: now.text, version } : { text: now.text };
      server.leave(`/api/models/${encodeURIComponent(file)}`, given);
    },

    /**
     * Changes the data.
     * @param {(data: any) => void} change of a copy @param {string} key see `remember`
     * @param {boolean} shown whether the form already shows this change
     */
    edit(change, key = "", shown = false) {
      remember(key);
      const copy = structuredClone(now.data);
      change(copy);
      now = { text: now.text, data: copy };
      source = "data";
      if (!shown) emit("data");
      emit("history");
      checkSoon();
    },
    /** Takes over a text that was typed. @param {string} text */
    type(text) {
      if (text === now.text) return;
      remember("text");
      now = { text, data: now.data };
      source = "text";
      emit("history");
      checkSoon();
    },
    /**
     * A model from the folder. If the page was left before its last change reached the folder, it takes over that change.
     * @param {string} name of its file @param {{text: string, version: string}} found
     */
    openFound(name, { text, version }) {
      const left = JSON.parse(sessionStorage.getItem(UNSENT) || "null");
      sessionStorage.removeItem(UNSENT);
      const newer = left && left.file === name && left.version === version;
      return self.open({ text: newer ? left.text : text, version, file: name, saved: !newer });
    },
    /** Waits until the last change has been checked. */
    async settle() {
      if (stale) await check();
    },
    /** The next change is a separate step. */
    pause() { lastKey = ""; },
    undo() { travel(past, future); },
    redo() { travel(future, past); },
    check, save,

    /**
     * Another model. @param {{text?: string, data?: any, file: string, version?: string, saved?: boolean, fresh?: boolean}} given
     * `saved`: the file already holds it; `fresh`: it is not worth saving before it is changed
     */
    async open(given) {
      clearTimeout(saveTimer);
      past = [];
      future = [];
      lastKey = "";
      conflict = false;
      now = { text: given.text || "", data: given.data || emptyModel() };
      source = given.text !== undefined ? "text" : "data";
      file = given.file;
      version = given.version || "";
      savedText = given.saved ? now.text : "\0";
      pristine = Boolean(given.fresh);
      problems = [];
      about = null;
      stale = true;
      emit("file", file);
      emit("data");
      emit("text");
      emit("history");
      emit("saved", { state: given.saved ? "saved" : given.fresh ? "new" : "waiting" });
      await check();
    },
    /** The same model under another name of a file. @param {string} name */
    rename(name) {
      file = name;
      version = "";
      pristine = false;
      savedText = "\0";
      conflict = false;
      emit("file", file);
      return save();
    },
  };
  return self;
}
