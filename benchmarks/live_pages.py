"""How long does a live page keep the browser's main thread busy per frame, and how fast is its right-hand side?

    python -m benchmarks.live_pages

Pages run in headless Chromium without a graphics processor, at 1200 x 900. For every frame of five seconds: the time of
the page's own callback (median), and all work of the main thread divided by the number of frames (mean). Right-hand
sides run in node, next to the machine code of the same symbolic program in a compiled loop.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import pendula
from pendula import library
from pendula.system.live.program import engine_text, write_live

PAGES = {
    "double pendulum": lambda: library.double_pendulum(),
    "chain of 10": lambda: library.chain(links=10),
    "four-bar": lambda: library.four_bar(),
    "heavy top": lambda: library.heavy_top(),
    "chain of 30": lambda: library.chain(links=30),
}
SECONDS = 5.0
_WATCH = """(() => {
  const ask = window.requestAnimationFrame.bind(window);
  window.spent = [];
  window.requestAnimationFrame = act => ask(time => {
    const before = performance.now();
    act(time);
    window.spent.push(performance.now() - before);
  });
})()"""


def frames(browser: Any, path: Path) -> tuple[float, float, int]:
    """Median of the page's callback [ms], mean of all work on the main thread [ms], number of frames."""
    browser.open(path)
    browser.ask("Performance.enable")
    browser.run(_WATCH)
    time.sleep(1.0)  # the first frames compile
    browser.run("void (window.spent.length = 0)")
    busy = _busy(browser)
    time.sleep(SECONDS)
    spent = json.loads(browser.run("JSON.stringify(window.spent)"))
    return float(np.median(spent)), 1000 * (_busy(browser) - busy) / len(spent), len(spent)


def _busy(browser: Any) -> float:
    return float(
        next(m["value"] for m in browser.ask("Performance.getMetrics")["metrics"] if m["name"] == "TaskDuration")
    )


def native(links: int, count: int = 20_000) -> float:
    """Seconds of one right-hand side by the machine code of the symbolic program, in a compiled loop."""
    system = pendula.compile_system(library.chain(links=links), engine="symbolic")
    rng = np.random.default_rng(1)
    q, v = (rng.normal(size=(count, links)) for _ in range(2))
    system.solve(q[:10], v[:10])
    best = np.inf
    for _ in range(8):
        begin = time.perf_counter()
        system.solve(q, v)
        best = min(best, time.perf_counter() - begin)
    return float(best) / count


def in_node(links: int, count: int = 20_000) -> float:
    """Seconds of one right-hand side by the page's JavaScript."""
    live = write_live(library.chain(links=links), wrenches=False)
    script = f"""{engine_text("solve.js").replace("export function", "function")}
const program = {live.script}, n = {links};
const p = new Float64Array(program.PARAMETERS + program.PREPARED);
{json.dumps(list(live.adjustable.values()))}.forEach((value, k) => {{ p[k] = value; }});
program.prepare(p);
const terms = new Float64Array(n * n + 2 * n + 1), M = terms.subarray(0, n * n), f = terms.subarray(n * n, n * n + n);
const none = new Float64Array(0), a = new Float64Array(n), solve = makeSolver(n, 0);
const states = Array.from({{ length: 64 }}, () => Float64Array.from({{ length: 1 + 2 * n }}, () => 2 * Math.random()));
let best = Infinity, sum = 0;
for (let round = 0; round < 40; round++) {{
  const begin = performance.now();
  for (let i = 0; i < {count}; i++) {{ program.dynamics(states[i & 63], p, terms); solve(M, f, none, none, a, none); sum += a[0]; }}
  best = Math.min(best, performance.now() - begin);
}}
console.log(best / {count} / 1000, sum > 1e300);"""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "speed.mjs"
        file.write_text(script, encoding="utf-8")
        done = subprocess.run(["node", str(file)], capture_output=True, text=True, check=True)
    return float(done.stdout.split()[0])


def main() -> None:
    """Prints both tables."""
    from tests.present.browser import BROWSER, Browser

    if BROWSER is None:
        print("no Chromium found: apt install chromium")
    else:
        print(f"{'page':16} {'callback, median':>17} {'main thread, mean':>18} {'frames':>7} {'size':>8}")
        with tempfile.TemporaryDirectory() as folder:
            for name, make in PAGES.items():
                path = pendula.play(make(), Path(folder) / "page.html")
                with Browser(1200) as browser:
                    own, all_of, count = frames(browser, path)
                print(
                    f"{name:16} {own:14.2f} ms {all_of:15.2f} ms {count:7} {path.stat().st_size // 1000:5} kB",
                    flush=True,
                )
    if shutil.which("node") is None:
        print("no node found")
        return
    print(f"\n{'links':16} {'machine code':>17} {'JavaScript':>18} {'ratio':>7}")
    for links in (2, 10):
        ours, theirs = native(links), in_node(links)
        print(f"{links:<16} {1e9 * ours:14.0f} ns {1e9 * theirs:15.0f} ns {theirs / ours:7.2f}", flush=True)


if __name__ == "__main__":
    main()
