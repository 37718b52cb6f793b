"""What an experiment hands over to the pages: one result per training, and the paper's values."""

from __future__ import annotations

from dataclasses import dataclass

#: Published mean and standard deviation (%) by data set, row and label ratio.
Published = dict[tuple[str, str, float], tuple[float, float]]


@dataclass(frozen=True)
class Result:
    """One training: what was asked and what came out.

    Args:
        reading: name of a reading of what the paper leaves open, such as ``default``.
        dataset: such as ``cora``.
        row: what is compared: a method (``pu-gnn``), a variant of the ablation (``L_G only``), a pair of priors, near
            and far (``0.6, 0.3``), or a distance δ (``3``).
        ratio: label ratio.
        draw: number of the draw; the same draw has the same split and labels for all rows.
        labels: number of labelled nodes.
        macro_f1: percent, on the test nodes.
        roc_auc: percent, on the test nodes; ``None`` where it was not measured.
        seconds: training time.

    Example:
        >>> Result("default", "cora", "pu-gnn", 0.002, 0, 5, 71.3, 80.2, 1.4).row
        'pu-gnn'
    """

    reading: str
    dataset: str
    row: str
    ratio: float
    draw: int
    labels: int
    macro_f1: float
    roc_auc: float | None
    seconds: float
