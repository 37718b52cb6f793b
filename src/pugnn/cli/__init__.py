"""The command line: one file per command, thin."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape

from pugnn.cli.check import check
from pugnn.cli.demo import demo
from pugnn.cli.export import export
from pugnn.cli.fit import fit
from pugnn.cli.predict import predict
from pugnn.cli.reproduce import reproduce
from pugnn.errors import PugnnError, PugnnWarning

app = typer.Typer(
    name="pugnn",
    help="Find more nodes like the ones you know: a graph, a handful of known positives, no negatives.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (demo, check, fit, predict, export, reproduce):
    app.command()(command)


def _version(wanted: bool) -> None:
    if wanted:
        from pugnn import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
) -> None:
    pass


def main() -> None:
    """Run the command line; bad input ends with one message and exit code 2."""
    errors = Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)
    show_other = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *rest: Any) -> None:
        if issubclass(category, PugnnWarning):
            errors.print(f"[yellow]warning:[/] {escape(str(message))}")
        else:
            show_other(message, category, *rest)

    with warnings.catch_warnings():
        warnings.showwarning = show  # type: ignore[assignment]
        try:
            app(prog_name="pugnn")
        except PugnnError as error:
            errors.print(f"[red]error:[/] {escape(str(error))}")
            sys.exit(2)
