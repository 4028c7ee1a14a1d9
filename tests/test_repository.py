"""What the checkout promises: exact locks, one version number, a README to start from, no machine's paths."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import pendula

ROOT = Path(__file__).resolve().parent.parent
LOCKS = [
    "requirements.lock",
    "requirements-peer.lock",
    "requirements-book.lock",
    "requirements-bench.lock",
    "requirements-bench-jax.lock",
]

EXACT = re.compile(r"^[a-z0-9][a-z0-9.-]*==[A-Za-z0-9.!+]+(?: ; [^;]+)?$")
# Home folders and the like; the look-behind lets "force/work/power" in a text pass.
MACHINE_PATH = re.compile(r"(?<![\w.)\]/-])(?:/(?:home|root|work|Users)/[\w.]|[A-Z]:\\Users\\)")


def tracked_files() -> list[Path]:
    """Files that git tracks or would track; skips the test where there is no git checkout."""
    try:
        listed = subprocess.run(
            ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            capture_output=True,
            check=True,
        ).stdout.decode()
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def pyproject() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def locked_names(lock: str) -> set[str]:
    return set(re.findall(r"^([a-z0-9.-]+)==", (ROOT / lock).read_text(encoding="utf-8"), re.M))


@pytest.mark.parametrize("name", LOCKS)
def test_lock_holds_exact_versions_and_nothing_else(name: str) -> None:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    wrong = [line for line in lines if line and not line.startswith("#") and not EXACT.match(line)]
    assert not wrong
    assert not [line for line in lines if "http" in line.lower() or "://" in line or "--hash" in line]


def test_lock_covers_every_dependency_that_make_installs() -> None:
    project = pyproject()["project"]
    extras = project["optional-dependencies"]
    asked = project["dependencies"] + extras["plot"] + extras["dev"]
    names = {re.split(r"[ <>=!~;\[]", requirement)[0].lower() for requirement in asked}
    assert names <= locked_names("requirements.lock")


def test_peers_add_to_the_lock_and_do_not_contradict_it() -> None:
    assert not locked_names("requirements.lock") & locked_names("requirements-peer.lock")


def test_benchmarks_have_a_lock_of_their_own_with_our_versions() -> None:
    project = pyproject()["project"]
    extras = project["optional-dependencies"]
    asked = project["dependencies"] + extras["plot"] + extras["peer"] + extras["bench"]
    names = {re.split(r"[ <>=!~;\[]", requirement)[0].lower() for requirement in asked}
    assert names <= locked_names("requirements-bench.lock")
    assert not locked_names("requirements-bench.lock") & locked_names("requirements-bench-jax.lock")
    lines = {name: set((ROOT / name).read_text(encoding="utf-8").splitlines()) for name in LOCKS}
    ours = lines["requirements.lock"] | lines["requirements-peer.lock"]
    shared = locked_names("requirements.lock") | locked_names("requirements-peer.lock")
    other = [line for line in lines["requirements-bench.lock"] - ours if line.partition("==")[0] in shared]
    assert not other


def test_no_second_lock_is_tracked() -> None:
    assert "uv.lock" not in {path.name for path in tracked_files()}


def test_readme_names_the_two_commands_to_start_with() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in readme
    assert "make test" in readme


def test_version_is_the_same_everywhere() -> None:
    version = pyproject()["project"]["version"]
    assert pendula.__version__ == version
    assert f"[{version}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_every_extra_for_users_is_documented_with_its_size() -> None:
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    for extra in set(pyproject()["project"]["optional-dependencies"]) - {"dev", "peer", "bench", "bench-jax", "book"}:
        assert re.search(rf"^\| `{extra}` \| .+ \| \d+ MB \|$", page, re.M), extra


def test_no_file_names_a_folder_of_one_machine() -> None:
    found = []
    for path in tracked_files():
        content = path.read_bytes()
        if b"\0" in content[:8192]:
            continue  # not a text
        for number, line in enumerate(content.decode(errors="replace").splitlines(), start=1):
            if MACHINE_PATH.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}")
    assert not found


LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)")


def test_links_between_pages_lead_to_files_and_headings_that_are_there() -> None:
    for page in sorted(file for file in tracked_files() if file.suffix == ".md"):
        text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        for target in LINK.findall(text):
            path, _, heading = target.partition("#")
            if ":" in path or Path(path).suffix not in ("", ".md", ".py", ".toml"):
                continue  # other places, and what the examples of a page write
            linked = (page.parent / path) if path else page
            assert linked.exists(), f"{page.relative_to(ROOT)} links to {target}"
            if heading and linked.suffix == ".md":
                assert heading in headings(linked), f"{page.relative_to(ROOT)} links to {target}"


def headings(page: Path) -> set[str]:
    """The headings of a page as links name them."""
    lines = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE).splitlines()
    titles = [re.sub(r"^#+ ", "", line) for line in lines if re.match(r"#+ ", line)]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
