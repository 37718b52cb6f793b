"""An audit: nodes of a ranking drawn at random by a design, checked by a person, and what their verdicts say of it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pugnn.errors import Displayed, PugnnError, counted, quoted, require_choice, require_whole
from pugnn.evidence.checked_sample import CheckedSample
from pugnn.evidence.measured import Measurement, calibrated, measure_checks, measure_list
from pugnn.evidence.purposes import Choice, choose_list
from pugnn.evidence.rank_model import Values
from pugnn.evidence.stretches import ABOUT, About, Places, plan_stretches, share_out
from pugnn.graph import Graph
from pugnn.task import PUTask

if TYPE_CHECKING:
    from pugnn.store.feedback import Complaint

Event = dict[str, Any]

_WORDS = {True: "yes", False: "no"}


class Audit(Displayed):
    """Draws nodes to be checked, takes their verdicts, and estimates how good a ranking is.

    What happens is a list of plain :attr:`events`, from which :meth:`replay` makes the same audit again.

    Args:
        graph: with the ids of all nodes.
        ranking: positions of the unlabelled nodes, best first.
        decided: how many of them, from the top, are decided positive.
        ranks: of hidden positives, as shares of the ranking; empty if none were hidden.
        expected: number of positives that the method expects.
        not_typical: why hidden positives cannot narrow what is measured; empty if they can.

    Example:
        >>> graph = Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> audit = Audit(graph, np.arange(4), decided=2, ranks=np.array([0.2, 0.4]), expected=2.0).draw(4)
        >>> audit.record({0: "yes", 1: "yes", 2: "no", 3: "no"}).estimate().positives
        Band(value=2.0, low=2.0, high=2.0)
    """

    def __init__(
        self,
        graph: Graph,
        ranking: Places,
        *,
        decided: int,
        ranks: Values,
        expected: float,
        not_typical: str = "",
    ) -> None:
        self.graph, self.ranking, self.decided = graph, ranking, decided
        self.ranks, self.expected, self.not_typical = ranks, expected, not_typical
        self.events: list[Event] = []
        self._place = np.full(graph.num_nodes, -1, np.int64)
        self._place[ranking] = np.arange(len(ranking))
        self._edges = np.array([0, len(ranking)], np.int64)
        self._drawn: list[int] = []  # places in the ranking
        self._before: set[int] = set()  # places of nodes that were known before the first draw
        self._verdicts: dict[int, bool] = {}  # by place

    @classmethod
    def after(
        cls, task: PUTask, ranking: Places, *, decided: int, prior: float, estimate: Mapping[str, Any] | None
    ) -> Audit:
        """An audit after a training with this prior; ``estimate`` is what hidden positives say, in plain values."""
        ranks = [] if estimate is None else estimate["hidden"].get("ranks", [])
        why = ""
        if estimate is None or len(ranks) < 2:
            why = "no known positives were hidden"
        elif not estimate["signal"]:
            why = "hidden positives rank no better than by chance"
        elif estimate["caveat"]:
            why = "the known positives may not be typical of all"
        elif len(task.confirmed):
            why = "finds were confirmed before, so hidden positives are not typical of what is left"
        expected = prior * len(ranking)
        return cls(task.graph, ranking, decided=decided, ranks=np.array(ranks), expected=expected, not_typical=why)

    def _facts(self) -> list[str]:
        facts = [f"{counted(len(self._drawn), 'node')} drawn", f"{len(self._verdicts):,} checked"]
        return [*facts, *(self.estimate()._facts() if self._verdicts else ["nothing measured yet"])]

    @cached_property
    def digest(self) -> str:
        """Names the ranking, so that verdicts on another one are noticed."""
        return hashlib.sha256(self.ranking.astype(np.int64).tobytes()).hexdigest()[:16]

    @property
    def draws(self) -> list[Event]:
        """The events that are draws."""
        return [event for event in self.events if "draw" in event]

    @property
    def drawn(self) -> Places:
        """Positions of all drawn nodes, in the order in which they are to be checked."""
        return self.ranking[self._drawn]

    @property
    def open(self) -> Places:
        """Positions of the drawn nodes without a verdict, in the order in which they are to be checked."""
        return self.ranking[[place for place in self._drawn if place not in self._verdicts]]

    @property
    def verdicts(self) -> dict[int, bool]:
        """Verdict by position."""
        return {int(self.ranking[place]): positive for place, positive in self._verdicts.items()}

    @property
    def left(self) -> int:
        """How many nodes can be drawn still."""
        return int(self._free().sum())

    def _free(self) -> Any:
        """Which places can be drawn: nodes that a person chose after a draw are no exception, or chance would be."""
        free = np.ones(len(self.ranking), dtype=bool)
        free[[*self._drawn, *(self._before if self._drawn else self._verdicts)]] = False
        return free

    def draw(self, n: int = 20, *, about: About = "both", seed: int = 0) -> Audit:
        """Draw nodes that were not drawn before, at random within stretches of the ranking.

        The first draw fixes the stretches.

        Args:
            n: how many.
            about: what is to be measured: ``precision``, ``count`` or ``both``.
            seed: of the draw.
        """
        require_whole("n", n, 1)
        require_choice("about", about, ABOUT)
        require_whole("seed", seed, 0)
        if n > self.left:
            raise PugnnError(
                f"cannot draw {counted(n, 'node')}: {self.left:,} of {len(self.ranking):,} are neither drawn nor "
                "checked yet. Ask for fewer."
            )
        planned, quotas = plan_stretches(
            len(self.ranking), n, decided=self.decided, ranks=self.ranks, expected=self.expected, about=about
        )
        fixed = any("about" in event for event in self.draws)
        edges = self._edges if fixed else np.union1d(planned, self._edges)
        wanted = np.diff(np.interp(edges, planned, np.append(0, np.cumsum(quotas))))
        free = self._free()
        left = np.add.reduceat(free, edges[:-1]).astype(np.int64)
        quotas = share_out(wanted, left, n)
        rng = np.random.default_rng([seed, len(self._drawn)])
        nodes = []
        for first, last, quota, of in zip(edges[:-1], edges[1:], quotas.tolist(), left.tolist(), strict=True):
            places = rng.choice(first + np.flatnonzero(free[first:last]), quota, replace=False)
            nodes += [[self._name(place), place, quota / of] for place in places.tolist()]
        nodes = [nodes[at] for at in rng.permutation(n)]
        return self._draw(nodes, {"about": about, "seed": seed, "edges": edges.tolist()})

    def draw_first(self, count: int) -> Audit:
        """Take all of the first nodes of the ranking, a stretch of its own, but for those that were drawn before.

        They are in random order, so that those that are checked first are a sample.
        """
        require_whole("count", count, 1)
        places = np.flatnonzero(self._free()[:count])
        if not len(places):
            raise PugnnError(f"the first {count:,} nodes are drawn or checked already. Ask for more.")
        order = np.random.default_rng(count).permutation(places).tolist()
        edges = np.union1d(self._edges, [min(count, len(self.ranking))]).tolist()
        return self._draw([[self._name(place), place, 1.0] for place in order], {"first": count, "edges": edges})

    def _draw(self, nodes: list[list[Any]], how: Event) -> Audit:
        places = [place for _, place, _ in nodes]
        # Not a bare number, not even in part: a spreadsheet would change it.
        name = f"draw-{hashlib.sha256(f'{self.digest} {places}'.encode()).hexdigest()[:8]}"
        before = {"before": sorted(self._verdicts)} if self._verdicts and not self._drawn else {}
        return self._apply({"draw": name, "ranking": self.digest, **how, **before, "nodes": nodes})

    def with_verdicts(self, verdicts: Mapping[int, bool]) -> Audit:
        """Take verdicts by position that another log holds: they count, and are no event of this one."""
        self._verdicts |= {int(self._place[node]): yes for node, yes in verdicts.items() if self._place[node] >= 0}
        return self

    def record(self, verdicts: Any, values: Any = None, *, revise: bool = False, source: str = "") -> Audit:
        """Take verdicts: a mapping of ids to verdicts, a table with columns ``id`` and ``verdict``, or the two apart.

        Nodes that you chose yourself are known then, but they are not a sample: they bound what is possible.

        Args:
            verdicts: as above; ids alone if ``values`` are given.
            values: the verdict on each id.
            revise: accept verdicts that differ from earlier ones.
            source: where they come from, for the record.
        """
        from pugnn.store import read_feedback

        where = f"{source}: " if source else ""

        def complain(audits: set[str]) -> Complaint:
            if others := sorted(audits - {event["draw"] for event in self.draws}):
                raise PugnnError(
                    f"{where}the column audit names {quoted(others[0])}, which is not a draw of this audit. Give the "
                    "file to the run that it was drawn for."
                )
            return partial(self._complaint, revise=revise, own=not audits)

        table = verdicts if values is None else {"id": list(verdicts), "verdict": list(values)}
        found = read_feedback(self.graph, np.zeros(0, np.int64), "positives", checked=table, complain=complain)
        given = dict.fromkeys(found.confirmed.tolist(), True) | dict.fromkeys(found.rejected.tolist(), False)
        if not given:
            raise PugnnError(f"{where}there are no verdicts yet. Fill in the column verdict with yes or no.")
        new = {int(self._place[position]): positive for position, positive in given.items()}
        new = {place: positive for place, positive in new.items() if self._verdicts.get(place) != positive}
        if not new:
            return self
        rows = [[self._name(place), place, positive] for place, positive in new.items()]
        return self._apply({"verdicts": rows, "source": source})

    def _complaint(self, position: int, positive: bool, *, revise: bool, own: bool) -> str:
        """Why a verdict cannot be recorded, if so; ``own`` says whether the node may be one that was not drawn."""
        place = int(self._place[position])
        before = self._verdicts.get(place)
        if place < 0:
            return "was known before the training, so that its verdict says nothing about the ranking. Remove its row."
        if not own and place not in self._drawn:
            return (
                "was not drawn by this audit. Put nodes of your own choice into a file of their own, without the "
                "column audit."
            )
        if before not in (None, positive) and not revise:
            return (
                f"was recorded as {_WORDS[not positive]} before and is {_WORDS[positive]} now. Nothing was recorded; "
                "correct the file, or replace the earlier verdict with --revise (revise=True)."
            )
        return ""

    def replay(self, events: list[Event]) -> Audit:
        """Repeat what happened; an error if it happened to another ranking."""
        for event in events:
            if event.get("ranking", self.digest) != self.digest:
                raise PugnnError(
                    "it belongs to another ranking: the scores have changed since. Move it away to start a new audit."
                )
            self._apply(event)
        return self

    def _apply(self, event: Event) -> Audit:
        if "draw" in event:
            if not self._drawn:
                self._before = {*self._verdicts, *event.get("before", ())}
            self._drawn += [place for _, place, _ in event["nodes"]]
            self._edges = np.array(event["edges"], np.int64)
        else:
            self._verdicts |= {place: positive for _, place, positive in event["verdicts"]}
        self.events.append(event)
        return self

    def _name(self, place: int) -> Any:
        name = self.graph.ids[[self.ranking[place]]].tolist()[0]
        return name if isinstance(name, str | int) else str(name)

    def sample(self) -> CheckedSample:
        """The verdicts as they count: drawn at random, known before, or found later."""
        drawn, before = set(self._drawn), self._before if self._drawn else set(self._verdicts)
        parts: list[Any] = []
        for own in (drawn, before, self._verdicts.keys() - drawn - before):
            places = sorted(own & self._verdicts.keys())
            positive = [self._verdicts[place] for place in places]
            parts += [np.array(places, np.int64), np.array(positive, dtype=bool)]
        return CheckedSample(self._edges, *parts)

    @property
    def _narrowing(self) -> Values | None:
        return None if self.not_typical else self.ranks

    def estimate(self) -> Measurement:
        """How good the ranking is, as far as verdicts are recorded."""
        self._require_verdicts()
        return measure_checks(
            self.sample(), decided=self.decided, ranks=self._narrowing, why_not_narrowed=self.not_typical
        )

    def probabilities(self) -> Values:
        """The probability of each unlabelled node to be positive, in the order of the ranking."""
        self._require_verdicts()
        if self._verdicts.keys().isdisjoint(self._drawn):
            raise PugnnError(
                "nodes you chose yourself are not a random sample, so nothing is measured; draw some and check them"
            )
        return calibrated(self.sample(), self._narrowing)

    def choose(self, **purpose: Any) -> Choice:
        """How far down the list to go, for a purpose that :func:`pugnn.evidence.purposes.choose_list` knows."""
        measure = partial(measure_list, self.sample(), ranks=self._narrowing)
        return choose_list(self.probabilities(), measure, **purpose)

    def _require_verdicts(self) -> None:
        if not self._verdicts:
            raise PugnnError("nothing is measured yet, because no verdict is recorded; check the drawn nodes first")
