"""`pugnn explore`: a run in the browser, where people decide on nodes one by one."""

from __future__ import annotations

import getpass
import os
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from pugnn.cli.input_data import open_run
from pugnn.cli.options import ON_A_RUN, Json, command
from pugnn.cli.terminal import print_json
from pugnn.errors import PugnnError


@command(ON_A_RUN)
def explore(
    *,
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    port: Annotated[int, typer.Option(help="Default: any that is free.", min=0, max=65535)] = 0,
    host: Annotated[
        str,
        typer.Option(
            help="Address by which browsers reach this machine; anything but a loopback address needs --token."
        ),
    ] = "127.0.0.1",
    token: Annotated[str | None, typer.Option(help="Secret part of the page's address. Default: a random one.")] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Look only: nothing can be decided.")] = False,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open the page.")] = False,
    who: Annotated[str | None, typer.Option(help="Who decides. Default: your name on this machine.")] = None,
    as_json: Json = False,
) -> None:
    """Open the case room of a run: nodes to decide one by one, why each is there, and what is around it.

    Every decision is kept in `cases.sqlite` in the run folder at once. It counts in `pugnn audit`, and `pugnn fit
    --checked` learns from it; so does the page itself. Ctrl-C ends the room.

    Examples:

        pugnn explore runs/mine

        pugnn explore runs/mine --read-only --no-browser --port 8000
    """
    from pugnn.store.case_log import NAME
    from pugnn.store.opening import MANIFEST

    if not (run / "run.json").is_file() and (run / MANIFEST).is_file():
        words = "is a graph store, in which no node has a score yet"
        raise PugnnError(f"{run} {words}. Train on it: pugnn fit --store {run} --positives FILE --out RUN")
    opened = open_run(run, as_trained=True)
    if not opened.results.ranked:
        raise PugnnError(f"the ranking of {run} means nothing, see its report; run again first")
    log = run / NAME
    if not read_only and not all(os.access(each, os.W_OK) for each in (run, log) if each.exists()):
        raise PugnnError(f"{run} cannot be written to, so nothing could be decided: --read-only shows it as it is")
    try:
        from pugnn.explore.server import Server
        from pugnn.explore.serving import serve
    except ModuleNotFoundError as missing:
        raise PugnnError(f"the case room needs {missing.name}: pip install 'pugnn[explore]'") from None

    def started(url: str) -> None:
        if as_json:
            print_json({"url": url})
        else:
            may = "look" if read_only else "make decisions"
            typer.echo(f"{url}\nCtrl-C ends the room. Anyone with this address can {may}.")
        if not no_browser:
            webbrowser.open(url)

    server = Server(opened, open_run, who=_user() if who is None else who, read_only=read_only)
    serve(server, host=host, port=port, token=token, started=started)


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user without a name
        return ""
