import numpy as np
import pytest
import torch

from pugnn.errors import PugnnError
from pugnn.models.views import rows as module
from pugnn.models.views.rows import KeptTables, Rows, TablePlan

RNG = np.random.default_rng(0)


def two_views() -> tuple[Rows, np.ndarray]:
    """Two views of 7 nodes with 5 columns in blocks of 2, and the same as a matrix."""
    dense, tables, factors = [], [], []
    for _ in range(2):
        values, factor = RNG.normal(size=(7, 5)).astype(np.float32), RNG.random(7).astype(np.float32)
        table = np.zeros((3, 7, 2), np.float32)
        for column in range(5):
            table[column // 2, :, column % 2] = values[:, column]
        dense.append(values * factor[:, None])
        tables.append(torch.from_numpy(table))
        factors.append(torch.from_numpy(factor))
    return Rows(tuple(tables), tuple(factors), 5), np.hstack(dense)


def test_rows_are_those_of_the_matrix(monkeypatch):
    monkeypatch.setattr(module, "CHUNK", 3)
    rows, dense = two_views()
    assert (rows.shape, len(rows), rows.device.type) == ((7, 10), 7, "cpu")
    assert rows[torch.tensor([6, 0, 6])].numpy() == pytest.approx(dense[[6, 0, 6]])
    assert [len(chunk) for chunk in rows.chunks()] == [3, 3, 1]
    matrix = RNG.normal(size=(10, 4)).astype(np.float32)
    assert (rows @ torch.from_numpy(matrix)).numpy() == pytest.approx(dense @ matrix, abs=1e-6)
    assert rows.mean.numpy() == pytest.approx(dense.mean(axis=0), abs=1e-6)


def test_views_side_by_side():
    first, second = (torch.from_numpy(RNG.normal(size=(4, 3)).astype(np.float32)) for _ in range(2))
    both = Rows.of(first).beside([2.0, 0.5], [Rows.of(second)])
    assert torch.allclose(both[:], torch.cat([2 * first, 0.5 * second], dim=1))


@pytest.mark.parametrize(
    ("memory", "mapped", "dtype", "block"),
    [("1GB", False, np.float32, 112), ("7MB", True, np.float32, 112), ("4MB", True, np.float16, 80)],
)
def test_the_plan_follows_the_memory(monkeypatch, memory, mapped, dtype, block):
    monkeypatch.setenv("PUGNN_MEMORY", memory)
    plan = TablePlan.of(2000, 100, tables=5)  # 4.48 MB in single precision, with columns filled up to 112
    assert (plan.mapped, plan.dtype, plan.block) == (mapped, dtype, block)
    table = plan.table()
    assert (table.shape, table.dtype) == ((-(-112 // block), 2000, block), dtype)
    assert not table.any()
    table[:] = 1


def test_a_disk_without_room_is_named_before_anything_is_computed(tmp_path):
    plan = TablePlan(2**40, 100, 16, mapped=True, dtype=np.float32)
    with pytest.raises(PugnnError, match=r"cannot keep \d+ TB of smoothed attributes in .*kept: "):
        KeptTables(tmp_path / "kept", "a").create(plan, ["own"])
    with pytest.raises(PugnnError, match=r"cannot keep 493 TB .*\. Make room there, set TMPDIR to another folder, or"):
        plan.table()


def test_kept_tables_are_found_again_only_if_they_are_complete_and_the_same(tmp_path):
    plan, names = TablePlan(5, 20, 16, mapped=True, dtype=np.float32), ["own", "smoothed"]
    kept = KeptTables(tmp_path / "kept", "a")
    kept.create(plan, names)
    assert not kept.finished(plan, names)
    kept.open(plan, "own")[1, 4, 3] = 7
    kept.finish(plan, names)
    assert kept.finished(plan, names)
    assert kept.open(plan, "own")[1, 4, 3] == 7
    assert not KeptTables(tmp_path / "kept", "b").finished(plan, names)
    other = TablePlan(5, 20, 32, mapped=False, dtype=np.float16)  # as more or less memory would suggest now
    assert kept.finished(other, names) == plan
    assert not kept.finished(TablePlan(5, 21, 16, mapped=True, dtype=np.float32), names)
    with (tmp_path / "kept" / "smoothed.table").open("r+b") as file:
        file.truncate(10)
    assert not kept.finished(plan, names)
