// The energy account: what the mechanism has, what was put in from outside, and the error between them.

/**
 * @param {import("./core.js").Core} core
 * @param {() => void} changed called when the account starts anew or goes on after a change from outside
 */
export function createAccount(core, changed) {
  const { program, about, count, x, y, p, energies, read } = core;
  let base = 0, drift = 0, scale = about.energy;

  function energyNow() {
    read(core.t, y);
    program.energies(x, p, energies);
    return { kinetic: energies[0], potential: energies[1], total: energies[0] + energies[1], work: y[count] };
  }

  /** Energy minus that of the start minus the work done. */
  function error() {
    read(core.t, y);
    program.energies(x, p, energies);
    return energies[0] + energies[1] - base - y[count];
  }

  return {
    energyNow, error,
    get drift() { return drift; },
    /** Starts anew at the present state. */
    begin() {
      y[count] = 0;
      const now = energyNow();
      base = now.total;
      drift = 0;
      scale = Math.max(about.energy, Math.abs(now.kinetic));
      changed();
    },
    /** Goes on after a change from outside, which neither adds nor removes energy. @param {() => boolean} change */
    keep(change) {
      const before = error(), done = change(), after = energyNow();
      base = after.total - after.work - before;
      changed();
      return done;
    },
    /** Takes notice of the present error; false if it is not finite. */
    note() {
      const now = Math.abs(error());
      if (!Number.isFinite(now)) return false;
      scale = Math.max(scale, Math.abs(energies[0]));
      drift = Math.max(drift, now / scale);
      return true;
    },
  };
}
