"""Questions that are answered at once: whether a model is valid, what the library and the registries hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pendula.app.studio.text.model_text import check_data, check_text
from pendula.errors import PendulaError, UsageError


def answer(question: str, given: Mapping[str, Any]) -> Any:
    """The answer to a question as plain data.

    Raises:
        PendulaError: the question cannot be answered; the message says why.
    """
    return _ANSWERS[question](given)


def _check(given: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(given.get("text"), str):
        return check_text(given["text"])
    if isinstance(given.get("data"), Mapping):
        before = given.get("before", "")
        if not isinstance(before, str):
            raise UsageError('"before" must be the text of the model before the change')
        return check_data(given["data"], before)
    raise UsageError('a check needs "text" (TOML) or "data" (a table)')


def _library(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    from pendula.library import mechanisms

    return [
        {
            "name": entry.name,
            "summary": entry.summary,
            "arguments": {name: _shown(value) for name, value in entry.arguments.items()},
        }
        for entry in mechanisms().values()
    ]


def _shown(value: Any) -> Any:
    """A default as it is written in an address: numbers, words, and lists separated by commas."""
    if isinstance(value, (list, tuple)):
        return ",".join(str(entry) for entry in value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _template(given: Mapping[str, Any]) -> dict[str, Any]:
    from pendula.app.options import in_fields, read_model
    from pendula.library.registry import MECHANISMS
    from pendula.model.files import dumps

    name, arguments = given["name"], given["arguments"]
    MECHANISMS.entry(name)  # refuses unknown ones, and files
    try:
        return {"text": dumps(read_model(name, tuple(f"{key}={value}" for key, value in arguments.items() if value)))}
    except PendulaError as error:
        raise UsageError(in_fields(str(error))) from None


def _schema(given: Mapping[str, Any]) -> dict[str, Any]:
    from pendula.model.files import schema

    return schema()


def _choices(given: Mapping[str, Any]) -> dict[str, Any]:
    """Registered names that a page offers, and the default settings of runs."""
    from pendula.app.studio.exports import FIGURES
    from pendula.app.studio.motions import SAMPLES
    from pendula.equations.formulations.registry import FORMULATIONS
    from pendula.formats import formats
    from pendula.numerics.steppers.stepper import STEPPERS
    from pendula.simulation.defaults import TOLERANCE

    languages = formats("Equations")
    return {
        "formulations": list(FORMULATIONS),
        "languages": [{"name": name, "summary": languages.summary(name)} for name in languages],
        "steppers": [{"name": name, "summary": STEPPERS.summary(name)} for name in STEPPERS],
        "figures": list(FIGURES),
        "runs": {"tol": TOLERANCE, "samples": SAMPLES},
    }


_ANSWERS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "check": _check, "library": _library, "template": _template, "schema": _schema, "choices": _choices,
}  # fmt: skip
