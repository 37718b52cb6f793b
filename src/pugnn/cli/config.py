"""Options from a file: TOML, or the ``run.json`` of an earlier run."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

import typer

from pugnn.errors import PugnnError, shown
from pugnn.files import regular
from pugnn.registry import DEFAULT_METHOD

if TYPE_CHECKING:
    from pugnn.methods import Method


@dataclass(frozen=True)
class Chosen:
    """The method that a command is to train, and the options in its config, which is read once."""

    method: str
    config: dict[str, Any]

    @classmethod
    def of(cls, arguments: Sequence[str]) -> Chosen:
        """What the arguments of `fit`, or the config among them, name."""
        file = _value_of("--config", arguments)
        config = {} if file is None else read_config(Path(file))
        named = _value_of("--method", arguments) or config.get("method")
        # Any mistake is reported when options are parsed.
        return cls(named if named and isinstance(named, str) else DEFAULT_METHOD, config)


def use_config(context: typer.Context, path: Path | None) -> Path | None:
    """Make the options in a file the defaults of the command that is about to run."""
    if path is not None:
        chosen = context.obj or Chosen("", read_config(path))
        options, dropped = chosen.config, list[str]()
        if chosen.method and isinstance(options.get("method"), str) and chosen.method != options["method"]:
            options, dropped = _for_method(chosen.method, path, options)
        context.default_map = _defaults(context, path, options)
        if dropped:
            from pugnn.cli.terminal import print_notes

            words = f"not used from {path}, because {chosen.method} has no such option: {', '.join(dropped)}"
            print_notes([words])
    return path


def _value_of(name: str, arguments: Sequence[str]) -> str | None:
    """The value of an option on a command line, where it is given twice the last one."""
    found = None
    for at, argument in enumerate(arguments):
        if argument == name and at + 1 < len(arguments):
            found = arguments[at + 1]
        elif argument.startswith(f"{name}="):
            found = argument[len(name) + 1 :]
    return found


def read_config(path: Path) -> dict[str, Any]:
    """Options by name, with underscores. Those of a run are complete: it repeats even after a default has changed."""
    return by_name(path, read_record(path)["options"] if path.suffix == ".json" else _read_toml(path))


def by_name(path: Path, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options in a file, with underscores."""
    options: dict[str, Any] = {}
    spelt: dict[str, str] = {}
    for key, value in given.items():
        name = key.replace("-", "_")
        if name in spelt:
            raise PugnnError(f"{path}: {spelt[name]!r} and {key!r} are the same option; keep one of them")
        spelt[name], options[name] = key, value
    return options


def read_record(path: Path) -> dict[str, Any]:
    """The content of the ``run.json`` of a run, which has options."""
    text = _read(path)
    try:
        record = json.loads(text)
        options = record["options"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise PugnnError(f"{path} is not the run.json of a run: it has no options") from None
    if not isinstance(options, dict):
        raise PugnnError(f"{path} is not the run.json of a run: its options are not a mapping")
    return dict(record)


def _read_toml(path: Path) -> dict[str, Any]:
    text = _read(path)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PugnnError(f"{path} is not valid TOML: {error}") from None
    except RecursionError:
        raise PugnnError(f"{path} is not a config: it is nested too deeply") from None


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
        elif name not in _options_of_methods():
            near = get_close_matches(name, {*mine, *others, *_options_of_methods()}, 1)
            raise PugnnError(f"{path}: there is no option {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
        elif context.command.name == "fit":
            raise PugnnError(f"{path}: the method has no option {name!r}; remove it, or choose the method that has it")
    return found


def _for_method(method: str, path: Path, options: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Of options for another method, those that this one has as well, and the names of the others.

    Settings of the training that the other method has by itself, which a run.json names, are its own.
    """
    from pugnn.methods import METHODS
    from pugnn.training import TrainingSettings

    other = METHODS.loadable().get(options["method"])
    if other is None:
        return options, []
    new, theirs, mine = METHODS[method], _declared(other), _declared(METHODS[method])
    usual = {field.name: field.default for field in fields(TrainingSettings) if field.name not in ("seed", "device")}
    usual |= training_of(other, {name: value for name, value in options.items() if name in theirs})
    kept, dropped = {}, []
    for name, value in options.items():
        if name in theirs:
            fits = mine.get(name) == theirs[name]
        elif name in usual:
            if path.suffix == ".json" and value == usual[name] and new.trains >= other.trains:
                continue
            fits = new.trains and name not in new.unused and (name != "backbone" or name not in training_of(new))
        else:
            fits = True
        if fits:
            kept[name] = value
        else:
            dropped.append(name)
    return kept, dropped


def _declared(method: type[Method]) -> dict[str, Any]:
    """Type and default of each option of a method. Those that two methods declare alike mean the same."""
    hints = get_type_hints(method)
    return {field.name: (hints[field.name], field.default) for field in fields(method)}


def training_of(method: type[Method], options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The settings of its training that a method with these options has of its own."""
    made = object.__new__(method)
    vars(made).update(options or {})
    try:
        return made.training
    except AttributeError:  # they depend on a setting that has no default
        return {}


def _options_of_methods() -> set[str]:
    """The options of all methods; only `fit` has some of them."""
    from pugnn.methods import METHODS
    from pugnn.training import TrainingSettings

    return {field.name for kind in (*METHODS.loadable().values(), TrainingSettings) for field in fields(kind)}


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
    if get_origin(kind) is list:
        if isinstance(value, dict):  # [column] with one line per name
            value = [f"{name}={each}" for name, each in value.items()]
        elif isinstance(value, str):
            value = [value]
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise PugnnError(f"{path}: {key} must be a table or a list of text; got {shown(repr(value))}")
        return [_without_zero_bytes(path, key, each) for each in value]
    allowed, words = {
        bool: ((bool,), "true or false"),
        int: ((int,), "a whole number"),
        float: ((int, float), "a number"),
    }.get(kind, ((str, int, float), "text"))  # a threshold is text or a number
    if not isinstance(value, allowed) or (isinstance(value, bool) and kind is not bool):
        raise PugnnError(f"{path}: {key} must be {words}; got {shown(repr(value))}")
    return value if kind in (bool, int, float) else _without_zero_bytes(path, key, str(value))


def _without_zero_bytes(path: Path, key: str, text: str) -> str:
    """Reject zero bytes, which command lines and file names cannot contain either."""
    if "\0" in text:
        raise PugnnError(f"{path}: {key} holds a zero byte: {shown(text)}")
    return text
