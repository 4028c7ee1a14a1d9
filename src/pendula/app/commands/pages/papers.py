"""The papers command: the five papers recomputed, as one page."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from pendula.app.options import echo_json, json_option, writable


@click.command("papers")
@click.argument("papers", nargs=-1, metavar="[PAPER]...")
@click.option("-o", "--output", default="papers.html", show_default=True, metavar="FILE", help="Page to write.")
@click.option("--figures", metavar="DIR", help="Also write every figure as PNG and SVG into this folder.")
@click.option("--summary", metavar="FILE", help="Also write all lines as JSON.")
@click.option("--part", "parts", multiple=True, metavar="NAME", help="Only this part. May be repeated.")
@click.option("--fresh", is_flag=True, help="Compute everything again instead of using earlier results.")
@json_option
def papers_command(
    papers: tuple[str, ...],
    output: str,
    figures: str | None,
    summary: str | None,
    parts: tuple[str, ...],
    fresh: bool,
    as_json: bool,
) -> None:
    """Recompute the papers that Pendula began with.

    Writes one self-contained HTML page: what each paper says, what is computed, and the errata. PAPER is iftomm,
    kamman, gupta-saha, turner or tataru (or 000 to 004); default: all. Results are kept, so a second run is quick.
    Exits with 1 if a part could not be computed.

    \b
    Example:
      pendula papers turner --part beats -o beats.html
    """
    path, data_path = writable(output, "-o", (".html", ".htm")), writable(summary, "--summary")
    assert path is not None
    from pendula.papers.page import tally_lines, write_figures, write_page
    from pendula.papers.run import recompute
    from pendula.papers.run import summary as summarized
    from pendula.storage.files import write_text

    told = _Told(quiet=as_json)
    found = recompute(papers, parts=parts, use_cache=not fresh, on_part=told.begin, on_done=told.end)
    write_page(found, path)
    data = summarized(found)
    if data_path is not None:
        write_text(data_path, json.dumps(data, indent=1) + "\n")
    drawn = write_figures(found, Path(figures)) if figures else []
    if as_json:
        echo_json(data | {"file": str(path), "bytes": path.stat().st_size, "figures": [str(x) for x in drawn]})
    else:
        for line in tally_lines(found):
            click.echo(line)
        for one in found:
            for done in one.failed:
                click.echo(f"  {one.paper.name} {done.part.name} failed: {done.error}")
        click.echo(
            f"wrote {path}, {path.stat().st_size / 1e6:.1f} MB" + (f", and {len(drawn)} figures" if drawn else "")
        )
    if any(one.failed for one in found):
        sys.exit(1)


class _Told:
    """Progress: one line for each part, on stderr."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet

    def begin(self, paper: Any, part: Any) -> None:
        """A part begins."""
        if not self.quiet:
            click.echo(f"  {paper.name}: {part.title} ...", nl=False, err=True)

    def end(self, paper: Any, done: Any) -> None:
        """A part has ended."""
        if not self.quiet:
            how = "failed" if done.error else "kept" if done.from_cache else f"{done.seconds:.1f} s"
            click.echo(f" {how}", err=True)
