// Work that the server does: jobs are asked for, followed while they run, cancelled, and found again after a reload.

const POLL = 1500; // milliseconds between questions while events do not come
const FINISHED = new Set(["done", "failed", "cancelled"]);

/** @param {any} server */
export function createJobs(server) {
  /** @type {Map<string, any>} */ const known = new Map();
  /** @type {Map<string, ((job: any) => void)[]>} */ const waiting = new Map();
  /** @type {((job: any) => void)[]} */ const watchers = [];
  /** @type {Map<string, {got: number, busy: boolean, act: (piece: any) => void}>} */ const followed = new Map();
  let connected = false;

  /** Takes over what is new about a job. @param {any} news */
  function learn(news) {
    if (!news || !news.id) return;
    const old = known.get(news.id), job = { ...(old || {}), ...news };
    if (old && FINISHED.has(old.state) && !FINISHED.has(job.state)) return; // late news
    known.set(job.id, job);
    for (const watch of watchers) watch(job);
    fetchPieces(job.id);
    if (FINISHED.has(job.state)) {
      followed.delete(job.id);
      const acts = waiting.get(job.id) || [];
      waiting.delete(job.id);
      if (acts.length) finish(job, acts);
    }
  }

  /** Fetches what a running job has found since the last time. @param {string} id */
  async function fetchPieces(id) {
    const one = followed.get(id), job = known.get(id);
    if (!one || !job || one.busy || FINISHED.has(job.state) || !(job.pieces > one.got)) return;
    one.busy = true;
    try {
      const { pieces, next } = await server.get(`/api/jobs/${encodeURIComponent(id)}/pieces?from=${one.got}`);
      if (followed.get(id) !== one) return;
      one.got = next;
      for (const piece of pieces) one.act(piece);
    } catch {
      followed.delete(id); // the result itself will come
    } finally {
      one.busy = false;
    }
    fetchPieces(id);
  }

  /** Fetches the result, then tells those who wait. @param {any} job @param {((job: any) => void)[]} acts */
  async function finish(job, acts) {
    let whole = job;
    if (job.state === "done" && job.result === undefined) {
      try {
        whole = { ...job, ...(await server.get(`/api/jobs/${encodeURIComponent(job.id)}`)) };
      } catch (/** @type {any} */ error) {
        whole = { ...job, state: "failed", error: error.message };
      }
    }
    for (const act of acts) act(whole);
  }

  const ask = async () => {
    if (connected || !waiting.size) return;
    try {
      (await server.get("/api/jobs")).forEach(learn);
    } catch {
      // the next question will tell
    }
  };
  setInterval(ask, POLL);
  server.listen((/** @type {any} */ event) => (event.jobs || []).forEach(learn), (/** @type {boolean} */ on) => {
    connected = on;
    if (on) refresh();
    for (const watch of watchers) watch(null);
  });

  async function refresh() {
    try {
      (await server.get("/api/jobs")).forEach(learn);
    } catch {
      // it will be asked again when the connection is back
    }
  }

  const self = {
    get connected() { return connected; },
    get all() { return [...known.values()]; },
    refresh,
    /** Calls with every job that changes; null: the connection changed. @param {(job: any) => void} act */
    watch: act => watchers.push(act),
    /**
     * Starts a job and gives its result.
     * @param {string} kind @param {any} content `text` of the model, `options`, `title` (its file)
     * @param {(id: string) => void} begun gets its number
     * @returns {Promise<any>} the finished job; rejected with the reason if it failed
     */
    async run(kind, content, begun = () => {}) {
      const given = await server.post("/api/jobs", { kind, ...content });
      begun(given.id);
      const done = self.wait(given.id);
      learn({ kind, ...content, state: "queued", ...known.get(given.id), ...given });
      return done;
    },
    /**
     * Calls with every part of the result of a job that is known before it is done, from the first one on.
     * @param {string} id @param {(piece: any) => void} act
     */
    follow(id, act) {
      followed.set(id, { got: 0, busy: false, act });
      fetchPieces(id);
    },
    /** The finished job of a number, once it is done; rejected with the reason if it fails. @param {string} id @returns {Promise<any>} */
    wait: id => new Promise((resolve, reject) => {
      const act = (/** @type {any} */ job) => {
        if (job.state === "done") resolve(job);
        else reject(new JobEnd(job.state === "cancelled" ? "cancelled" : job.error || "failed", job.state));
      };
      waiting.set(id, [...(waiting.get(id) || []), act]);
      const job = known.get(id);
      if (job && FINISHED.has(job.state)) learn(job);
    }),
    /** The whole job with its result. @param {string} id */
    load: id => server.get(`/api/jobs/${encodeURIComponent(id)}`),
    /** @param {string} id */
    cancel: id => server.remove(`/api/jobs/${encodeURIComponent(id)}`),
    isFinished: (/** @type {any} */ job) => FINISHED.has(job.state),
  };
  return self;
}

/** A job that ended without a result. */
export class JobEnd extends Error {
  /** @param {string} message @param {string} state */
  constructor(message, state) {
    super(message);
    this.state = state;
  }
}
