"""The graph of a run, kept in its folder: commands on the run open it, and read no table again."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pugnn.errors import PugnnError, PugnnWarning
from pugnn.files import file_states, new_folder
from pugnn.graph import Graph
from pugnn.graph.digests import NODES
from pugnn.runs.run import InputData, count_nodes
from pugnn.runs.writers import COLUMNS, read_columns
from pugnn.store.assembly.input_tables import named_tables
from pugnn.store.case_log import is_sqlite
from pugnn.store.opening import Manifest, listed_files, open_with_manifest
from pugnn.store.stored_arrays import described, feature_arrays, id_arrays, open_array, relation_files, write_array
from pugnn.store.tables.input_files import matching
from pugnn.task import PUBenchmark, PUTask

if TYPE_CHECKING:
    from pugnn.estimator import PUNodeClassifier

#: The folder in that of a run.
NAME = "graph"
#: Bytes; larger graphs are not kept.
MAX_BYTES = 1 << 28
#: Options that name tables: of the graph, perhaps after the name of a relation or kind, and of lists of nodes.
BY_NAME = ("edges", "nodes", "attributes")
LISTS = ("positives", "truth", "checked", "confirmed", "rejected")


def keep_graph(folder: Path, data: InputData) -> None:
    """Keep a graph that was read from tables as a store in the folder of a run.

    Nothing is kept of larger graphs, nor where ids are neither text nor integers.
    """
    shutil.rmtree(folder / NAME, ignore_errors=True)  # of a run that was stopped
    graph = data.graph
    arrays: dict[str, NDArray[Any]] = {"indptr": graph.indptr, "indices": graph.indices}
    arrays |= feature_arrays(graph.features)
    if graph.weights is not None:
        arrays["weights"] = graph.weights
    for file, (name, part) in relation_files(graph.relations).items():
        arrays[file] = getattr(graph.relations[name], part)
    if data.benchmark is not None:
        arrays["truth"] = np.flatnonzero(data.benchmark.positive)
    if "edges" not in data.options or sum(array.nbytes for array in arrays.values()) > MAX_BYTES:
        return
    try:
        ids = graph.ids
        arrays |= id_arrays(pa.array(ids) if ids.dtype == np.int64 else pa.array(ids.tolist(), pa.large_string()))
    except (pa.ArrowException, UnicodeError):
        return
    try:
        with new_folder(folder / NAME) as temporary:
            for name, array in arrays.items():
                write_array(temporary, name, array)
            Manifest(
                files=listed_files(temporary),
                cleaning=asdict(graph.cleaning),
                recipe=graph.recipe or {},
                feature_names=list(graph.feature_names or ()),
                id_column=None,
                notes=[],
                built_from=[{"file": file, "state": state} for file, state in data.inputs.items()],
                relations=described(graph.relations),
                kinds=list(graph.kinds.items()),
            ).write(temporary)
    except PugnnError as error:
        warnings.warn(f"the run has no graph, so commands on it will read the tables: {error}", PugnnWarning, 2)


def open_kept(
    folder: Path, record: Mapping[str, Any], options: Mapping[str, Any], estimator: PUNodeClassifier
) -> InputData | None:
    """The data of a run without reading any table; ``None`` if it has not kept them, or a table has changed since.

    A table that is gone has not changed. ``record`` is the content of ``run.json``, ``options`` are its data options,
    and the estimator is the model of the run, which remembers the known nodes.
    """
    path = folder / NAME
    try:
        graph, manifest = open_with_manifest(path, verified=True)
        then = {each["file"]: each["state"] for each in manifest.built_from}
    except (PugnnError, KeyError, TypeError):
        return None
    known = estimator.known_.find(graph)
    given = PUTask.from_positives(graph, known["positives"])
    task = given.with_feedback(known["confirmed"], known["rejected"])
    digests = record["data"].get("digests", {})
    same = (
        all(then.get(file) == state for file, state in input_states(options).items())
        and all(digests.get(part) == digest for part, digest in graph.digests.items() if part != NODES)
        and all(record.get(name) == count for name, count in count_nodes(task).items())
    )
    if not same:
        return None
    benchmark = None
    if "truth.npy" in manifest.files:
        positive = np.isin(np.arange(graph.num_targets), open_array(path, "truth"))
        benchmark = replace(PUBenchmark.of_unlabelled(given, positive), task=task, scored=task.unlabelled)
    return InputData(name=folder.name, graph=graph, options=dict(options), task=task, benchmark=benchmark)


def read_scores(file: Path, graph: Graph) -> tuple[NDArray[np.float64], dict[str, NDArray[Any]]] | None:
    """Log-odds and shown columns by position, as a run has written them; ``None`` if they are no longer all there."""
    try:
        with file.open("rb") as content:
            shown = pq.read_schema(content).names[len(COLUMNS) :]
        found, gone = read_columns(file, graph, ["log_odds"], shown)
    except (OSError, pa.ArrowException, PugnnError):
        return None
    log_odds = found.pop("log_odds")
    if gone or np.isnan(log_odds).any():
        return None
    names = {f"{name} (shown)": name for name in COLUMNS}  # of the table of nodes
    return log_odds, {names.get(name, name): cells for name, cells in found.items()}


def input_states(options: Mapping[str, Any]) -> dict[str, list[int]]:
    """Size and time of the last change of each table that data options name, as far as they are there.

    The log of a case room is none of them: it goes on, and what the run has learnt from it is in the model.
    """
    names = [file for name in BY_NAME if options.get(name) for _, file in named_tables(options[name])]
    given = [options[name] for name in LISTS if options.get(name)]
    lists = [name for each in given for name in ([each] if isinstance(each, str) else each)]
    names += [name for name in lists if not is_sqlite(Path(name))]  # a database is named by its address
    return file_states(file for name in names for file in matching(name))
