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


@cache  # so that a template is compiled once
def _environment(package: str) -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    loader = FunctionLoader(partial(resource, package))
    return Environment(autoescape=True, loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def resource(package: str, name: str) -> str:
    """The text of a file in a package."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


def content_policy(style: str, script: str | None = None) -> str:
    """A policy under which a browser accepts this style sheet and script only, and neither loads nor sends anything."""
    policy = "default-src 'none'; base-uri 'none'; form-action 'none'"
    for kind, text in {"style": style, "script": script}.items():
        if text is not None:
            policy += f"; {kind}-src 'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
    return policy
