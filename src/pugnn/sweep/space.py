"""Which settings of a method are searched, and between which values."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import Any, Union, get_args, get_origin, get_type_hints

from pugnn.errors import PugnnError
from pugnn.methods import METHODS, Method
from pugnn.training import TrainingSettings

#: What is searched where nothing is said, for methods that have such a setting.
USUAL = {
    "learning_rate": "1e-4..1e-1",
    "hidden": "16,64,256",
    "dropout": "0..0.8",
    "weight_decay": "1e-6..1e-2",
    "delta": "1..5",
    "alpha": "1e-4..1",
    "hops": "1..4",
    "homophily": "0.5..0.99",
    "restart": "0.01..0.5",
    "inverse_penalty": "1e-2..1e3",
}


@dataclass(frozen=True)
class Range:
    """Numbers from ``low`` to ``high``, only whole ones if ``whole``."""

    low: float
    high: float
    whole: bool

    @property
    def logarithmic(self) -> bool:
        """Whether orders of magnitude are searched alike: from two of them on."""
        return 0 < 100 * self.low <= self.high


#: How a value is read, and what it is called.
_READ: dict[Any, Callable[[str], Any]] = {bool: {"true": True, "false": False}.__getitem__, int: int, float: float}
_WORDS = {int: "a whole number", float: "a number", bool: "true or false"}

#: By name of the setting: a range, or values to choose from. A single value is given, not searched.
Space = Mapping[str, Range | tuple[Any, ...]]


def parse_space(method: str, over: Iterable[str] = ()) -> Space:
    """The search space of a method: each text is ``NAME=LOW..HIGH``, ``NAME=VALUE,VALUE`` or ``NAME=VALUE``.

    The usual settings are searched if no other is.

    Example:
        >>> dict(parse_space("label-propagation", ["restart=0.1..0.5"]))
        {'restart': Range(low=0.1, high=0.5, whole=False)}
    """
    hints = {name: hint for name, (hint, _) in settings_of(METHODS[method]).items()}
    space: dict[str, Range | tuple[Any, ...]] = {}
    for text in over:
        name, equals, values = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not values.strip():
            raise PugnnError(f"--over takes NAME=LOW..HIGH or NAME=VALUE,VALUE; got {text!r}")
        if name not in hints:
            raise PugnnError(f"{method} has no setting {name!r}; it has {', '.join(hints)}")
        if name in space:
            raise PugnnError(f"--over names {name} twice; give all of its values in one")
        space[name] = _values(name, values, hints[name])
    if not any(isinstance(values, Range) or len(values) > 1 for values in space.values()):
        usual = {name: _values(name, text, hints[name]) for name, text in USUAL.items() if name in hints}
        space = {**{name: values for name, values in usual.items() if name not in space}, **space}
    if all(not isinstance(values, Range) and len(values) == 1 for values in space.values()):
        what = f"it has {', '.join(hints)}" if hints else "it has none"
        raise PugnnError(f"there is nothing to search for {method}; name settings with --over ({what})")
    return space


def settings_of(method: type[Method]) -> dict[str, tuple[Any, Any]]:
    """Type and default of each setting of a method, its own and those of its training."""
    found: dict[str, tuple[Any, Any]] = {}
    for kind in (method, TrainingSettings) if method.trains else (method,):
        hints = get_type_hints(kind)
        found |= {field.name: (hints[field.name], field.default) for field in fields(kind)}
    return {name: setting for name, setting in found.items() if name not in ("seed", "device")}


def _values(name: str, text: str, hint: Any) -> Range | tuple[Any, ...]:
    low, dots, high = text.partition("..")
    kinds = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    if not dots:
        return tuple(dict.fromkeys(_value(name, part.strip(), kinds) for part in text.split(",")))
    whole = int in kinds
    if not whole and float not in kinds:
        raise PugnnError(f"{name} is not a number; give its values: {name}=VALUE,VALUE")
    ends = [_value(name, end.strip(), (int if whole else float,)) for end in (low, high)]
    if not ends[0] < ends[1]:
        raise PugnnError(f"the range {name}={text} is empty; the lower end comes first")
    return Range(ends[0], ends[1], whole)


def _value(name: str, text: str, kinds: tuple[Any, ...]) -> Any:
    """A value of one of these types. Names, such as those of choices, are checked by whoever takes the setting."""
    for kind in (kind for kind in _READ if kind in kinds):
        with suppress(KeyError, ValueError):
            return _READ[kind](text)
    if set(kinds) <= {*_READ, type(None)}:
        words = next(words for kind, words in _WORDS.items() if kind in kinds)
        raise PugnnError(f"{name} must be {words}, got {text!r}")
    return text
