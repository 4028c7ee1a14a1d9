// The pair of Dormand and Prince (1980), orders 5 and 4, with the step size control of Hairer, Norsett and Wanner.

const STAGES = [
  [1 / 5],
  [3 / 40, 9 / 40],
  [44 / 45, -56 / 15, 32 / 9],
  [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
  [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
  [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
];
const TIMES = [1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1];
const ERRORS = [71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40];
const SAFETY = 0.9, LEAST_FACTOR = 0.2, MOST_FACTOR = 5, DAMPING = 0.04;

/**
 * A stepper for y' = f(t, y), which keeps its step size between calls.
 *
 * @param {number} size number of entries of y
 * @param {(t: number, y: Float64Array, out: Float64Array) => boolean} derivative false if it cannot be computed
 * @param {Float64Array} units for each entry of y the size to which the tolerance refers; 0: not controlled
 */
export function makeStepper(size, derivative, units) {
  const k = Array.from({ length: 7 }, () => new Float64Array(size));
  const trial = new Float64Array(size);
  let step = 0, before = 1e-4, fresh = false;

  function firstStep(/** @type {Float64Array} */ y, /** @type {number} */ tolerance, /** @type {number} */ span) {
    let size0 = 0, size1 = 0;
    for (let i = 0; i < size; i++) if (units[i] > 0) {
      const scale = tolerance * (units[i] + Math.abs(y[i]));
      size0 = Math.max(size0, Math.abs(y[i]) / scale);
      size1 = Math.max(size1, Math.abs(k[0][i]) / scale);
    }
    const guess = size1 > 0 ? Math.max(size0, 1 / tolerance) / size1 : span;
    return Math.min(span, 0.01 * guess * tolerance ** 0.2);
  }

  /** The error of the step from y to trial, in units of the tolerance. */
  function errorOf(/** @type {Float64Array} */ y, /** @type {number} */ h, /** @type {number} */ tolerance) {
    let worst = 0;
    for (let i = 0; i < size; i++) if (units[i] > 0) {
      let sum = 0;
      for (let s = 0; s < 7; s++) sum += ERRORS[s] * k[s][i];
      const scale = tolerance * (units[i] + Math.max(Math.abs(y[i]), Math.abs(trial[i])));
      const error = Math.abs(h * sum) / scale;
      if (!(error <= worst)) worst = error;
    }
    return worst;
  }

  return {
    /** Forgets the derivative of the last step: the state or the equations have changed. */
    reset() { fresh = false; },
    /** Forgets the step size, too. */
    restart() { fresh = false; step = 0; before = 1e-4; },
    /** The step size that the stepper would take next; 0 if it does not know yet. */
    get size() { return step; },
    /**
     * One accepted step, at most up to `until`.
     * @param {number} t
     * @param {Float64Array} y is replaced by the state after the step
     * @param {number} until
     * @param {number} tolerance
     * @returns {number} the time after the step; NaN if no step succeeds
     */
    advance(t, y, until, tolerance) {
      if (!fresh && !derivative(t, y, k[0])) return NaN;
      fresh = true;
      if (!(step > 0)) step = firstStep(y, tolerance, until - t);
      const least = 1e-14 * Math.max(1, Math.abs(t));
      for (;;) {
        const rest = until - t, last = step >= 0.999 * rest, h = last ? rest : step;
        let fine = true;
        for (let s = 0; s < 6 && fine; s++) {
          const weights = STAGES[s];
          for (let i = 0; i < size; i++) {
            let sum = 0;
            for (let j = 0; j <= s; j++) sum += weights[j] * k[j][i];
            trial[i] = y[i] + h * sum;
          }
          fine = derivative(t + TIMES[s] * h, trial, k[s + 1]);
        }
        const error = fine ? errorOf(y, h, tolerance) : Infinity;
        if (error <= 1) {
          const factor = SAFETY * Math.max(error, 1e-10) ** -(0.2 - 0.75 * DAMPING) * before ** DAMPING;
          const grown = h * Math.min(MOST_FACTOR, Math.max(LEAST_FACTOR, factor));
          step = last ? Math.max(step, grown) : grown;
          before = Math.max(error, 1e-4);
          y.set(trial);
          k[0].set(k[6]);
          return last ? until : t + h;
        }
        step = h * (Number.isFinite(error) ? Math.max(LEAST_FACTOR, SAFETY * error ** -0.2) : LEAST_FACTOR);
        if (!(step > least)) return NaN;
      }
    },
  };
}
