import dataclasses

import numpy as np
import pytest

from pugnn.datasets import Dataset, load_dataset
from pugnn.errors import PugnnError
from pugnn.graph import Graph
from pugnn.task import PUTask, draw_benchmark, draw_labels
from pugnn_paper.protocols import draw_rare, draw_share

RATIOS = (0.001, 0.002, 0.005, 0.01)


@pytest.fixture(scope="module")
def cora():
    return load_dataset("cora")


def tiny(positive, *, train_size, missing=()) -> Dataset:
    """A path whose nodes are positive as given."""
    n = len(positive)
    graph = Graph.from_edges(np.arange(n - 1), np.arange(1, n), features=np.ones((n, 1)))
    return Dataset(
        name="tiny",
        graph=graph,
        labels=np.asarray(positive, dtype=np.int64),
        class_names=("other", "sought"),
        positive_classes=frozenset({1}),
        train_size=train_size,
        missing=np.isin(np.arange(n), missing),
    )


# ---------------------------------------------------------------------- sizes


def test_split_sizes_are_those_of_table_1(cora):
    benchmark = draw_benchmark(cora, labels=5, seed=0)
    assert (len(benchmark.train), len(benchmark.test)) == (271, 2437)
    assert sorted([*benchmark.train, *benchmark.test]) == list(range(2708))
    assert np.array_equal(benchmark.scored, benchmark.test)
    assert np.array_equal(benchmark.positive, cora.positive)


@pytest.mark.parametrize(
    ("label_ratio_of", "expected"), [("all_nodes", (3, 5, 14, 27)), ("all_positives", (1, 2, 6, 12))]
)
def test_number_of_labels_at_the_papers_ratios(cora, label_ratio_of, expected):
    counts = [
        len(draw_benchmark(cora, label_ratio=ratio, label_ratio_of=label_ratio_of, seed=1).task.labelled)
        for ratio in RATIOS
    ]
    assert tuple(counts) == expected


@pytest.mark.parametrize("ratio", [*RATIOS, 0.1, 0.4])
@pytest.mark.parametrize("label_ratio_of", ["train_positives", "train_nodes"])
def test_number_of_labels_as_a_share_of_the_training_split(cora, label_ratio_of, ratio):
    benchmark = draw_benchmark(cora, label_ratio=ratio, label_ratio_of=label_ratio_of, seed=2)
    base = 0
    for node in benchmark.train:
        if label_ratio_of == "train_nodes" or cora.class_names[cora.labels[node]] in (
            "Neural_Networks",
            "Probabilistic_Methods",
        ):
            base += 1
    assert len(benchmark.task.labelled) == max(1, round(ratio * base))


def test_the_ratio_is_of_all_nodes_by_default(cora):
    assert len(draw_benchmark(cora, label_ratio=0.01, seed=0).task.labelled) == 27


def test_a_ratio_labels_at_least_one_node(cora):
    assert len(draw_benchmark(cora, label_ratio=1e-9, seed=0).task.labelled) == 1


def test_all_training_positives_can_be_labelled(cora):
    benchmark = draw_benchmark(cora, label_ratio=1.0, label_ratio_of="train_positives", seed=0)
    assert benchmark.task.labelled.tolist() == [node for node in benchmark.train if cora.positive[node]]


# ---------------------------------------------------------------------- which nodes


@pytest.mark.parametrize("seed", range(5))
def test_labelled_nodes_are_positive_and_in_the_training_split(cora, seed):
    benchmark = draw_benchmark(cora, labels=20, seed=seed)
    labelled = benchmark.task.labelled.tolist()
    assert len(labelled) == len(set(labelled)) == 20
    assert labelled == sorted(labelled)
    assert set(labelled) <= set(benchmark.train.tolist())
    assert all(cora.positive[node] for node in labelled)


def test_unlabelled_are_all_others_or_those_of_the_training_split(cora):
    whole = draw_benchmark(cora, labels=10, unlabelled="all", seed=3)
    part = draw_benchmark(cora, labels=10, unlabelled="train", seed=3)
    known = set(whole.task.labelled.tolist())
    assert known == set(part.task.labelled.tolist())
    assert whole.task.unlabelled.tolist() == [node for node in range(2708) if node not in known]
    assert part.task.unlabelled.tolist() == [node for node in part.train.tolist() if node not in known]
    assert len(part.task.unlabelled) == 261
    assert whole.task.graph is cora.graph


def test_test_nodes_without_a_true_class_are_not_scored():
    benchmark = draw_benchmark(tiny([1, 0] * 10, train_size=6, missing=range(10)), labels=1, seed=0)
    assert benchmark.scored.tolist() == [node for node in benchmark.test.tolist() if node >= 10]
    assert 0 < len(benchmark.scored) < len(benchmark.test) == 14


def test_labels_are_drawn_uniformly():
    dataset = tiny([1, 0, 1, 0, 1, 1], train_size=6)
    drawn = np.concatenate([draw_benchmark(dataset, labels=1, seed=seed).task.labelled for seed in range(400)])
    counts = {node: int((drawn == node).sum()) for node in np.unique(drawn).tolist()}
    assert sorted(counts) == [0, 2, 4, 5]
    assert all(70 <= count <= 130 for count in counts.values())  # 100 expected, standard deviation 8.7


# ---------------------------------------------------------------------- seeds


def test_the_same_seed_gives_the_same_draw(cora):
    first, second = (draw_benchmark(cora, label_ratio=0.01, seed=7) for _ in range(2))
    assert np.array_equal(first.train, second.train)
    assert np.array_equal(first.task.labelled, second.task.labelled)


def test_other_seeds_give_other_draws(cora):
    draws = [draw_benchmark(cora, label_ratio=0.01, seed=seed) for seed in range(5)]
    assert len({draw.train.tobytes() for draw in draws}) == 5
    assert len({draw.task.labelled.tobytes() for draw in draws}) == 5


def test_the_split_does_not_depend_on_the_number_of_labels(cora):
    assert np.array_equal(draw_benchmark(cora, labels=1, seed=0).train, draw_benchmark(cora, labels=50, seed=0).train)


# ---------------------------------------------------------------------- the truth is kept apart


def arrays_reachable_from(thing, seen=None):
    seen = set() if seen is None else seen
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        yield thing
        if thing.base is not None:
            yield from arrays_reachable_from(thing.base, seen)
    elif isinstance(thing, list | tuple | set | frozenset):
        for item in thing:
            yield from arrays_reachable_from(item, seen)
    elif isinstance(thing, dict):
        yield from arrays_reachable_from([*thing, *thing.values()], seen)
    elif hasattr(thing, "__dict__"):
        yield from arrays_reachable_from(vars(thing), seen)


def test_the_truth_is_not_reachable_from_the_task(cora):
    benchmark = draw_benchmark(cora, labels=10, seed=0)
    fields = {field.name for field in dataclasses.fields(PUTask)}
    assert fields == {"graph", "labelled", "unlabelled", "negative", "confirmed", "expected_left"}
    arrays = list(arrays_reachable_from(benchmark.task))
    assert any(array is benchmark.task.labelled for array in arrays)
    assert any(np.shares_memory(array, cora.graph.features.data) for array in arrays)
    for secret in (cora.positive.astype(float), cora.labels.astype(float)):
        for array in arrays:
            assert array is not benchmark.positive
            if array.shape == secret.shape and array.dtype.kind in "biuf":
                assert not np.array_equal(array.astype(float), secret)
    # The walk does find the truth where it is.
    assert any(array is benchmark.positive for array in arrays_reachable_from(benchmark))


def test_task_from_positives():
    graph = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    task = PUTask.from_positives(graph, np.asarray([3, 1, 3]))
    assert task.labelled.tolist() == [1, 3]
    assert task.unlabelled.tolist() == [0, 2, 4]


# ---------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "either label_ratio or labels"),
        ({"labels": 3, "label_ratio": 0.1}, "either label_ratio or labels"),
        ({"label_ratio": 0.1, "label_ratio_of": "nodes"}, "all_nodes, all_positives, .*'nodes'"),
        ({"labels": 3, "unlabelled": "test"}, "all, train; got 'test'"),
        ({"label_ratio": 0.0}, "between 0 and 1, got 0.0"),
        ({"label_ratio": -0.1}, "between 0 and 1, got -0.1"),
        ({"label_ratio": 1.5}, "between 0 and 1, got 1.5"),
        ({"label_ratio": float("nan")}, "between 0 and 1, got nan"),
        ({"labels": 0}, "labels must be a whole number, at least 1; got 0"),
        ({"labels": -2}, "labels must be a whole number, at least 1; got -2"),
        ({"labels": 4}, "cannot label 4 nodes: the training split of tiny holds 3 positives"),
        ({"label_ratio": 0.9}, "cannot label 5 nodes"),
    ],
)
def test_errors(options, words):
    dataset = tiny([1, 0, 1, 0, 1, 0], train_size=6)
    with pytest.raises(PugnnError, match=words):
        draw_benchmark(dataset, **options, seed=0)


# ---------------------------------------------------------------------- a share of all positives


@pytest.mark.parametrize(("share", "count"), [(0.5, 622), (0.1, 124), (0.01, 12), (1e-6, 1)])
def test_a_share_of_all_positives_is_labelled(cora, share, count):
    drawn = draw_share(cora, share=share, seed=0)
    assert len(drawn.task.labelled) == count
    assert np.all(cora.positive[drawn.task.labelled])
    assert drawn.task.labelled.tolist() == sorted(set(drawn.task.labelled.tolist()))
    rest = [node for node in range(2708) if node not in set(drawn.task.labelled.tolist())]
    assert drawn.task.unlabelled.tolist() == drawn.test.tolist() == drawn.scored.tolist() == rest
    assert np.array_equal(drawn.train, drawn.task.labelled)
    assert np.array_equal(drawn.positive, cora.positive)
    assert drawn.task.graph is cora.graph


def test_nodes_without_a_true_class_are_neither_labelled_nor_scored_in_a_share():
    dataset = tiny([1, 0] * 10, train_size=6, missing=range(10))
    for seed in range(10):
        drawn = draw_share(dataset, share=0.4, seed=seed)
        assert len(drawn.task.labelled) == 2
        assert set(drawn.task.labelled.tolist()) <= {10, 12, 14, 16, 18}
        assert set(range(10)) <= set(drawn.task.unlabelled.tolist())
        assert drawn.scored.tolist() == [n for n in range(10, 20) if n not in drawn.task.labelled.tolist()]


def test_the_seed_decides_the_share(cora):
    draws = [draw_share(cora, share=0.1, seed=seed).task.labelled.tolist() for seed in (3, 3, 4)]
    assert draws[0] == draws[1] != draws[2]


def test_a_share_is_drawn_uniformly():
    dataset = tiny([1, 0, 1, 0, 1, 1], train_size=3)
    drawn = np.concatenate([draw_share(dataset, share=0.25, seed=seed).task.labelled for seed in range(400)])
    counts = {node: int((drawn == node).sum()) for node in np.unique(drawn).tolist()}
    assert sorted(counts) == [0, 2, 4, 5]
    assert all(70 <= count <= 130 for count in counts.values())  # 100 expected, standard deviation 8.7


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, 1.5, float("nan")])
def test_a_share_lies_between_0_and_1(share):
    with pytest.raises(PugnnError, match=f"share must lie between 0 and 1, got {share}"):
        draw_share(tiny([1, 0, 1, 0, 1, 0], train_size=6), share=share, seed=0)


# ---------------------------------------------------------------------- a number of all positives


def on_graph(edges, positive, missing=()):
    """Nodes that are positive as given, with these edges."""
    dataset = tiny(positive, train_size=1, missing=missing)
    graph = Graph.from_edges(*np.array(edges).T, num_nodes=len(positive), features=np.ones((len(positive), 1)))
    return dataclasses.replace(dataset, graph=graph)


def shares_drawn(dataset, sampling, draws=600):
    drawn = [draw_labels(dataset, labels=1, sampling=sampling, seed=seed).task.labelled for seed in range(draws)]
    return np.bincount(np.concatenate(drawn), minlength=len(dataset.labels)) / draws


@pytest.mark.parametrize("sampling", ["uniform", "by-degree", "one-community"])
def test_a_number_of_positives_is_labelled_and_the_rest_scored(cora, sampling):
    drawn = draw_labels(cora, labels=30, sampling=sampling, seed=1)
    labelled = drawn.task.labelled.tolist()
    assert len(labelled) == 30
    assert labelled == sorted(set(labelled))
    assert np.all(cora.positive[drawn.task.labelled])
    rest = [node for node in range(2708) if node not in set(labelled)]
    assert drawn.task.unlabelled.tolist() == drawn.scored.tolist() == rest
    again, other = (draw_labels(cora, labels=30, sampling=sampling, seed=seed).task.labelled for seed in (1, 2))
    assert labelled == again.tolist() != other.tolist()


def test_at_random_it_is_the_draw_of_a_share(cora):
    share = draw_share(cora, share=0.1, seed=4).task.labelled
    assert draw_labels(cora, labels=len(share), seed=4).task.labelled.tolist() == share.tolist()


def test_by_degree_hubs_are_labelled_more_often():
    # Degrees of the positive nodes 0, 1 and 2 are 3, 1 and 0; node 3 has three neighbours, but is negative.
    dataset = on_graph([(0, 3), (0, 4), (0, 5), (1, 3), (3, 4)], [1, 1, 1, 0, 0, 0])
    assert dataset.graph.degrees[:4].tolist() == [3, 1, 0, 3]
    assert shares_drawn(dataset, "by-degree").tolist() == pytest.approx([0.75, 0.25, 0, 0, 0, 0], abs=0.06)
    assert shares_drawn(dataset, "uniform").tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0, 0, 0], abs=0.06)


@pytest.mark.parametrize("seed", range(8))
def test_in_one_community_no_positive_is_nearer_than_those_labelled(seed):
    rng = np.random.default_rng(seed)
    edges = [(a, b) for a in range(40) for b in range(a) if rng.random() < 0.08]
    dataset = on_graph(edges, rng.random(40) < 0.5)
    labelled = draw_labels(dataset, labels=6, sampling="one-community", seed=seed).task.labelled.tolist()

    def hops_from(start):
        hops, ring = {start: 0}, [start]
        while ring:
            ring = [b for a in ring for b in dataset.graph.neighbours(a).tolist() if b not in hops]
            hops |= dict.fromkeys(ring, max(hops.values()) + 1)
        return hops

    def nearest(start):
        """Whether the labelled nodes are the six positives that a walk in rings from this one meets first."""
        hops = hops_from(start)
        others = [hops.get(node, 999) for node in range(40) if dataset.positive[node] and node not in labelled]
        return max(hops.get(node, 999) for node in labelled) <= min(min(others), 998)

    assert any(nearest(start) for start in labelled)


def test_one_community_is_drawn_where_there_are_enough_positives():
    # A triangle of positives, and a pair; three labels fit into the triangle alone.
    dataset = on_graph([(0, 1), (1, 2), (3, 4)], [1, 1, 1, 1, 1, 0])
    for seed in range(20):
        assert draw_labels(dataset, labels=3, sampling="one-community", seed=seed).task.labelled.tolist() == [0, 1, 2]
    pairs = {
        tuple(draw_labels(dataset, labels=2, sampling="one-community", seed=seed).task.labelled.tolist())
        for seed in range(40)
    }
    assert pairs == {(0, 1), (1, 2), (3, 4)}, "ties are broken at random"


@pytest.mark.parametrize("sampling", ["uniform", "by-degree", "one-community"])
def test_nodes_without_a_true_class_are_not_labelled(sampling):
    dataset = tiny([1, 0] * 10, train_size=6, missing=range(10))
    for seed in range(10):
        drawn = draw_labels(dataset, labels=3, sampling=sampling, seed=seed)
        assert set(drawn.task.labelled.tolist()) <= {10, 12, 14, 16, 18}
        assert drawn.scored.tolist() == [n for n in range(10, 20) if n not in drawn.task.labelled.tolist()]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"labels": 0}, "labels must be a whole number, at least 1; got 0"),
        ({"labels": 2, "sampling": "by-name"}, "uniform, by-degree, one-community; got 'by-name'"),
        ({"labels": 6}, "cannot label 6 nodes: tiny holds 5 positives. Label fewer."),
        ({"labels": 5, "sampling": "by-degree"}, "tiny holds 4 positives with neighbours. Label fewer."),
        (
            {"labels": 4, "sampling": "one-community"},
            "tiny holds 0 positives in components with that many. Label fewer.",
        ),
    ],
)
def test_labels_that_cannot_be_drawn(options, words):
    dataset = on_graph([(0, 1), (1, 2), (3, 5)], [1, 1, 1, 1, 1, 0])
    with pytest.raises(PugnnError, match=words):
        draw_labels(dataset, **options, seed=0)


# ---------------------------------------------------------------------- rare positives


@pytest.fixture(scope="module")
def half():
    """400 nodes, half of them positive and three without a class, with weights of their edges."""
    rng = np.random.default_rng(0)
    positive = np.arange(400) % 2 == 0
    dataset = tiny(positive, train_size=40, missing=(0, 1, 2))
    source, target = rng.integers(0, 400, (2, 1500))
    graph = Graph.from_edges(source, target, features=rng.random((400, 3)), weights=rng.random(1500) + 0.1)
    return dataclasses.replace(dataset, graph=dataclasses.replace(graph, ids=np.arange(1000, 1400)))


@pytest.mark.parametrize("prior", [0.05, 0.1, 0.3])
def test_positives_are_removed_until_they_are_rare(half, prior):
    drawn, before = draw_rare(half, labels=20, prior=prior, seed=3), draw_labels(half, labels=20, seed=3)
    kept = [int(node) - 1000 for node in drawn.task.graph.ids]
    assert [kept[at] for at in drawn.task.labelled] == before.task.labelled.tolist()
    # 198 positives have a known class, and 202 nodes are not known to be positive.
    gone = set(range(400)) - set(kept)
    assert all(half.positive[node] and not half.missing[node] for node in gone)
    hidden = [at for at in drawn.task.unlabelled.tolist() if drawn.positive[at]]
    assert len(hidden) == round(202 * prior / (1 - prior)) == 198 - 20 - len(gone)
    assert len(hidden) / len(drawn.task.unlabelled) == pytest.approx(prior, abs=0.5 / 202)
    assert drawn.scored.tolist() == [
        at for at, node in enumerate(kept) if at not in drawn.task.labelled and not half.missing[node]
    ]


def test_what_stays_is_as_it_was(half):
    graph = draw_rare(half, labels=20, prior=0.1, seed=3).task.graph
    kept = [int(node) - 1000 for node in graph.ids]
    assert kept == sorted(kept)
    assert graph.features.tolist() == [half.graph.features[node].tolist() for node in kept]
    matrix, whole = graph.to_scipy().toarray(), half.graph.to_scipy().toarray()
    for i, a in enumerate(kept):
        for j, b in enumerate(kept):
            assert matrix[i, j] == whole[a, b]


def test_rare_positives_are_seeded_and_nested(half):
    def ids(prior, seed):
        return set(draw_rare(half, labels=20, prior=prior, seed=seed).task.graph.ids.tolist())

    assert ids(0.1, 1) == ids(0.1, 1) != ids(0.1, 2)
    assert ids(0.05, 1) < ids(0.1, 1) < ids(0.3, 1)


@pytest.mark.parametrize(
    ("labels", "prior", "words"),
    [
        (20, 0.04, "8 of 178 hidden positives of tiny would make a share of 0.04, and at least 10 must stay. Choose"),
        (100, 0.4, "135 of 98 hidden positives of tiny would make a share of 0.4"),
        (20, 1.0, "prior must lie between 0 and 1, got 1.0"),
        (199, 0.1, "cannot label 199 nodes: tiny holds 198 positives. Label fewer."),
    ],
)
def test_positives_that_cannot_be_made_rare(half, labels, prior, words):
    with pytest.raises(PugnnError, match=words):
        draw_rare(half, labels=labels, prior=prior, seed=0)
