"""The page of the studio: one document with its script and style, and the policy that permits nothing else."""

from __future__ import annotations

from functools import cache

from pendula.present.web import bundle

ENTRY = "studio/main.js"
"""The module that runs the page."""


@cache
def studio_page(port: int) -> tuple[str, str]:
    """The page as text, and its Content-Security-Policy.

    The page may talk to this studio and run its own script, and modules that this studio serves as JavaScript: only
    programs that were compiled from models are (see ``/live``).
    """
    script = bundle.script(ENTRY)
    own = " ".join(f"ws://{name}:{port}" for name in ("127.0.0.1", "localhost"))
    permitted = bundle.policy(script)
    hashes = next(part for part in permitted.split("; ") if part.startswith("script-src ")).removeprefix("script-src ")
    policy = bundle.policy(
        script,
        extra={"script-src": f"{hashes} 'self'", "connect-src": f"'self' {own}", "frame-ancestors": "'none'"},
    )
    parts = {"script": script, "style": bundle.style("base.css", "matrix.css", "toy.css", "studio/studio.css")}
    return bundle.page(bundle.read("studio/studio.html"), parts), policy
