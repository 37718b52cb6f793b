"""The tables of a run, scores and log: writing them, and reading scores again."""

from __future__ import annotations

import csv
import gzip
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from itertools import chain
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pugnn.errors import PugnnError, PugnnWarning, shorten
from pugnn.files import is_formula, replacing, write_csv
from pugnn.graph import UNREACHABLE, Graph
from pugnn.store.ids import ids_of
from pugnn.store.tables.database import write_parquet
from pugnn.task import PUTask

#: Formats of a file of scores, by the ending of its name.
ENDINGS = (".csv", ".csv.gz", ".parquet")

#: Columns of the scores of a run, before those that are shown as they are.
COLUMNS = ("id", "score", "log_odds", "decision", "rank", "known", "distance", "nearest")

#: Rows that are written at once.
_AT_ONCE = 1 << 20

#: Tables of more rows are too long for spreadsheets, and a run has no CSV file of them.
MAX_IN_CSV = 1_000_000


@dataclass(frozen=True, eq=False)
class WrittenIds:
    """A column of ids, of which a few at a time become Python objects where they are in a store."""

    ids: NDArray[Any]  # of all nodes
    positions: NDArray[np.integer[Any]]  # of the nodes in the column; those below 0 are empty cells

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        positions = self.positions[rows]
        return np.ma.masked_array(self.ids[np.maximum(positions, 0)], positions < 0)


#: A table by columns; a masked entry is empty.
Table = dict[str, NDArray[Any] | WrittenIds]


def score_table(
    graph: Graph,
    scores: NDArray[np.float64],
    threshold: float,
    task: PUTask | None = None,
    *,
    log_odds: NDArray[np.float64] | None = None,
    order: NDArray[np.int64] | None = None,
    shown: Mapping[str, NDArray[Any]] | None = None,
) -> Table:
    """One line per node, best first: id, score, decision and rank, and last the columns ``shown``, given by position.

    Log-odds, where given, have a column of their own, and order nodes whose scores are rounded to the same number.
    With a task, also whether the node is known (1 for a known positive, −1 for a known negative, otherwise 0), and the
    number of hops to the nearest known positive and its id, both empty where none can be reached. Known nodes have no
    rank (:meth:`pugnn.task.PUTask.ranks`), and known negatives are never decided positive.
    """
    if order is None:
        order = np.argsort(-(scores if log_odds is None else log_odds), kind="stable")
    decision = (scores >= threshold).astype(np.int64)
    if task is not None:
        decision[task.negative] = 0
    table: Table = {
        "id": WrittenIds(graph.ids, order),
        "score": scores[order],
        **({} if log_odds is None else {"log_odds": log_odds[order]}),
        "decision": decision[order],
        "rank": np.arange(1, len(order) + 1),
    }
    if task is not None:
        table["known"] = known = task.known[order]
        table["rank"] = np.ma.masked_array(np.cumsum(known == 0), known != 0)
        table["distance"] = np.ma.masked_equal(task.distances[order], UNREACHABLE)
        table["nearest"] = WrittenIds(graph.ids, task.nearest[order])
    for name, values in (shown or {}).items():
        table[f"{name} (shown)" if name in table else name] = values[order]
    return table


def read_columns(
    file: Path, graph: Graph, numbers: Sequence[str], texts: Sequence[str] = ()
) -> tuple[dict[str, NDArray[Any]], int]:
    """Columns of a table of scores by position in a graph, and how many of its nodes are not in that graph.

    The file, a Parquet one, is read piece by piece. What it does not tell of a node is nan.
    """
    ids, gone = ids_of(graph), 0
    found: dict[str, NDArray[Any]] = {name: np.full(graph.num_targets, np.nan) for name in numbers}
    found |= {name: np.full(graph.num_targets, np.nan, object) for name in texts}
    try:
        with file.open("rb") as content, pq.ParquetFile(content) as table:
            for batch in table.iter_batches(columns=["id", *found]):
                names, kind = batch["id"], batch["id"].type
                if not (pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind)):
                    names = pa.array(map(str, names.to_pylist()))
                positions = ids.find(pa.chunked_array([names.cast(pa.large_string())]))
                here = positions >= 0
                gone += len(here) - int(here.sum())
                for name, column in found.items():
                    column[positions[here]] = batch[name].to_numpy(zero_copy_only=False)[here]
    except (OSError, pa.ArrowException, KeyError, ValueError) as error:
        raise PugnnError(f"{file} cannot be read: {error}") from None
    return found, gone


def table_file(nodes: int) -> str:
    """The file with the scores of so many nodes that most people can open."""
    return "scores.csv" if nodes <= MAX_IN_CSV else "scores.parquet"


def require_ending(path: Path) -> None:
    """Raise unless the name ends in a format that :func:`write_scores` knows, or in none."""
    if path.suffix and not path.name.lower().endswith(ENDINGS):
        raise PugnnError(f"{path}: scores are written as {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}; rename the file")


def write_scores(path: Path, table: Table) -> None:
    """Write the table in the format of the name's ending, by default CSV; Parquet keeps the type of the ids.

    In CSV, ids that a spreadsheet would run get a ``'`` in front, see :func:`pugnn.files.write_csv`.
    """
    require_ending(path)
    if path.suffix.lower() == ".parquet":
        write_parquet(path, _pieces(table))
        return
    formulas = [node_id for piece in _pieces(table) for node_id in piece["id"].tolist() if is_formula(node_id)]
    if formulas:
        warnings.warn(
            f"{len(formulas):,} ids begin like a spreadsheet formula ({shorten(formulas, 2)}); they have a ' in front "
            f"in {path.name}, and are unchanged in a Parquet file",
            PugnnWarning,
            stacklevel=2,
        )
    # A masked entry becomes None here, and so an empty cell.
    rows = (zip(*(values.tolist() for values in piece.values()), strict=True) for piece in _pieces(table))
    write_table(path, table, chain.from_iterable(rows))


def write_log(path: Path, log: Sequence[Mapping[str, float]]) -> None:
    """Write one line per epoch: every term of the loss, their total, and the seconds so far."""
    names = list(log[0])
    write_table(path, names, ([record[name] for name in names] for record in log))


def read_log(path: Path) -> list[dict[str, float]]:
    """The log that :func:`write_log` wrote; empty if there is none, or it was changed."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return [{name: float(cell) for name, cell in line.items()} for line in csv.DictReader(file)]
    except (OSError, ValueError, TypeError):
        return []


def _pieces(table: Table) -> Iterator[dict[str, NDArray[Any]]]:
    """The table, some rows at a time."""
    rows = next(len(column) for column in table.values() if isinstance(column, np.ndarray))
    for first in range(0, rows, _AT_ONCE):
        yield {name: values[first : first + _AT_ONCE] for name, values in table.items()}


def write_table(path: Path, header: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
    """Write a table as a CSV file (:func:`pugnn.files.write_csv`), compressed if its name ends in ``.gz``."""
    with replacing(path) as temporary, temporary.open("wb") as file:
        packed = path.suffix.lower() == ".gz"
        # Without name and time in its head, so that the same table gives the same bytes.
        content = gzip.GzipFile("", "wb", fileobj=file, mtime=0) if packed else file
        with TextIOWrapper(cast(IO[bytes], content), "utf-8", newline="") as text:
            write_csv(text, header, rows)
