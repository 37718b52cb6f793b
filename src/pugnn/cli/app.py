"""The program, to which each command adds itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from pugnn import processes
from pugnn.cli.options import with_options
from pugnn.errors import PugnnError

#: Headings in the list of commands; those that everybody needs have none.
ON_A_RUN, DATA_SETS, SETTINGS = "Commands on a run", "Data", "Methods and settings"

Command = Callable[..., None]


class _Commands(TyperGroup):
    """The commands, of which most work in one process."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        if processes.started() > 1 and name != "fit":
            raise PugnnError(
                f"`pugnn {name}` works in one process, but {processes.started()} were started; only `pugnn fit` shares "
                "its work. Run it without torchrun."
            )
        return name, command, rest


#: Of every Typer application of ours.
SETTINGS_OF_APP: dict[str, Any] = {
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
    **SETTINGS_OF_APP,
)


def command(
    panel: str | None = None, *, cls: type[TyperCommand] | None = None, **groups: Mapping[str, Any]
) -> Callable[[Command], Command]:
    """Add a function as the command of its name.

    Args:
        panel: heading in the list of commands.
        cls: for a command that behaves in its own way.
        groups: options in place of some of its parameters, see :func:`pugnn.cli.options.with_options`.
    """

    def add(function: Command) -> Command:
        app.command(rich_help_panel=panel, cls=cls)(with_options(function, **groups) if groups else function)
        return function

    return add
