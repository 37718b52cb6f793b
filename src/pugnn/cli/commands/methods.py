"""`pugnn methods`: what `pugnn fit --method` takes."""

from __future__ import annotations

import json

import typer

from pugnn.cli import options
from pugnn.cli.app import SETTINGS, command
from pugnn.cli.options import summary
from pugnn.errors import PugnnError


@command(SETTINGS)
def methods(as_json: options.Json = False) -> None:
    """List all methods, including those of other installed packages.

    The options of each are shown by `pugnn fit --method NAME --help`.
    """
    from pugnn.methods import DEFAULT_METHOD, METHODS

    found: dict[str, str] = {}
    for name in METHODS:
        try:
            found[name] = summary(METHODS[name])
        except PugnnError as error:  # another package is broken, which is no reason not to list the others
            found[name] = str(error)
    if as_json:
        rows = [{"name": name, "package": METHODS.provider(name), "summary": words} for name, words in found.items()]
        typer.echo(json.dumps(rows))
        return
    width = max(map(len, found))
    for name, words in found.items():
        package = METHODS.provider(name)
        origin = "" if package == "pugnn" else f" [{package}]"
        typer.echo(f"{name:<{width}}  {words}{origin}{' (default)' if name == DEFAULT_METHOD else ''}")
