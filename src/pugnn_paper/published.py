"""The values of Tables 1 to 5 of the PU-GNN paper, from ``published.toml``."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

#: Mean and standard deviation (%) by data set, row and label ratio.
Published = dict[tuple[str, str, float], tuple[float, float]]

#: How the paper spells the data sets.
DATASET_NAMES = {"cora": "Cora", "citeseer": "Citeseer", "pubmed": "Pubmed", "dblp": "DBLP"}

#: Data set and ratio of Tables 4 and 5.
SENSITIVITY = ("cora", 0.002)

_PRINTED: dict[str, Any] = tomllib.loads(files(__package__).joinpath("published.toml").read_text(encoding="utf-8"))

#: Label ratios of Tables 2 and 3.
RATIOS: tuple[float, ...] = tuple(_PRINTED["ratios"])

#: Numbers of nodes.
TABLE1: dict[str, dict[str, int]] = _PRINTED["table1"]


def _at_ratios(table: dict[str, dict[str, list[list[float]]]]) -> Published:
    return {
        (dataset, row, ratio): (mean, deviation)
        for dataset, rows in table.items()
        for row, values in rows.items()
        for ratio, (mean, deviation) in zip(RATIOS, values, strict=True)
    }


TABLE2 = _at_ratios(_PRINTED["table2"])
TABLE3 = _at_ratios(_PRINTED["table3"])
TABLE4: Published = {
    (SENSITIVITY[0], f"{near}, {far}", SENSITIVITY[1]): (mean, deviation)
    for far, values in _PRINTED["table4"]["far"].items()
    for near, (mean, deviation) in zip(_PRINTED["table4"]["near"], values, strict=True)
}
TABLE5: Published = {(SENSITIVITY[0], row, SENSITIVITY[1]): tuple(value) for row, value in _PRINTED["table5"].items()}
