"""The frame of a report: the page around its sections, with the player, its scenes, and the policy of the page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from pendula import __version__
from pendula.present.player.page import PLAYER, in_script, player_page, read_template
from pendula.present.web import bundle


def framed(*, title: str, lead: str, facts: str, contents: str, body: str, scenes: Sequence[str]) -> str:
    """The text of one self-contained page from HTML of its parts.

    Players are frames made from text in the page, which inherit its policy: it permits their script too.
    """
    script = bundle.script("report.js")
    parts = {
        "title": title,
        "lead": lead,
        "facts": facts,
        "contents": contents,
        "body": body,
        "made": f"Made by Pendula {escape(__version__)}.",
        "player": in_script(player_page()),
        "scenes": "\n".join(scenes),
        "script": script,
        "brackets": bundle.style("matrix.css"),
        "policy": bundle.policy(script, bundle.script(PLAYER)),
    }
    return bundle.page(read_template("report/report.html"), parts)
