"""Paper 003, Turner: pendulums and linkages of n links by three methods."""

from pendula.papers.turner.chains import damped, inverted, upright, weightless
from pendula.papers.turner.charts import one_link, three_links
from pendula.papers.turner.derivations import inertia, maximal, minimal
from pendula.papers.turner.divergence import divergence
from pendula.papers.turner.ends import driven, total_energy
from pendula.papers.turner.energy import rope, spread
from pendula.papers.turner.linkages import pulled, pumpjack, shaken, stretched
from pendula.papers.turner.modes import normal_modes, small_angles
from pendula.papers.turner.performance import performance
from pendula.papers.turner.waves import beats, frequencies, standing_waves
from pendula.papers.types import Part

STATE = {"angles": [0.9, -0.5, 1.7], "rates": [1.2, -2.0, 0.7]}

PARTS = (
    Part("inertia", "Inertia of a link (eqs. 1-5)", inertia, {"mass": 1.3, "length": 0.9, "com": 0.25}),
    Part("minimal", "Lagrange and Newton-Euler (eqs. 6-31)", minimal, STATE),
    Part("maximal", "Differential algebraic equations (eqs. 32-54)", maximal, STATE | {"bars": 6}),
    Part(
        "driven",
        "A moving base and a moving end (eqs. 47-49, 55-57)",
        driven,
        {"size": 0.2, "rate": 4.0, "direction": 0.7, "duration": 2.0, "bars": 6},
    ),
    Part("total_energy", "Total energy (eq. 60)", total_energy, {"states": 20, "duration": 5.0}),
    Part("rope", "Energy of 100 links (figure 6)", rope, {"links": 100, "duration": 10.0, "tol": 1e-8}),
    Part(
        "nominal",
        "Energy of the nominal pendulum, with nearby starts (figure 7)",
        spread,
        {"figure": 7, "links": 10, "duration": 10.0, "tol": 1e-8, "factor": 1.0, "starts": 20, "size": 1e-3},
    ),
    Part(
        "spread",
        "Energy with five-fold gravity and nearby starts (figure 8)",
        spread,
        {"figure": 8, "links": 10, "duration": 10.0, "tol": 1e-4, "factor": 5.0, "starts": 20, "size": 1e-3},
    ),
    Part("small_angles", "Small motion (eqs. 61-62)", small_angles, {"links": 3}),
    Part("normal_modes", "Normal modes (figures 13-20)", normal_modes, {"largest": 5, "divisor": 10.0, "periods": 4.0}),
    Part("frequencies", "Frequencies of rope and chain (eqs. 63-64)", frequencies, {"links": 50, "modes": 5}),
    Part(
        "waves",
        "Standing waves (figures 9 and 21-25)",
        standing_waves,
        {"links": 50, "amplitudes": [0.5, 0.05, 0.05, 0.05, 0.05], "durations": [1200.0, 800.0, 600.0, 500.0, 400.0]},
    ),
    Part(
        "beats",
        "Beats and how they depend on the drive (section 5.3)",
        beats,
        {
            "links": 50,
            "mode": 5,
            "amplitudes": [1e-4, 1e-3, 1e-2, 5e-2],
            "duration": 500.0,
            "strong": [0.01, 0.05, 0.1, 0.2],
            "chaos": 240.0,
        },
    ),
    Part(
        "divergence",
        "Perturbations and divergence (section 5.5)",
        divergence,
        {
            "links": 10,
            "duration": 15.0,
            "tol": 1e-12,
            "smaller": [1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12, 1e-14],
            "loose": 1e-5,
        },
    ),
    Part(
        "performance",
        "Time to the symbolic equations (figures 10-12)",
        performance,
        {"sizes": [1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50], "repeats": 3, "sympy_seconds": 60.0},
    ),
    Part("inverted", "Three links held upright by shaking (section 5.4)", inverted, {"duration": 10.0, "slow": 200.0}),
    Part(
        "three_links",
        "Three links over amplitude and frequency (section 5.4)",
        three_links,
        {"samples": 9, "rates": [150.0, 700.0], "drives": [0.001, 0.0054]},
    ),
    Part(
        "one_link",
        "One link held upright: Ince-Strutt chart (section 5.4)",
        one_link,
        {"samples": [25, 23], "reach": [-1.0, 8.0], "drives": [0.1, 1.5]},
    ),
    Part("pumpjack", "Pump jack and cranks (section 5.4)", pumpjack, {"drive": 0.5, "duration": 10.0}),
    Part("damped", "Damped pendulums (section 5.4)", damped, {"links": [3, 10], "friction": 0.5, "duration": 20.0}),
    Part("upright", "Ten links at 180° (section 5.4)", upright, {"links": 10, "duration": 15.0, "moved": 0.01}),
    Part("shaken", "A shaken end (section 5.4)", shaken, {"bars": 31, "amplitude": 0.05, "duration": 20.0, "mode": 1}),
    Part(
        "stretched",
        "A stretched end (section 5.4)",
        stretched,
        {"bars": 21, "rate": 2.0, "duration": 12.0, "slack": 0.6, "taut": 0.995},
    ),
    Part(
        "pulled",
        "A pull of half a period (section 5.4)",
        pulled,
        {"bars": 31, "rate": 1.0, "duration": 15.0, "slack": 0.9, "taut": 0.98, "gravities": [9.81, 0.0]},
    ),
    Part(
        "weightless",
        "No gravity (section 5.4)",
        weightless,
        {"links": 10, "rate": 5.0, "duration": 60.0, "starts": 12, "size": 0.01},
    ),
)
