"""Tables out: Parquet files that keep the type of every column."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from pugnn.errors import PugnnError
from pugnn.files import replacing
from pugnn.io.connecting import connect, literal
from pugnn.io.objects import column_of
from pugnn.io.scratch import Scratch
from pugnn.io.source import reason_of


def write_parquet(path: Path, columns: Mapping[str, NDArray[Any]]) -> None:
    """Write columns of the same length as a Parquet file.

    Args:
        path: the file; it is replaced as a whole.
        columns: by name. Masked entries are null. Object columns keep their type where all entries have the same one
            that Parquet knows; others become text.
    """
    import duckdb

    arrays = {f"c_{at}": column_of(values) for at, values in enumerate(columns.values())}
    names = ", ".join(f'c_{at} AS "{name.replace(chr(34), 2 * chr(34))}"' for at, name in enumerate(columns))
    with replacing(path) as temporary, Scratch() as scratch:
        target = scratch.plain_name(temporary)
        with connect([target]) as connection:
            try:
                connection.register("content", arrays)
                connection.execute(
                    f"COPY (SELECT {names} FROM content) TO {literal(str(target))} (FORMAT parquet, USE_TMP_FILE false)"
                )
            except duckdb.Error as error:
                raise PugnnError(f"cannot write {path}: {reason_of(error)}") from None
