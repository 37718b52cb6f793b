import numpy as np
import pyarrow.compute as pc
import pyarrow.csv
import pytest

from pugnn import read_graph
from pugnn.datasets.planted_relations import SIGNALS, TABLES, PlantedRelations, write_planted_relations
from pugnn.errors import PugnnError

SETTINGS = {"nodes": 1000, "share": 0.12, "labels": 30, "seed": 3}


@pytest.fixture(scope="module")
def tables():
    return PlantedRelations(**SETTINGS).tables()


def fraud_in(table, column, tables):
    return pc.is_in(table[column], tables["truth"]["id"].combine_chunks()).to_numpy(zero_copy_only=False)


def test_sizes_and_columns(tables):
    assert tuple(tables) == TABLES
    assert tables["accounts"].num_rows == 1000
    assert tables["truth"].num_rows == 120
    assert tables["positives"].num_rows == 30
    assert tables["pays"].column_names == ["from", "to", "amount", "time"]
    assert tables["devices"].column_names == ["account", "device"]
    assert tables["logins"].column_names == ["account", "address"]
    assert set(tables["positives"]["id"].to_pylist()) <= set(tables["truth"]["id"].to_pylist())
    assert pc.min(tables["pays"]["amount"]).as_py() > 0


def test_positives_pay_as_often_as_others(tables):
    payers = fraud_in(tables["pays"], "from", tables)
    assert payers.sum() / 120 == pytest.approx((~payers).sum() / 880, rel=0.1)
    devices = fraud_in(tables["devices"], "account", tables)
    assert devices.sum() / 120 == pytest.approx((~devices).sum() / 880, rel=0.1)


def paid_by_fraud(tables):
    """Of accounts that fraudulent ones pay often, the largest share of what these pay among all that they get."""
    pays, fraud = tables["pays"], fraud_in(tables["pays"], "from", tables)
    _, to = np.unique(pays["to"].to_numpy(), return_inverse=True)
    theirs, all_of_them = np.bincount(to, fraud), np.bincount(to)
    return (theirs / all_of_them)[theirs >= 8].max()


def test_direction_tells_who_pays_collecting_accounts(tables):
    assert paid_by_fraud(tables) > 0.6
    assert paid_by_fraud(PlantedRelations(**SETTINGS, signal="none").tables()) < 0.4


@pytest.mark.parametrize("signal", SIGNALS)
def test_a_signal_is_in_one_place(signal):
    tables = PlantedRelations(**SETTINGS, signal=signal).tables()
    fraud = fraud_in(tables["pays"], "from", tables)
    amounts = np.log(tables["pays"]["amount"].to_numpy())
    assert (amounts[fraud].mean() - amounts[~fraud].mean() > 0.2) == (signal in ("all", "amounts"))
    # A device of a ring is used by several positives and nobody else.
    devices = tables["devices"]["device"].to_numpy(zero_copy_only=False)
    names, places = np.unique(devices, return_inverse=True)
    users = np.bincount(places, minlength=len(names))
    theirs = np.bincount(places, fraud_in(tables["devices"], "account", tables), minlength=len(names))
    assert ((users > 3) & (theirs == users)).any() == (signal in ("all", "devices"))


def test_no_column_of_accounts_separates_positives(tables):
    accounts = tables["accounts"]
    positive = fraud_in(accounts, "id", tables)
    for column in ("age_days", "balance"):
        values = accounts[column].to_numpy()
        auc = (values[positive, None] < values[None, ~positive]).mean()
        assert 0.5 < auc < 0.72


def test_a_leak_is_later_than_the_find():
    plain = PlantedRelations(**SETTINGS).tables()["pays"]
    leaking = PlantedRelations(**SETTINGS, leak=True).tables()
    more = leaking["pays"].num_rows - plain.num_rows
    assert more == 120
    found = dict(zip(*(column.to_pylist() for column in leaking["positives"].columns), strict=True))
    last = leaking["pays"].group_by("from").aggregate([("time", "max")]).to_pydict()
    latest = dict(zip(last["from"], last["time_max"], strict=True))
    assert all(latest[account] > time for account, time in found.items())


def test_the_same_seed_gives_the_same_tables(tables):
    again, other = PlantedRelations(**SETTINGS).tables(), PlantedRelations(**{**SETTINGS, "seed": 4}).tables()
    assert all(again[name].equals(table) for name, table in tables.items())
    assert not other["pays"].equals(tables["pays"])


def test_files_are_read_as_one_graph(tmp_path, tables):
    files = {path.stem: path for path in write_planted_relations(tmp_path / "bank", **SETTINGS)}
    assert tuple(files) == TABLES
    assert pyarrow.csv.read_csv(files["devices"]).equals(tables["devices"])
    data = read_graph(
        {"account:pays:account": files["pays"], "account:uses:device": files["devices"]},
        {"account": files["accounts"]},
        target="account",
        directed=True,
        positives=files["positives"],
        truth=files["truth"],
    )
    assert list(data.graph.relations) == ["pays out", "pays in", "uses"]
    assert data.positive.sum() == 120
    assert data.known.sum() == 30


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"nodes": 99}, "nodes must be a whole number, from 100"),
        ({"share": 0.5}, "a third of 1,000"),
        ({"labels": 121}, "labels must be a whole number, from 1 to 120"),
        ({"signal": "colour"}, "signal must be"),
    ],
)
def test_bad_settings(tmp_path, setting, words):
    with pytest.raises(PugnnError, match=words):
        write_planted_relations(tmp_path / "out", **{**SETTINGS, **setting})
    assert not (tmp_path / "out").exists()
