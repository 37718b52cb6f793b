"""Rows of numbers, one per node, in tables that may be larger than memory."""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import DTypeLike, NDArray
from torch import Tensor

from pugnn import processes
from pugnn.errors import PugnnError
from pugnn.files import regular, replacing
from pugnn.graph.smoothing import LANES
from pugnn.graph.vectors import aligned
from pugnn.memory import available_memory, memory_words

#: Rows that are handled at a time.
CHUNK = 1 << 16
#: Columns of a table that are smoothed together, at most.
MOST_TOGETHER = 256
#: Share of the available memory that tables may take.
SHARE = 0.5


@dataclass(frozen=True, eq=False)
class Rows:
    r"""A matrix with one row per node, several views side by side, which is never held as a whole.

    A view is a table with blocks of columns, :math:`(K, N, b)`, filled up with zeros, and a factor for each node. The
    rows of a node in all blocks, times the factor, side by side, are its row.

    ``rows[nodes]`` and ``rows @ matrix`` are what they are for a tensor.

    Args:
        tables: one for each view, float32 or float16, on one device.
        factors: one for each view, shape ``(N,)``.
        columns: of each view.
    """

    tables: tuple[Tensor, ...]
    factors: tuple[Tensor, ...]
    columns: int

    @classmethod
    def of(cls, values: Tensor) -> Rows:
        """A matrix as it is."""
        return cls((values[None],), (values.new_ones(len(values)),), values.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        """Number of nodes, and of columns of all views together."""
        return self.tables[0].shape[1], len(self.tables) * self.columns

    @property
    def device(self) -> torch.device:
        """Where it is."""
        return self.tables[0].device

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, nodes: Tensor | slice) -> Tensor:
        parts = []
        for table, factor in zip(self.tables, self.factors, strict=True):
            blocks = table[:, nodes].float()
            row = blocks[0] if len(blocks) == 1 else blocks.transpose(0, 1).flatten(1)
            parts.append(row[:, : self.columns] * factor[nodes, None])
        return parts[0] if len(parts) == 1 else torch.cat(parts, dim=1)

    def chunks(self) -> Iterator[Tensor]:
        """All rows, some at a time."""
        for first in range(0, len(self), CHUNK):
            yield self[first : first + CHUNK]

    def __matmul__(self, matrix: Tensor) -> Tensor:
        return torch.cat([chunk @ matrix for chunk in self.chunks()])

    @cached_property
    def mean(self) -> Tensor:
        """Of each column, over all nodes."""
        if len(self) <= CHUNK:
            return self[:].mean(dim=0)
        # Added up in double precision.
        return (sum(chunk.sum(dim=0, dtype=torch.float64) for chunk in self.chunks()) / len(self)).float()  # type: ignore[union-attr]

    def beside(self, weights: Sequence[float], others: Sequence[Rows]) -> Rows:
        """This one and others side by side, each times its weight."""
        every = (self, *others)
        factors = tuple(weight * factor for weight, rows in zip(weights, every, strict=True) for factor in rows.factors)
        return Rows(tuple(table for rows in every for table in rows.tables), factors, self.columns)


_HELD: ContextVar[list[Rows] | None] = ContextVar("rows that are held", default=None)


@contextmanager
def rows_held() -> Iterator[None]:
    """Rows that a training inside has made stay in memory until the outermost one of these ends, and no longer."""
    if _HELD.get() is not None:
        yield
        return
    before = _HELD.set([])
    try:
        yield
    finally:
        _HELD.reset(before)


def hold(rows: Rows) -> None:
    """Hold rows, if somebody wants them (:func:`rows_held`)."""
    held = _HELD.get()
    if held is not None:
        held.append(rows)


@dataclass(frozen=True)
class TablePlan:
    """Where the tables of a graph go, and in which form.

    They stay in memory if they take no more than half of what is available. Otherwise, and where several processes
    share them, they are files that are mapped into memory: in single precision if they fit into it together, and in
    half precision if not. A block has as many columns as can be smoothed in half of the available memory, and few
    enough for every process to have one.

    Args:
        nodes: N.
        columns: of a view.
        block: columns of a block, a multiple of 16.
        mapped: whether tables are files.
        dtype: of their numbers.
    """

    nodes: int
    columns: int
    block: int
    mapped: bool
    dtype: DTypeLike

    @classmethod
    def of(cls, nodes: int, columns: int, tables: int, *, shared: bool = False, half: bool | None = None) -> TablePlan:
        """As the available memory allows, for so many tables; ``shared`` if several processes fill them together.

        ``half`` says whether they have half precision, whatever the memory is. In memory they never have.
        """
        vectors = -(-columns // LANES)
        size, memory = 4 * nodes * vectors * LANES * tables, available_memory()
        here = processes.count_on_host()
        if shared:
            memory = processes.number_of_first(memory)
        else:  # every process may have such tables; or one alone, so that the others would not answer
            memory, here = memory // here, 1
        mapped = shared or half is True or size > SHARE * memory
        fit = int(SHARE * memory / here / (3 * 4 * LANES * max(nodes, 1))) if mapped else vectors
        fair = -(-vectors // processes.count()) if shared else vectors
        block = LANES * min(vectors, MOST_TOGETHER // LANES, max(1, fit), fair)
        needed = 3 * 4 * nodes * block * here
        if mapped and needed > memory:
            raise PugnnError(
                f"smoothing {nodes:,} nodes needs {memory_words(needed)} of memory, and {memory_words(memory)} are "
                "available. Use a machine with more memory."
            )
        halved = mapped and (size > memory if half is None else half)
        return cls(nodes, columns, block, mapped, np.float16 if halved else np.float32)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of a table."""
        return -(-self.columns // self.block), self.nodes, self.block

    @property
    def bytes(self) -> int:
        """Of a table."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize

    def table(self) -> NDArray[Any]:
        """A new table of zeros: in memory, or in a file without a name, which ends with the process."""
        if not self.mapped:
            return aligned(np.zeros, self.shape, self.dtype)
        folder = Path(tempfile.gettempdir())
        with _room_for(self.bytes, folder, ", set TMPDIR to another folder"), tempfile.TemporaryFile() as file:
            reserve(file.fileno(), self.bytes)
            return np.memmap(file, self.dtype, "r+", shape=self.shape)


@dataclass(frozen=True)
class KeptTables:
    """A folder for tables that other processes share, and that a run which was stopped finds again.

    Args:
        folder: where they are, and nothing else.
        identity: names the graph and all settings: tables with another identity are not used.
    """

    folder: Path
    identity: str

    def everywhere(self) -> KeptTables:
        """The same in every process: the folder of the first one, which all must reach by the same path."""
        folder = processes.bytes_of_first(os.fsencode(self.folder.absolute()))
        assert folder is not None
        return replace(self, folder=Path(os.fsdecode(folder)))

    def finished(self, plan: TablePlan, names: Sequence[str]) -> TablePlan | None:
        """The plan of these tables if all of them were finished before, and ``None`` otherwise.

        It may differ from today's in where columns are divided and in precision: another process count, or another
        amount of memory, must not change a run that continues.
        """
        try:
            found = json.loads(regular(self._record).read_text())
            before = TablePlan(plan.nodes, plan.columns, int(found["block"]), True, np.dtype(found["dtype"]).type)
            sizes = [self._path(name).stat().st_size for name in names]
            same = found == self._content(before, names) and sizes == [before.bytes] * len(names)
        except (OSError, ValueError, KeyError, TypeError, ZeroDivisionError):  # somebody has changed it
            return None
        return before if same else None

    def create(self, plan: TablePlan, names: Sequence[str]) -> None:
        """Reserve the room for new tables."""
        with _room_for(plan.bytes * len(names), self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            self._record.unlink(missing_ok=True)
            for name in names:
                with self._path(name).open("wb") as file:
                    reserve(file.fileno(), plan.bytes)

    def open(self, plan: TablePlan, name: str) -> NDArray[Any]:
        """A table, to read and to write."""
        return np.memmap(self._path(name), plan.dtype, "r+", shape=plan.shape)

    def finish(self, plan: TablePlan, names: Sequence[str]) -> None:
        """Note that all tables are complete."""
        with replacing(self._record) as temporary:
            temporary.write_text(json.dumps(self._content(plan, names)))

    @property
    def _record(self) -> Path:
        return self.folder / "finished.json"

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.table"

    def _content(self, plan: TablePlan, names: Sequence[str]) -> dict[str, Any]:
        form = {"shape": list(plan.shape), "block": plan.block, "dtype": np.dtype(plan.dtype).name}
        return {"identity": self.identity, "tables": list(names), "columns": plan.columns, **form}


@contextmanager
def _room_for(size: int, folder: Path, remedy: str = "") -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise PugnnError(
            f"cannot keep {memory_words(size)} of smoothed attributes in {folder}: {error.strerror}. Make room "
            f"there{remedy}, or use a machine with more memory."
        ) from None


def reserve(file: int, size: int) -> None:
    """Reserve the room: on a full disk, writing to a mapped file would end the process without a word."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, 0, size)
    else:
        os.truncate(file, size)
