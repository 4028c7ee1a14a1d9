"""modelDescription.xml of FMI 2.0 and 3.0, and the description of the sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal
from xml.etree import ElementTree

from pendula.exchange.fmu.program import Source
from pendula.exchange.fmu.variables import Variable
from pendula.simulation.defaults import TOLERANCE

Element = ElementTree.Element
Kind = Literal["cs", "me", "both"]

SOURCE_FILE = "model.c"
STOP_TIME = 10.0

_CAUSALITY = {
    "time": "independent",
    "state": "output",
    "derivative": "local",
    "parameter": "parameter",
    "derived": "calculatedParameter",
    "input": "input",
    "output": "output",
}


def describe(source: Source, fmi: int, identifier: str, kind: Kind, version: str) -> bytes:
    """The model description."""
    model = source.equations.model
    title = "".join(c if c.isprintable() else " " for c in model.name)
    root = Element(
        "fmiModelDescription",
        {"fmiVersion": f"{fmi}.0", "modelName": title, {2: "guid", 3: "instantiationToken"}[fmi]: source.token},
        description=f"{title}: equations of motion by {source.equations.formulation}",
        version=version,
        generationTool=f"Pendula {version}",
        variableNamingConvention="flat",
    )
    if fmi == 2:
        root.set("numberOfEventIndicators", "0")
    for name, wanted in (("ModelExchange", kind != "cs"), ("CoSimulation", kind != "me")):
        if wanted:
            _interface(root, name, fmi, identifier)
    units = ElementTree.SubElement(root, "UnitDefinitions")
    for unit in dict.fromkeys(v.unit for v in source.variables if v.unit):
        ElementTree.SubElement(units, "Unit", name=unit)
    categories = ElementTree.SubElement(root, "LogCategories")
    ElementTree.SubElement(categories, "Category", name="logStatusError")
    ElementTree.SubElement(root, "DefaultExperiment", startTime="0", stopTime=str(STOP_TIME), tolerance=str(TOLERANCE))
    listed = ElementTree.SubElement(root, "ModelVariables")
    for reference, variable in enumerate(source.variables):
        _variable(listed, reference, variable, fmi)
    _structure(root, source.variables, fmi)
    return _text(root)


def _interface(root: Element, name: str, fmi: int, identifier: str) -> None:
    state = {2: "FMUstate", 3: "FMUState"}[fmi]
    made = ElementTree.SubElement(root, name, modelIdentifier=identifier)
    made.set(f"canGetAndSet{state}", "true")
    made.set(f"canSerialize{state}", "true")
    if name == "ModelExchange":
        made.set(
            "completedIntegratorStepNotNeeded" if fmi == 2 else "needsCompletedIntegratorStep",
            "false" if fmi == 2 else "true",
        )
    else:
        made.set("canHandleVariableCommunicationStepSize", "true")
    if fmi == 2:
        files = ElementTree.SubElement(made, "SourceFiles")
        ElementTree.SubElement(files, "File", name=SOURCE_FILE)


def _variable(listed: Element, reference: int, variable: Variable, fmi: int) -> None:
    role = variable.role
    constant = role in ("parameter", "derived")
    attributes = {"name": variable.name, "valueReference": str(reference), "causality": _CAUSALITY[role]}
    attributes["variability"] = "fixed" if constant else "continuous"
    if variable.description:
        attributes["description"] = variable.description
    if role in ("state", "parameter") or (role == "input" and fmi == 3):
        attributes["initial"] = "exact"
    elif role != "time" and role != "input":
        attributes["initial"] = "calculated"
    numbers = {"unit": variable.unit} if variable.unit else {}
    if variable.start is not None:
        numbers["start"] = repr(variable.start)
    if role == "derivative":
        numbers["derivative"] = str(variable.of + 1 if fmi == 2 else variable.of)
    if fmi == 3:
        if role == "input":
            del attributes["initial"]
        ElementTree.SubElement(listed, "Float64", attributes | numbers)
        return
    scalar = ElementTree.SubElement(listed, "ScalarVariable", attributes)
    ElementTree.SubElement(scalar, "Real", numbers)


def _structure(root: Element, variables: Sequence[Variable], fmi: int) -> None:
    """Outputs, derivatives, and what is unknown before the initialization."""
    made = ElementTree.SubElement(root, "ModelStructure")
    roles = [(k, v.role) for k, v in enumerate(variables)]
    outputs = [k for k, role in roles if role in ("state", "output")]
    derivatives = [k for k, role in roles if role == "derivative"]
    unknown = [k for k, role in roles if role in ("derivative", "derived", "output")]
    if fmi == 3:
        for name, references in (
            ("Output", outputs),
            ("ContinuousStateDerivative", derivatives),
            ("InitialUnknown", unknown),
        ):
            for k in references:
                ElementTree.SubElement(made, name, valueReference=str(k))
        return
    for name, indices in (("Outputs", outputs), ("Derivatives", derivatives), ("InitialUnknowns", unknown)):
        if indices:
            group = ElementTree.SubElement(made, name)
            for k in indices:
                ElementTree.SubElement(group, "Unknown", index=str(k + 1))


def describe_build(identifier: str) -> bytes:
    """sources/buildDescription.xml of FMI 3.0."""
    root = Element("fmiBuildDescription", fmiVersion="3.0")
    made = ElementTree.SubElement(root, "BuildConfiguration", modelIdentifier=identifier)
    files = ElementTree.SubElement(made, "SourceFileSet", language="C99")
    ElementTree.SubElement(files, "SourceFile", name=SOURCE_FILE)
    return _text(root)


def _text(root: Element) -> bytes:
    ElementTree.indent(root)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True))
