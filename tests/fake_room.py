"""A small server of the case room's contract, for tests of the page alone: any number of nodes, hostile texts."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

PAGE = Path(__file__).parents[1] / "src/pugnn/explore/page"
TOKEN = "token-of-a-test"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "worker-src 'self' blob:; font-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css"}
HOSTILE = [
    '<img src=x onerror="alert(1)">',
    "</script><script>alert(2)</script>",
    "=HYPERLINK(1)",
    "‮drawkcab",
    "w" * 199 + "…",
    "&amp; ünïcödé 😀 \"quoted\" 'too'",
]
STATUS = {"yes": "confirmed", "no": "rejected", "skip": "skipped"}
Answer = dict[str, Any]


class Refused(Exception):
    """An answer that is an error."""

    def __init__(self, code: int, words: str) -> None:
        super().__init__(words)
        self.code = code


class Room:
    """What the fake server knows; a test may change it while the page looks at it."""

    def __init__(self, nodes: int = 300, *, drawn: int = 20, hostile: bool = False, relations: bool = True) -> None:
        self.nodes, self.drawn, self.hostile = nodes, drawn, hostile
        self.relations = ["pays", "shares a phone with"] if relations else []
        self.path = "/home/ann/runs/2026-11-18-accounts"
        self.read_only, self.full, self.learning = False, False, "idle"
        self.newer = 0  # verdicts that the training does not know
        self.pending = 0  # times that a case is asked for before it is known why
        self.log: list[Answer] = []
        self.undone: set[int] = set()
        self.requests: list[str] = []

    # ---------------------------------------------------------------- nodes

    def text(self, node: int) -> str:
        if self.hostile and node < 60:
            return HOSTILE[node % len(HOSTILE)]
        return f"A-{node:04d}"

    def score(self, node: int) -> float:
        return 0.99 - 0.98 * node / self.nodes

    def hops(self, node: int) -> int | None:
        return 0 if self.known(node) == 1 else None if node % 17 == 16 else 1 + node % 3

    def known(self, node: int) -> int:
        return 1 if node % 40 == 7 else 0

    def standing(self) -> list[Answer]:
        return [entry for entry in self.log if "undo" not in entry and entry["seq"] not in self.undone]

    def entries(self, node: int) -> list[Answer]:
        return [entry for entry in self.standing() if entry["node"] == node]

    def status(self, node: int) -> str:
        verdicts = [entry["verdict"] for entry in self.entries(node) if entry["verdict"] != "note"]
        return STATUS[verdicts[-1]] if verdicts else "open"

    def note(self, node: int) -> str:
        notes = [entry["note"] for entry in self.entries(node) if entry["note"]]
        return notes[-1] if notes else ""

    def cells(self, node: int) -> list[str]:
        if self.hostile and node < 60:
            return [HOSTILE[(node + 1) % len(HOSTILE)], HOSTILE[(node + 2) % len(HOSTILE)]]
        first = ("Ann", "Bashir", "Chen", "Dolores", "Emre", "Fatou")[node % 6]
        last = ("Okafor", "Lindqvist", "Marsh", "Novak", "Reyes")[node % 5]
        return [f"{first} {last}", ("Leeds", "Porto", "Gdańsk", "Cork")[node % 4]]

    def row(self, node: int, *, blind: bool = False) -> Answer:
        known = self.known(node)
        return {
            "node": node,
            "id": self.text(node),
            "score": None if blind else self.score(node),
            "rank": None if blind or known else node + 1,
            "hops": self.hops(node),
            "known": known,
            "status": self.status(node),
            "decided": None if blind else self.score(node) >= 0.5,
            "cells": self.cells(node),
        }

    def degree(self, node: int) -> int:
        return 1270 if node % 25 == 0 else 3 + node % 5

    def neighbours(self, node: int) -> list[int]:
        steps = range(1, min(self.degree(node), self.nodes - 1) + 1)
        return [(node + step * (1 + step % 3)) % self.nodes for step in steps]

    # ---------------------------------------------------------------- answers

    def counts(self) -> Answer:
        counts = {"open": self.nodes, "confirmed": 0, "rejected": 0, "skipped": 0}
        for node in {entry["node"] for entry in self.standing()}:
            counts[self.status(node)] += 1
            counts["open"] -= 1
        return counts

    def audit(self) -> Answer:
        checked = sum(self.status(node) in ("confirmed", "rejected") for node in self.draw())
        return {"drawn": self.drawn, "checked": checked}

    def draw(self) -> list[int]:
        return [node for node in range(1, self.nodes) if not self.known(node)][: self.drawn]

    def get_run(self, _: Answer) -> Answer:
        return {
            "name": "2026-11-18-accounts",
            "path": self.path,
            "seq": len(self.log),
            "title": HOSTILE[0] if self.hostile else "Accounts of November",
            "method": "views",
            "nodes": self.nodes,
            "edges": 5 * self.nodes,
            "labelled": self.nodes // 40,
            "unlabelled": self.nodes - self.nodes // 40,
            "decided": self.nodes // 2,
            "threshold": 0.5,
            "prior": 0.1,
            "signal": True,
            "readOnly": self.read_only,
            "columns": ["name", "town"],
            "relations": self.relations,
            "rings": [
                *(
                    {"name": f"{hops} hop{'s' * (hops > 1)}", "hops": hops, "count": self.nodes // 3}
                    for hops in (1, 2, 3)
                ),
                {"name": "no path", "hops": None, "count": self.nodes // 17},
            ],
            "counts": self.counts(),
            "audit": self.audit(),
            "parent": None,
            "who": "ann",
            "caveats": ["Scores of nodes without a path to a known positive rest on their columns alone."],
        }

    def get_queue(self, asked: Answer) -> Answer:
        goal = asked["goal"]
        words = {
            "audit": "Drawn by chance from all ranks, so that their share of positives tells how good the ranking is.",
            "finds": "The cases the model is surest of, best first.",
            "discovery": "Likely cases far from everything known.",
            "learning": "Cases whose answer would change most of the ranking.",
        }[goal]
        nodes = self.draw() if goal == "audit" else [node for node in range(60) if not self.known(node)][:50]
        reasons = {"audit": "drawn for the audit from the first 100", "finds": "the model is 97 % sure"}
        rows = [
            {**self.row(node, blind=goal == "audit"), "reason": reasons.get(goal, "far from every known positive")}
            for node in nodes
        ]
        checked = sum(row["status"] in ("confirmed", "rejected") for row in rows)
        return {"goal": goal, "words": words, "rows": rows, "checked": checked, "total": len(rows)}

    def get_case(self, node: int, asked: Answer) -> Answer:
        if node >= self.nodes:
            raise Refused(404, f"there is no node {node}")
        blind = asked.get("blind") == "1"
        name, town = self.cells(node)
        parts = [
            {"name": "transfers at night", "value": "31 of 40", "own": 0.61, "around": 0.22, "contribution": 0.83},
            {"name": "age of the account", "value": "12 days", "own": 0.4, "around": 0.02, "contribution": 0.42},
            {"name": "word:graph", "value": name, "own": 0.1, "around": 0.12, "contribution": 0.22},
            {"name": "salary paid in", "value": "yes", "own": -0.31, "around": 0.0, "contribution": -0.31},
        ]
        known = [(node // 40) * 40 + 7, ((node // 40) * 40 + 47) % self.nodes]
        why: Answer = {
            "sentences": [
                f"{self.text(node)} moves money at night and is two weeks old.",
                "Three of its neighbours are known positives; without them its score would be 0.41.",
            ],
            "parts": parts,
            "nodes": [
                {"node": known[0], "id": self.text(known[0]), "contribution": 0.72, "status": "open", "known": 1},
                {"node": 3, "id": self.text(3), "contribution": -0.2, "status": self.status(3), "known": 0},
            ],
            "relations": [{"name": name, "contribution": 0.4 - 0.5 * at} for at, name in enumerate(self.relations)],
        }
        if blind:
            nothing = {"own": None, "around": None, "contribution": None}
            told = ("parts", "nodes", "relations")
            why = {"sentences": [], **{name: [{**each, **nothing} for each in why[name]] for name in told}}
        decided = list(dict.fromkeys(entry["node"] for entry in self.standing() if entry["node"] != node))[-3:]
        entries = self.entries(node)
        is_pending = self.pending > 0
        self.pending -= is_pending
        return {
            "row": self.row(node, blind=blind),
            "columns": [
                {"name": "name", "value": name},
                {"name": "town", "value": town},
                {"name": "opened", "value": "2026-11-02"},
                {"name": "remarks", "value": "x" * 10_000 if self.hostile else "Two cards, one address."},
            ],
            "why": None if is_pending else why,
            "whyMissing": "This is a large graph." if is_pending else "",
            "whyPending": is_pending,
            "nearest": [
                {
                    "node": each,
                    "id": self.text(each),
                    "hops": 2,
                    "confirmed": self.known(each) != 1,
                    "path": [{"node": step, "id": self.text(step)} for step in (node, 3, each)],
                }
                for each in known
            ],
            "similar": [
                {"node": each, "id": self.text(each), "status": self.status(each), "note": self.note(each)}
                for each in decided
            ],
            "degree": self.degree(node),
            "note": self.note(node),
            "history": [
                {**{key: entry[key] for key in ("seq", "at", "who", "verdict")}, "note": entry["note"] or ""}
                for entry in reversed(entries)
            ],
        }

    def chosen(self, asked: Answer) -> list[int]:
        if not set(asked) - {"sort", "desc", "offset", "limit", "node"} and asked.get("sort", "score") in (
            "score",
            "id",
        ):
            order: Any = range(self.nodes)
            # Both orders are that of the nodes here; the score falls with it.
            falls = (asked.get("desc") == "1") != (asked.get("sort", "score") == "score")
            return order[::-1] if falls else order
        wanted = asked.get("q", "").casefold()
        low, high = float(asked.get("min", "-inf")), float(asked.get("max", "inf"))
        nodes = [
            node
            for node in range(self.nodes)
            if (not wanted or any(wanted in text.casefold() for text in (self.text(node), *self.cells(node))))
            and ("status" not in asked or self.status(node) == asked["status"])
            and ("known" not in asked or self.known(node) == int(asked["known"]))
            and (
                "hops" not in asked or str(self.hops(node) if self.hops(node) is not None else "none") == asked["hops"]
            )
            and low <= self.score(node) <= high
        ]
        return sorted(
            nodes, key=lambda node: self.key(node, asked.get("sort", "score")), reverse=asked.get("desc") == "1"
        )

    def key(self, node: int, name: str) -> Any:
        if name in ("name", "town"):
            return self.cells(node)[("name", "town").index(name)]
        value = {"score": self.score, "id": self.text, "hops": self.hops, "status": self.status}[name](node)
        return 99 if value is None else value

    def get_nodes(self, asked: Answer) -> Answer:
        offset, limit = int(asked.get("offset", 0)), int(asked.get("limit", 100))
        nodes = self.chosen(asked)
        return {
            "total": len(nodes),
            "offset": offset,
            "rows": [self.row(node) for node in nodes[offset : offset + min(limit, 500)]],
        }

    def get_place(self, asked: Answer) -> Answer:
        nodes, node = self.chosen(asked), int(asked["node"])
        return {"place": nodes.index(node) if node in nodes else None}

    def drawn_part(self, nodes: list[int], around: dict[int, list[int]]) -> Answer:
        shown = dict.fromkeys([*nodes, *(near for each in around.values() for near in each)])
        edges = [
            {
                "source": node,
                "target": near,
                "relation": self.relations[at % len(self.relations)] if self.relations else "",
                "weight": 1.0,
            }
            for node, nears in around.items()
            for at, near in enumerate(nears)
            if near != node
        ]
        return {
            "nodes": [
                {
                    **self.row(node),
                    "degree": self.degree(node),
                    "shown": sum(node in (edge["source"], edge["target"]) for edge in edges),
                    "x": math.cos(node * 2.4) * (1 + at),
                    "y": math.sin(node * 2.4) * (1 + at),
                }
                for at, node in enumerate(shown)
            ],
            "edges": edges,
            "cut": False,
        }

    def get_graph(self, asked: Answer) -> Answer:
        nodes = [int(node) for node in asked["nodes"].split(",")]
        return self.drawn_part(nodes, {node: self.neighbours(node)[:30] for node in nodes})

    def get_expand(self, asked: Answer) -> Answer:
        node, have = int(asked["node"]), {int(each) for each in asked.get("have", "").split(",") if each}
        left = [near for near in self.neighbours(node) if near not in have]
        taken = left[: int(asked["count"])]
        rest = len(left) - len(taken)
        return {
            **self.drawn_part([node], {node: taken}),
            "left": [{"relation": name, "count": rest // 2} for name in self.relations]
            or [{"relation": "", "count": rest}],
        }

    def get_path(self, asked: Answer) -> Answer:
        node = int(asked["node"])
        return {"path": [self.row(each) for each in (node, (node + 2) % self.nodes, (node // 40) * 40 + 7)]}

    def get_quality(self, _: Answer) -> Answer:
        audit = self.audit()
        measured = {
            "title": f"Measured on {audit['checked']} checks, 12 of them positive",
            "rows": [
                {"name": "precision of the first 100", "value": "80 %", "range": "62 % to 91 %"},
                {"name": "precision of all decided", "value": "unknown", "range": "0 % to 91 %"},
                {"name": "positives in all", "value": "64", "range": "41 to 92"},
            ],
            "notes": ["Beyond the first 1,000 nothing was checked."],
        }
        steps = []
        for at in range(1, 201):
            taken, finds = at * self.nodes // 200, 64 * (1 - math.exp(-at / 40))
            steps.append(
                {
                    "taken": taken,
                    "score": self.score(taken),
                    "finds": [finds, 0.8 * finds, 1.25 * finds],
                    "known": at <= 120,
                }
            )
        return {
            "measured": measured if audit["checked"] else None,
            "expected": {"steps": steps, "positives": [64, 41, 92]},
        }

    def get_changes(self, asked: Answer) -> Answer:
        new = [entry for entry in self.log if entry["seq"] > int(asked["after"])]
        return {
            "path": self.path,
            "seq": len(self.log),
            "rows": [self.row(node) for node in dict.fromkeys(entry["node"] for entry in new)],
            "events": [{name: entry[name] for name in ("seq", "node", "who", "verdict")} for entry in new],
            "counts": self.counts(),
            "audit": self.audit(),
        }

    def get_cases(self, asked: Answer) -> Answer:
        wanted = asked.get("status", "confirmed,rejected,skipped,noted").split(",")
        text = asked.get("q", "").casefold()
        latest = {entry["node"]: entry for entry in self.standing()}
        rows = [
            {**self.row(node), "note": self.note(node), "at": entry["at"], "who": entry["who"]}
            for node, entry in reversed(latest.items())
            if (self.status(node) in wanted or ("noted" in wanted and self.note(node)))
            and text in f"{self.text(node)} {self.note(node)}".casefold()
        ]
        return {"rows": rows, "total": len(rows)}

    def get_learn(self, _: Answer) -> Answer:
        moves = [{"id": self.text(node), "node": node, "before": 90 + node, "after": 3 + node} for node in range(5)]
        answer: Answer = {"state": self.learning, "seconds": 12, "words": "epoch 40 of 200"}
        if self.learning == "done":
            answer |= {
                "run": "2026-11-18-accounts-2",
                "changes": {"rose": moves, "fell": moves[:2], "words": ["Of the first 100, 12 are new."]},
                "measured": {"before": None, "after": None},
                "newer": self.newer,
            }
        return answer

    # ---------------------------------------------------------------- posts

    def saved(self, node: int) -> Answer:
        return {
            "seq": len(self.log),
            "row": self.row(node),
            "counts": self.counts(),
            "audit": self.audit(),
            "note": self.note(node),
        }

    def append(self, entry: Answer) -> None:
        if self.read_only:
            raise Refused(403, "this room is read-only")
        if self.full:
            raise Refused(507, "the disk is full; nothing was changed")
        self.log.append({"seq": len(self.log) + 1, "at": "2026-11-18T21:40:00Z", "who": "ann", **entry})

    def post_decisions(self, asked: Answer) -> Answer:
        who = {"who": asked["who"]} if "who" in asked else {}
        self.append({"node": asked["node"], "verdict": asked["verdict"], "note": asked.get("note"), **who})
        return self.saved(asked["node"])

    def post_undo(self, asked: Answer) -> Answer:
        standing = [entry["seq"] for entry in self.standing()]
        seq = asked.get("seq", standing[-1] if standing else 0)
        if seq not in standing:
            raise Refused(409, "that was undone already")
        node = self.log[seq - 1]["node"]
        self.append({"node": node, "undo": seq, "verdict": "undo", "note": None})
        self.undone.add(seq)
        return self.saved(node)

    def post_learn(self, _: Answer) -> Answer:
        self.learning = "running"
        return self.get_learn({})

    def post_cancel(self, _: Answer) -> Answer:
        self.learning = "cancelled"
        return self.get_learn({})

    def post_open(self, _: Answer) -> Answer:
        self.learning, self.log, self.undone, self.path = "idle", [], set(), f"{self.path}-2"
        return {"ok": True}

    def answer(self, name: str, asked: Answer) -> Answer:
        if name.startswith("case/"):
            return self.get_case(int(name.removeprefix("case/")), asked)
        gets: dict[str, Callable[[Answer], Answer]] = {
            "run": self.get_run,
            "queue": self.get_queue,
            "nodes": self.get_nodes,
            "nodes/place": self.get_place,
            "graph": self.get_graph,
            "expand": self.get_expand,
            "path": self.get_path,
            "quality": self.get_quality,
            "changes": self.get_changes,
            "cases": self.get_cases,
            "learn": self.get_learn,
        }
        return gets[name](asked)

    def take(self, name: str, asked: Answer) -> Answer:
        if asked.pop("shows") != self.path:
            raise Refused(409, "this window shows another run than the room; reload it")
        posts = {
            "decisions": self.post_decisions,
            "undo": self.post_undo,
            "learn": self.post_learn,
            "learn/cancel": self.post_cancel,
            "open": self.post_open,
        }
        return posts[name](asked)


class Server:
    """The room behind a port; `stop` and `start` with the same port play a server that was killed."""

    def __init__(self, room: Room) -> None:
        self.room = room
        self.port = 0
        self.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/{TOKEN}/"

    def start(self) -> None:
        self.http = ThreadingHTTPServer(("127.0.0.1", self.port), handler_of(self.room))
        self.port = self.http.server_port
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def stop(self) -> None:
        self.http.shutdown()
        self.http.server_close()


def handler_of(room: Room) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """A test's output is no place for requests."""

        def reply(self, code: int, content: bytes, kind: str) -> None:
            self.send_response(code)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Content-Security-Policy", POLICY)
            self.end_headers()
            self.wfile.write(content)

        def tell(self, work: Callable[[], Answer]) -> None:
            try:
                code, answer = 200, work()
            except Refused as refused:
                code, answer = refused.code, {"error": str(refused)}
            self.reply(code, json.dumps(answer).encode(), "application/json")

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            path = parts.path.removeprefix(f"/{TOKEN}/") or "index.html"
            room.requests.append(self.path)
            if path.startswith("api/export"):
                self.reply(200, b"id,status\n", "text/csv")
            elif path.startswith("api/"):
                self.tell(lambda: room.answer(path.removeprefix("api/"), dict(parse_qsl(parts.query))))
            else:
                file = PAGE / path
                self.reply(200, file.read_bytes(), TYPES[file.suffix])

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            path = urlsplit(self.path).path.removeprefix(f"/{TOKEN}/api/")
            self.tell(lambda: room.take(path, json.loads(body)))

    return Handler
