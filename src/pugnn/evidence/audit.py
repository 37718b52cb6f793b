"""An audit: nodes of a ranking drawn at random by a design, checked by a person, and what their verdicts say of it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from pugnn.errors import Displayed, PugnnError, counted, quoted, require_choice, require_number, require_whole
from pugnn.evidence.measured import CheckedSample, Measurement, calibrated, measure_checks
from pugnn.evidence.rank_model import Values
from pugnn.evidence.stretches import ABOUT, About, Places, plan_stretches, share_out
from pugnn.graph import Graph

Event = dict[str, Any]


@dataclass(frozen=True)
class Choice:
    """A list for a purpose: how many nodes from the top, and what is expected of it.

    Args:
        purpose: in words.
        taken: number of nodes.
        found: positives expected among them.
        missed: positives expected among the others.
        precision: expected share of positives among them.
        recall: expected share of the positives that are among them.
        cost: of checking them and of what is missed, where costs were given.
    """

    purpose: str
    taken: int
    found: float
    missed: float
    precision: float
    recall: float
    cost: float | None = None


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
        self._edges: Places | None = None
        self._drawn: list[int] = []
        self._verdicts: dict[int, bool] = {}

    def _facts(self) -> list[str]:
        facts = [f"{counted(len(self._drawn), 'node')} drawn", f"{len(self._verdicts):,} checked"]
        return [*facts, *(self.estimate()._facts() if self._verdicts else ["nothing measured yet"])]

    @property
    def digest(self) -> str:
        """Names the ranking, so that verdicts on another one are noticed."""
        return hashlib.sha256(self.ranking.astype(np.int64).tobytes()).hexdigest()[:16]

    @property
    def draws(self) -> list[str]:
        """The names of all draws."""
        return [event["draw"] for event in self.events if "draw" in event]

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

    def draw(self, n: int = 20, *, about: About = "both", seed: int = 0) -> Audit:
        """Draw nodes that were neither drawn nor checked before, at random within stretches of the ranking.

        The first draw fixes the stretches.

        Args:
            n: how many.
            about: what is to be measured: ``precision``, ``count`` or ``both``.
            seed: of the draw.
        """
        require_whole("n", n, 1)
        require_choice("about", about, ABOUT)
        require_whole("seed", seed, 0)
        taken = np.zeros(len(self.ranking), dtype=bool)
        taken[[*self._drawn, *self._verdicts]] = True
        self._require_left(n, int((~taken).sum()))
        edges, quotas = plan_stretches(
            len(self.ranking), n, decided=self.decided, ranks=self.ranks, expected=self.expected, about=about
        )
        if self._edges is not None:
            wanted = np.histogram(np.repeat((edges[:-1] + edges[1:]) / 2, quotas), self._edges)[0].astype(np.float64)
            edges = self._edges
        else:
            wanted = quotas.astype(np.float64)
        free = np.add.reduceat(~taken, edges[:-1]).astype(np.int64)
        quotas = share_out(wanted, free, n)
        rng = np.random.default_rng([seed, len(self._drawn)])
        places, chances = [], []
        for first, last, quota, left in zip(edges[:-1], edges[1:], quotas.tolist(), free.tolist(), strict=True):
            candidates = first + np.flatnonzero(~taken[first:last])
            places += rng.choice(candidates, quota, replace=False).tolist()
            chances += [quota / left] * quota if quota else []
        order = rng.permutation(len(places))
        chosen = [places[at] for at in order]
        name = hashlib.sha256(f"{self.digest} {chosen}".encode()).hexdigest()[:8]
        nodes = [[self._name(place), place, chances[at]] for place, at in zip(chosen, order.tolist(), strict=True)]
        return self._apply(
            {
                "draw": name,
                "ranking": self.digest,
                "about": about,
                "seed": seed,
                "edges": edges.tolist(),
                "nodes": nodes,
            }
        )

    def draw_first(self, count: int) -> Audit:
        """Take the first nodes of the ranking, all of them, to be checked; they are in random order."""
        require_whole("count", count, 1)
        places = [place for place in range(min(count, len(self.ranking))) if place not in self._verdicts]
        places = [place for place in places if place not in set(self._drawn)]
        self._require_left(1, len(places))
        order = np.random.default_rng(count).permutation(len(places))
        name = hashlib.sha256(f"{self.digest} first {places}".encode()).hexdigest()[:8]
        nodes = [[self._name(places[at]), places[at], 1.0] for at in order]
        return self._apply({"draw": name, "ranking": self.digest, "first": count, "nodes": nodes})

    def _require_left(self, wanted: int, left: int) -> None:
        if wanted > left:
            raise PugnnError(
                f"cannot draw {counted(wanted, 'node')}: {left:,} of {len(self.ranking):,} are neither drawn nor "
                "checked yet. Ask for fewer."
            )

    def record(self, verdicts: Any, values: Any = None, *, revise: bool = False, source: str = "") -> Audit:
        """Take verdicts: a mapping of ids to verdicts, a table with columns ``id`` and ``verdict``, or the two apart.

        Nodes that were not drawn may be among them; they are known then, but are not a sample.

        Args:
            verdicts: as above; ids alone if ``values`` are given.
            values: the verdict on each id.
            revise: accept verdicts that differ from earlier ones.
            source: where they come from, for the record.
        """
        from pugnn.store import read_feedback

        table = verdicts if values is None else {"id": list(verdicts), "verdict": list(values)}
        found = read_feedback(self.graph, np.zeros(0, np.int64), "positives", checked=table)
        given = dict.fromkeys(found.confirmed.tolist(), True) | dict.fromkeys(found.rejected.tolist(), False)
        if found.audits:
            self._require_own(found.audits, list(given), source)
        for position, positive in given.items():
            place = int(self._place[position])
            if place < 0:
                raise PugnnError(
                    f"{quoted(str(self.graph.ids[position]))} was known before the training, so that its verdict says "
                    "nothing about the ranking. Remove its row."
                )
            before = self._verdicts.get(place)
            if before is not None and before != positive and not revise:
                raise PugnnError(
                    f"{quoted(str(self.graph.ids[position]))} was recorded as {_WORDS[before]} before and is "
                    f"{_WORDS[positive]} now. Nothing was recorded; correct the file, or revise the earlier verdict."
                )
        new = {int(self._place[position]): positive for position, positive in given.items()}
        new = {place: positive for place, positive in new.items() if self._verdicts.get(place) != positive}
        if not new:
            return self
        return self._apply(
            {"verdicts": [[self._name(place), place, positive] for place, positive in new.items()], "source": source}
        )

    def _require_own(self, audits: frozenset[str], positions: list[int], source: str) -> None:
        """Raise if a file is of another audit, or names nodes that this one has not drawn."""
        where = f"{source}: " if source else ""
        if others := sorted(audits - set(self.draws)):
            raise PugnnError(
                f"{where}the column audit names {quoted(others[0])}, which is no draw of this run. Give the file to "
                "the run that it was drawn for."
            )
        drawn = set(self._drawn)
        for position in positions:
            if int(self._place[position]) not in drawn:
                raise PugnnError(
                    f"{where}{quoted(str(self.graph.ids[position]))} was not drawn by this audit. Put nodes of your "
                    "own choice into a file of their own, without the column audit."
                )

    def replay(self, events: list[Event]) -> Audit:
        """Repeat what happened; an error if it happened to another ranking."""
        for event in events:
            if event.get("ranking", self.digest) != self.digest:
                raise PugnnError("the audit belongs to another ranking: the scores of the run have changed since")
            self._apply(event)
        return self

    def _apply(self, event: Event) -> Audit:
        if "draw" in event:
            if "edges" in event:
                self._edges = np.array(event["edges"], np.int64)
            self._drawn += [int(place) for _, place, _ in event["nodes"]]
        else:
            self._verdicts |= {int(place): bool(positive) for _, place, positive in event["verdicts"]}
        self.events.append(event)
        return self

    def _name(self, place: int) -> Any:
        name = self.graph.ids[[self.ranking[place]]].tolist()[0]
        return name if isinstance(name, str | int) else str(name)

    def sample(self) -> CheckedSample:
        """The verdicts as they count: drawn at random, or not."""
        random = {place for event in self.events if "edges" in event for _, place, _ in event["nodes"]}
        drawn = sorted(random & self._verdicts.keys())
        others = sorted(self._verdicts.keys() - random)
        edges = np.array([0, len(self.ranking)], np.int64) if self._edges is None else self._edges
        return CheckedSample(
            edges,
            np.array(drawn, np.int64),
            np.array([self._verdicts[place] for place in drawn], dtype=bool),
            np.array(others, np.int64),
            np.array([self._verdicts[place] for place in others], dtype=bool),
        )

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
        return calibrated(self.sample(), self._narrowing)

    def _require_verdicts(self) -> None:
        if not self._verdicts:
            raise PugnnError("nothing is measured yet, because no verdict is recorded; check the drawn nodes first")

    def choose(
        self,
        *,
        budget: int | None = None,
        precision: float | None = None,
        recall: float | None = None,
        cost_miss: float | None = None,
        cost_check: float | None = None,
    ) -> Choice:
        """How far down the list to go, for one purpose, by the measured probabilities.

        Args:
            budget: the first so many nodes.
            precision: the longest list with this expected precision.
            recall: the shortest list with this expected recall.
            cost_miss: what a missed positive costs; with ``cost_check``, the cheapest list.
            cost_check: what it costs to check a node.
        """
        costs = (cost_miss, cost_check)
        given = [budget is not None, precision is not None, recall is not None, costs != (None, None)]
        if sum(given) != 1:
            raise PugnnError("give one purpose: a budget, a precision, a recall, or the costs of a miss and a check")
        found = np.cumsum(self.probabilities())
        taken, total = np.arange(1, len(found) + 1), max(float(found[-1]), 1e-9)
        if budget is not None:
            require_whole("budget", budget, 1)
            count, purpose = min(budget, len(found)), f"a budget of {budget:,}"
        elif precision is not None:
            _require_part("precision", precision)
            reached = np.flatnonzero(found / taken >= precision)
            count, purpose = int(reached[-1]) + 1 if len(reached) else 0, f"a precision of {precision:g}"
        elif recall is not None:
            _require_part("recall", recall)
            count, purpose = int(np.searchsorted(found, recall * total - 1e-9)) + 1, f"a recall of {recall:g}"
            count = min(count, len(found))
        else:
            if cost_miss is None or cost_check is None:
                raise PugnnError("costs come in pairs: that of a miss, and that of a check")
            for name, cost in (("cost_miss", cost_miss), ("cost_check", cost_check)):
                require_number(name, cost, negative=False)
            bills = np.concatenate([[0.0], taken * cost_check]) + cost_miss * (total - np.concatenate([[0.0], found]))
            count = int(np.argmin(bills))
            purpose = f"a miss at {cost_miss:g} and a check at {cost_check:g}"
        right = float(found[count - 1]) if count else 0.0
        bill = None if cost_miss is None or cost_check is None else count * cost_check + cost_miss * (total - right)
        return Choice(purpose, count, right, total - right, right / max(count, 1), right / total, bill)


_WORDS = {True: "yes", False: "no"}


def _require_part(name: str, value: object) -> None:
    require_number(name, value)
    if not 0 < float(value) <= 1:  # type: ignore[arg-type]
        raise PugnnError(f"{name} must lie between 0 and 1, got {value}")
