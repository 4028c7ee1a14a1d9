"""The written documentation says what the program does."""

from __future__ import annotations

import importlib.util
import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def _script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["model.md", "formulations.md", "conventions.md", "exchange.md"])
def test_page_made_from_the_program_is_up_to_date(name):
    reference = _script("make_reference")
    made = reference.PAGES[name]()
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == made, "run python docs/make_reference.py"


def test_page_of_refusals_is_up_to_date():
    """Every refusal stands in it with its message; what other programs wrote between the marks is kept."""
    from pendula.refusals import Why, registered

    support = _script("make_support")
    text = (ROOT / "docs/support.md").read_text(encoding="utf-8")
    assert text == support.page(support.kept()), "run python docs/make_support.py"
    everything, _, rest = text.partition("## All refusals")[2].partition("## Not done yet")
    undone = rest.partition("## Words")[0]
    for refusal in registered():
        assert everything.count(f"`{refusal.id}`") == 1
        plain = re.sub(r"\{\w+[^}]*\}", "NAME", " ".join(refusal.sentence.split()))
        listed = {section: re.sub(r"\*\w+\*", "NAME", section).replace("\\", "") for section in (everything, undone)}
        assert f"| {plain} | `{refusal.id}` |" in listed[everything]
        as_undone = f"  - {', '.join(refusal.features)}: {plain}\n"
        assert (as_undone in listed[undone]) == (refusal.why is Why.NOT_DONE), refusal.id
    assert "| a | b |" in support.page("| a | b |\n").partition(support.MARKS[0])[2].partition(support.MARKS[1])[0]


def test_every_formulation_has_its_half_page():
    import pendula

    assert list(_script("make_reference").TEXTS) == list(pendula.derivation.formulations())


def test_architecture_names_every_room():
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    for room in (ROOT / "src/pendula").iterdir():
        if (room / "__init__.py").exists():
            assert f"`{room.name}/`" in text


def test_architecture_names_every_folder_and_no_file_that_is_gone():
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    source = ROOT / "src/pendula"
    named = set(re.findall(r"\b([a-z_]+\.py)\b", text))
    assert named <= {path.name for folder in (source, ROOT / "tests") for path in folder.rglob("*.py")}
    folders = {path.parent.name for path in source.glob("*/**/__init__.py")}
    assert {name for name in folders if f"{name}/" not in text} == set()


def test_no_folder_is_crowded():
    for folder in (ROOT / "src/pendula").glob("**/"):
        assert len(list(folder.glob("*.py"))) <= 20, folder


def test_commands_of_the_readme_exist_with_their_options():
    import click

    from pendula.app.main import cli

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\$ pendula ([^#\n]+)", text, flags=re.MULTILINE)
    assert len(lines) > 6
    for words in map(shlex.split, lines):
        command = cli.get_command(click.Context(cli), words[0])
        if isinstance(command, click.Group):
            command = command.get_command(click.Context(command), words[1])
        assert command is not None, words
        known = {flag for parameter in command.params for flag in (*parameter.opts, *parameter.secondary_opts)}
        assert {word for word in words if word.startswith("-")} <= known, words


def test_every_public_name_is_documented():
    import pendula

    for name in pendula.__all__:
        if name != "__version__":
            assert getattr(pendula, name).__doc__, name


def test_readme_model_file_loads():
    import pendula

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = text.split("```toml\n")[1].split("```")[0]
    model = pendula.loads(block)
    assert [c.name for c in model.coordinates] == ["theta1", "theta2"]
