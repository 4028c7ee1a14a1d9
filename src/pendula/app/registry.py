"""Registry of commands by name: those of the package, imported on first use, and those of user code."""

from __future__ import annotations

import click

from pendula.errors import UsageError
from pendula.registry import Registry

COMMANDS: Registry[click.Command] = Registry("command")
"""Commands by name; ``pendula --help`` shows their summaries."""

for _name, _module, _summary in (
    ("list", "describe", "Library mechanisms, one line each."),
    ("show", "describe", "Bodies, joints, degrees of freedom, parameters of a model."),
    ("new", "describe", "Write a model file to start from."),
    ("schema", "describe", "JSON schema of model files, for editors."),
    ("derive", "derive", "Equations of motion: text, LaTeX, Python, C or JSON."),
    ("check", "derive", "All formulations against each other, or your equations."),
    ("export", "export", "A model as a file for another tool: C, FMU, and others."),
    ("import", "export", "A URDF or MJCF file as a model file."),
    ("convert", "convert", "Orientations in other coordinates: angles, quaternions."),
    ("simulate", "simulate", "Motion from the initial state, with plot and animation."),
    ("continue", "proceed", "A run from a file continued from its end."),
    ("ensemble", "ensemble", "Many runs with random initial states or parameters."),
    ("sweep", "sweep", "A study of many cases from a file, resumable; also on a cluster."),
    ("reactions", "reactions", "Forces and torques at every joint along the motion."),
    ("equilibria", "equilibria", "All equilibria, their stability, and whether any is missing."),
    ("trim", "trim", "Inputs, motor torques or rates that hold a pose."),
    ("linearize", "linear", "Small motion: M C K, A B, eigenvalues with labels."),
    ("modes", "linear", "Frequencies, damping and shapes of small motion, in words."),
    ("control", "control.design", "What inputs reach; LQR, poles, Bode, step; the closed loop."),
    ("fit", "control.fit", "Parameters and initial values from measurements."),
    ("stability", "stability", "The verdict and its reason; ranges over a parameter."),
    ("chart", "chart", "Stability over two parameters, with refined borders."),
    ("floquet", "stability", "Stability of a periodically driven mechanism."),
    ("bench", "bench", "Accuracy and speed on published benchmarks."),
    ("papers", "pages.papers", "Five papers recomputed, with their errata, in one page."),
    ("play", "pages.play", "A page in which the mechanism moves under your hand, live."),
    ("report", "pages.report", "Everything about a model in one page that opens anywhere."),
    ("studio", "pages.studio", "Build and study mechanisms in the browser."),
    ("doctor", "doctor", "Versions, cache, optional parts, a quick self-test."),
    ("completion", "doctor", "A script that completes commands in your shell."),
):
    COMMANDS.register(_name, f"pendula.app.commands.{_module}:{_name}_command", summary=_summary)


def register_command(command: click.Command) -> click.Command:
    """Adds a command to ``pendula``; usable as a decorator above ``@click.command``.

    Args:
        command: a click command with a name; ``pendula --help`` shows the first sentence of its help.

    Raises:
        UsageError: it is not a click command, it has no name, or another module has registered its name.

    Example:
        >>> @register_command
        ... @click.command("hello")
        ... def hello_command() -> None:
        ...     '''Say hello.'''
        >>> COMMANDS.summary("hello")
        'Say hello.'
        >>> _ = COMMANDS.remove("hello")
    """
    if not isinstance(command, click.Command) or not command.name:
        raise UsageError(f"register_command expects a click command with a name, found {command!r}")
    COMMANDS.register(command.name, command, summary=command.get_short_help_str(limit=200))
    return command
