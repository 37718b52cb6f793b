import numpy as np
import pytest
import scipy.sparse as sp

from pugnn.errors import PugnnError
from pugnn.features.encoding import FeatureBlocks
from pugnn.store.stored_arrays import features_in, found_arrays, write_features


def blocks(seed: int, *, dense: int, sparse: int) -> list:
    """Blocks of one and two columns, and wide sparse ones between them."""
    rng = np.random.default_rng(seed)
    found = [rng.normal(size=(50, 1 + at % 2)).astype(np.float32) for at in range(dense)]
    for at in range(sparse):
        found.insert(2 * at, sp.random_array((50, 30), density=0.05, rng=rng, dtype=np.float32, format="csr"))
    return found


@pytest.mark.parametrize("large", [1, 60, 1 << 20])
@pytest.mark.parametrize(("dense", "sparse"), [(7, 0), (7, 2), (40, 2)])
def test_blocks_on_disk_become_the_features_that_are_made_in_memory(tmp_path, large, dense, sparse):
    (tmp_path / "overflow").mkdir()
    given = blocks(0, dense=dense, sparse=sparse)
    stored, in_memory = FeatureBlocks(tmp_path / "overflow", large), FeatureBlocks()
    stored.add(*given)
    in_memory.add(*given)
    write_features(tmp_path, stored, np.arange(50))
    wanted = in_memory.joined()
    found = features_in(found_arrays(tmp_path), wanted.shape)
    assert sp.issparse(found) == sp.issparse(wanted) == ((dense, sparse) == (7, 2))
    if sp.issparse(wanted):
        for part in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(found, part), getattr(wanted, part))
    else:
        np.testing.assert_array_equal(found, wanted)
    assert found.dtype == np.float32


def test_a_feature_that_is_not_finite_is_named(tmp_path):
    stored = FeatureBlocks(tmp_path)
    stored.add(np.ones((3, 2), np.float32))
    stored.add(np.array([[1], [np.inf], [1]], np.float32))
    with pytest.raises(PugnnError, match="a value that is not finite: inf at node 'b', column 2"):
        write_features(tmp_path, stored, np.array(["a", "b", "c"]))
