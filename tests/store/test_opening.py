import pytest

from pugnn import read_graph
from pugnn.errors import PugnnError
from pugnn.store import build_store, read_store
from store.messy import messy_tables, write_tables


@pytest.mark.parametrize("integers", [True, False])
def test_lists_are_read_as_with_tables(tmp_path, integers):
    names = write_tables(tmp_path, messy_tables(integers=integers, weighted=False))
    ids = read_graph(**names).graph.ids.tolist()
    (tmp_path / "positives.csv").write_text("id\n" + "".join(f" {ids[at]}\n" for at in (3, 1, 4, 1)))
    (tmp_path / "truth.csv").write_text("id,is_fraud\n" + "".join(f"{ids[at]},{at % 2}\n" for at in range(9)))
    lists = {"positives": tmp_path / "positives.csv", "truth": str(tmp_path / "truth.csv")}
    data = read_graph(**names, **lists)
    build_store(tmp_path / "store", **names)
    stored = read_store(tmp_path / "store", **lists)
    assert stored.task.labelled.tolist() == data.task.labelled.tolist() == [1, 3, 4]
    assert stored.truth.tolist() == data.truth.tolist() == [1, 3, 4, 5, 7]
    assert sorted(stored.notes) == sorted(data.notes)  # those on lists come last here
    assert stored.recipe.describe() == data.recipe.describe()
    assert stored.id_column == data.id_column == "id"
    assert read_store(tmp_path / "store").task is None


def test_bad_lists_are_refused_as_with_tables(tmp_path):
    names = write_tables(tmp_path, messy_tables(integers=True, weighted=False))
    build_store(tmp_path / "store", **names)
    for content in ("id\nseven\n", "id\n007\n", "id\n\n", "id,label\n1,maybe\n", "name,other\n1,2\n"):
        (tmp_path / "positives.csv").write_text(content)
        positives = str(tmp_path / "positives.csv")
        with pytest.raises(PugnnError) as one:
            read_store(tmp_path / "store", positives=positives)
        with pytest.raises(PugnnError) as other:
            read_graph(**names, positives=positives)
        assert str(one.value) == str(other.value)
