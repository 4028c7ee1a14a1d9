// Time on the screen: one frame after another, within a budget, and a word when the mechanism cannot keep up.

import { clamp } from "../vectors.js";

const BUDGET = 9; // milliseconds of a frame for the motion
const LONGEST = 0.1; // seconds of motion in one frame at most, at speed 1
const AWAY = 1; // a longer gap between two frames means that the page was in the background
const BEHIND = 0.9; // fraction of the asked speed below which the page says that it is slow
const CALM = 40; // frames over which the fraction is averaged

/**
 * @param {any} toy
 * @param {(work: boolean) => void} picture draws; `work`: whether time went on
 */
export function createLoop(toy, picture) {
  let before = 0, asked = false, pace = 1, slow = false;

  /** @param {number} clock */
  function tick(clock) {
    asked = false;
    const gap = clamp((clock - before) / 1000, 0, AWAY), passed = gap < AWAY ? gap : LONGEST;
    const wanted = Math.min(passed, LONGEST) * toy.speed;
    before = clock;
    const moving = toy.playing && wanted > 0;
    if (moving) {
      const done = toy.run(wanted, BUDGET);
      pace += (clamp(done / (passed * toy.speed), 0, 1) - pace) / CALM;
      tellPace();
    }
    picture(moving);
    if (toy.playing) refresh();
  }

  function tellPace() {
    const late = pace < (slow ? BEHIND + 0.05 : BEHIND);
    if (late) toy.tell(`slowed to ${(100 * pace).toPrecision(2)} % of the chosen speed: this is as fast as this device computes it`);
    else if (slow && toy.playing) toy.tell("");
    slow = late;
  }

  /** Draws with the next frame of the screen. */
  function refresh() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(tick);
  }

  toy.on("mode", () => {
    before = performance.now();
    pace = 1;
    slow = false;
    refresh();
  });
  return {
    refresh,
    /** Draws at once. */
    show: () => picture(false),
    /** The fraction of the asked speed that is reached. */
    get pace() { return pace; },
  };
}
