"""An edge table: positions of both ends of each edge, and weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pugnn.errors import PugnnError, shorten
from pugnn.features.attribute_table import MAX_FLOAT
from pugnn.features.number_columns import EdgeColumn
from pugnn.store.assembly.end_attributes import EdgeSums
from pugnn.store.assembly.input_tables import MAX_RELATIONS, Link, too_many
from pugnn.store.edge_columns import ReadColumn, describing_columns, known_columns, numbers_in
from pugnn.store.id_types import IdColumn
from pugnn.store.ids import EMPTY, IdTable, text_column
from pugnn.store.tables.column_names import SOURCE, TARGET, WEIGHT, find_column, names_of, normal, require_column
from pugnn.store.tables.table import Table

_MIN_WEIGHT = float(np.finfo(np.float32).smallest_subnormal)

_TWO_KINDS = " Where ends are of two kinds, name these: --edges account:RELATION:device=FILE"


class Edges(NamedTuple):
    """Positions of both ends of edges, and their weights if there are any."""

    sources: NDArray[np.int32]
    targets: NDArray[np.int32]
    weights: NDArray[np.float32] | None

    def of_rows(self, rows: NDArray[np.bool_]) -> Edges:
        """Some of the edges."""
        return Edges(self.sources[rows], self.targets[rows], None if self.weights is None else self.weights[rows])


class EdgeTable:
    """An edge table, to be read piece by piece.

    Args:
        table: the table.
        wanted: the user's names of columns.
        link: the relation that it is, and the kinds of nodes that it links.
        directed: whether nodes as sources and as targets are told apart, if these are of one kind.
        kinds: kinds of further columns that the user chose, by name.
        trained: the further columns that a model was trained with, if there is one.
    """

    def __init__(
        self,
        table: Table,
        wanted: Mapping[str, str | None],
        link: Link,
        *,
        directed: bool,
        kinds: Mapping[str, str],
        trained: Sequence[EdgeColumn] | None,
    ) -> None:
        self.table, self.link = table, link
        self.notes: list[str] = []  # what was repaired or left out
        self.one_kind = link.ends[0] == link.ends[1]
        self.directed = directed and self.one_kind
        self.ends, self.weight, self.type = self._places(wanted)
        if self.weight is not None and self.weighs_amounts:
            name = table.names[self.weight]
            self.notes.append(f"{table.shown}: {name!r} is the weight, and so does not describe the nodes at both ends")
        #: What further columns say of the nodes at the ends, by relation and end; one of them for both where they are
        #: not told apart.
        self.sums: dict[tuple[str, int], EdgeSums] = {}
        self._kinds, self._trained = kinds, trained

    @property
    def further(self) -> list[int]:
        """Places of the columns besides ends, weight and relation."""
        return [at for at in range(len(self.table.names)) if at not in (*self.ends, self.weight, self.type)]

    @property
    def weighs_amounts(self) -> bool:
        """Whether edges are weighted by a column that is not called weight."""
        return self.weight is not None and normal(self.table.names[self.weight]) not in WEIGHT

    @property
    def columns(self) -> tuple[IdColumn, ...]:
        """Those of the two ends."""
        return tuple(map(self.table.id_column, self.ends))

    def _places(self, wanted: Mapping[str, str | None]) -> tuple[tuple[int, ...], int | None, int | None]:
        """Places of the two ends, and of the weights and the names of relations, if there are any."""
        table = self.table
        if not table.header:
            if len(table.names) < 2:
                raise PugnnError(f"{table.shown} has one column; edges need two, source and target, in a header line")
            if wanted["edge_type"] is not None:
                raise PugnnError(f"{table.shown} has no header, so it has no column {wanted['edge_type']!r}")
            self.notes.append(f"{table.shown}: has no header; the first two columns are read as source and target")
            return (0, 1), None, None
        ends = tuple(self._end(end, wanted) for end in (0, 1))
        if ends[0] == ends[1]:
            raise PugnnError(f"{table.shown}: source and target are both the column {table.names[ends[0]]!r}")
        type_ = None if wanted["edge_type"] is None else find_column(table, "edge-type", wanted["edge_type"], ())
        return ends, find_column(table, "weight", wanted["weight"], WEIGHT), type_

    def _end(self, end: int, wanted: Mapping[str, str | None]) -> int:
        """The place of one end, which may have the name of the kind of its nodes where the other end has another."""
        table, kind, option = self.table, self.link.ends[end], ("source", "target")[end]
        usual: tuple[str, ...] = (SOURCE, TARGET)[end]
        if not kind:
            more = _TWO_KINDS if self.link.name else ""
            return require_column(table, option, wanted[option], usual, more=more)
        usual = usual if self.one_kind else (*names_of(kind), *usual)
        at = find_column(table, option, wanted[option], usual, first=not self.one_kind)
        if at is None:  # no option names it: --target is the kind that is looked for
            raise PugnnError(
                f"{table.shown} has no column for the {option} of its edges, of the kind {kind!r}; its columns are "
                f"{shorten(table.names, 20)}. Give it one of the names {shorten(usual, 20)}: rename it, or select it "
                f"as {usual[0]} in SQL."
            )
        return at

    def pieces(self, sources: IdTable, targets: IdTable) -> Iterator[tuple[str, Edges]]:
        """The relation of some edges, and these edges, a few million at a time.

        New ids are added to those of the two kinds of nodes, which may be the same, row by row.
        """
        table, weight, rows = self.table, self.weight, 0
        describing = self._describing()
        trimmed = -_trimmed(sources, targets)
        selected = [ids.sql(table, at) for ids, at in zip((sources, targets), self.ends, strict=True)]
        selected += [] if self.type is None else [f"trim(c_{self.type}::VARCHAR)"]
        selected += [] if weight is None else [table.number(weight)]
        selected += [column.sql for column in describing]
        for source, target, *others in table.pieces(*selected):
            u, v = sources.add(source, target) if sources is targets else (*sources.add(source), *targets.add(target))
            bad = {"source": u == EMPTY, "target": v == EMPTY}
            names = None if self.type is None else others.pop(0).combine_chunks().fill_null("").dictionary_encode()
            if names is not None:
                bad["relation"] = pc.equal(names.dictionary, "").take(names.indices).to_numpy(zero_copy_only=False)
            weights, expected = None, "a positive, finite number"
            if weight is not None:
                weights = others.pop(0).to_numpy()
                bad["weight"] = wrong = ~((weights >= _MIN_WEIGHT) & (weights <= MAX_FLOAT))
                if wrong.any() and MAX_FLOAT < weights[wrong.argmax()] < np.inf:
                    expected = f"at most {MAX_FLOAT:.1e}; it is too large"
                if len(weights) > 1 and not rows and np.isnan(weights).all():
                    words = f"no cell of the column {table.names[weight]!r} is a number"
                    raise PugnnError(f"{table.shown}: {words}; choose another for --weight")
            table.reject_cells(bad, weight, f"{expected}. Correct it, or remove the row", first=rows)
            values = numbers_in(table, describing, others, first=rows)
            rows += len(u)
            edges = Edges(u, v, None if weights is None else weights.astype(np.float32))
            for name, mine in [(self.link.name, None)] if names is None else _by_relation(names):
                part = edges if mine is None else edges.of_rows(mine)
                if describing:
                    cells = values if mine is None else [each[mine] for each in values]
                    self._add_up(name, part, cells, describing, (len(sources), len(targets)))
                yield name, part
        if not rows:
            raise PugnnError(f"{table.shown} has no rows; a graph needs edges")
        heads = [text_column([table.names[at]]) for at in self.ends]
        if all(ids.find(head)[0] >= 0 for ids, head in zip((sources, targets), heads, strict=True)):
            table.look_for_headers()
        self.notes += table.trimmed_note(trimmed + _trimmed(sources, targets))

    def _describing(self) -> list[ReadColumn]:
        """The further columns that say something of the nodes at the ends; notes say which do not."""
        table, places = self.table, self.further
        if not table.header:
            found, left_out = list[ReadColumn](), {"": [table.names[at] for at in places]} if places else {}
        elif self._trained is None:
            found, left_out = describing_columns(table, places, self._kinds)
        else:
            found = known_columns(table, places, self._trained)
            unknown = [table.names[at] for at in places if at not in [column.at for column in found]]
            left_out = {"the model was trained without": unknown} if unknown else {}
        for reason, names in left_out.items():
            words = f"{'columns' if len(names) > 1 else 'column'} {shorten(names)} not used"
            self.notes.append(f"{table.shown}: {words}{': ' if reason else ''}{reason}")
        return found

    def _add_up(
        self,
        relation: str,
        edges: Edges,
        values: list[NDArray[np.float64]],
        columns: Sequence[ReadColumn],
        sizes: tuple[int, int],
    ) -> None:
        """Add edges to the sums of both ends; self loops are no edges."""
        if self.one_kind and (loops := edges.sources == edges.targets).any():
            edges, values = edges.of_rows(~loops), [each[~loops] for each in values]
        for end, positions in enumerate((edges.sources, edges.targets)):
            key = relation, end if self.directed or not self.one_kind else 0
            if key not in self.sums:
                self.sums[key] = EdgeSums([column.column for column in columns])
            self.sums[key].add(positions, values, sizes[end])


def _trimmed(*ids: IdTable) -> int:
    return sum(each.trimmed for each in set(ids))


def _by_relation(names: pa.DictionaryArray) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Each relation in a column, and which rows are of it."""
    if len(names.dictionary) > MAX_RELATIONS:
        raise too_many(len(names.dictionary))
    codes = names.indices.to_numpy()
    for code, name in enumerate(names.dictionary.to_pylist()):
        yield name, codes == code
