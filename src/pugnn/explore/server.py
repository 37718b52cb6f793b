"""The case room as a web server: named addresses with checked parameters, on the loopback interface."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any, cast

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pugnn.errors import PugnnError, counted, shown
from pugnn.explore import replies
from pugnn.explore.case import CaseFile
from pugnn.explore.cases_export import FORMATS, KINDS, case_rows, export
from pugnn.explore.learning import Learning
from pugnn.explore.listing import Listing, Wanted
from pugnn.explore.quality import Quality
from pugnn.explore.queries import Asked, Sent, stored_text
from pugnn.explore.replies import HANDLERS, OtherRunError, read_page, reply
from pugnn.explore.room import PLACES, QUEUES, STATUSES, Goal, Room
from pugnn.explore.surroundings import FIRST, MAX_HOPS, MAX_NODES, ORDERS, By, Surroundings, links_of
from pugnn.runs.run import Run
from pugnn.store.case_log import Case, Verdict

#: What nodes can be asked for by: unknown, known positives, known negatives.
KNOWN = ("0", "1", "-1")
#: Rows of a list in one reply.
MAX_ROWS = 500

OTHER_RUN = "this window shows another run than the room; reload it"

Answer = Callable[[Asked], Any]


class Desk:
    """All that a page can ask of one run; ``caveats`` are what else it should know of it."""

    def __init__(self, room: Room, open_run: Callable[[Path], Run], caveats: tuple[str, ...] = ()) -> None:
        self.room, self.caveats = room, caveats
        self.listing = Listing(room)
        self.surroundings = Surroundings(room)
        self.cases = CaseFile(room, self.surroundings)
        self.quality = Quality(room)
        self.learning = Learning(room, open_run)
        Thread(target=self._warm, daemon=True).start()

    def _warm(self) -> None:
        """Make beforehand what the first requests need."""
        with suppress(PugnnError):  # whoever asks gets the message
            self.room.find([self.room.plain_id(0)])
            self.listing.warm()
            self.cases.warm()


class Server:
    """Answers the requests of the page.

    Args:
        run: opened.
        open_run: opens another run, which the room has trained.
        page: the folder of the built page; by default that of the package.
        who: makes the decisions.
        read_only: make none.
    """

    def __init__(
        self,
        run: Run,
        open_run: Callable[[Path], Run],
        *,
        page: Path | None = None,
        who: str = "",
        read_only: bool = False,
    ) -> None:
        self._open_run, self._who, self._read_only = open_run, who, read_only
        self.files = read_page(page or replies.PAGE)
        self.desk = Desk(Room(run, who=who, read_only=read_only), open_run)

    def app(self) -> Starlette:
        """The addresses, below the token."""
        asked: dict[str, Answer] = {
            "run": self._run,
            "queue": self._queue,
            "nodes": self._nodes,
            "nodes/place": self._place,
            "graph": self._graph,
            "expand": self._expand,
            "path": self._path,
            "quality": lambda _: self.desk.quality.now(),
            "changes": self._changes,
            "cases": self._cases,
            "learn": lambda _: self.desk.learning.now(),
        }
        routes = [Route(f"/api/{name}", _reading(answer)) for name, answer in asked.items()]
        routes += [
            Route("/api/case/{node:int}", self._case),
            Route("/api/export", self._export),
            Route("/api/decisions", self._decide, methods=["POST"]),
            Route("/api/undo", self._undo, methods=["POST"]),
            Route("/api/learn", self._learn, methods=["POST"]),
            Route("/api/learn/cancel", self._cancel, methods=["POST"]),
            Route("/api/open", self._open, methods=["POST"]),
            Route("/{file:path}", self._file),
        ]
        return Starlette(routes=routes, exception_handlers=HANDLERS)

    def close(self) -> None:
        """End what is running, and finish the room."""
        self.desk.learning.cancel()
        self.desk.cases.close()
        self.desk.room.finish()

    # ------------------------------------------------------------------ reading

    def _run(self, _: Asked) -> dict[str, Any]:
        room, run = self.desk.room, self.desk.room.run
        parent = run.settings.parent or {}
        caveat = (run.evidence.estimate or {}).get("caveat")
        ranked = [] if run.results.ranked else ["The ranking means nothing: the report of the run says why."]
        changed = [f"Shown as it was trained; its tables are others by now: {run.changed}."] if run.changed else []
        return {
            "name": shown(run.path.resolve().name),
            "path": _path_of(room),
            "seq": room.refresh(),
            "title": run.settings.title,
            "method": run.settings.options.get("method", ""),
            "nodes": room.graph.num_nodes,
            "edges": room.graph.num_edges,
            "labelled": len(run.task.labelled),
            "unlabelled": len(run.others),
            "decided": run.found,
            "threshold": run.results.threshold,
            "prior": run.results.prior,
            "signal": run.evidence.signal,
            "readOnly": room.read_only,
            "columns": list(run.data.shown),
            "relations": [link.name for link in links_of(room.graph) if link.name],
            "rings": self.desk.listing.rings,
            **_state(room),
            "parent": shown(Path(parent["run"]).name) if parent.get("run") else None,
            "who": room.who,
            "caveats": [*ranked, *changed, *self.desk.caveats, *([caveat] if caveat else [])],
        }

    def _queue(self, asked: Asked) -> dict[str, Any]:
        room = self.desk.room
        queue = room.queue(cast(Goal, asked.choice("goal", QUEUES, "audit")))
        rows = room.rows(queue.nodes, blind=queue.goal == "audit")
        self.desk.cases.ahead(queue.nodes)
        told = [{**row, "reason": reason} for row, reason in zip(rows, queue.reasons, strict=True)]
        numbers = {"checked": queue.checked, "total": len(told)}
        return {"goal": queue.goal, "words": queue.words, "rows": told, **numbers}

    async def _case(self, request: Request) -> Response:
        asked = Asked(request.query_params)
        blind = bool(asked.flag("blind"))
        return reply(await run_in_threadpool(self.desk.cases.of, request.path_params["node"], blind=blind))

    def _nodes(self, asked: Asked) -> dict[str, Any]:
        offset, limit = asked.whole("offset", 0), asked.whole("limit", 100, most=MAX_ROWS)
        nodes = self.desk.listing.nodes(_wanted(asked))
        return {"total": len(nodes), "offset": offset, "rows": self.desk.room.rows(nodes[offset : offset + limit])}

    def _place(self, asked: Asked) -> dict[str, Any]:
        return {"place": self.desk.listing.place(asked.whole("node"), _wanted(asked))}

    def _graph(self, asked: Asked) -> dict[str, Any]:
        return self.desk.surroundings.around(asked.nodes("nodes"), asked.whole("hops", 1, most=MAX_HOPS))

    def _expand(self, asked: Asked) -> dict[str, Any]:
        by, count = cast(By, asked.choice("by", ORDERS, "known")), asked.whole("count", FIRST, most=MAX_NODES)
        relation, have = asked.text("relation"), asked.nodes("have")
        return self.desk.surroundings.expand(asked.whole("node"), have, relation, by, count)

    def _path(self, asked: Asked) -> dict[str, Any]:
        return {"path": self.desk.room.rows(self.desk.surroundings.path(asked.whole("node")))}

    def _changes(self, asked: Asked) -> dict[str, Any]:
        room, after = self.desk.room, asked.whole("after", 0)
        seq = room.refresh()
        changed = {"rows": room.rows(room.changed_since(after)), "events": room.events_since(after)}
        return {"path": _path_of(room), "seq": seq, **changed, **_state(room)}

    def _cases(self, asked: Asked) -> dict[str, Any]:
        self.desk.room.refresh()
        rows, total = case_rows(self.desk.room, asked.choices("status", KINDS) or KINDS, asked.text("q"))
        return {"rows": rows, "total": total}

    async def _export(self, request: Request) -> Response:
        form = Asked(request.query_params).choice("format", tuple(FORMATS))
        self.desk.room.refresh()
        content = await run_in_threadpool(export, self.desk.room, form)
        name = f'attachment; filename="cases.{form}"'
        return Response(content, media_type=FORMATS[form][0], headers={"content-disposition": name})

    async def _file(self, request: Request) -> Response:
        """A file of the page: one of those that were there at the start, and nothing else."""
        found = self.files.get(request.path_params["file"] or "index.html")
        if found is None:
            raise HTTPException(404, "there is nothing at this address")
        return Response(found[1], media_type=found[0])

    # ------------------------------------------------------------------ deciding

    async def _decide(self, request: Request) -> Response:
        room, sent = await self._sent(request, "node", "id", "verdict", "note", "queue")
        verdict = cast(Verdict, sent.choice("verdict", ("yes", "no", "skip", "note")))
        node, note, queue = sent.whole("node"), sent.text("note"), sent.choice("queue", PLACES, "list")
        assert node is not None
        if verdict == "note" and note is None:
            raise PugnnError("a note needs its text")
        room.require_node(node)
        if sent.text("id") not in (None, stored_text(room.texts([node])[0])):
            raise OtherRunError(OTHER_RUN)
        event = await run_in_threadpool(room.decide, node, verdict, note, queue)
        return reply(_decided(room, event.seq, node))

    async def _undo(self, request: Request) -> Response:
        room, sent = await self._sent(request, "seq")
        _, node = await run_in_threadpool(room.undo, sent.whole("seq", optional=True))
        return reply(_decided(room, room.decisions.last, node))

    async def _sent(self, request: Request, *names: str) -> tuple[Room, Sent]:
        """What a window posts, and the room it is for; a window says which run it shows, as positions are of a run."""
        if self._read_only:
            raise HTTPException(403, "this room is read-only; start it without --read-only to decide")
        room, sent = self.desk.room, await Sent.of(request, "shows", *names)
        if sent.text("shows") not in (None, _path_of(room)):
            raise OtherRunError(OTHER_RUN)
        return room, sent

    # ------------------------------------------------------------------ learning

    async def _learn(self, request: Request) -> Response:
        await self._sent(request)
        await run_in_threadpool(self.desk.learning.start)
        return reply(self.desk.learning.now())

    async def _cancel(self, request: Request) -> Response:
        await self._sent(request)
        await run_in_threadpool(self.desk.learning.cancel)
        return reply(self.desk.learning.now())

    async def _open(self, request: Request) -> Response:
        _, sent = await self._sent(request, "run")
        folder = self.desk.learning.new_run
        if folder is None or sent.text("run") != folder.name:
            raise PugnnError("only the run that was trained here can be opened, once it is done")
        await run_in_threadpool(self._switch, folder)
        return reply({"ok": True})

    def _switch(self, folder: Path) -> None:
        before = self.desk
        room = Room(self._open_run(folder), who=self._who)
        self.desk = Desk(room, self._open_run, _not_learnt(before.learning.newer, before.room))
        before.cases.close()
        before.room.finish()


def _path_of(room: Room) -> str:
    return shown(room.run.path.resolve(), 1000)


def _state(room: Room) -> dict[str, Any]:
    return {"counts": room.counts, "audit": room.progress}


def _decided(room: Room, seq: int, node: int) -> dict[str, Any]:
    note = room.cases.get(node, Case()).note
    return {"seq": seq, "row": room.rows([node])[0], "note": note, **_state(room)}


def _not_learnt(newer: int, room: Room) -> tuple[str, ...]:
    """What a run that was just trained does not know of the verdicts in the room before."""
    if not newer:
        return ()
    are = "is" if newer == 1 else "are"
    name = shown(room.run.path.resolve().name)
    return (f"{counted(newer, 'verdict')} in {name} {are} newer than this training: fit again from there.",)


def _wanted(asked: Asked) -> Wanted:
    sort = asked.text("sort") or "score"
    descending = asked.flag("desc")
    return Wanted(
        sort=sort,
        descending=sort == "score" if descending is None else descending,
        text=asked.text("q"),
        statuses=asked.choices("status", STATUSES),
        decided=asked.flag("decided"),
        known=int(asked.choice("known", KNOWN, "")) if asked.text("known") else None,
        hops=-1 if asked.text("hops") == "none" else asked.whole("hops") if asked.text("hops") else None,
        relation=asked.text("relation"),
        least=asked.number("min"),
        most=asked.number("max"),
    )


def _reading(answer: Answer) -> Callable[[Request], Response]:
    """An endpoint that reads; as a plain function it runs in a thread."""

    def endpoint(request: Request) -> Response:
        return reply(answer(Asked(request.query_params)))

    return endpoint
