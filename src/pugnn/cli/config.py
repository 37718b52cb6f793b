"""Options from a file: TOML, or the ``run.json`` of an earlier run."""

from __future__ import annotations

import json
import tomllib
from dataclasses import fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import typer

from pugnn.errors import PugnnError, shown
from pugnn.files import regular


def use_config(context: typer.Context, path: Path | None) -> Path | None:
    """Make the options in a file the defaults of the command that is about to run."""
    if path is not None:
        context.default_map = _defaults(context, path, read_config(path))
    return path


def read_config(path: Path) -> dict[str, Any]:
    """Options by name. Those of a run are complete, so that it repeats even after a default has changed."""
    try:
        text = regular(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise PugnnError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise PugnnError(f"{path} is not a UTF-8 text file; a config is TOML, or the run.json of a run") from None
    if path.suffix == ".json":
        try:
            options = json.loads(text)["options"]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise PugnnError(f"{path} is not the run.json of a run: it has no options") from None
        if not isinstance(options, dict):
            raise PugnnError(f"{path} is not the run.json of a run: its options are not a mapping")
        return options
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PugnnError(f"{path} is not valid TOML: {error}") from None
    except RecursionError:
        raise PugnnError(f"{path} is not a config: it is nested too deeply") from None


def _defaults(context: typer.Context, path: Path, options: dict[str, Any]) -> dict[str, Any]:
    """The options in a file that this command has; those of other commands are ignored."""
    program: Any = context.find_root().command
    mine = _options(context.command)
    others = {name for command in program.commands.values() for name in _options(command)}
    kinds = get_type_hints(context.command.callback)
    found: dict[str, Any] = {}
    for key, value in options.items():
        name = key.replace("-", "_")
        if name == "config":
            raise PugnnError(f"{path}: a config cannot name another config")
        if name in mine:
            found[mine[name]] = option_value(path, key, value, kinds[mine[name]])
        elif name in others:
            continue
        elif name not in _options_of_methods():
            near = get_close_matches(name, {*mine, *others, *_options_of_methods()}, 1)
            raise PugnnError(f"{path}: there is no option {key!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
        elif context.command.name == "fit":
            raise PugnnError(f"{path}: the method has no option {key!r}; remove it, or choose the method that has it")
    return found


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
