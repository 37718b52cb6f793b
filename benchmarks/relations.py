"""Measure what relations, direction, amounts and times are worth on graphs with several relations and planted signals.

    python benchmarks/relations.py                  # half an hour on one core
    python benchmarks/relations.py --bipartite      # minutes

Accounts of `pugnn.datasets.planted_relations` have the signal in one place. The figure is the average precision of the
default method on the unlabelled nodes, with and without what reads the signal. With a leak, payments after the moment
of the ranking give positives away.

`--bipartite`: users and items of a planted model, compared with the graph of users that share an item. That graph
leaves out items with more than 100 users, or it would have many times as many edges.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
import torch

from measuring import machine, memory_baseline, memory_peak, sized, table
from pugnn import PUNodeClassifier, read_graph
from pugnn.datasets.planted_relations import PlantedRelations
from pugnn.errors import PugnnWarning
from pugnn.metrics import average_precision

DRAWS, NODES, LABELS = sized((10, 2000, 60), (1, 150, 8))
USERS, ITEMS, ORDERS, KNOWN = sized((100_000, 10_000, 1_000_000, 300), (1000, 40, 5000, 10))
#: The moment of the ranking, in the middle of the year of the payments.
TODAY = "2025-06-30"

Tables = dict[str, pa.Table]
USUAL, NOISE = ("pays", "devices", "logins"), ("calls", "visits")
KINDS = {
    "pays": "account:pays:account",
    "devices": "account:uses:device",
    "logins": "account:logs_in:address",
    "calls": "account:calls:account",
    "visits": "account:visits:place",
}


def quality(data: Any, truth: set[str]) -> float:
    """Return the average precision of the default method among unlabelled nodes, in per cent."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PugnnWarning)
        scores = PUNodeClassifier(progress=False).fit_task(data.task).decision_function()
    asked = data.task.unlabelled
    return 100 * average_precision(np.array([each in truth for each in data.graph.ids[asked]]), scores[asked])


# ------------------------------------------------------------------------------------------------ planted signals


def accounts(tables: Tables, names: tuple[str, ...] = USUAL, **options: Any) -> Any:
    """Read some of the tables as a graph; positives have no time unless times are asked for."""
    positives = tables["positives"] if "time" in options else tables["positives"].select(["id"])
    edges = {KINDS[name]: tables[name] for name in names}
    return read_graph(edges, {"account": tables["accounts"]}, target="account", positives=positives, **options)


def merged(tables: Tables) -> Any:
    """Read everything as one plain graph, as one must without relations and kinds."""
    named = [("pays", "from", "to"), ("devices", "account", "device"), ("logins", "account", "address")]
    parts = [tables[name].select(ends).rename_columns(["source", "target"]) for name, *ends in named]
    return read_graph(pa.concat_tables(parts), tables["accounts"], positives=tables["positives"].select(["id"]))


def with_noise(tables: Tables, seed: int) -> Tables:
    """Add two more relations that say nothing."""
    rng, ids = np.random.default_rng([seed, 1]), tables["accounts"]["id"].to_numpy(zero_copy_only=False)
    pairs = rng.choice(ids, (2, 3 * len(ids)))
    places = [f"P{place}" for place in rng.integers(len(ids) // 20, size=3 * len(ids))]
    calls = pa.table({"from": pairs[0], "to": pairs[1]})
    return {**tables, "calls": calls, "visits": pa.table({"account": pairs[0], "place": places})}


def bare(tables: Tables) -> Tables:
    """Leave out amounts and times of payments."""
    return {**tables, "pays": tables["pays"].select(["from", "to"])}


def planted() -> None:
    directed = partial(accounts, directed=True)
    dated = partial(directed, time="time")
    variants: dict[str, dict[str, Callable[[Tables], Any]]] = {
        "devices": {
            "three relations": lambda tables: accounts(bare(tables)),
            "that one alone": lambda tables: accounts(bare(tables), ("devices",)),
            "merged into one plain graph": merged,
        },
        "direction": {
            "--directed": lambda tables: directed(bare(tables)),
            "undirected": lambda tables: accounts(bare(tables)),
        },
        "amounts": {
            "columns of edges": directed,
            "payments without amounts": lambda tables: directed(bare(tables)),
        },
        "all": {
            "three relations, directed, amounts": directed,
            "and two more of noise": lambda tables: directed(tables, (*USUAL, *NOISE)),
            "without logins, which are noise": lambda tables: directed(tables, USUAL[:2]),
            "undirected": accounts,
            "merged into one plain graph": merged,
        },
        "all, with a leak": {
            "all payments of the year": lambda tables: dated(known_by(tables)),
            f"--as-of {TODAY}": lambda tables: dated(known_by(tables), as_of=TODAY),
        },
    }
    print(f"{DRAWS} draws of {NODES:,} accounts, a tenth positive, {LABELS} known; average precision in per cent")
    for place, own in variants.items():
        found: dict[str, list[float]] = {name: [] for name in own}
        said = dict.fromkeys(own, "")
        for seed in range(DRAWS):
            plan = PlantedRelations(NODES, labels=LABELS, signal=place.split(",")[0], leak="leak" in place, seed=seed)
            tables = with_noise(plan.tables(), seed)
            truth = set(tables["truth"]["id"].to_pylist())
            for name, read in own.items():
                data = read(tables)
                found[name].append(quality(data, truth))
                said[name] = next((note for note in data.notes if "give them away" in note), said[name])
        first = np.array(found[next(iter(own))])
        rows = [[name, spread(values), spread(np.array(values) - first)] for name, values in found.items()]
        print("\n" + table([f"signal in: {place}", "average precision", "against the first"], rows), flush=True)
        for name, words in said.items():
            if words:
                print(f"said of {name}: {words}")


def known_by(tables: Tables) -> Tables:
    """Keep only positives that were known by the moment of the ranking."""
    early = pc.less_equal(tables["positives"]["time"], f"{TODAY}T23:59:59")
    return {**tables, "positives": tables["positives"].filter(early)}


def spread(values: Any) -> str:
    return f"{np.mean(values):.1f} ± {np.std(values, ddof=1) if len(values) > 1 else 0:.1f}"


# ------------------------------------------------------------------------------------------------ users and items


def bipartite() -> None:
    rng = np.random.default_rng(0)
    positive = np.zeros(USERS, bool)
    positive[rng.choice(USERS, USERS // 50, replace=False)] = True
    users = rng.integers(USERS, size=ORDERS)
    items = (ITEMS * rng.random(ORDERS) ** 3).astype(np.int64)  # a few are bought far more often than others
    taste = rng.choice(ITEMS, ITEMS // 20, replace=False)
    theirs = positive[users] & (rng.random(ORDERS) < 0.4)
    items[theirs] = rng.choice(taste, int(theirs.sum()))
    known = rng.choice(np.flatnonzero(positive), KNOWN, replace=False)
    truth = {str(each) for each in np.flatnonzero(positive)}
    matrix = sp.coo_array((np.ones(ORDERS, np.float32), (users, items)), (USERS, ITEMS)).tocsr()
    matrix.data[:] = 1
    buyers = np.diff(matrix.tocsc().indptr)
    few = matrix[:, np.flatnonzero(buyers <= 100)]
    every = {"id": np.arange(USERS).astype(str)}
    orders = {"user": users.astype(str), "item": items.astype(str)}

    def two_kinds() -> Any:
        given = {"edges": {"user:bought:item": orders}, "nodes": {"user": every}, "target": "user"}
        return read_graph(**given, positives=known.astype(str).tolist())

    def projected() -> Any:
        pairs = sp.triu(few @ few.T, 1).tocoo()
        edges = {"source": pairs.row.astype(str), "target": pairs.col.astype(str), "weight": pairs.data}
        return read_graph(edges, every, positives=known.astype(str).tolist())

    rows = []
    for name, read in {"users and items": two_kinds, "users that share an item": projected}.items():
        before, started = memory_baseline(), time.perf_counter()
        data = read()
        seconds = time.perf_counter() - started
        found = quality(data, truth)
        fit = time.perf_counter() - started - seconds
        edges, peak = f"{data.graph.num_edges:,}", f"{memory_peak() - before:,.0f}"
        rows.append([name, edges, f"{seconds:.1f}", f"{fit:.1f}", peak, f"{found:.1f}"])
        del data
    print(f"{USERS:,} users, {ITEMS:,} items, {ORDERS:,} orders, 2 % positive, {KNOWN} known")
    pairs = int((buyers.astype(np.int64) * (buyers - 1) // 2).sum())
    print(f"users that share an item: {(buyers > 100).sum():,} items with more than 100 users are left out; all items")
    print(f"would give {pairs:,} pairs")
    print(table(["", "edges", "s to read", "s to fit", "MB more at the peak", "average precision"], rows))


def main() -> None:
    torch.set_num_threads(1)
    print(machine())
    if "--bipartite" in sys.argv[1:]:
        bipartite()
    else:
        planted()


if __name__ == "__main__":
    main()
