"""Things by name, ours and those of other packages: methods, backbones, data sets, priors, metrics, kinds of column.

An entry point of another package names the module that registers the thing. (Commands are not registered: their entry
points name ``module:function``, which :mod:`pugnn.cli` loads.)
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stdout, suppress
from functools import cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pkgutil import iter_modules
from typing import TypeVar

from pugnn.errors import PugnnError, did_you_mean, similar

T = TypeVar("T")

#: The method where none is chosen.
DEFAULT_METHOD = "views"


class UnknownName(PugnnError, KeyError):
    """Nothing is registered under a name."""

    __str__ = Exception.__str__  # KeyError would quote the message


class Registry(Mapping[str, T]):
    """Things of one kind by name.

    Each is registered in the file that defines it, by the decorator :meth:`register`. Another package also names it as
    an entry point, under the same name; it is then found without having been imported.

    Args:
        kind: what such a thing is called in messages, such as ``method``.
        group: group of the entry points, such as ``pugnn.methods``.
        room: the package of ours whose modules register some.
        base: the class that all of them must be derived from, if any.
    """

    def __init__(self, kind: str, group: str, room: str, base: type | None = None) -> None:
        self.kind, self.group, self._room, self._base = kind, group, room, base
        self._registered: dict[str, T] = {}
        self._complete = False

    def register(self, name: str) -> Callable[[T], T]:
        """A decorator that registers what it decorates; a class then has its name as ``name``."""

        def add(thing: T) -> T:
            if self._base is not None and not (isinstance(thing, type) and issubclass(thing, self._base)):
                raise PugnnError(f"{_place(thing)} is not derived from {_place(self._base)}")
            known = self._registered.setdefault(name, thing)
            if known is not thing and _place(known) != _place(thing):  # a module may be loaded twice, in a notebook
                raise PugnnError(f"two {self.kind}s are called {name!r}: {_place(known)} and {_place(thing)}")
            self._registered[name] = thing
            if isinstance(thing, type):
                thing.name = name  # type: ignore[attr-defined]
            return thing

        return add

    def __getitem__(self, name: str) -> T:
        self._import_room()
        if name not in self._registered and name in self._entry_points:
            self._load(self._entry_points[name])
        if name not in self._registered:
            hint = did_you_mean(similar(str(name), self))
            raise UnknownName(f"there is no {self.kind} {name!r}; choose one of {', '.join(sorted(self))}{hint}")
        return self._registered[name]

    def _load(self, entry: EntryPoint) -> None:
        """Import the module of another package; it may print, but not into our output."""
        before, what, owner = dict(self._registered), f"the {self.kind} {entry.name!r}", _distribution(entry)
        try:
            with redirect_stdout(sys.stderr):
                entry.load()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # whatever another package raises, even if it ends the program
            self._registered = before
            why = str(error) if isinstance(error, Exception) and str(error) else repr(error)
            raise PugnnError(f"{what} of {owner} cannot be loaded: {why}") from None
        if entry.name not in self._registered:
            raise PugnnError(f"{owner} names {entry.value} as {what}, but does not register it")

    def __iter__(self) -> Iterator[str]:
        self._import_room()
        return iter([*self._registered, *sorted(set(self._entry_points) - set(self._registered))])

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __contains__(self, name: object) -> bool:
        return name in list(iter(self))  # without loading it

    def loadable(self) -> dict[str, T]:
        """All that can be loaded: a broken package is no reason not to use the others."""
        found = {}
        for name in self:
            with suppress(PugnnError):
                found[name] = self[name]
        return found

    def provider(self, name: str) -> str:
        """The distribution that provides it, or else the module that registered it."""
        if name in self._entry_points and not _place(self._registered.get(name)).startswith(f"{self._room}."):
            return _distribution(self._entry_points[name])
        return str(getattr(_definition(self[name]), "__module__", self._room)).split(".")[0]

    @cached_property
    def _entry_points(self) -> dict[str, EntryPoint]:
        return {entry.name: entry for entry in entry_points(group=self.group)}

    def _import_room(self) -> None:
        if not self._complete:
            self._complete = True
            for module in iter_modules(import_module(self._room).__path__):
                import_module(f"{self._room}.{module.name}")


def _distribution(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else entry.module.split(".")[0]


def _definition(thing: object) -> object:
    """The class or function that was defined: a metric, or a partial function, holds one."""
    if not isinstance(thing, type):
        for inner in ("measure", "func"):
            thing = getattr(thing, inner, thing)
    return thing


def _place(thing: object) -> str:
    thing = _definition(thing)
    return f"{getattr(thing, '__module__', '?')}.{getattr(thing, '__qualname__', repr(thing))}"
