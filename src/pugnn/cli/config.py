"""Options from a file: TOML, or the ``run.json`` of an earlier run."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

import typer

from pugnn.cli.terminal import print_notes
from pugnn.errors import PugnnError, did_you_mean, shown, similar
from pugnn.files import regular
from pugnn.registry import DEFAULT_METHOD

if TYPE_CHECKING:
    from pugnn.methods import Method


#: Types of what is text on the command line: a threshold may be a number, and TOML has dates.
_TEXT = (str, int, float, date, datetime)

#: Types of values in a file, and how they are described, by type of the option.
_ALLOWED: dict[Any, tuple[tuple[type, ...], str]] = {
    bool: ((bool,), "true or false"),
    int: ((int,), "a whole number"),
    float: ((int, float), "a number"),
    list: ((str,), "text, or a table or list of text"),
}


@dataclass(frozen=True)
class Chosen:
    """The method that a command is to train, and the options in its config, which is read once."""

    method: str
    config: dict[str, Any]

    @classmethod
    def of(cls, arguments: Sequence[str]) -> Chosen:
        """What the arguments of `fit`, or the config among them, name; any mistake is reported when they are parsed."""
        given: dict[str, str] = {}
        for argument, following in pairwise([*arguments, ""]):
            name, equals, value = argument.partition("=")
            given[name] = value if equals else following
        config = read_config(Path(given["--config"])) if given.get("--config") else {}
        named = given.get("--method") or config.get("method")
        return cls(named if named and isinstance(named, str) else DEFAULT_METHOD, config)


def use_config(context: typer.Context, path: Path | None) -> Path | None:
    """Make the options in a file the defaults of the command that is about to run."""
    if path is not None:
        chosen = context.obj or Chosen("", read_config(path))
        options, dropped = chosen.config, list[str]()
        if chosen.method and isinstance(options.get("method"), str) and chosen.method != options["method"]:
            options, dropped = _for_method(chosen.method, options)
        context.default_map = _defaults(context, path, options)
        if dropped:
            words = f"not used from {path}, because {chosen.method} has no such option: {', '.join(dropped)}"
            print_notes([words])
    return path


def read_config(path: Path) -> dict[str, Any]:
    """Options by name, with underscores. Those of a run are complete: it repeats even after a default has changed."""
    try:
        given = read_record(path)["options"] if path.suffix == ".json" else tomllib.loads(_read(path))
    except tomllib.TOMLDecodeError as error:
        raise PugnnError(f"{path} is not valid TOML: {error}") from None
    options: dict[str, Any] = {}
    for key, value in given.items():
        name = key.replace("-", "_")
        if name in options:
            raise PugnnError(f"{path}: the option {name!r} is given twice; keep one of them")
        options[name] = value
    return options


def read_record(path: Path) -> dict[str, Any]:
    """The content of the ``run.json`` of a run, which has options."""
    text = _read(path)
    try:
        record = json.loads(text)
        if isinstance(record["options"], dict):
            return dict(record)
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise PugnnError(f"{path} is not the run.json of a run: it has no options")


def _read(path: Path) -> str:
    try:
        return regular(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise PugnnError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise PugnnError(f"{path} is not a UTF-8 text file; a config is TOML, or the run.json of a run") from None


def _defaults(context: typer.Context, path: Path, options: dict[str, Any]) -> dict[str, Any]:
    """The options in a file that this command has; those of other commands are ignored."""
    program: Any = context.find_root().command
    mine = _options(context.command)
    others = {name for command in program.commands.values() for name in _options(command)}
    kinds = get_type_hints(context.command.callback)
    found: dict[str, Any] = {}
    for name, value in options.items():
        if name == "config":
            raise PugnnError(f"{path}: a config cannot name another config")
        if name in mine:
            found[mine[name]] = option_value(path, name, value, kinds[mine[name]])
        elif name in others:
            continue
        elif name not in (of_methods := _options_of_methods()):
            near = similar(name, {*mine, *others, *of_methods})
            raise PugnnError(f"{path}: there is no option {name!r}{did_you_mean(near)}")
        elif context.command.name == "fit":
            raise PugnnError(f"{path}: the method has no option {name!r}; remove it, or choose the method that has it")
    return found


def _for_method(method: str, options: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Options for another method but for its own defaults; and which of its chosen settings this method lacks."""
    from pugnn.methods import METHODS
    from pugnn.sweep.space import settings_of

    other = METHODS.loadable().get(options["method"])
    if other is None:
        return options, []
    theirs, mine = settings_of(other), settings_of(METHODS[method])
    defaults = {name: default for name, (_, default) in theirs.items()}
    defaults |= training_of(other, {name: value for name, value in options.items() if name in theirs})
    chosen = [name for name in options if name in theirs and options[name] != defaults[name]]
    shared = [name for name in chosen if name in mine and mine[name][0] == theirs[name][0]]
    shared = [name for name in shared if name not in METHODS[method].unused]
    kept = {name: value for name, value in options.items() if name not in theirs or name in shared}
    return kept, [name for name in chosen if name not in shared]


def training_of(method: type[Method], options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The settings of its training that a method with these options has of its own."""
    made = object.__new__(method)
    vars(made).update(options or {})
    try:
        return made.training
    except AttributeError:  # they depend on a setting that has no default
        return {}


def _options_of_methods() -> set[str]:
    from pugnn.methods import METHODS
    from pugnn.sweep.space import settings_of

    return {name for method in METHODS.loadable().values() for name in settings_of(method)}


def _options(command: Any) -> dict[str, str]:
    """A command's options: name on the command line to name of the parameter."""
    # Some versions of Typer bundle their own click, so types are not compared.
    return {
        name[2:].replace("-", "_"): option.name
        for option in command.params
        for name in option.opts
        if name.startswith("--")
    }


def option_value(path: Path, key: str, value: Any, hint: Any) -> Any:
    """A value from a file as the command expects it, or an error that names the file."""
    kind = next(part for part in (*get_args(hint), hint) if part is not type(None))
    listed = get_origin(kind) is list
    if listed and isinstance(value, dict) and all(type(each) is str for each in value.values()):
        # [column] with one line per name
        value = [f"{name}={each}" for name, each in value.items()]
    found = value if listed and isinstance(value, list) else [value]
    allowed, words = _ALLOWED.get(list if listed else kind, (_TEXT, "text"))
    if not all(type(each) in allowed for each in found):
        raise PugnnError(f"{path}: {key} must be {words}; got {shown(repr(value))}")
    if "\0" in "".join(map(str, found)):  # which command lines and file names cannot contain either
        raise PugnnError(f"{path}: {key} holds a zero byte: {shown(found[0])}")
    return found if listed else value if kind in _ALLOWED else str(value)
