"""Small attribute tables for the tests of the recipe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import numpy as np

from pugnn.features.attribute_table import AttributeTable, Cells
from pugnn.features.recipe import Recipe
from pugnn.graph import Graph


def attributes_of(
    columns: Mapping[str, Sequence[Any]],
    types: str | Mapping[str, str] | None = None,
    *,
    num_nodes: int | None = None,
    positions: Sequence[int] | None = None,
) -> AttributeTable:
    """A table with these columns: text as from a CSV file, or of the DuckDB types given for all or by column.

    All columns are inside DuckDB, those of numbers too.
    """
    rows = len(next(iter(columns.values()))) if columns else 0
    places = range(rows) if positions is None else positions
    connection = duckdb.connect()
    type_of = {name: types if isinstance(types, str) else (types or {}).get(name, "VARCHAR") for name in columns}
    made = ", ".join(f"a_{at} {type_of[name]}" for at, name in enumerate(columns))
    connection.execute(f"CREATE TABLE nodes (position BIGINT{', ' + made if made else ''})")
    for place, row in zip(places, zip(*columns.values(), strict=True), strict=bool(columns)):
        connection.execute(f"INSERT INTO nodes VALUES (?{', ?' * len(row)})", [place, *row])
    return AttributeTable(
        connection,
        "nodes",
        tuple(columns),
        types is not None,
        rows if num_nodes is None else num_nodes,
        "nodes.csv",
        lambda position: f"nodes.csv, row {position + 2}",
        rows=rows,
        stored=tuple(columns),
    )


def cells_of(values: Sequence[Any], type_name: str | None = None, **options: Any) -> Cells:
    """The cells of a table with the one column ``x``."""
    return attributes_of({"x": values}, type_name, **options).cells("x")


def ring(nodes: int) -> Graph:
    """A ring, whose nodes are called n0, n1, …"""
    ends = np.arange(nodes)
    ids = [f"n{node}" for node in range(nodes)]
    return Graph.from_edges([ids[i] for i in ends], [ids[i] for i in np.roll(ends, -1)], ids=ids)


def learned(attributes: AttributeTable, **kinds: str) -> Recipe:
    """The recipe of a table."""
    return Recipe.learn(attributes, kinds, ring(attributes.num_nodes))[0]


def features_of(recipe: Recipe, attributes: AttributeTable) -> np.ndarray:
    """The features that a recipe makes of a table, dense."""
    features = recipe.apply(attributes, ring(attributes.num_nodes)).blocks.joined()
    return features if isinstance(features, np.ndarray) else features.toarray()
