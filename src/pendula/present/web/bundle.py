"""Pages from modules: one inline script of an entry module and all that it imports, and the policy that permits it.

The modules in this folder are plain ES modules, used by no build step. :func:`script` writes an entry module and its
imports, in order, as one text without ``import`` and ``export``; all their top-level names share one scope, so a name
that two modules define is refused. :func:`page` fills a template and adds the Content-Security-Policy, which permits
this script by its hash and nothing else: no other script, no ``eval``, no request.
"""

from __future__ import annotations

import base64
import hashlib
import os
import posixpath
import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path

from pendula.arguments import read_path
from pendula.errors import PendulaError, UsageError
from pendula.present.web.squeeze import squeeze

_IMPORT = re.compile(r'^import\s*\{([^}]*)\}\s*from\s*"(\./[\w./-]+\.js|\.\./[\w./-]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async |)function\b|class\b|const\b|let\b)", re.MULTILINE)
_TOP = re.compile(r"^(?:export )?(?:async )?(?:function\*?|class|const|let|var)\s+(\w+|[{\[][^=]*)", re.MULTILINE)
_PLACE = re.compile(r"\{\{([a-z]+)\}\}")
_COMMENT = re.compile(r"/\*\*(?:(?!\*/).)*\*/[ \t]*", re.DOTALL)  # descriptions and types, for readers and checkers
_OUTSIDE = "../../.."  # paths from this folder that leave the package begin with this


class BundleError(PendulaError):
    """The modules of a page cannot be joined: an unknown name, two of the same name, an import of another form."""


@cache
def script(entry: str) -> str:
    """The text of one script: the module ``entry`` (``"player.js"``) after all modules that it imports."""
    return join(modules_of(entry))


def modules_of(entry: str) -> dict[str, str]:
    """The texts of a module and of all that it imports, by path, each after those it uses."""
    modules: dict[str, str] = {}
    _collect(entry, modules, ())
    return modules


def join(modules: Mapping[str, str]) -> str:
    """Modules, by path and in the order of their use, as one script.

    Raises:
        BundleError: two modules define the same name, or a module imports what another does not export.
    """
    owners: dict[str, str] = {}
    parts = []
    for path, text in modules.items():
        for found in _top_names(text):
            if found in owners:
                raise BundleError(
                    f'modules "{owners[found]}" and "{path}" both define "{found}" at the top level: '
                    "rename one of them, since all modules of a page share one scope"
                )
            owners[found] = path
        for names, source in _IMPORT.findall(text):
            known = _exports(modules[_resolve(path, source)])
            for name in filter(None, (part.strip() for part in names.split(","))):
                if name not in known:
                    raise BundleError(f'module "{path}" imports "{name}", which "{source}" does not export')
        parts.append(_plain(path, text))
    return '"use strict";\n' + "".join(parts)


def _collect(path: str, found: dict[str, str], above: tuple[str, ...]) -> None:
    """Adds the imports of a module and then the module itself."""
    if path in above:
        raise BundleError(f"modules import each other in a circle: {' -> '.join([*above, path])}")
    if path in found:
        return
    text = read(path)
    for _, source in _IMPORT.findall(text):
        _collect(_resolve(path, source), found, (*above, path))
    found[path] = text


def _resolve(path: str, source: str) -> str:
    """The path of an imported module, from this folder; modules of other rooms begin with ``../../``."""
    found = posixpath.normpath(posixpath.join(posixpath.dirname(path), source))
    if found.startswith(_OUTSIDE):
        raise BundleError(f'module "{path}" imports "{source}", which lies outside the package')
    return found


def _top_names(text: str) -> list[str]:
    names = []
    for found in _TOP.findall(_COMMENT.sub("", text)):
        names += re.findall(r"\w+", found)
    return names


def _exports(text: str) -> set[str]:
    return set(re.findall(r"^export (?:async )?(?:function\*?|class|const|let)\s+(\w+)", text, re.MULTILINE))


def _plain(path: str, text: str) -> str:
    """A module without imports, exports, comments and needless spaces."""
    bare = squeeze(_EXPORT.sub("", _IMPORT.sub("", text)))
    if left := re.search(r"^(?:import|export)\b.*$", bare, re.MULTILINE):
        raise BundleError(
            f'module "{path}": "{left[0].strip()}" has a form that cannot be joined; '
            'write import { a, b } from "./file.js"; and export in front of a declaration'
        )
    if "</script" in bare.lower() or "<!--" in bare:
        raise BundleError(f'module "{path}" contains text that would end its script element')
    return bare


def read(path: str) -> str:
    """A file of this folder as text; ``../../system/live/solve.js`` is one of another room."""
    whole = posixpath.normpath(posixpath.join("present/web", path))
    return resources.files("pendula").joinpath(*whole.split("/")).read_text(encoding="utf-8")


def style(*paths: str) -> str:
    """Style sheets of this folder, joined."""
    return "".join(read(path) for path in paths)


def page_path(path: str | os.PathLike[str]) -> Path:
    """The path of a page to write.

    Raises:
        UsageError: it is not a path, or its name has another ending than .html.
    """
    target = read_path(path, "path")
    if target.suffix.lower() not in (".html", ".htm"):
        raise UsageError(f'the name of a page must end in .html, found "{target.name}"')
    return target


def policy(*scripts: str, extra: Mapping[str, str] | None = None) -> str:
    """A Content-Security-Policy that permits these inline scripts by their hashes, inline styles and data images.

    Args:
        scripts: the exact texts of the script elements. A page that opens others in frames from its own text must name
            their scripts too, since a frame inherits the policy of its page.
        extra: further directives, by name.
    """
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts]
    given = {
        "default-src": "'none'",
        "script-src": " ".join(f"'sha256-{one}'" for one in hashes) or "'none'",
        "style-src": "'unsafe-inline'",
        "img-src": "data: blob:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in {**given, **(extra or {})}.items())


def page(template: str, parts: Mapping[str, str]) -> str:
    """A template with its placeholders ``{{name}}`` filled in, in one pass: inserted text is never searched."""
    return _PLACE.sub(lambda place: parts.get(place[1], place[0]), template)
