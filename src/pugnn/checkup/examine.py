"""The check-up as a whole."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from pugnn.checkup.findings import Finding, advise, find
from pugnn.checkup.homophily import Homophily, check_homophily
from pugnn.checkup.relations import RelationCheck, check_relations
from pugnn.checkup.resemblance import Directions
from pugnn.checkup.sampling import Sampling, check_sampling
from pugnn.checkup.sizes import Degrees, Reach, Rings, check_rings, count_reach, degree_summary
from pugnn.errors import Displayed, counted, require_whole
from pugnn.graph import GraphStatistics, graph_statistics
from pugnn.graph.layers import has_attributes
from pugnn.store import TableGraph
from pugnn.store.given import as_task
from pugnn.task import PUTask


@dataclass(frozen=True, repr=False)
class CheckUp(Displayed):
    """What a graph and its known positives look like before anything is trained.

    Args:
        statistics: sizes of the graph.
        degrees: how links are distributed over nodes.
        reach: where the known positives lie.
        homophily: whether positives cluster.
        rings: nodes by distance, and the δ for PU-GNN.
        sampling: whether the known positives look like a random sample.
        relations: what each relation says, if there are several.
        advice: what the default method will do with it, and why.
        findings: all of that in words.
    """

    statistics: GraphStatistics
    degrees: Degrees
    reach: Reach
    homophily: Homophily
    rings: Rings
    sampling: Sampling
    relations: tuple[RelationCheck, ...]
    advice: tuple[str, ...]
    findings: tuple[Finding, ...]

    def _facts(self) -> list[str]:
        return [
            f"{self.statistics.nodes:,} nodes",
            f"{self.statistics.edges:,} edges",
            counted(self.reach.labelled, "known positive"),
            f"homophily: {self.homophily.verdict}",
            f"sampling: {self.sampling.verdict}",
            counted(len(self.findings), "finding"),
        ]

    @property
    def caveat(self) -> str | None:
        """Why known positives may not be typical of all, and what that would mean for estimates from them."""
        if self.sampling.verdict == "random":
            return None
        titles = [each.title for each in self.findings if each.topic == "sampling" and each.level != "good"]
        reasons = "; ".join(title[:1].lower() + title[1:] for title in titles)
        return (
            f"The known positives may not be typical of all: {reasons}. If they are not, the estimates hold only for "
            "positives like the known ones: there are more positives than estimated, and fewer of them are found."
        )

    def to_plain(self) -> dict[str, Any]:
        """The same as dictionaries, lists, numbers and text, for JSON; other ids become text."""

        def plain(value: object) -> Any:
            value = value.item() if isinstance(value, np.generic) else value
            return value if isinstance(value, int | float) else str(value)

        return dict(json.loads(json.dumps(asdict(self), default=plain)))


def check_up(task: PUTask | TableGraph, *, seed: int = 0) -> CheckUp:
    """Examine a graph and its known positives before training.

    Nothing is trained. It takes well under a second on thousands of nodes and a few seconds on a million.

    Args:
        task: the graph and its known positives, or what :func:`pugnn.read_graph` returned with known positives.
        seed: of the shuffles; the same seed gives the same check-up.

    Example:
        >>> from pugnn import draw_benchmark, load_dataset
        >>> found = check_up(draw_benchmark(load_dataset("cora"), labels=100, seed=0).task)
        >>> found.homophily.verdict, found.sampling.verdict
        ('together', 'random')
    """
    task = as_task(task)
    require_whole("seed", seed, 0)
    graph = task.graph
    rng = np.random.default_rng(seed)
    directions = Directions.of(graph, rng) if graph.num_features else None
    statistics = graph_statistics(graph)
    reach = count_reach(task)
    homophily = check_homophily(graph, task.labelled, directions, rng)
    rings = check_rings(task)
    # Nodes that a ranking found are no random sample, and no estimate assumes it.
    drawn = replace(task, labelled=task.typical)
    sampling = check_sampling(drawn, directions, rng, together=homophily.verdict == "together")
    relations = check_relations(task, rng)
    return CheckUp(
        statistics=statistics,
        degrees=degree_summary(graph),
        reach=reach,
        homophily=homophily,
        rings=rings,
        sampling=sampling,
        relations=relations,
        advice=advise(reach.labelled, homophily, attributes=has_attributes(graph)),
        findings=find(statistics, reach, homophily, rings, sampling, relations),
    )
