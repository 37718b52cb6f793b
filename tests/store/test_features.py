import numpy as np
import pytest
import scipy.sparse as sp

from pugnn.errors import PugnnError
from pugnn.features.encoding import compact
from pugnn.store.features import StoredBlocks


def blocks(seed: int, *, dense: int, sparse: int) -> list:
    """Blocks of one and two columns, and wide sparse ones between them."""
    rng = np.random.default_rng(seed)
    found = [rng.normal(size=(50, 1 + at % 2)).astype(np.float32) for at in range(dense)]
    for at in range(sparse):
        found.insert(2 * at, sp.random_array((50, 30), density=0.05, rng=rng, dtype=np.float32, format="csr"))
    return found


@pytest.mark.parametrize("held", [1, 120, 1 << 20])
@pytest.mark.parametrize(("dense", "sparse"), [(7, 0), (7, 2), (40, 2)])
def test_blocks_on_disk_become_the_features_that_are_made_in_memory(tmp_path, held, dense, sparse):
    (tmp_path / "overflow").mkdir()
    given = blocks(0, dense=dense, sparse=sparse)
    stored = StoredBlocks(tmp_path, tmp_path / "overflow", np.arange(50), held)
    for block in given:
        stored.add(block)
    found, wanted = stored.joined(), compact(given)
    assert sp.issparse(found) == sp.issparse(wanted) == ((dense, sparse) == (7, 2))
    if sp.issparse(wanted):
        for part in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(found, part), getattr(wanted, part))
    else:
        np.testing.assert_array_equal(found, wanted)
    assert found.dtype == np.float32


def test_a_feature_that_is_not_finite_is_named(tmp_path):
    stored = StoredBlocks(tmp_path, tmp_path, np.array(["a", "b", "c"]))
    stored.add(np.ones((3, 2), np.float32))
    stored.add(np.array([[1], [np.inf], [1]], np.float32))
    with pytest.raises(PugnnError, match="a value that is not finite: inf at node 'b', column 2"):
        stored.joined()
