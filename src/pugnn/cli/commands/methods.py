"""`pugnn methods`: what `pugnn fit --method` takes."""

from __future__ import annotations

import typer

from pugnn.cli.options import SETTINGS, Json, command, summary
from pugnn.cli.terminal import print_json
from pugnn.errors import PugnnError


@command(SETTINGS)
def methods(as_json: Json = False) -> None:
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
        print_json(rows)
        return
    width = max(map(len, found))
    for name, words in found.items():
        package = METHODS.provider(name)
        origin = "" if package == "pugnn" else f" [{package}]"
        typer.echo(f"{name:<{width}}  {words}{origin}{' (default)' if name == DEFAULT_METHOD else ''}")
