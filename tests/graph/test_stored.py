from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from pugnn.errors import PugnnError
from pugnn.graph import Graph
from pugnn.graph.stored import Stored, TextIds, find_in
from pugnn.task import PUTask, resolve_positives

TEXTS = ["nœud", "b", "", "ab", "a", "aa", "n", "日本", "日"]


def text_ids(texts: list[str]) -> TextIds:
    letters = b"".join(text.encode() for text in texts)
    starts = np.cumsum([0, *(len(text.encode()) for text in texts)])
    return TextIds(np.frombuffer(letters, np.uint8), starts)


def stored_graph(ids, *, checksum: str = "c") -> Graph:
    plain = Graph.from_edges([0, 1, 2], [1, 2, 3], num_nodes=len(ids), features=np.ones((len(ids), 2)))
    parts = (plain.indptr, plain.indices, plain.features, ids, None, plain.relations)
    stored = Stored(checksum, parts, ids)
    return replace(plain, ids=ids, stored=stored)


def test_text_ids_are_like_an_array():
    ids = text_ids(TEXTS)
    assert len(ids) == len(TEXTS)
    assert ids.tolist() == TEXTS
    assert [ids[at] for at in range(len(TEXTS))] == TEXTS
    assert ids[np.int32(7)] == "日本"
    assert ids[2:5].tolist() == TEXTS[2:5]
    assert ids[np.array([8, 0, 8])].tolist() == ["日", "nœud", "日"]
    assert ids[np.arange(len(TEXTS)) == 3].tolist() == ["ab"]
    assert ids[[]].tolist() == []
    assert ids[[-1, 0]].tolist() == ["日", "nœud"]


def test_every_text_is_found_and_no_other():
    graph = stored_graph(text_ids(TEXTS))
    assert graph.find(TEXTS).tolist() == list(range(len(TEXTS)))
    assert graph.find(["", "aaa", "A", "日本語", "zz", 7, None, "œ"]).tolist() == [2, -1, -1, -1, -1, -1, -1, -1]
    column = pa.array(["x", "b", None, "n"], pa.large_string())[1:]  # which begins elsewhere in its buffer
    assert find_in(graph.stored.arrow, column).tolist() == [1, -1, 6]


def test_every_integer_is_found_and_no_other():
    graph = stored_graph(np.array([7, -3, 2**62, 0]))
    assert graph.find([0, 7, 2**62, -3]).tolist() == [3, 0, 2, 1]
    wanted = [7.0, np.int64(-3), False, 7.5, float("nan"), float("inf"), "7", 2**70, 8, None]
    assert graph.find(wanted).tolist() == [0, 1, 3, -1, -1, -1, -1, -1, -1, -1]
    assert graph.find(wanted[:3]).tolist() == replace(graph, stored=None).find(wanted[:3]).tolist()
    with pytest.raises(PugnnError, match=r"1 of 2 ids are not in the graph: 9\. The graph's ids look like"):
        graph.positions([7, 9])


def test_positives_are_resolved_as_in_memory():
    texts, numbers = stored_graph(text_ids(["a", "b", "1", "d"])), stored_graph(np.array([7, 5, 0, 1]))
    for graph, positives in [
        (texts, ["b"]),
        (texts, [0, 3]),
        (numbers, [5, 1]),
        (numbers, [True, False, False, False]),
    ]:
        in_memory = replace(graph, ids=np.array(graph.ids.tolist()), stored=None)
        np.testing.assert_array_equal(resolve_positives(graph, positives), resolve_positives(in_memory, positives))
    for graph, positives in [(texts, [1, 2]), (texts, ["x"]), (numbers, [3])]:
        in_memory = replace(graph, ids=np.array(graph.ids.tolist()), stored=None)
        with pytest.raises(PugnnError) as one:
            resolve_positives(graph, positives)
        with pytest.raises(PugnnError) as other:
            resolve_positives(in_memory, positives)
        assert str(one.value) == str(other.value)


def test_a_graph_with_another_array_is_no_longer_the_stored_one():
    graph = stored_graph(np.array([7, 5, 0, 1]))
    assert replace(graph, feature_names=("x", "y")).stored is graph.stored
    changed = replace(graph, features=2 * graph.features)
    assert changed.stored is None
    assert changed.positions([5]).tolist() == [1]
    with pytest.raises(PugnnError, match="not finite"):
        replace(graph, features=np.nan * graph.features)


def test_the_digest_of_a_task_is_that_of_the_store_and_the_labels():
    def digest(checksum: str, labelled: list[int]) -> str:
        graph = stored_graph(np.array([7, 5, 0, 1]), checksum=checksum)
        return PUTask.from_positives(graph, np.array(labelled)).digest().hexdigest()

    assert digest("c", [0]) == digest("c", [0])
    assert len({digest("c", [0]), digest("d", [0]), digest("c", [1])}) == 3
