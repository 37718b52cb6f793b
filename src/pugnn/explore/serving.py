"""Serving a case room until somebody ends it."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from ipaddress import ip_address

import uvicorn

from pugnn.errors import PugnnError
from pugnn.explore.guard import Guard
from pugnn.explore.server import Server

#: Requests that are answered at once; more are told to come again.
AT_ONCE = 64
#: Connections that wait to be accepted.
WAITING = 128
#: The shortest token that a user may choose.
MIN_TOKEN = 16


def serve(
    server: Server,
    *,
    host: str,
    port: int,
    token: str | None,
    started: Callable[[str], None],
) -> None:
    """Serve a room, until Ctrl-C.

    Args:
        server: the room.
        host: name or address of this machine by which browsers reach it.
        port: 0 for any that is free.
        token: in every address; random if it is ``None``.
        started: is told the address, once it answers.
    """
    token = _checked_token(host, token)
    with closing(server), closing(_listening(host, port)) as listening:
        port = listening.getsockname()[1]
        named = f"[{host}]" if ":" in host else host
        hosts = {f"{named}:{port}"} | ({f"localhost:{port}"} if is_loopback(host) else set())
        app = Guard(server.app(), token=token, hosts=frozenset(hosts))
        config = uvicorn.Config(
            app,
            limit_concurrency=AT_ONCE,
            backlog=WAITING,
            log_level="warning",
            access_log=False,  # addresses have the token in them
            ws="none",
            server_header=False,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=3,
        )
        announcing = _Announcing(config, lambda: started(f"http://{named}:{port}/{token}/"))
        with suppress(KeyboardInterrupt):  # the usual way to end a room
            announcing.run(sockets=[listening])


class _Announcing(uvicorn.Server):
    """Says when it answers."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._say = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        if self.started:
            self._say()


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:  # a name
        return False


def _checked_token(host: str, token: str | None) -> str:
    """The token that was given, or a new one where only this machine can ask."""
    if token is None:
        if not is_loopback(host):
            raise PugnnError(
                f"others can reach {host}, so set a token with --token, and share it with those who may use the room"
            )
        return secrets.token_urlsafe(24)
    if len(token) < MIN_TOKEN or not token.isascii() or not token.replace("-", "").replace("_", "").isalnum():
        raise PugnnError(f"--token must have at least {MIN_TOKEN} letters, digits, - or _")
    return token


def _listening(host: str, port: int) -> socket.socket:
    try:
        address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        if address[4][0] in ("0.0.0.0", "::"):
            raise PugnnError(f"--host {host} is not an address that a browser can open; give that of this machine")
        with ExitStack() as failed:
            listening = failed.enter_context(socket.socket(address[0], socket.SOCK_STREAM))
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address[4])
            failed.pop_all()
    except OSError as error:
        raise PugnnError(
            f"cannot listen on {host}:{port}: {error.strerror}. Choose another --port or --host."
        ) from None
    return listening
