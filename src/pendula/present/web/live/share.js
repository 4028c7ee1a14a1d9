// A link that holds the state: time, coordinates, speeds, and the parameters that were changed, all exactly.

/**
 * The fragment of a link to the present state. Numbers are written in their shortest exact form.
 * @param {any} toy
 * @returns {string}
 */
export function writeLink(toy) {
  const { mechanism, record, count } = toy, { names } = record.about;
  const parts = [`t=${mechanism.time}`];
  [...names.coordinates, ...names.speeds].forEach((name, k) => {
    if (k < count) parts.push(`${encodeURIComponent(name)}=${exactText(mechanism.values[k])}`);
  });
  for (const { name, value } of record.sliders) {
    const now = mechanism.get(name);
    if (now !== value) parts.push(`${encodeURIComponent(name)}=${exactText(now)}`);
  }
  return "#" + parts.join("&");
}

/** @param {number} x */
function exactText(x) {
  return Object.is(x, -0) ? "-0" : String(x);
}

/**
 * The state in the fragment of an address; null if there is none.
 * @param {any} toy @param {string} fragment
 * @returns {{time: number, values: Float64Array, parameters: Record<string, number>} | null}
 */
function readLink(toy, fragment) {
  const { record, count } = toy, { names } = record.about, states = [...names.coordinates, ...names.speeds];
  if (!fragment.startsWith("#t=")) return null;
  const values = new Float64Array(count).fill(NaN);
  /** @type {Record<string, number>} */
  const parameters = Object.fromEntries(record.sliders.map((/** @type {any} */ s) => [s.name, s.value]));
  let time = NaN;
  for (const part of fragment.slice(1).split("&")) {
    const sign = part.indexOf("="), value = Number(part.slice(sign + 1));
    let name = part.slice(0, sign);
    try {
      name = decodeURIComponent(name);
    } catch {
      return null;
    }
    if (sign < 1 || part.length === sign + 1 || !Number.isFinite(value)) return null;
    const k = states.indexOf(name);
    if (name === "t") time = value;
    else if (k >= 0) values[k] = value;
    else if (Object.hasOwn(parameters, name)) parameters[name] = value;
    else return null;
  }
  return values.every(Number.isFinite) && Number.isFinite(time) ? { time, values, parameters } : null;
}

/**
 * Puts a link to the present state into the address and the clipboard.
 * @param {any} toy
 * @returns {Promise<string>} what to tell the reader
 */
export async function shareLink(toy) {
  const link = writeLink(toy);
  try {
    history.replaceState(null, "", link);
  } catch {
    return "inside another page there is no address: save this one as a file to share it";
  }
  try {
    await navigator.clipboard.writeText(location.href);
    return "the link is copied: it opens this page in this state";
  } catch {
    return "the address of this page now opens it in this state";
  }
}

/**
 * Opens the state that the address of the page holds.
 * @param {any} toy @param {() => void} changed
 * @returns {boolean} whether the address holds a state, or was meant to: the page is then paused
 */
export function openLink(toy, changed) {
  if (!location.hash.startsWith("#t=")) return false;
  const found = readLink(toy, location.hash);
  toy.pause();
  if (!found) toy.tell("this link does not hold a state of this mechanism");
  else if (toy.restore(found.time, found.values, found.parameters)) toy.tell("opened from a link: press play to go on");
  changed();
  return true;
}
