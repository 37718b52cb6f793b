"""The command line: one file per command, thin."""

from __future__ import annotations

import sys
import warnings
from importlib.metadata import entry_points
from typing import Any, NoReturn

import typer
from rich.console import Console
from rich.markup import escape
from typer.core import TyperGroup

from pugnn import processes
from pugnn.cli.bus_error import end_with_message
from pugnn.cli.commands.build import NOT_FOR_BUILD, build
from pugnn.cli.commands.check import check
from pugnn.cli.commands.demo import demo
from pugnn.cli.commands.evaluate import evaluate
from pugnn.cli.commands.explain import explain
from pugnn.cli.commands.export import NOT_FOR_EXPORT, export
from pugnn.cli.commands.fit import chosen_method, fit, fit_command
from pugnn.cli.commands.methods import methods
from pugnn.cli.commands.predict import NOT_FOR_PREDICT, predict
from pugnn.cli.commands.suggest import suggest
from pugnn.cli.commands.sweep import sweep
from pugnn.cli.commands.synthetic import synthetic
from pugnn.cli.options import DATA, FEEDBACK, DataOptions, options_of, with_options
from pugnn.cli.output import kept_output
from pugnn.errors import PugnnError, PugnnWarning, printable
from pugnn.threads import wait_without_spinning


class _Commands(TyperGroup):
    """The commands; `fit` has the options of the method that is asked for."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        if processes.started() > 1 and name != "fit":
            raise PugnnError(
                f"`pugnn {name}` works in one process, but {processes.started()} were started; only `pugnn fit` shares "
                "its work. Run it without torchrun."
            )
        if name == "fit":
            single = typer.Typer(**_SETTINGS)
            ctx.obj = chosen_method(rest)
            single.command("fit")(fit_command(ctx.obj, rest))
            command = typer.main.get_command(single)
        return name, command, rest


_SETTINGS: dict[str, Any] = {
    "add_completion": False,
    "rich_markup_mode": "markdown",
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}
app = typer.Typer(
    name="pugnn",
    cls=_Commands,
    help="Find more nodes like the ones you know: a graph, a handful of known positives, no negatives.",
    no_args_is_help=True,
    **_SETTINGS,
)
for command in (
    demo,
    with_options(check, data=options_of(DataOptions, DATA, without=(*FEEDBACK, "show"))),
    with_options(fit, data=options_of(DataOptions, DATA), settings={}, training={}),
    evaluate,
    explain,
    methods,
    with_options(predict, data=options_of(DataOptions, DATA, without=NOT_FOR_PREDICT)),
    suggest,
    with_options(build, data=options_of(DataOptions, DATA, without=NOT_FOR_BUILD)),
    with_options(export, data=options_of(DataOptions, DATA, without=NOT_FOR_EXPORT)),
    with_options(sweep, data=options_of(DataOptions, DATA, without=("truth", "show"))),
    synthetic,
):
    app.command()(command)
for entry in entry_points(group="pugnn.commands"):  # those of other packages
    app.command(entry.name)(entry.load())


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
    wait_without_spinning()
    errors = Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)
    show_other = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *rest: Any) -> None:
        if issubclass(category, PugnnWarning):
            errors.print(f"[yellow]warning:[/] {escape(printable(str(message)))}")
        else:
            show_other(message, category, *rest)

    def fail(message: str) -> NoReturn:
        if processes.fails_first():
            errors.print(f"[red]error:[/] {escape(printable(message))}")
        sys.exit(2)

    end_with_message()
    with processes.ending_at_once(), kept_output() as output_failure, warnings.catch_warnings():
        warnings.showwarning = show  # type: ignore[assignment]
        try:
            with processes.joined():
                app(prog_name="pugnn")
        except SystemExit as end:
            failure = output_failure()
            if failure is not None and not end.code:
                fail(f"cannot write to standard output: {failure.strerror}")
            raise
        except PugnnError as error:
            fail(str(error))
        except (OSError, MemoryError, RecursionError) as error:  # failures of the machine, not of our code
            fail(_reason(error))
        except Exception:  # a mistake of ours, of which one process shows the traceback
            if processes.fails_first():
                raise
            sys.exit(1)


def _reason(error: OSError | MemoryError | RecursionError) -> str:
    if isinstance(error, MemoryError):
        return f"there is not enough memory{f': {error}' if str(error) else ''}"
    if isinstance(error, RecursionError):
        return "the input is nested too deeply"
    reason = error.strerror or str(error)
    return reason if error.filename is None else f"{error.filename}: {reason}"
