"""The command line: one file per command, thin."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules
from typing import Any, NoReturn

import typer

from pugnn import processes
from pugnn.cli import commands
from pugnn.cli.faults import INTERRUPTED, end_imports_at_once, end_with_message, kept_output, plain_interrupts
from pugnn.cli.options import app
from pugnn.cli.terminal import print_notes
from pugnn.errors import PugnnError, PugnnWarning
from pugnn.threads import wait_without_spinning

for module in iter_modules(commands.__path__, f"{commands.__name__}."):
    import_module(module.name)  # it adds its command
for entry in entry_points(group="pugnn.commands"):  # those of other packages
    try:
        app.command(entry.name, rich_help_panel="More")(entry.load())
    except Exception as error:  # a package that is broken costs its own command alone
        print(f"warning: the command {entry.name} cannot be loaded from {entry.value}: {error}", file=sys.stderr)


def _version(wanted: bool) -> None:
    if wanted:
        from pugnn import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _root(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),  # noqa: ARG001
) -> None:
    if processes.started() > 1 and context.invoked_subcommand != "fit":
        raise PugnnError(
            f"`pugnn {context.invoked_subcommand}` works in one process, but {processes.started()} were started; only "
            "`pugnn fit` shares its work. Run it without torchrun."
        )


def main() -> None:
    """Run the command line; bad input ends with one message and exit code 2."""
    wait_without_spinning()
    show_other = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *rest: Any) -> None:
        if issubclass(category, PugnnWarning):
            print_notes([str(message)], "warning")
        else:
            show_other(message, category, *rest)

    def fail(message: str) -> NoReturn:
        if processes.fails_first():
            print_notes([message], "error")
        sys.exit(2)

    end_with_message()
    end_imports_at_once()
    with processes.ending_at_once(), kept_output() as output_failure, warnings.catch_warnings():
        warnings.showwarning = show  # type: ignore[assignment]
        try:
            with processes.joined(), plain_interrupts():
                app(prog_name="pugnn")
        except SystemExit as end:
            failure = output_failure()
            if failure is not None and not end.code:
                fail(f"cannot write to standard output: {failure.strerror}")
            raise
        except KeyboardInterrupt:  # within a kernel or DuckDB; Typer has seen to all others
            sys.exit(INTERRUPTED)
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
