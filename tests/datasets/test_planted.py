import numpy as np
import pyarrow.parquet as pq
import pytest

from pugnn.datasets import planted
from pugnn.datasets.planted import NEGATIVE_COMMUNITIES, SIGNAL, Planted, write_planted
from pugnn.errors import PugnnError

SETTINGS = {"nodes": 20_000, "share": 0.2, "homophily": 0.7, "features": 5, "labels": 30, "seed": 1}


@pytest.fixture(scope="module")
def plan() -> Planted:
    return Planted(**SETTINGS)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("planted") / "tables"
    write_planted(folder, **SETTINGS)
    return {path.stem: pq.read_table(path) for path in folder.iterdir()}


def test_the_share_of_positives(plan):
    assert (plan.places(0, plan.nodes) < plan.positives).sum() == plan.positives == 4000


def test_the_share_of_edges_inside_a_community(plan):
    ends = np.stack(plan.edge_ends(0, plan.edges))
    places = plan.places(0, plan.nodes)[ends]
    communities = np.searchsorted(plan.starts, places, side="right")
    sizes = np.diff(plan.starts) / plan.nodes
    assert len(sizes) == 1 + NEGATIVE_COMMUNITIES
    inside = (communities[0] == communities[1]).mean()
    assert inside == pytest.approx(0.7 + 0.3 * (sizes**2).sum(), abs=0.005)
    positive = places < plan.positives
    assert positive[1][positive[0]].mean() == pytest.approx(0.7 + 0.3 * 0.2, abs=0.005)
    assert positive.mean() == pytest.approx(0.2, abs=0.005)  # degrees do not tell the class


def test_degrees_have_the_given_mean_and_a_tail_that_is_cut_off(plan):
    ends = np.concatenate(plan.edge_ends(0, plan.edges))
    degrees = np.sort(np.bincount(ends, minlength=plan.nodes))[::-1]
    assert degrees.mean() == 20
    assert 30 * 20 < degrees[0] < 150 * 20
    # The share of nodes above a degree d falls as d ** -1.5.
    above = {times: (degrees > times * 20).mean() for times in (2, 4, 8)}
    slopes = [np.log2(above[times] / above[2 * times]) for times in (2, 4)]
    assert slopes == pytest.approx([1.5, 1.5], abs=0.3)


def test_features_are_noise_around_the_mean_of_a_community(plan):
    columns = plan.columns(0, plan.nodes)
    places = plan.places(0, plan.nodes)
    communities = np.searchsorted(plan.starts, places, side="right") - 1
    means = np.array([columns[:, communities == each].mean(axis=1) for each in range(NEGATIVE_COMMUNITIES + 1)])
    rest = columns - means[communities].T
    assert rest.std(axis=1) == pytest.approx(np.ones(5), abs=0.03)
    assert np.abs(np.corrcoef(rest) - np.eye(5)).max() < 0.03
    assert abs((rest**4).mean() - 3) < 0.1  # as of normal numbers

    wide = Planted(nodes=20_000, features=32)
    positive = wide.places(0, wide.nodes) < wide.positives
    assert np.linalg.norm(wide.columns(0, wide.nodes)[:, positive].mean(axis=1)) == pytest.approx(SIGNAL, abs=0.1)


def test_known_positives_are_a_random_sample(plan):
    labelled = plan.labelled()
    places = plan.places(0, plan.nodes)[labelled]
    assert len(np.unique(labelled)) == 30
    assert places.max() < plan.positives
    assert 0.3 < places.mean() / plan.positives < 0.7  # not the best connected ones


def test_tables_hold_the_graph(plan, tables):
    graph, positive, labelled = plan.graph()
    assert {name: table.num_rows for name, table in tables.items()} == {
        "edges": 200_000,
        "nodes": 20_000,
        "truth": 4000,
        "positives": 30,
    }
    assert tables["edges"].column_names == ["source", "target"]
    assert tables["nodes"].column_names == ["id", "x0", "x1", "x2", "x3", "x4"]
    ids = tables["nodes"]["id"].to_numpy()
    assert len(np.unique(ids)) == len(ids)
    assert abs(np.corrcoef(ids, np.arange(len(ids)))[0, 1]) < 0.05
    rows = np.column_stack([tables["nodes"][f"x{number}"].to_numpy() for number in range(5)])
    assert rows.dtype == np.float32
    assert (rows == graph.features).all()
    assert set(tables["truth"]["id"].to_pylist()) == set(ids[positive].tolist())
    assert tables["positives"]["id"].to_pylist() == ids[labelled].tolist()
    position = {node: at for at, node in enumerate(ids.tolist())}
    for source, target in zip(*(tables["edges"][end].to_pylist()[:50] for end in ("source", "target")), strict=True):
        assert position[target] in graph.neighbours(position[source]) or source == target


def test_tables_do_not_depend_on_the_size_of_the_pieces(tmp_path, tables, monkeypatch):
    monkeypatch.setattr(planted, "EDGES_AT_ONCE", 70_001)
    monkeypatch.setattr(planted, "NODES_AT_ONCE", 999)
    write_planted(tmp_path / "again", **SETTINGS)
    for name, table in tables.items():
        assert pq.read_table(tmp_path / "again" / f"{name}.parquet").equals(table)


def test_another_seed_gives_another_graph(plan):
    other = Planted(**{**SETTINGS, "seed": 2})
    assert (other.edge_ends(0, 1000)[0] != plan.edge_ends(0, 1000)[0]).mean() > 0.9
    assert (other.columns(0, 10) != plan.columns(0, 10)).all()
    assert other.labelled().tolist() != plan.labelled().tolist()


def test_neighbours_tell_more_than_own_features():
    plan = Planted(nodes=5000)
    graph, positive, labelled = plan.graph()

    def auc(rows):
        scores = rows @ (rows[labelled].mean(axis=0) - rows.mean(axis=0))
        return (scores[positive, None] > scores[None, ~positive]).mean()

    rows = np.asarray(graph.features)
    smoothed = graph.to_scipy() @ rows / np.maximum(graph.degrees, 1)[:, None]
    assert 0.65 < auc(rows) < 0.8
    assert 0.88 < auc(smoothed) < 0.96


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"nodes": 99}, "nodes must be a whole number, from 100"),
        ({"share": 1.5}, "share must lie between 0 and 1"),
        ({"homophily": 0.0}, "homophily must lie between 0 and 1"),
        ({"labels": 4001}, "labels must be a whole number, from 1 to 4,000"),
        ({"mean_degree": 0.0}, "mean_degree must lie between 0 and the number of nodes"),
        ({"share": 0.99999}, "leaves 0 negatives"),
    ],
)
def test_bad_settings(tmp_path, setting, words):
    with pytest.raises(PugnnError, match=words):
        write_planted(tmp_path / "out", **{**SETTINGS, **setting})
    assert not (tmp_path / "out").exists()


def test_an_existing_folder_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(PugnnError, match="already exists"):
        write_planted(tmp_path, **SETTINGS)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
