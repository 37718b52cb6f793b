"""Options of a method, generated from its fields and their documentation."""

from __future__ import annotations

import re
from dataclasses import MISSING, fields, make_dataclass
from inspect import getdoc
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin, get_type_hints

from pugnn.cli.options import METHOD, TRAINING, option

if TYPE_CHECKING:
    from pugnn.methods import Method

#: Settings of the training that the estimator passes on; seed and device are options of every method.
_TRAINING = ("backbone", "hidden", "dropout", "epochs", "learning_rate", "weight_decay")


def method_options(method: type[Method]) -> type:
    """A dataclass with one option for each field of a method; ``None`` where it is not given."""
    hints = get_type_hints(method)
    help_of = field_help(method)
    return make_dataclass(
        "MethodOptions",
        [
            (
                field.name,
                _option(field.name, hints[field.name], help_of.get(field.name, ""), field.default, METHOD),
                None,
            )
            for field in fields(method)
        ],
    )


def training_options(method: type[Method]) -> type:
    """The settings of the training likewise, with the defaults of a method; hidden if it trains nothing."""
    from pugnn.models import BACKBONES
    from pugnn.training import TrainingSettings

    settings = {field.name: field.default for field in fields(TrainingSettings)}
    required = {field.name: 0.5 for field in fields(method) if field.default is MISSING}
    settings |= method(**required).training
    hints, help_of = get_type_hints(TrainingSettings), field_help(TrainingSettings)
    hints["backbone"] = str
    help_of["backbone"] = f"The network: {', '.join(BACKBONES)}."
    return make_dataclass(
        "TrainingOptions",
        [
            (name, _option(name, hints[name], help_of[name], settings[name], TRAINING, hidden=not method.trains), None)
            for name in _TRAINING
        ],
    )


def field_help(dataclass: type) -> dict[str, str]:
    """What the section ``Args:`` of a docstring says of each field, as plain text.

    Example:
        >>> from pugnn.methods import LSDAN
        >>> field_help(LSDAN)["hops"]
        'K, the longest walk that joins two nodes directly.'
    """
    text = getdoc(dataclass) or ""
    section = re.search(r"^Args:\n((?:    .*\n?|\n)+)", text, re.MULTILINE)
    entries = re.findall(r"^    (\w+): (.*(?:\n(?:     .*|\s*$))*)", section[1] if section else "", re.MULTILINE)
    return {name: _plain(words) for name, words in entries}


def summary(thing: object) -> str:
    """The first sentence of a docstring, as plain text."""
    return _plain((getdoc(thing) or "").split("\n\n")[0])


def _plain(text: str) -> str:
    name_first = text.startswith("`")
    text = re.sub(r":math:`([^`]*)`", r"\1", " ".join(text.split()))
    text = re.sub(r":\w+:`~?(?:pugnn\.)?([^`]*)`", r"\1", text).replace("``", "").replace("\\", "")
    return text if name_first or not text[:1].isascii() else text[:1].upper() + text[1:]


def _option(name: str, hint: Any, words: str, default: Any, panel: str, **more: Any) -> Any:
    kinds = [kind for kind in get_args(hint) or (hint,) if kind is not type(None)]
    choices = get_args(hint) if get_origin(hint) is Literal else ()
    kind = str if choices else kinds[0]
    if default is MISSING:
        words += " Required."
    elif default is not None and default is not False:
        words += f" Default: {default}."
    flag = f"--{name.replace('_', '-')}"
    if choices:
        more["metavar"] = f"[{'|'.join(choices)}]"
    return Annotated[kind | None, option(words, flag, panel=panel, **more)]
