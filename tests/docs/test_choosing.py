"""The figures of docs/choosing.md are those of the measured results."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from pathlib import Path
from statistics import fmean

DOCS = Path(__file__).parents[2] / "docs"
ROWS = {
    "naive --balanced": "naive-balanced",
    "dist-pu --backbone mlp": "dist-pu-mlp",
}


def test_the_table_has_the_means_of_all_draws() -> None:
    measured: dict[tuple[str, str, int], list[float]] = defaultdict(list)
    with (DOCS / "results" / "table2.csv").open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            measured[line["row"], line["dataset"], int(line["labels"])].append(float(line["macro_f1"]))
    table = (DOCS / "choosing.md").read_text(encoding="utf-8").split("## What was measured")[1].strip().split("\n\n")[0]
    header, _, *rows = ([cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines())
    columns = [(name.split(",")[0].lower(), int(re.findall(r"\d+", name)[0])) for name in header[1:]]
    assert len(rows) == 10
    for name, *cells in rows:
        method = name.strip("` *")
        for (dataset, labels), cell in zip(columns, cells, strict=True):
            draws = measured[ROWS.get(method, method), dataset, labels]
            assert len(draws) == 10
            assert cell == f"{fmean(draws):.1f}", (method, dataset, labels)
