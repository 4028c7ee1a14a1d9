"""Two double pendulums, from description to report: Kamman's, with springs and dampers, and a chaotic one without.

`make demo` runs this. It writes one page, demo/double-pendulums.html, and prints what it found on the way.
"""

import sys
from pathlib import Path

import pendula
from pendula import library


def show(title: str, model: pendula.Model, duration: float) -> None:
    """The main results on one mechanism, a line each."""
    print(f"\n{title}: {model.name}")
    print(f"  described    {len(model.bodies)} bodies, {len(model.joints)} joints, units {model.units}")
    agreement = pendula.check(model)
    worst = max(pair.max_difference for pair in agreement.pairs)
    print(f"  derived      by {len(agreement.formulations)} formulations, which agree to {worst:.0e}")
    system = pendula.compile_system(model)
    rest = pendula.find_equilibria(system, prove=1.0)
    print(f"  equilibria   {len(rest)}, {rest.complete} to be all")
    lowest = rest[0]
    frequencies = pendula.modes(system, lowest).frequencies
    print(f"  linearized   at the lowest: {', '.join(f'{w:.5g}' for w in frequencies)} rad/s")
    verdict = pendula.stability(system, lowest)
    print(f"  stability    {verdict.verdict} ({verdict.certainty})")
    run = pendula.simulate(system, duration, samples=600)
    print(f"  simulated    {duration:g} s in {run.steps} steps, energy kept to {run.energy_drift:.0e}")
    trusted = run.predictability
    if trusted is not None and trusted.until is not None:
        print(
            f"  predictable  up to about t = {trusted.until:.3g} s; later the tolerance decides, as in all chaotic motion"
        )


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    kamman = library.double_pendulum()
    chaotic = library.chain(links=2, start="120deg").with_changes(name="chaotic double pendulum")
    show("Kamman, unit 8", kamman, 2.0)
    show("Without springs", chaotic, 20.0)
    page = pendula.report([kamman, chaotic], folder / "double-pendulums.html", duration=10.0)
    print(f"\nOpen {page} in a browser: equations, certificate, equilibria, modes and motion of both.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo"))
