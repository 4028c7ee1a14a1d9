// Playing a stored motion: time, speed, loop, single frames, and the controls for them.

import { showPlaying } from "./page.js";
import { clamp } from "./vectors.js";

/**
 * A clock that runs from 0 to `span` and calls `picture(now)` for every frame of the screen.
 * @param {any} parts elements: play, symbol, back, next, slider, clock, speed, loop
 * @param {{span: number, step: number, t0: number, unit: string, picture: (now: number) => void}} options
 */
export function createPlayback(parts, { span, step, t0, unit, picture }) {
  let now = 0, playing = false, before = 0, asked = false, seen = true;
  const still = !(span > 0);
  const digits = span >= 20 ? 1 : span >= 2 || still ? 2 : clamp(Math.ceil(2 - Math.log10(span)), 2, 9);
  const tell = (/** @type {number} */ t) => (t + t0).toFixed(digits);
  const total = document.createElement("span"), current = document.createElement("b");
  // as wide as its longest text: a clock that grows at 10 s would shorten the slider beside it
  current.style.minWidth = Math.max(tell(0).length, tell(span).length) + "ch";
  total.textContent = ` / ${tell(span)}${unit}`;
  parts.clock.append(current, total);
  parts.slider.max = span || 1;
  for (const part of [parts.slider, parts.play, parts.back, parts.next]) part.disabled = still;

  /** Draws the present picture at once. */
  function show() {
    picture(now);
    current.textContent = tell(now);
    parts.slider.value = now;
    parts.slider.setAttribute("aria-valuetext", tell(now) + unit);
  }

  /** @param {number} clock */
  function tick(clock) {
    asked = false;
    if (playing) {
      // A frame's clock may lie before "play", and a page in the background gets no frames for a while.
      now += clamp((clock - before) / 1000, 0, 0.25) * Number(parts.speed.value);
      before = clock;
      if (now >= span && parts.loop.checked) now %= span;
      else if (now >= span) {
        now = span;
        setPlaying(false);
      }
    }
    show();
    if (playing) refresh();
  }

  /** Draws with the next frame of the screen. */
  function refresh() {
    if (asked || !seen) return;
    asked = true;
    requestAnimationFrame(tick);
  }

  /** @param {boolean} on */
  function setPlaying(on) {
    playing = on && !still;
    before = performance.now();
    if (playing && now >= span) now = 0;
    showPlaying(parts.play, parts.symbol, playing);
    refresh();
  }

  /** @param {number} t since the first frame */
  function seek(t) {
    now = clamp(t, 0, span);
    refresh();
  }

  /** Goes by frames. @param {number} by */
  function stepBy(by) {
    setPlaying(false);
    seek(step * (Math.round(now / step) + by));
  }

  /** Only what is seen is drawn. @param {boolean} on */
  function setSeen(on) {
    seen = on;
    before = performance.now();
    refresh();
  }

  parts.play.addEventListener("click", () => setPlaying(!playing));
  parts.back.addEventListener("click", () => stepBy(-1));
  parts.next.addEventListener("click", () => stepBy(1));
  parts.slider.addEventListener("input", () => {
    setPlaying(false);
    seek(Number(parts.slider.value));
  });
  return { show, refresh, setPlaying, seek, stepBy, setSeen, still, get now() { return now; }, get playing() { return playing; } };
}
