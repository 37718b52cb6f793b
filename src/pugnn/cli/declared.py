"""Options and names of methods, training and backbones, read from their source without importing it.

torch takes seconds to load, and `--help` or a misspelt option must not wait for it. What cannot be read is imported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, ClassVar, Literal

#: What annotations and defaults of options may name.
_NAMES = {"dataclass": dataclass, "field": field, "Any": Any, "ClassVar": ClassVar, "Literal": Literal}


@cache
def methods() -> dict[str, Any]:
    """Our own methods by name: classes with their options, defaults and docstrings, which do nothing."""
    names, found = dict[str, Any](_NAMES), {}
    for node in _statements("methods"):
        if isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("Literal["):
            _run(node, names)
        if isinstance(node, ast.ClassDef):
            node.bases = [base for base in node.bases if isinstance(base, ast.Name) and base.id in names]
            if node.bases or node.name == "Method":
                name = _registered(node)
                _run(_only_options(node), names)
                if name is not None and node.name in names:
                    found[name] = names[node.name]
    return found


@cache
def training_settings() -> Any:
    """The settings of the training, in the same way."""
    names: dict[str, Any] = {**_NAMES, "BackboneLike": str}
    for node in _statements("training"):
        if isinstance(node, ast.ClassDef) and node.name == "TrainingSettings":
            _run(_only_options(node), names)
    return names["TrainingSettings"]


@cache
def backbones() -> list[str]:
    """Names of all backbones, also of other packages."""
    own = {_registered(node) for node in _statements("models")}
    return sorted({name for name in own if name is not None} | plug_ins("pugnn.backbones"))


def plug_ins(group: str) -> set[str]:
    """Names of what other packages have in a group of entry points."""
    return {entry.name for entry in entry_points(group=group)}


def _statements(room: str) -> Iterator[ast.stmt]:
    for path in sorted((Path(__file__).parents[1] / room).glob("*.py")):
        yield from ast.parse(path.read_text(encoding="utf-8")).body


def _registered(node: ast.stmt) -> str | None:
    """The name under which a class or function is registered, if it is."""
    for each in getattr(node, "decorator_list", []):
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr == "register":
            name = each.args[0]
            return str(name.value) if isinstance(name, ast.Constant) else None
    return None


def _only_options(node: ast.ClassDef) -> ast.ClassDef:
    """The class with nothing but its docstring, its fields, and what their defaults need."""
    node.body = [
        each
        for at, each in enumerate(node.body)
        if isinstance(each, ast.AnnAssign)
        or (at == 0 and isinstance(each, ast.Expr))
        or (isinstance(each, ast.FunctionDef) and each.name == "training")
    ]
    node.decorator_list = [each for each in node.decorator_list if ast.unparse(each).startswith("dataclass")]
    node.keywords = []
    return node


def _run(node: ast.stmt, names: dict[str, Any]) -> None:
    with suppress(Exception):  # it needs more than this: it will be imported
        exec(compile(ast.Module([node], []), __file__, "exec", dont_inherit=True), names)
