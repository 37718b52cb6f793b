"""`pugnn export`: a named data set as tables, to try everything that works on tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pugnn.cli.options import DATA_SETS, OUTPUT, DataOptions, Json, Seed, command, option, options_of
from pugnn.cli.terminal import print_files
from pugnn.errors import PugnnError


@command(DATA_SETS, data=options_of(DataOptions, only=("dataset", "labels", "label_ratio", "label_ratio_of")))
def export(
    *,
    data: DataOptions,
    seed: Seed = 0,
    out: Annotated[Path | None, option("A new folder; default: NAME-tables.", panel=OUTPUT)] = None,
    as_json: Json = False,
) -> None:
    """Write a named data set as `edges.csv`, `nodes.csv`, `positives.csv` and `truth.csv`, with text as ids.

    The known positives are those that `pugnn fit --dataset` draws with the same options.

    Example:

        pugnn export --dataset cora --labels 27
    """
    from pugnn.cli.input_data import read_input
    from pugnn.task.benchmark_tables import export_tables

    if data.dataset is None:
        raise PugnnError("specify the data set: --dataset NAME")
    found = read_input(data, seed=seed)
    assert found.benchmark is not None
    print_files(export_tables(data.dataset, found.benchmark, out or Path(f"{data.dataset}-tables")), as_json)
