// Numbers as a reader expects them: round steps, short texts.

/** The round number (1, 2, 5 times a power of ten) next to x. @param {number} x @returns {number} */
export function nice(x) {
  const power = 10 ** Math.floor(Math.log10(x)), m = x / power;
  return (m < 1.5 ? 1 : m < 3.5 ? 2 : m < 7.5 ? 5 : 10) * power;
}

/** A number in few characters. @param {number} x @param {number} digits @returns {string} */
export function short(x, digits = 4) {
  if (x === 0 || !Number.isFinite(x)) return String(x);
  const power = Math.abs(x) < 1e-3 || Math.abs(x) >= 1e5;
  const text = power ? x.toExponential(digits - 2).replace(/\.?0+e/, "e").replace("e+", "e") : String(Number(x.toPrecision(digits)));
  return text.replace(/^-/, "\u2212").replace("e-", "e\u2212");
}

/** A name with its unit, as on an axis. @param {string} name @param {string | undefined} unit */
export function labelled(name, unit) {
  return unit ? `${name} [${unit}]` : name;
}

/** A unit after a number: with a space before it, or nothing. @param {string | undefined} unit */
export function spaced(unit) {
  return unit ? ` ${unit}` : "";
}

/**
 * Values and texts of ticks of a linear axis, about `wanted` of them.
 * @param {number} low @param {number} high @param {number} wanted
 * @returns {[number, string][]}
 */
export function linearTicks(low, high, wanted) {
  const step = nice((high - low) / Math.max(1, wanted)), found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) {
    found.push(/** @type {[number, string]} */ ([k * step, short(k * step)]));
  }
  return found;
}

/**
 * Ticks of a logarithmic axis from 10^low to 10^high: whole decades only, as exponents.
 * @param {number} low @param {number} high @param {number} wanted
 * @returns {[number, string][]}
 */
export function decadeTicks(low, high, wanted) {
  const step = Math.max(1, Math.ceil((high - low) / Math.max(1, wanted))), found = [];
  for (let d = Math.ceil(low / step) * step; d <= high; d += step) {
    found.push(/** @type {[number, string]} */ ([d, `1e${d}`.replace("-", "\u2212")]));
  }
  return found;
}
