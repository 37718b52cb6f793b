from types import SimpleNamespace

import pytest

from pugnn.errors import PugnnError
from pugnn.store.tables.column_names import ID, SOURCE, TARGET
from pugnn.store.tables.column_names import find_column as find_in_table


def find_column(shown, names, *arguments, **options):
    return find_in_table(SimpleNamespace(shown=shown, names=names), *arguments, **options)


@pytest.mark.parametrize(
    "names", [("source", "target"), ("Src", "DST"), ("from", "to"), ("u", "v"), ("Source ID", "target-id")]
)
def test_usual_names(names):
    assert find_column("t", names, "source", None, SOURCE) == 0
    assert find_column("t", names, "target", None, TARGET) == 1


def test_a_given_name_counts_alone():
    names = ("source", "payer", "Payee")
    assert find_column("t", names, "source", "payer", SOURCE) == 1
    assert find_column("t", names, "target", "payee", TARGET) == 2
    assert find_column("t", ("Payer", "payer"), "source", "payer", SOURCE) == 1  # the very name before its likes
    with pytest.raises(PugnnError, match=r"t has no column 'owner' \(--source\); its columns are 'source', 'payer'"):
        find_column("t", names, "source", "owner", SOURCE)


def test_none():
    assert find_column("t", ("a", "b"), "source", None, SOURCE) is None


def test_several():
    with pytest.raises(PugnnError, match=r"any of the columns 'from', 'Source' may be the source; .* --source NAME"):
        find_column("t", ("from", "Source", "to"), "source", None, SOURCE)
    assert find_column("t", ("node", "id"), "id", None, ID, first=True) == 1
    with pytest.raises(PugnnError, match="'ID', 'id' may be the id"):
        find_column("t", ("ID", "id"), "id", None, ID, first=True)
