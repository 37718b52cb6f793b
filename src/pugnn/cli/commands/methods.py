"""`pugnn methods`: what has a name, and the option that takes it."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import typer

from pugnn.cli.options import SETTINGS, Json, command, summary
from pugnn.cli.terminal import print_json
from pugnn.errors import PugnnError


@command(SETTINGS)
def methods(as_json: Json = False) -> None:
    """List methods, networks, estimators of the prior, kinds of columns, data sets and metrics, also of other packages.

    The options of each method are shown by `pugnn fit --method NAME --help`.
    """
    from pugnn.datasets import DATASETS
    from pugnn.features.encoding import ENCODINGS
    from pugnn.methods import DEFAULT_METHOD, METHODS
    from pugnn.metrics import METRICS
    from pugnn.models import BACKBONES
    from pugnn.priors import PRIORS

    registries: dict[str, Any] = {
        "--method": METHODS,
        "--backbone": BACKBONES,
        "--prior": PRIORS,
        "--column NAME=": ENCODINGS,
        "--dataset": DATASETS,
        "metrics": METRICS,
    }
    rows = []
    for option, registry in registries.items():
        for name in registry:
            try:
                words = getattr(registry[name], "words", None) or summary(registry[name])
            except PugnnError as error:  # another package is broken, which is no reason not to list the others
                words = str(error)
            rows.append({"option": option, "name": name, "package": registry.provider(name), "summary": words})
    if as_json:
        print_json(rows)
        return
    width = max(len(row["name"]) for row in rows)
    for option, group in groupby(rows, lambda row: row["option"]):
        typer.echo(f"{option}:")
        for row in group:
            origin = "" if row["package"] == "pugnn" else f" [{row['package']}]"
            default = " (default)" if (option, row["name"]) == ("--method", DEFAULT_METHOD) else ""
            typer.echo(f"{row['name']:<{width}}  {row['summary']}{origin}{default}")
