"""Paper 000, the 3D pendulum of the IFToMM benchmarks: coordinates, spectra, accuracy and time of linearization."""

from pendula.papers.iftomm.benchmark import benchmark
from pendula.papers.iftomm.equations import equations, gravity
from pendula.papers.iftomm.spectra import spectra
from pendula.papers.types import Part

PARTS = (
    Part("equations", "Equations of motion in angles", equations, {"mass": 2.0, "length": 1.5}),
    Part("gravity", "Direction of gravity", gravity, {"longitudes": [0.3, 1.0, 2.5]}),
    Part("spectra", "Spectra in both kinds of coordinates", spectra, {"cone": 0.7, "small": 1e-4}),
    Part(
        "benchmark",
        "Accuracy and time, as the benchmark defines them",
        benchmark,
        {"executions": 10_000, "longest": 240.0},
    ),
)
