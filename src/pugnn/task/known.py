"""The known nodes of a training, which its model remembers by their ids."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pugnn.graph import Graph
from pugnn.graph.digests import digest_of_texts
from pugnn.task.task import PUTask

#: More known positives than this are not remembered: they would not fit into the header of a model's file.
MAX_POSITIVES = 1_000_000


@dataclass(frozen=True)
class KnownIds:
    """Ids as text of the nodes that a training knew.

    Args:
        positives: known positives that were given; none if there are more than :data:`MAX_POSITIVES`.
        confirmed: further ones, finds that were checked.
        rejected: known negatives.
        graph: digest of the graph, if its ids are just the positions 0 … N−1: they name the nodes of no other graph.
    """

    positives: tuple[str, ...] = ()
    confirmed: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    graph: str | None = None

    @classmethod
    def of(cls, task: PUTask) -> Self:
        """The known nodes of a task."""
        ids = task.graph.ids
        given = task.typical if len(task.typical) <= MAX_POSITIVES else task.typical[:0]
        lists = [tuple(map(str, ids[nodes].tolist())) for nodes in (given, task.confirmed, task.negative)]
        return cls(lists[0], lists[1], lists[2], None if _has_ids(task.graph) else _digest(task.graph))

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """From the values of a file; raises a ``TypeError`` if they are not what they should be."""
        lists = [tuple(plain[name]) for name in ("positives", "confirmed", "rejected")]
        if not all(isinstance(node_id, str) for nodes in lists for node_id in nodes):
            raise TypeError("its known nodes are not texts")
        return cls(lists[0], lists[1], lists[2], plain["graph"])

    def find(self, graph: Graph) -> dict[str, NDArray[np.int64]]:
        """Sorted positions of these nodes in a graph, by list: of those that are in it, and can be recognised."""
        lists = {"positives": self.positives, "confirmed": self.confirmed, "rejected": self.rejected}
        if not any(lists.values()) or not (_has_ids(graph) if self.graph is None else _digest(graph) == self.graph):
            return dict.fromkeys(lists, np.zeros(0, np.int64))
        if graph.stored is not None:
            return {name: _find_stored(graph, texts) for name, texts in lists.items()}
        name_of = {text: name for name, texts in lists.items() for text in texts}
        found = [name_of.get(str(node_id)) for node_id in graph.ids[: graph.num_targets].tolist()]
        return {name: np.array([at for at, of in enumerate(found) if of == name], np.int64) for name in lists}


def _find_stored(graph: Graph, texts: tuple[str, ...]) -> NDArray[np.int64]:
    wanted: list[Any] = [text.encode("utf-8", "replace").decode() for text in texts]
    if graph.ids.dtype.kind != "O":
        wanted = [int(text) for text in wanted if re.fullmatch(r"-?[0-9]{1,18}", text)]
    found = graph.find(wanted)
    return np.unique(found[found >= 0])


def _has_ids(graph: Graph) -> bool:
    """Whether ids are more than positions; those of tables always are."""
    ids = graph.ids
    return graph.recipe is not None or ids.dtype.kind not in "iu" or not np.array_equal(ids, np.arange(len(ids)))


def _digest(graph: Graph) -> str:
    return digest_of_texts(graph.digests.values())
