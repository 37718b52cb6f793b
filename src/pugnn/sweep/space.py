"""Which settings of a method are searched, and between which values."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import fields
from typing import Any, Union, get_args, get_origin, get_type_hints

from pugnn.errors import PugnnError
from pugnn.methods import METHODS, Method
from pugnn.training import TrainingSettings

#: What is searched by default, for methods that have such a setting.
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

#: How a value of each type is described and read.
_TYPES: dict[Any, tuple[str, Callable[[str], Any]]] = {
    bool: ("true or false", {"true": True, "false": False}.__getitem__),
    int: ("a whole number", int),
    float: ("a number", float),
}

#: Optuna's distributions by name of the setting. A single value is given, not searched.
Space = Mapping[str, Any]


def optuna() -> Any:
    """The package, which is optional."""
    try:
        import optuna
    except ImportError:
        raise PugnnError("a sweep needs Optuna, which is not installed: pip install 'pugnn[sweep]'") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def parse_space(method: str, over: Iterable[str] = ()) -> Space:
    """The search space of a method: each text is ``NAME=LOW..HIGH``, ``NAME=VALUE,VALUE`` or ``NAME=VALUE``.

    The usual settings are searched if no other is.

    Example:
        >>> dict(parse_space("label-propagation", ["normalisation=walk,symmetric"]))
        {'normalisation': CategoricalDistribution(choices=('walk', 'symmetric'))}
    """
    hints = {name: hint for name, (hint, _) in settings_of(METHODS[method]).items()}
    space: dict[str, Any] = {}
    for text in over:
        name, equals, values = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not values.strip():
            raise PugnnError(f"--over takes NAME=LOW..HIGH or NAME=VALUE,VALUE; got {text!r}")
        if name not in hints:
            raise PugnnError(f"{method} has no setting {name!r}; it has {', '.join(hints)}")
        if name in space:
            raise PugnnError(f"--over names {name} twice; give all of its values in one")
        space[name] = _distribution(name, values, hints[name])
    if all(each.single() for each in space.values()):
        usual = {name: text for name, text in USUAL.items() if name in hints and name not in space}
        space = {name: _distribution(name, text, hints[name]) for name, text in usual.items()} | space
        if not usual:
            names = ", ".join(hints) or "none"
            raise PugnnError(f"there is nothing to search for {method}; name settings with --over (it has {names})")
    return space


def settings_of(method: type[Method]) -> dict[str, tuple[Any, Any]]:
    """Type and default of each setting of a method, its own and those of its training."""
    found: dict[str, tuple[Any, Any]] = {}
    for kind in (method, TrainingSettings) if method.trains else (method,):
        hints = get_type_hints(kind)
        found |= {field.name: (hints[field.name], field.default) for field in fields(kind)}
    return {name: setting for name, setting in found.items() if name not in ("seed", "device")}


def _distribution(name: str, text: str, hint: Any) -> Any:
    distributions = optuna().distributions
    low, dots, high = text.partition("..")
    kinds = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    if not dots:
        values = dict.fromkeys(_value(name, part.strip(), kinds) for part in text.split(","))
        return distributions.CategoricalDistribution(tuple(values))
    kind = next((kind for kind in (int, float) if kind in kinds), None)
    if kind is None:
        raise PugnnError(f"{name} is not a number; give its values: {name}=VALUE,VALUE")
    least, most = (_value(name, end.strip(), (kind,)) for end in (low, high))
    if not least < most:
        raise PugnnError(f"the range {name}={text} is empty; the lower end comes first")
    made = distributions.IntDistribution if kind is int else distributions.FloatDistribution
    return made(least, most, log=0 < 100 * least <= most)


def _value(name: str, text: str, kinds: tuple[Any, ...]) -> Any:
    """A value of one of these types. Names, such as those of choices, are checked by whoever takes the setting."""
    readable = [_TYPES[kind] for kind in _TYPES if kind in kinds]
    for _, read in readable:
        with suppress(KeyError, ValueError):
            return read(text)
    if set(kinds) <= {*_TYPES, type(None)}:
        raise PugnnError(f"{name} must be {readable[0][0]}, got {text!r}")
    return text
