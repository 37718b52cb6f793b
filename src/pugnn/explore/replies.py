"""What the server sends: JSON, refusals, and the files of the page."""

from __future__ import annotations

import json
import mimetypes
from pathlib import Path
from typing import Any, cast

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from pugnn.errors import PugnnError, WriteError
from pugnn.explore.decisions import DecidedSinceError

#: The page as it was built.
PAGE = Path(__file__).with_name("page")


class OtherRunError(PugnnError):
    """The window that asks shows another run than the room, since a new one was opened in another window."""


def read_page(folder: Path) -> dict[str, tuple[str, bytes]]:
    """The files of the page by their addresses, with their types; an error if it was not built."""
    if not (folder / "index.html").is_file():
        raise PugnnError(
            "the page of the case room was not built: run `npm ci && npm run build` in the folder explorer of the "
            "source, or install a released pugnn, which has it"
        )
    mimetypes.add_type("text/javascript", ".js")  # whatever this system says of it
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {
        path.relative_to(folder).as_posix(): (
            mimetypes.guess_type(path.name)[0] or "application/octet-stream",
            path.read_bytes(),
        )
        for path in files
    }


def reply(value: Any, status: int = 200) -> Response:
    """Plain values as JSON."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # What a name that is not UTF-8 leaves in a text is escaped in the way of JSON.
    return Response(text.encode("utf-8", "backslashreplace"), status, media_type="application/json")


def _refused(_: Request, error: Exception) -> Response:
    return reply({"error": str(error)}, 400)


def _conflict(_: Request, error: Exception) -> Response:
    return reply({"error": str(error)}, 409)


def _not_saved(_: Request, error: Exception) -> Response:
    return reply({"error": str(error)}, 507)


def _failed(_: Request, error: Exception) -> Response:
    found = cast(HTTPException, error)
    return reply({"error": found.detail}, found.status_code)


#: What becomes of errors; the most specific kind counts.
HANDLERS: Any = {
    PugnnError: _refused,
    DecidedSinceError: _conflict,
    OtherRunError: _conflict,
    WriteError: _not_saved,
    HTTPException: _failed,
}
