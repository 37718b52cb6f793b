"""The files of a run, in forms that people can open."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError
from pugnn.files import replacing
from pugnn.graph import UNREACHABLE


def write_scores(
    path: Path,
    ids: NDArray[Any],
    scores: NDArray[np.float64],
    decisions: NDArray[np.int64],
    *,
    known: NDArray[np.bool_] | None = None,
    distances: NDArray[np.int32] | None = None,
) -> None:
    """Write one line per node, best first: id, score, decision, rank and, where there are, known and distance.

    ``known`` marks the known positives; ``distance`` is the number of hops to the nearest of them, empty
    where none can be reached.
    """
    order = np.argsort(-scores, kind="stable")
    columns: dict[str, list[Any]] = {
        "id": ids[order].tolist(),
        "score": [repr(float(score)) for score in scores[order]],
        "decision": decisions[order].tolist(),
        "rank": list(range(1, len(order) + 1)),
    }
    if known is not None:
        columns["known"] = known[order].astype(int).tolist()
    if distances is not None:
        columns["distance"] = ["" if hops == UNREACHABLE else int(hops) for hops in distances[order]]
    _write_csv(path, list(columns), zip(*columns.values(), strict=True))


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


def _write_csv(path: Path, header: list[str], rows: Any) -> None:
    with replacing(path) as temporary:
        try:
            with temporary.open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(header)
                writer.writerows(rows)
        except OSError as error:
            raise PugnnError(f"cannot write {path}: {error.strerror}") from None
