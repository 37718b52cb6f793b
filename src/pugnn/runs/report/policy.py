"""What a browser may do with a page of ours."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256


def content_policy(style: str, script: str | None = None) -> str:
    """A policy under which this style sheet and script are the only ones a browser accepts, even if others slipped in.

    Nothing else is loaded, from anywhere, and nothing is sent.
    """
    parts = ["default-src 'none'", f"style-src '{_digest(style)}'", "base-uri 'none'", "form-action 'none'"]
    if script is not None:
        parts.append(f"script-src '{_digest(script)}'")
    return "; ".join(parts)


def _digest(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode("ascii")
