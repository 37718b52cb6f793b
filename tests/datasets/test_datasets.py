import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch_geometric.data import Data

from archives import archive_bytes
from pugnn.datasets import CORA_FILE, Archive, dataset_names, load_dataset, normalise_rows, read_archive
from pugnn.errors import PugnnError
from pugnn_paper.datasets import PUBLISHED, Published, Sizes, binarise, sizes_of

DATA = os.environ.get("PUGNN_DATA")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PUGNN_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def data_folder(tmp_path, monkeypatch):
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("PUGNN_DATA", str(folder))
    return folder


def tiny(**changes) -> Archive:
    """A path of five nodes in three classes."""
    x = sp.csr_array(np.asarray([[1, 3], [0, 0], [0, 2], [5, 0], [0.5, 0.5]], dtype=np.float32))
    edges = np.asarray([[0, 1, 2, 3], [1, 2, 3, 4]], dtype=np.int32)
    return Archive(**{"edge_index": edges, "x": x, "y": np.asarray([0, 1, 1, 1, 2], dtype=np.int16), **changes})


def put(folder: Path, name: str, content: bytes | None = None) -> Path:
    path = folder / name / f"{name}.npz"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(archive_bytes(tiny()) if content is None else content)
    return path


# ---------------------------------------------------------------------- the paper's four


def test_cora_ships_in_the_package():
    cora = load_dataset("cora")
    counts = dict(zip(cora.class_names, np.bincount(cora.labels).tolist(), strict=True))
    assert counts == {
        "Case_Based": 298,
        "Genetic_Algorithms": 418,
        "Neural_Networks": 818,
        "Probabilistic_Methods": 426,
        "Reinforcement_Learning": 217,
        "Rule_Learning": 180,
        "Theory": 351,
    }
    assert (cora.graph.num_nodes, cora.graph.num_edges, cora.graph.num_features) == (2708, 5278, 1433)
    assert cora.graph.ids[0] == 31336  # the first line of cora.content
    assert cora.graph.ids.dtype == np.int64
    assert isinstance(cora.graph.features, sp.csr_array)
    assert cora.graph.features.dtype == np.float32
    assert not cora.missing.any()
    assert CORA_FILE.stat().st_size < 200_000
    assert sizes_of(read_archive(CORA_FILE)) == PUBLISHED["cora"].sizes


TABLE_1 = [
    ("cora", 2708, 1244, 1464, 271, 2437, 5278),
    ("citeseer", 3327, 1369, 1958, 333, 2994, 4552),
    ("pubmed", 19717, 7875, 11842, 1971, 17746, 44324),
    ("dblp", 17716, 7920, 9796, 1772, 15944, 52867),
]


@pytest.mark.parametrize(
    ("name", "nodes", "positive", "negative", "train", "test", "edges"),
    [pytest.param(*row, marks=[] if row[0] == "cora" else pytest.mark.data(row[0])) for row in TABLE_1],
)
def test_table_1(name, nodes, positive, negative, train, test, edges):
    dataset = load_dataset(name)
    assert dataset.graph.num_nodes == nodes
    assert dataset.graph.num_edges == edges
    assert dataset.positive.sum() == positive
    assert (~dataset.positive).sum() == negative
    assert dataset.train_size == train
    assert nodes - dataset.train_size == test
    assert dataset.missing.sum() == (15 if name == "citeseer" else 0)
    assert not dataset.positive[dataset.missing].any()
    sums = dataset.graph.features.sum(axis=1)
    assert np.allclose(sums[sums > 0], 1, atol=1e-5)


@pytest.mark.data("cora")
def test_shipped_cora_is_the_planetoid_cora_in_another_order():
    ours = read_archive(CORA_FILE)
    theirs = read_archive(Path(DATA) / "cora" / "cora.npz")

    def degrees(archive):
        return np.sort(np.bincount(archive.edge_index.ravel()))

    def edges_by_words(archive):
        """Each edge as its two papers' words, which name a paper whatever the order of the nodes."""
        words = [row.tobytes() for row in archive.x.toarray().astype(np.bool_)]
        return sorted(tuple(sorted((words[u], words[v]))) for u, v in archive.edge_index.T)

    assert np.array_equal(degrees(ours), degrees(theirs))
    assert sorted(np.bincount(ours.y)) == sorted(np.bincount(theirs.y))
    assert ours.x.nnz == theirs.x.nnz
    assert edges_by_words(ours) == edges_by_words(theirs)


@pytest.mark.data("dblp")
def test_dblp_is_binarised_then_normalise_rowsd():
    raw = read_archive(Path(DATA) / "dblp" / "dblp.npz").x
    ours = load_dataset("dblp").graph.features
    assert np.array_equal(ours.indptr, raw.indptr)
    words = np.diff(raw.indptr)
    assert np.allclose(ours.data, np.repeat(1 / np.maximum(words, 1), words))


def test_dblp_is_downloaded_by_pyg_and_cached(monkeypatch):
    calls = []

    def citation_full(root, name):
        calls.append(name)
        edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
        x = torch.tensor([[1.0, 1.0], [0.0, 0.0], [0.0, 1.0]])
        return [Data(x=x, edge_index=edges, y=torch.tensor([0, 1, 0]))]

    monkeypatch.setattr("torch_geometric.datasets.CitationFull", citation_full)
    monkeypatch.setitem(PUBLISHED, "dblp", Published((0,), 1, Sizes(3, 2, 2, (2, 1))))
    for _ in range(2):
        dblp = load_dataset("dblp")
        assert (dblp.graph.num_edges, dblp.labels.tolist(), dblp.train_size) == (2, [0, 1, 0], 1)
        assert dblp.graph.features.toarray().tolist() == [[0.5, 0.5], [0, 0], [0, 1]]
    assert calls == ["DBLP"]


def test_dblp_without_network_says_what_to_do(monkeypatch):
    def citation_full(root, name):
        raise OSError("no route")

    monkeypatch.setattr("torch_geometric.datasets.CitationFull", citation_full)
    with pytest.raises(PugnnError, match=r"no route.*PUGNN_DATA.*dblp/dblp\.npz"):
        load_dataset("dblp")


# ---------------------------------------------------------------------- features


def test_normalise_rows_equals_a_plain_loop():
    dense = np.random.default_rng(0).poisson(0.7, size=(30, 6)).astype(np.float32)
    dense[4] = 0
    expected = np.zeros_like(dense)
    for i, row in enumerate(dense):
        for j, value in enumerate(row):
            expected[i, j] = value / sum(row) if sum(row) else 0
    normalised = normalise_rows(sp.csr_array(dense))
    assert normalised.dtype == np.float32
    assert np.allclose(normalised.toarray(), expected)


def test_a_stored_zero_is_no_division_by_zero():
    x = sp.csr_array((np.zeros(1, dtype=np.float32), [0], [0, 1]), shape=(1, 2))
    assert normalise_rows(x).toarray().tolist() == [[0, 0]]


def test_binarise():
    x = sp.csr_array(np.asarray([[0.2, 0], [3, -1]], dtype=np.float32))
    assert binarise(x).toarray().tolist() == [[1, 0], [1, -1]]


# ---------------------------------------------------------------------- PUGNN_DATA


def test_a_set_of_ones_own(data_folder):
    put(data_folder, "mine")
    (data_folder / "no_npz_in_here").mkdir()
    assert dataset_names() == ["citeseer", "cora", "dblp", "pubmed", "mine"]
    mine = load_dataset("mine")
    assert mine.class_names == ("0", "1", "2")
    assert mine.positive_classes == {1}  # the largest class
    assert mine.positive.tolist() == [False, True, True, True, False]
    assert mine.train_size == round(0.1 * 5)
    assert np.array_equal(mine.graph.features.toarray(), tiny().x.toarray())  # as the source has them
    assert mine.graph.ids.tolist() == [0, 1, 2, 3, 4]
    assert repr(mine) == "Dataset(mine: 5 nodes, 4 edges, 2 features, 3 positive)"


def test_the_largest_class_leaves_missing_nodes_out(data_folder):
    gaps = tiny(y=np.asarray([0, 0, 0, 1, 1], dtype=np.int16), missing_nodes=np.asarray([0, 1], dtype=np.int32))
    put(data_folder, "gaps", archive_bytes(gaps))
    dataset = load_dataset("gaps")
    assert dataset.missing.tolist() == [True, True, False, False, False]
    assert dataset.positive_classes == {1}


def test_tolokers_looks_for_the_banned(data_folder):
    put(data_folder, "tolokers", archive_bytes(tiny(y=np.asarray([0, 0, 0, 1, 0], dtype=np.int16))))
    assert load_dataset("tolokers").positive_classes == {1}


def test_cora_does_not_depend_on_the_folder(data_folder):
    put(data_folder, "cora", b"broken")
    assert load_dataset("cora").graph.num_nodes == 2708


def test_another_graph_under_a_published_name_is_refused(data_folder):
    path = put(data_folder, "citeseer")
    with pytest.raises(PugnnError, match=r"not hold the published citeseer.*nodes=3327.*nodes=5") as caught:
        load_dataset("citeseer")
    assert str(path) in str(caught.value)


def test_data_folder_that_is_none(tmp_path, monkeypatch):
    monkeypatch.setenv("PUGNN_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(PugnnError, match=r"PUGNN_DATA is .*nowhere.*not a folder"):
        load_dataset("citeseer")


def test_a_truncated_file_gets_one_clear_message(data_folder):
    path = put(data_folder, "mine", archive_bytes(tiny())[:400])
    with pytest.raises(PugnnError, match=r"not a zip file\. Replace it") as caught:
        load_dataset("mine")
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("name", ["corra", "", "../data/mine", "Cora"])
def test_unknown_name(name, data_folder):
    put(data_folder, "mine")
    with pytest.raises(PugnnError, match=r"no data set named.*citeseer, cora, dblp, pubmed, mine"):
        load_dataset(name)


# ---------------------------------------------------------------------- positive classes


@pytest.mark.parametrize("given", [["Theory", "Case_Based"], {0, 6}, ("Theory", 0), np.asarray([0, 6])])
def test_positive_classes_by_name_and_index(given):
    cora = load_dataset("cora", positive_classes=given)
    assert cora.positive_classes == {0, 6}
    assert cora.positive.sum() == 298 + 351
    assert cora.train_size == 271


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (["Theory", "Practice"], "'Practice'.*indices 0 to 6.*Rule_Learning"),
        ([7], "unknown positive classes: 7"),
        ([], "0 of 7 classes are positive"),
        (range(7), "7 of 7 classes are positive"),
    ],
)
def test_impossible_positive_classes(given, reason):
    with pytest.raises(PugnnError, match=reason):
        load_dataset("cora", positive_classes=given)
