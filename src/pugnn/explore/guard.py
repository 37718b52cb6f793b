"""Who may ask a case room for anything: the browser of whoever has its address, and no other page or machine."""

from __future__ import annotations

import json
from secrets import compare_digest

from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: Bytes of a request's body.
MAX_BODY = 64 * 1024
#: The page runs its own scripts only, loads nothing from elsewhere, and can be framed by a notebook of this machine.
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "worker-src 'self' blob:",
        "font-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'self' http://localhost:* http://127.0.0.1:*",
    )
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),  # which would tell the token
    (b"cache-control", b"no-store"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


class Guard:
    """Lets requests through that name the token and come from the room's own page; all replies get :data:`HEADERS`.

    Args:
        app: gets the requests, their paths without the token.
        token: the first part of every path.
        hosts: what a request may call this server, each with its port. A page of another name that resolves to this
            machine is so refused.
    """

    def __init__(self, app: ASGIApp, *, token: str, hosts: frozenset[str]) -> None:
        self._app, self._token, self._hosts = app, token, hosts
        self._origins = {f"http://{host}" for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":  # a web socket, or the start of the server
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name for name, _ in HEADERS}
                kept = [(name, value) for name, value in message.get("headers", ()) if name.lower() not in own]
                message = {**message, "headers": [*kept, *HEADERS]}
            await send(message)

        status, words = self._complaint(scope)
        body = b""
        if not status:
            found = await _body(scope, receive)
            if found is None:
                status, words = 413, f"a request has at most {MAX_BODY:,} bytes"
            else:
                body = found
        if status:
            await _refuse(guarded, status, words)
            return
        _, _, rest = scope["path"][1:].partition("/")
        if scope["path"] == f"/{self._token}":  # whose relative addresses would lack the token
            await _refuse(guarded, 307, "", location=f"/{self._token}/")
            return
        path = f"/{rest}"
        await self._app(
            {**scope, "path": path, "raw_path": path.encode("utf-8", "replace")}, _given(body, receive), guarded
        )

    def _complaint(self, scope: Scope) -> tuple[int, str]:
        """Status and words of a refusal; 0 if there is nothing to refuse."""
        headers: dict[bytes, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.lower(), []).append(value.decode("latin-1"))
        token = scope["path"][1:].partition("/")[0]
        if headers.get(b"host") not in [[host] for host in self._hosts]:
            return 421, "this is not the name of the case room; use the address that `pugnn explore` printed"
        if not compare_digest(token.encode("utf-8", "replace"), self._token.encode()):
            return 403, "the address lacks the token; use the one that `pugnn explore` printed"
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return 405, "the case room answers GET and POST only"
        if scope["method"] == "POST":
            if any(origin not in self._origins for origin in headers.get(b"origin", ())):
                return 403, "requests from other pages are refused"
            kind = headers.get(b"content-type", [""])[0].partition(";")[0].strip()
            if kind != "application/json":
                return 415, "the body of a request must be application/json"
        return 0, ""


async def _body(scope: Scope, receive: Receive) -> bytes | None:
    """The body of a request; ``None`` if it is too long, of which no more is read than that."""
    told = dict(scope["headers"]).get(b"content-length", b"0")
    if not told.isdigit() or int(told) > MAX_BODY:
        return None
    body = b""
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return body
        body += bytes(message.get("body", b""))
        if len(body) > MAX_BODY:
            return None
        if not message.get("more_body", False):
            return body


def _given(body: bytes, receive: Receive) -> Receive:
    """Receives a body that was read already, and then whatever comes next."""
    left = [body]

    async def given() -> Message:
        if left:
            return {"type": "http.request", "body": left.pop(), "more_body": False}
        return await receive()

    return given


async def _refuse(send: Send, status: int, words: str, *, location: str = "") -> None:
    headers = [(b"content-type", b"application/json"), *([(b"location", location.encode())] if location else [])]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps({"error": words}).encode() if words else b""})
