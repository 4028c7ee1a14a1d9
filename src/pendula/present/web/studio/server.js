// The server behind the page: requests with their token, jobs, files, and events that it pushes.

const FIRST_WAIT = 400; // milliseconds before the first attempt to connect again
const LONGEST_WAIT = 8000;

const TOKEN = "pendula-token"; // in the memory of the tab, which stays when the page is loaded again

/** The token of the studio, for the code in the address, which works once and does not stay there. @returns {Promise<string>} */
export async function findToken() {
  const code = location.hash.slice(1);
  if (code) {
    history.replaceState(null, "", "/");
    const answer = await fetch("/api/token", { method: "POST", headers: { "X-Pendula-Code": code } });
    if (answer.ok) sessionStorage.setItem(TOKEN, (await answer.json()).token);
  }
  const token = sessionStorage.getItem(TOKEN);
  if (!token) throw new ServerError("open the address that the studio has printed", 403);
  return token;
}

/** What the server says about itself and its work. @param {string} token @returns {any} */
export function createServer(token) {
  const client = clientName();

  /**
   * One request; an answer with an error becomes an Error with its text.
   * @param {string} method @param {string} path @param {any} [body] @returns {Promise<any>}
   */
  async function call(method, path, body) {
    /** @type {Record<string, string>} */
    const headers = { "X-Pendula-Token": token, "X-Pendula-Client": client };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    let answer;
    try {
      answer = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
    } catch {
      throw new ServerError("the studio does not answer: is it still running?", 0);
    }
    const text = await answer.text();
    let content = null;
    try {
      content = text ? JSON.parse(text) : null;
    } catch {
      content = null;
    }
    if (answer.ok) return content;
    throw new ServerError((content && content.error) || `the studio answered ${answer.status}`, answer.status);
  }

  return {
    token, client,
    get: (/** @type {string} */ path) => call("GET", path),
    post: (/** @type {string} */ path, /** @type {any} */ body) => call("POST", path, body),
    put: (/** @type {string} */ path, /** @type {any} */ body) => call("PUT", path, body),
    remove: (/** @type {string} */ path) => call("DELETE", path),
    /** A request that is finished even if the page is closed now; nobody waits for its answer. */
    leave(/** @type {string} */ path, /** @type {any} */ body) {
      const headers = { "X-Pendula-Token": token, "X-Pendula-Client": client, "Content-Type": "application/json" };
      fetch(path, { method: "PUT", headers, body: JSON.stringify(body), keepalive: true }).catch(() => {});
    },
    /** Saves a file; its address, which a browser keeps, works once. @param {string} name */
    async download(name) {
      const { code } = await call("POST", "/api/codes");
      const link = document.createElement("a");
      link.href = `/download/${encodeURIComponent(name)}?code=${encodeURIComponent(code)}`;
      link.download = name;
      link.click();
    },
    /** The address of the program of a job. @param {string} id */
    program: id => `/live/${encodeURIComponent(id)}.js?token=${encodeURIComponent(token)}`,
    /** Listens to events, and connects again when the connection is lost. */
    listen(/** @type {(event: any) => void} */ act, /** @type {(connected: boolean) => void} */ changed) {
      let wait = FIRST_WAIT;
      const connect = () => {
        const scheme = location.protocol === "https:" ? "wss" : "ws";
        const query = `token=${encodeURIComponent(token)}&client=${encodeURIComponent(client)}`;
        const socket = new WebSocket(`${scheme}://${location.host}/api/events?${query}`);
        socket.addEventListener("open", () => {
          wait = FIRST_WAIT;
          changed(true);
        });
        socket.addEventListener("message", event => act(JSON.parse(event.data)));
        socket.addEventListener("close", () => {
          changed(false);
          setTimeout(connect, wait);
          wait = Math.min(2 * wait, LONGEST_WAIT);
        });
      };
      connect();
    },
  };
}

/** An answer with an error; `status` is 0 if there was no answer. */
export class ServerError extends Error {
  /** @param {string} message @param {number} status */
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/** A name for this tab, by which the server shares its time fairly; it stays when the page is loaded again. */
function clientName() {
  const kept = sessionStorage.getItem("pendula-client");
  if (kept) return kept;
  const made = Array.from(crypto.getRandomValues(new Uint8Array(9)), byte => byte.toString(36)).join("");
  sessionStorage.setItem("pendula-client", made);
  return made;
}
