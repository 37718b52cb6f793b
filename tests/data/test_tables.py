import numpy as np
import pytest
import scipy.sparse as sp

from pugnn.data.tables import read_graph, read_positives
from pugnn.errors import PugnnError

EDGES = "source,target\na,b\nb,c\n"
FEATURES = "id,x,y\na,1,2\nb,3,4.5\nc,-5,6e-1\n"
POSITIVES = "id\nb\n"


@pytest.fixture
def write(tmp_path):
    def write(name: str, content: str | bytes | None):
        path = tmp_path / name
        if content is not None:
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.fixture
def read(write):
    def read(edges=EDGES, features=FEATURES, **options):
        return read_graph(write("edges.csv", edges), write("features.csv", features), **options)

    return read


def neighbours(graph) -> dict[str, list[str]]:
    return {
        str(graph.ids[node]): [str(other) for other in graph.ids[graph.neighbours(node)]]
        for node in range(graph.num_nodes)
    }


# ---------------------------------------------------------------------- reading


def test_a_graph_from_two_tables(read):
    graph = read()
    assert graph.ids.tolist() == ["a", "b", "c"]
    assert neighbours(graph) == {"a": ["b"], "b": ["a", "c"], "c": ["b"]}
    assert graph.features.dtype == np.float32
    assert np.array_equal(graph.features, np.array([[1, 2], [3, 4.5], [-5, 0.6]], dtype=np.float32))
    assert graph.feature_names == ("x", "y")
    assert graph.weights is None


def test_columns_in_any_order_and_others_beside_them(read):
    graph = read("note,target,source\nhi,b,a\nho,c,b\n", "x,id,y\n1,a,2\n3,b,4\n5,c,6\n")
    assert neighbours(graph) == {"a": ["b"], "b": ["a", "c"], "c": ["b"]}
    assert np.array_equal(graph.features, [[1, 2], [3, 4], [5, 6]])
    assert graph.feature_names == ("x", "y")


def test_weights(read):
    graph = read("source,target,weight\na,b,0.5\nb,c,2\nc,b,1\n")
    assert np.array_equal(graph.to_scipy().toarray(), [[0, 0.5, 0], [0.5, 0, 3], [0, 3, 0]])
    assert graph.cleaning.two_way == 1


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda text: b"\xef\xbb\xbf" + text.encode(), id="byte order mark"),
        pytest.param(lambda text: text.replace("\n", "\r\n").encode(), id="CRLF"),
        pytest.param(lambda text: ("\n" + text.replace("\n", "\n\n  \n")).encode(), id="blank lines"),
        pytest.param(lambda text: text.rstrip("\n").encode(), id="no newline at the end"),
        pytest.param(lambda text: text.replace(",", " , ").encode(), id="white space around cells"),
        pytest.param(lambda text: text.replace("b", '"b"').encode(), id="quotes"),
    ],
)
def test_forms_of_csv(read, write, change):
    plain = read()
    graph = read(change(EDGES), change(FEATURES))
    assert neighbours(graph) == neighbours(plain)
    assert np.array_equal(graph.features, plain.features)
    assert graph.feature_names == plain.feature_names
    assert read_positives(write("positives.csv", change(POSITIVES)), graph).tolist() == [1]


def test_ids_with_commas_and_letters_of_all_kinds(read):
    graph = read('source,target\n"a, b",ü\n', 'id,x\nü,1\n"a, b",2\n')
    assert neighbours(graph) == {"ü": ["a, b"], "a, b": ["ü"]}


def test_mostly_zero_features_are_kept_sparse(read):
    header = "id," + ",".join(f"f{i}" for i in range(5)) + "\n"
    few = read(features=header + "a,1,0,0,0,0\nb,0,0,0,2,0\nc,0,0,0,0,0\n")
    assert isinstance(few.features, sp.csr_array)
    assert few.features.nnz == 2
    assert np.array_equal(few.features.toarray(), [[1, 0, 0, 0, 0], [0, 0, 0, 2, 0], [0, 0, 0, 0, 0]])
    many = read(features=header + "a,1,1,0,0,0\nb,0,0,0,2,0\nc,0,0,0,0,3\n")
    assert isinstance(many.features, np.ndarray)


def test_nodes_without_edges_are_kept_when_asked_for(read):
    features = FEATURES + "lonely,7,8\n"
    graph = read(features=features, keep_isolated=True)
    assert graph.ids.tolist() == ["a", "b", "c", "lonely"]
    assert graph.degrees.tolist() == [1, 2, 1, 0]


def test_cleaning_is_counted(read):
    graph = read("source,target\na,b\nb,a\na,b\nc,c\nb,c\n")
    cleaning = graph.cleaning
    assert (cleaning.rows, cleaning.self_loops, cleaning.duplicates, cleaning.two_way) == (5, 1, 1, 1)
    assert graph.num_edges == 2


def test_positives(read, write):
    graph = read()
    assert read_positives(write("p.csv", "id\nc\na\nc\n"), graph).tolist() == [0, 2]
    assert read_positives(write("p.csv", "when,id\nnow,b\n"), graph).tolist() == [1]


def test_ids_are_text(read, write):
    graph = read("source,target\n1,01\n", "id,x\n1,1\n01,2\n")
    assert graph.ids.tolist() == ["1", "01"]
    assert read_positives(write("p.csv", "id\n01\n"), graph).tolist() == [1]


# ---------------------------------------------------------------------- bad input, each with file, row and value

BAD_GRAPHS = [
    # the header
    ("edges.csv", "", ["is empty", "header"]),
    ("edges.csv", "\n\n", ["is empty", "header"]),
    ("features.csv", "", ["is empty", "header"]),
    ("edges.csv", "from,to\na,b\n", ["'source'", "'from', 'to'", "Rename"]),
    ("edges.csv", "source,to\na,b\n", ["'target'", "'source', 'to'", "Rename"]),
    ("edges.csv", "source,source,target\na,b,c\n", ["one column named 'source'"]),
    ("edges.csv", "source;target\na;b\n", ["'source'", "'source;target'", "commas"]),
    ("edges.csv", "a,b\nb,c\n", ["'source'", "'a', 'b'"]),
    ("features.csv", "node,x\na,1\nb,2\nc,3\n", ["'id'", "'node', 'x'", "Rename"]),
    ("features.csv", "id\na\nb\nc\n", ["no features"]),
    # nothing below it
    ("edges.csv", "source,target\n", ["no edges"]),
    ("features.csv", "id,x\n", ["no nodes"]),
    ("edges.csv", "source,target\na,a\nb,b\nc,c\n", ["only self loops"]),
    # rows
    ("edges.csv", "source,target\na,b\nb,c\nb\n", ["row 4", "1 cells", "header has 2"]),
    ("edges.csv", "source,target\na,b\n\nb,c,d\n", ["row 4", "3 cells", "header has 2"]),
    ("features.csv", "id,x,y\na,1,2\nb,3\nc,5,6\n", ["row 3", "2 cells", "header has 3"]),
    ("edges.csv", "source,target\na,b\nb,zoe\nb,c\n", ["row 3", "'zoe'", "features.csv"]),
    ("edges.csv", "source,target\n,b\nb,c\n", ["row 2", "''"]),
    ("features.csv", FEATURES + "\ndan,1,1\n", ["row 6", "'dan'", "no edge", "edges.csv", "--keep-isolated"]),
    ("features.csv", FEATURES + "a,1,1\n", ["row 5", "'a'", "row 2 already"]),
    ("features.csv", "id,x\na,1\n,2\nc,3\n", ["row 3", "id is empty"]),
    # cells
    ("features.csv", "id,x,y\na,1,2\nb,3,nan\nc,5,6\n", ["row 3", "'y'", "'nan'", "not finite"]),
    ("features.csv", "id,x,y\na,1,2\nb,-inf,4\nc,5,6\n", ["row 3", "'x'", "'-inf'", "not finite"]),
    ("features.csv", "id,x,y\na,1,2\nb,3,4\nc,1e60,6\n", ["row 4", "'x'", "'1e60'", "32-bit"]),
    ("features.csv", "id,x,y\na,1,2\nb,,4\nc,5,6\n", ["row 3", "'x'", "''", "not a number"]),
    ("features.csv", "id,x,y\na,1,2\nb,red,4\nc,5,6\n", ["row 3", "'x'", "'red'", "not a number"]),
    ("edges.csv", "source,target,weight\na,b,1\nb,c,0\n", ["row 3", "weight", "'0'", "not positive"]),
    ("edges.csv", "source,target,weight\na,b,1\nb,c,-2\n", ["row 3", "weight", "'-2'", "not positive"]),
    ("edges.csv", "source,target,weight\na,b,1\nb,c,1e-60\n", ["row 3", "weight", "'1e-60'", "not positive"]),
    ("edges.csv", "source,target,weight\na,b,nan\nb,c,1\n", ["row 2", "'weight'", "'nan'", "not finite"]),
    ("edges.csv", "source,target,weight\na,b,heavy\nb,c,1\n", ["row 2", "'weight'", "'heavy'", "not a number"]),
    # the file itself
    ("edges.csv", None, ["cannot read", "No such file"]),
    ("features.csv", None, ["cannot read", "No such file"]),
    ("edges.csv", 'source,target\na,b\nb,"c', ["row 3", "cut short"]),
    ("edges.csv", b"source,target\na,b\nb,\xff\xfe\n", ["not a UTF-8 text file"]),
    ("features.csv", FEATURES.encode("utf-16"), ["not a UTF-8 text file"]),
    ("features.csv", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff", ["not a UTF-8 text file"]),
]


@pytest.mark.parametrize(("name", "content", "fragments"), BAD_GRAPHS)
def test_bad_graphs(write, name, content, fragments):
    paths = {"edges.csv": write("edges.csv", EDGES), "features.csv": write("features.csv", FEATURES)}
    paths[name].unlink()
    write(name, content)
    with pytest.raises(PugnnError) as caught:
        read_graph(paths["edges.csv"], paths["features.csv"])
    message = str(caught.value)
    assert str(paths[name]) in message
    assert "\n" not in message
    for fragment in fragments:
        assert fragment in message


BAD_POSITIVES = [
    ("", ["is empty"]),
    ("id\n", ["no positives"]),
    ("id\n\n\n", ["no positives"]),
    ("name\na\n", ["'id'", "'name'", "Rename"]),
    ("a\nb\n", ["'id'", "'a'"]),
    ("id\na\nzoe\n", ["row 3", "'zoe'", "look like 'a', 'b', 'c'", "Correct or remove"]),
    ("id\nA\n", ["row 2", "'A'"]),
    ("id,when\n,now\n", ["row 2", "''"]),
    ("id\na\nb\nc\na\n", ["all 3 nodes", "nothing left"]),
    (None, ["cannot read", "No such file"]),
    (b"id\n\xff\n", ["not a UTF-8 text file"]),
    ('id\n"a', ["row 2", "cut short"]),
]


@pytest.mark.parametrize(("content", "fragments"), BAD_POSITIVES)
def test_bad_positives(read, write, content, fragments):
    graph, path = read(), write("positives.csv", content)
    with pytest.raises(PugnnError) as caught:
        read_positives(path, graph)
    message = str(caught.value)
    assert str(path) in message
    for fragment in fragments:
        assert fragment in message


def test_a_folder_is_not_a_table(tmp_path, write):
    with pytest.raises(PugnnError, match=r"cannot read .*Is a directory"):
        read_graph(tmp_path, write("features.csv", FEATURES))
