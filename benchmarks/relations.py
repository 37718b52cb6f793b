"""Graphs with several relations: what each of them, direction, amounts and times are worth.

    python benchmarks/relations.py planted                          # half an hour on one core
    python benchmarks/relations.py typed --folder typed             # hours; goes on where it was stopped
    python benchmarks/relations.py bipartite                        # minutes

`planted`: accounts of `pugnn.datasets.planted_relations` with the signal in one place; average precision of the default
method on the unlabelled nodes, with and without what reads it. `leak` has payments after the moment of the ranking.

`typed`: a folder with `dblp` and `aminer`, tables of real graphs with several kinds of nodes. Each class in turn is
positive, at its natural share or, by removing positives with their edges, at 2 % of the unlabelled (at least ten stay).
Rows: all relations; each one alone, with those that lead to it; all kinds merged into one plain graph; and PyG's
HeteroConv of two layers SAGE (64 hidden, 100 epochs; nodes without attributes have a vector each that is learnt) under
nnPU, with the true prior. A relation that leads to no other is left out where another one stands alone, so these are the
rows of leaving one out as well. Every fit is a line in the file of records.

`bipartite`: users and items of a planted model, beside the graph of users that share an item; items with more than 100
users are left out of that, or it would have 10⁸ edges and more.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import scipy.sparse as sp
import torch

from measuring import machine, memory_baseline, memory_peak, sized, table
from pugnn import PUNodeClassifier, read_graph
from pugnn.datasets.planted_relations import PlantedRelations
from pugnn.errors import PugnnWarning
from pugnn.losses import NonNegativeLoss
from pugnn.losses.sets import Sets
from pugnn.metrics import average_precision

DRAWS, NODES, LABELS = sized((10, 2000, 60), (1, 150, 8))
USERS, ITEMS, ORDERS, KNOWN = sized((100_000, 10_000, 1_000_000, 300), (300, 40, 2000, 15))
TODAY, YEAR_END = "2025-06-30", "2025-12-31"

Tables = dict[str, pa.Table]
#: Kinds and names of the relations of each folder; the first kind is the target.
TYPED = {
    "dblp": {"wrote": ("author", "paper"), "in": ("paper", "venue"), "uses": ("paper", "term")},
    "aminer": {"written_by": ("paper", "author"), "cites": ("paper", "reference")},
}
NODE_TABLES = {"dblp": "authors", "aminer": "papers"}


def quality(data: Any, truth: set[str]) -> float:
    """Average precision of the default method among unlabelled nodes, in per cent."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PugnnWarning)
        scores = PUNodeClassifier(progress=False).fit_task(data.task).decision_function()
    asked = data.task.unlabelled
    return 100 * average_precision(np.array([each in truth for each in data.graph.ids[asked]]), scores[asked])


# ------------------------------------------------------------------------------------------------ planted signals


def accounts(tables: Tables, names: tuple[str, ...] = ("pays", "devices", "logins"), **options: Any) -> Any:
    """The graph of some of the tables; positives without a time unless times are asked for."""
    kinds = {
        "pays": "account:pays:account",
        "devices": "account:uses:device",
        "logins": "account:logs_in:address",
        "calls": "account:calls:account",
        "visits": "account:visits:place",
    }
    positives = tables["positives"] if "time" in options else tables["positives"].select(["id"])
    nodes: Any = {"account": tables["accounts"]}
    edges = {kinds[name]: tables[name] for name in names}
    if set(names) <= {"pays", "calls"}:  # one kind of nodes
        return read_graph(edges, nodes, positives=positives, **options)
    return read_graph(edges, nodes, target="account", positives=positives, **options)


def merged(tables: Tables) -> Any:
    """All of it as one plain graph, as one has to without relations and kinds."""
    ends = [("pays", "from", "to"), ("devices", "account", "device"), ("logins", "account", "address")]
    columns = [
        pa.chunked_array([each for name, *pair in ends for each in tables[name][pair[end]].chunks]) for end in (0, 1)
    ]
    return read_graph(
        pa.table(columns, ["source", "target"]), tables["accounts"], positives=tables["positives"].select(["id"])
    )


def noise(tables: Tables, seed: int) -> Tables:
    """Two more relations that say nothing."""
    rng, ids = np.random.default_rng([seed, 1]), tables["accounts"]["id"].to_numpy(zero_copy_only=False)
    pairs = rng.choice(ids, (2, 3 * len(ids)))
    places = [f"P{place}" for place in rng.integers(len(ids) // 20, size=3 * len(ids))]
    calls = pa.table({"from": pairs[0], "to": pairs[1]})
    return {**tables, "calls": calls, "visits": pa.table({"account": pairs[0], "place": places})}


def bare(tables: Tables) -> Tables:
    """Without amounts and times of payments."""
    return {**tables, "pays": tables["pays"].select(["from", "to"])}


def planted() -> None:
    usual = ("pays", "devices", "logins")
    three = (*usual, "calls", "visits")
    timed = {"time": "time", "directed": True}
    variants: dict[str, dict[str, Callable[[Tables, int], Any]]] = {
        "devices": {
            "three relations": lambda t, s: accounts(bare(t)),
            "that one alone": lambda t, s: accounts(bare(t), ("devices",)),
            "merged into one plain graph": lambda t, s: merged(t),
        },
        "direction": {
            "--directed": lambda t, s: accounts(bare(t), directed=True),
            "undirected": lambda t, s: accounts(bare(t)),
        },
        "amounts": {
            "columns of edges": lambda t, s: accounts(t, directed=True),
            "and --weight amount": lambda t, s: accounts(t, ("pays",), directed=True, weight="amount"),
            "payments without amounts": lambda t, s: accounts(bare(t), directed=True),
        },
        "all": {
            "three relations, directed, amounts": lambda t, s: accounts(t, directed=True),
            "two more of noise": lambda t, s: accounts(noise(t, s), three, directed=True),
            "without logins, which are noise": lambda t, s: accounts(t, usual[:2], directed=True),
            "merged into one plain graph": lambda t, s: merged(t),
        },
        "all, with a leak": {
            "all payments of the year": lambda t, s: accounts(known_by(t), **timed),
            f"--as-of {TODAY}": lambda t, s: accounts(known_by(t), as_of=TODAY, **timed),
        },
    }
    print(f"{DRAWS} draws of {NODES:,} accounts, a tenth positive, {LABELS} known; average precision in per cent")
    for place, own in variants.items():
        found: dict[str, list[float]] = {name: [] for name in own}
        said = dict.fromkeys(own, "")
        for seed in range(DRAWS):
            plan = PlantedRelations(NODES, labels=LABELS, signal=place.split(",")[0], leak="leak" in place, seed=seed)
            tables = plan.tables()
            truth = set(tables["truth"]["id"].to_pylist())
            for name, read in own.items():
                data = read(tables, seed)
                found[name].append(quality(data, truth))
                said[name] = next((note for note in data.notes if "give them away" in note), said[name])
        first = np.array(found[next(iter(own))])
        rows = [[name, spread(values), spread(np.array(values) - first)] for name, values in found.items()]
        print("\n" + table([f"signal in: {place}", "average precision", "against the first"], rows), flush=True)
        for name, words in said.items():
            if words:
                print(f"said of {name}: {words}")


def known_by(tables: Tables) -> Tables:
    """Only positives that were known by the moment of the ranking."""
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
    print(
        f"projection: {(buyers > 100).sum():,} items with more than 100 users left out; with them it would have up to"
    )
    print(f"{int((buyers.astype(np.int64) * (buyers - 1) // 2).sum()):,} edges")
    print(table(["", "edges", "s to read", "s to fit", "MB more at the peak", "average precision"], rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("planted", "typed", "bipartite"), nargs="?", default="planted")
    parser.add_argument("--folder", type=Path, default=Path("typed"), help="of the typed graphs")
    parser.add_argument("--records", type=Path, default=Path("relations.jsonl"), help="one line for each fit")
    parser.add_argument("--graphs", nargs="+", default=list(TYPED))
    parser.add_argument("--labels", nargs="+", type=int, default=[10, 30, 100])
    parser.add_argument("--shares", nargs="+", default=["natural", "2%"])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--rows", nargs="+", help="first words of rows: all, only, merged, sage")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    print(machine())
    if asked.part == "typed":
        typed(asked.folder, asked.records, asked)
    else:
        {"planted": planted, "bipartite": bipartite}[asked.part]()


if __name__ == "__main__":
    main()
