"""The files of a run, in forms that people can open."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError, PugnnWarning, shorten
from pugnn.files import replacing
from pugnn.graph import UNREACHABLE, Graph, nearest_sources

#: Text that a spreadsheet would run: it begins like a formula and is not a plain number. What looks as if it had been
#: kept from that already is protected once more, so that no two ids come out the same.
_FORMULA = re.compile(r"'*([=@\t\r]|[+-](?!\d+([.,]\d+)?$))")

_SPECIAL = re.compile(r'[,"\r\n]')

#: A table by columns; a masked entry is empty.
Table = dict[str, NDArray[Any]]


def score_table(
    graph: Graph,
    scores: NDArray[np.float64],
    threshold: float,
    labelled: NDArray[np.int64] | None = None,
) -> Table:
    """One line per node, best first: id, score, decision and rank.

    Where the known positives are given: whether the node is one, the number of hops to the nearest of them and its id,
    both empty where none can be reached.
    """
    order = np.argsort(-scores, kind="stable")
    table: Table = {
        "id": graph.ids[order],
        "score": scores[order],
        "decision": (scores >= threshold).astype(np.int64)[order],
        "rank": np.arange(1, len(order) + 1),
    }
    if labelled is not None:
        distances, nearest = (values[order] for values in nearest_sources(graph, labelled))
        unreachable = distances == UNREACHABLE
        table["known"] = (distances == 0).astype(np.int64)
        table["distance"] = np.ma.masked_array(distances, unreachable)
        table["nearest"] = np.ma.masked_array(graph.ids[nearest], unreachable)
    return table


def write_scores(path: Path, table: Table) -> None:
    """Write the table as Parquet where the name ends so, which keeps the type of the ids, and as CSV otherwise.

    Spreadsheets run what begins like a formula, whatever stands around it; in CSV a ``'`` before it makes it text.
    """
    if path.suffix.lower() == ".parquet":
        from pugnn.tables import write_parquet

        write_parquet(path, table)
        return
    formulas = list(filter(_is_formula, table["id"].tolist()))
    if formulas:
        warnings.warn(
            f"{len(formulas):,} ids begin like a formula of a spreadsheet ({shorten(formulas, 2)}); in {path.name} a ' "
            "stands before them, in a Parquet file they are as they were",
            PugnnWarning,
            stacklevel=2,
        )
    columns = {name: _cells(values) for name, values in table.items()}
    _write_csv(path, list(columns), zip(*columns.values(), strict=True))


def _cells(values: NDArray[Any]) -> list[Any]:
    """Cells that read back as they were; numbers to the last bit, and masked entries, which come as None, empty."""
    return [f"'{value}" if _is_formula(value) else value for value in values.tolist()]


def _is_formula(value: Any) -> bool:
    return isinstance(value, str) and _FORMULA.match(value) is not None


def write_log(path: Path, log: list[dict[str, float]]) -> None:
    """Write one line per epoch: every term of the loss, their total, and the seconds so far."""
    _write_csv(path, list(log[0]), (record.values() for record in log))


def plot_log(path: Path, log: list[dict[str, float]]) -> bool:
    """Draw every term of the loss over the epochs; ``False`` where matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return False
    epochs = [record["epoch"] for record in log]
    figure = Figure(figsize=(7.5, 4.2), layout="constrained", dpi=150)
    axes = figure.add_subplot()
    for name in log[0]:
        if name not in ("epoch", "seconds"):
            values = [record[name] for record in log]
            style = {"color": "black", "linewidth": 2.0} if name == "total" else {"linewidth": 1.2}
            axes.plot(epochs, values, label=name.replace("_", " "), **style)
    axes.set(xlabel="epoch", ylabel="loss", title="Terms of the loss in training")
    if all(value >= 0 for record in log for value in record.values()):  # PU risks may fall below
        axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, ncols=3)
    axes.spines[["top", "right"]].set_visible(False)
    with replacing(path) as temporary:
        figure.savefig(temporary)
    return True


def _write_csv(path: Path, header: list[str], rows: Iterable[Iterable[Any]]) -> None:
    with replacing(path) as temporary:
        try:
            with temporary.open("w", encoding="utf-8", newline="") as file:
                file.writelines(",".join(map(_written, row)) + "\n" for row in chain([header], rows))
        except OSError as error:
            raise PugnnError(f"cannot write {path}: {error.strerror}") from None


def _written(cell: Any) -> str:
    """A cell of a CSV file. (Python's own writer leaves a lone carriage return without quotation marks.)"""
    text = "" if cell is None else str(cell)
    return '"' + text.replace('"', '""') + '"' if _SPECIAL.search(text) else text
