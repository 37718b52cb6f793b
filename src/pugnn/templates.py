"""Rendering pages that need nothing besides themselves, and what a browser may do with them."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from functools import cache, partial
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment


def fill_template(
    package: str, name: str, values: Mapping[str, Any], filters: Mapping[str, Callable[..., Any]] | None = None
) -> str:
    """Fill a Jinja template of a package; everything that is not marked as safe is escaped."""
    environment = _environment(package)
    environment.filters.update(filters or {})
    return environment.get_template(name).render(values)


@cache
def _environment(package: str) -> Environment:
    """Where the templates of a package are compiled, once."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    how: dict[str, Any] = {"undefined": StrictUndefined, "trim_blocks": True, "lstrip_blocks": True}
    return Environment(autoescape=True, loader=FunctionLoader(partial(resource, package)), **how)


def resource(package: str, name: str) -> str:
    """The text of a file in a package."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


def content_policy(style: str, script: str | None = None) -> str:
    """A policy under which a browser accepts this style sheet and script only, and neither loads nor sends anything."""
    parts = ["default-src 'none'", f"style-src '{_digest(style)}'", "base-uri 'none'", "form-action 'none'"]
    if script is not None:
        parts.append(f"script-src '{_digest(script)}'")
    return "; ".join(parts)


def _digest(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode("ascii")
