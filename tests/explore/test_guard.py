"""The list of attacks: each is refused, or bounded."""

import asyncio
import json

import pytest

from pugnn.explore.guard import MAX_BODY, Guard
from rooms import HOST, TOKEN, Client


def decision(**more):
    return {
        "content": json.dumps({"node": 20, "verdict": "yes"}),
        "headers": {"content-type": "application/json", **more},
    }


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "/api/run",
        "/token/api/run",
        f"/{TOKEN[:-1]}/api/run",
        f"/{TOKEN}x/api/run",
        f"//{TOKEN}/api/run",
        f"/x/../{TOKEN}x/",
    ],
)
def test_without_the_token_nothing_is_told(client, path):
    found = client.raw("GET", path)
    assert found.status_code == 403
    assert TOKEN not in found.text
    assert "token" in found.json()["error"]


def test_the_address_without_its_last_slash_leads_to_the_page(client):
    found = client.raw("GET", f"/{TOKEN}")
    assert (found.status_code, found.headers["location"], found.content) == (307, f"/{TOKEN}/", b"")
    assert client.raw("GET", f"/{TOKEN}/").status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1", "127.0.0.1:8001", f"{HOST}.evil.example", ""]
)
def test_a_foreign_host_is_refused(client, host):
    """As by a page whose name resolves to this machine."""
    assert client.raw("GET", f"/{TOKEN}/api/run", headers={"host": host}).status_code == 421


def test_localhost_is_this_machine(client):
    assert client.raw("GET", f"/{TOKEN}/api/run", headers={"host": "localhost:8000"}).status_code == 200


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "https://127.0.0.1:8000",
        "http://127.0.0.1:8888",
        "http://127.0.0.1:8000.evil.example",
    ],
)
def test_a_foreign_page_decides_nothing(client, origin):
    found = client.raw("POST", f"/{TOKEN}/api/decisions", **decision(origin=origin))
    assert found.status_code == 403
    assert client.get("api/changes")["seq"] == 0


def test_ones_own_page_decides(client):
    for origin in (f"http://{HOST}", "http://localhost:8000"):
        assert client.raw("POST", f"/{TOKEN}/api/decisions", **decision(origin=origin)).status_code == 200


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_a_form_of_another_page_is_refused(client, kind):
    """Browsers send these to any address without asking."""
    found = client.raw("POST", f"/{TOKEN}/api/decisions", content=b"{}", headers={"content-type": kind})
    assert found.status_code == 415


PATHS_OUT = (
    *("../run.json", "assets/../../run.json", "..%2frun.json", "assets/%2e%2e/%2e%2e/run.json", "%2fetc/passwd"),
    *("assets/", "assets/app.js/", "assets\\app.js", "%00", "index.html%00.js", "run.json", "cases.sqlite", ".", ".."),
)


@pytest.mark.parametrize("path", PATHS_OUT)
def test_nothing_but_the_page_is_served(client, path):
    found = asyncio.run(asked_plainly(client.app, f"/{TOKEN}/{path}"))
    assert found in (403, 404)


async def asked_plainly(app, path, method="GET", body=(b"",), headers=()):
    """The status of a reply to a path that no client has tidied up."""
    from urllib.parse import unquote

    sent, parts = [], body if isinstance(body, list) else list(body)

    async def receive():
        return {"type": "http.request", "body": parts.pop(0), "more_body": bool(parts)}

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": method, "path": unquote(path), "raw_path": path.encode(), "query_string": b""}
    scope |= {"headers": [(b"host", HOST.encode()), *headers], "scheme": "http", "http_version": "1.1", "root_path": ""}
    await app(scope, receive, send)
    return sent[0]["status"]


def test_a_long_body_is_not_read(client):
    """100 MB, told or not: no more than the limit is taken in."""
    taken = 0

    class Parts(list):
        def __init__(self):
            super().__init__([b""] * 1600)

        def pop(self, at=0):
            nonlocal taken
            taken += MAX_BODY
            return b"x" * MAX_BODY

    kind = (b"content-type", b"application/json")
    path = f"/{TOKEN}/api/decisions"
    status = asyncio.run(asked_plainly(client.app, path, "POST", Parts(), [kind]))
    assert status == 413
    assert taken <= 3 * MAX_BODY
    status = asyncio.run(asked_plainly(client.app, path, "POST", (), [kind, (b"content-length", b"104857600")]))
    assert status == 413
    assert asyncio.run(asked_plainly(client.app, path, "POST", (), [kind, (b"content-length", b"-1")])) == 413


def test_a_note_of_the_longest_kind_fits(client):
    found = client.post("decisions", node=20, verdict="note", note="\N{SNOWMAN}" * 10_000)
    assert len(found["note"]) == 10_000
    assert client.send("decisions", node=20, verdict="note", note="x" * 10_001).status_code == 400


@pytest.mark.parametrize("path", ["", "assets/app.js", "api/run", "api/nope", "api/export?format=html"])
def test_all_replies_have_the_same_policy(client, path):
    headers = client.raw("GET", f"/{TOKEN}/{path}").headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in headers
    assert "server" not in headers


def test_refusals_have_it_too(client):
    assert "default-src 'none'" in client.raw("GET", "/").headers["content-security-policy"]


def test_web_sockets_are_not_answered():
    asyncio.run(Guard(None, token=TOKEN, hosts=frozenset())({"type": "websocket"}, None, None))


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_do_nothing(client, method):
    for headers in ({"content-type": "application/json"}, {}):
        found = client.raw(method, f"/{TOKEN}/api/decisions", headers=headers, content=b"{}")
        assert (found.status_code, found.json()["error"]) == (405, "the case room answers GET and POST only")


def test_a_read_only_room_decides_nothing(run, page):
    client = Client(run, page, read_only=True)
    assert client.get("api/run")["readOnly"]
    for path in ("decisions", "undo", "learn", "learn/cancel", "open"):
        assert client.send(path).status_code == 403
    client.get("api/queue", goal="audit")
    assert not {"cases.sqlite", "audit.jsonl"} & {file.name for file in run.iterdir()}
