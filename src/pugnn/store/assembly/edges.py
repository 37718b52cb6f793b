"""The edges of a graph by relation, merged into rows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError, counted, quoted, shorten
from pugnn.features.number import long_tail
from pugnn.graph.adjacency import Cleaning
from pugnn.graph.relations import IN, OUT, Relation, Relations, summed_cleaning
from pugnn.store.arguments import Request
from pugnn.store.assembly.input_tables import MAX_RELATIONS, Inputs, check_name, stem, too_many
from pugnn.store.assembly.nodes import KindOfNodes
from pugnn.store.assembly.odd_ids import notes_on_missing
from pugnn.store.assembly.places import GraphArrays, Rows
from pugnn.store.edge_table import Edges, EdgeTable
from pugnn.store.stored_arrays import relation_prefix

#: Amounts are capped at this quantile, of about so many of them.
CAP, SAMPLED = 0.99, 1_000_000


@dataclass(frozen=True, eq=False)
class ReadRelation:
    """A relation whose edges were read; positions are those among the nodes of a kind."""

    name: str
    table: EdgeTable
    edges: Edges

    @property
    def ends(self) -> tuple[str, str]:
        """The kinds of nodes that it links."""
        return self.table.link.ends


def read_edges(
    tables: Sequence[EdgeTable], kinds: Mapping[str, KindOfNodes], request: Request, inputs: Inputs, place: GraphArrays
) -> list[ReadRelation]:
    """The edges of all tables by relation, in the order of the model's recipe if there is one."""
    table_of: dict[str, EdgeTable] = {}

    def pieces() -> Iterator[tuple[str, Edges]]:
        for table in tables:
            request.say(f"reading {table.table.shown}")
            for name, piece in table.pieces(*(kinds[kind].ids for kind in table.link.ends)):
                if name not in table_of:
                    table_of[check_name(name, "relation") if name else name] = table
                    if len(table_of) > MAX_RELATIONS:
                        raise too_many(len(table_of))
                yield name, piece

    found = place.collect(pieces())
    for name, table in table_of.items():
        if table.weighs_amounts:
            table.notes += _weigh_amounts(found[name].weights, table)
    names = sorted(found) if tables[0].type is not None else list(found)  # whatever the order of rows
    relations = [ReadRelation(name or _name_of(inputs), table_of[name], found[name]) for name in names]
    for table in tables:
        mine = [each.edges for each in relations if each.table is table]
        _require_common_ids(mine, table, kinds)
        table.notes += notes_on_missing(table, mine, {kind: kinds[kind].ids for kind in table.link.ends})
    order = {name.removesuffix(OUT): at for at, name in enumerate(_known_to_model(request))}
    return sorted(relations, key=lambda each: order.get(each.name, len(order)))


def _weigh_amounts(weights: NDArray[np.float32] | None, table: EdgeTable) -> list[str]:
    """Turn amounts with a long tail into weights, in place, and say so; a few huge ones would drown all others."""
    assert weights is not None
    assert table.weight is not None
    sample = weights[:: max(1, len(weights) // SAMPLED)]
    if not long_tail(sample):
        return []
    cap = float(np.quantile(sample, CAP))
    np.minimum(weights, np.float32(cap), out=weights)
    np.log1p(weights, out=weights)
    name = table.table.names[table.weight]
    return [f"{table.table.shown}: weights are log(1 + {name}), with {name} capped at {cap:,.6g}, its 99th percentile"]


def merge_relations(
    read: Sequence[ReadRelation], kinds: Mapping[str, KindOfNodes], request: Request, place: GraphArrays
) -> tuple[Rows, dict[str, Relation], Cleaning, list[str]]:
    """The rows of all relations together, the relations if there are several, how edges were cleaned, and notes."""
    sizes = [len(kind.ids) for kind in kinds.values()]
    starts, total = dict(zip(kinds, np.cumsum([0, *sizes]).tolist(), strict=False)), sum(sizes)
    for each in read:  # from positions among the nodes of a kind to those among all
        for kind, positions in zip(each.ends, each.edges[:2], strict=True):
            if starts[kind]:
                positions += np.int32(starts[kind])  # in place: they may be in a file
    between = [each.name for each in read if not each.table.one_kind] if request.directed else []
    words = "the direction of relations between two kinds of nodes is given by the kinds"
    notes = [f"{words}: {shorten(between)}"] if between else []
    relations = Relations()
    kept: list[tuple[ReadRelation, Cleaning]] = []
    for each in read if len(read) > 1 or read[0].table.directed else ():
        new, cleaning = _merge_one(each, total, len(relations), place)
        one = next(iter(new.values()))
        same = next((name for name, other in relations.items() if _is_reverse(one, other)), None)
        if same is not None and each.name not in _known_to_model(request):
            place.discard(relation_prefix(len(relations)))
            notes.append(f"the relation {each.name!r} is left out: it has the edges of {same!r}, the other way round")
            continue
        if twice := relations.keys() & new:
            raise PugnnError(f"two relations are called {quoted(min(twice))}; give each a name of its own")
        relations |= new
        kept.append((each, cleaning))
    if len(relations) > 1:
        whole = summed_cleaning({each.name: cleaning for each, cleaning in kept})
        return place.join(list(relations.values())), relations, whole, notes + _notes(kept)
    place.discard(relation_prefix(0))
    rows = place.merge(total, read[0].edges)
    return rows[:3], {}, rows[3], notes + _notes([(read[0], rows[3])])


def _merge_one(each: ReadRelation, total: int, at: int, place: GraphArrays) -> tuple[dict[str, Relation], Cleaning]:
    """One relation by its name, or both directions of it."""
    if not each.table.directed:
        rows = place.merge(total, each.edges, relation_prefix(at))
        return {each.name: Relation(*rows[:3], each.ends)}, rows[3]
    out, back = each.name + OUT, each.name + IN
    forward, backward = place.merge_directed(total, each.edges, (relation_prefix(at), relation_prefix(at + 1)))
    relations = {out: Relation(*forward[:3], each.ends, back), back: Relation(*backward[:3], each.ends, out)}
    return relations, forward[3]


def _known_to_model(request: Request) -> tuple[str, ...]:
    """Names of the relations that a model was trained with, if there is one."""
    return () if request.recipe is None else request.recipe.relations


def _name_of(inputs: Inputs) -> str:
    """The name of the only relation, which has none: that of its file."""
    content = inputs.tables[inputs.links[0].role]
    return stem(os.fspath(content)) if isinstance(content, str | os.PathLike) else "edges"


def _is_reverse(one: Relation, other: Relation) -> bool:
    """Whether two relations have the same edges, from the first kind to the second and back."""
    if one.ends != other.ends[::-1] or one.ends[0] == one.ends[1]:
        return False
    pairs = zip((one.indptr, one.indices, one.weights), (other.indptr, other.indices, other.weights), strict=True)
    return all(mine is theirs or np.array_equal(mine, theirs) for mine, theirs in pairs)  # type: ignore[arg-type]


def _require_common_ids(edges: Sequence[Edges], table: EdgeTable, kinds: Mapping[str, KindOfNodes]) -> None:
    for kind in dict.fromkeys(table.link.ends):
        ids, nodes = kinds[kind].ids, kinds[kind].nodes
        ends = [part for each in edges for part, of in zip(each[:2], table.link.ends, strict=True) if of == kind]
        if nodes is not None and min(int(part.min()) for part in ends) >= nodes.count:
            in_nodes = shorten(ids.texts(0, min(nodes.count, 2)))
            in_edges = shorten(ids.texts(nodes.count, nodes.count + 2))
            raise PugnnError(
                f"{table.table.shown} and {nodes.table.shown} have no id in common: {in_edges} in the former, "
                f"{in_nodes} in the latter. Write them the same way, or name the columns that hold them."
            )


def _notes(kept: Sequence[tuple[ReadRelation, Cleaning]]) -> list[str]:
    """What was merged and dropped, by table."""
    notes = []
    for table in dict.fromkeys(each.table for each, _ in kept):
        mine = {each.name: cleaning for each, cleaning in kept if each.table is table}
        cleaning, shown = summed_cleaning(mine), table.table.shown
        added = "" if table.weight is None else ", their weights added"
        if cleaning.self_loops:
            notes.append(f"{shown}: {counted(cleaning.self_loops, 'self loop')} dropped")
        if cleaning.duplicates:
            notes.append(f"{shown}: {counted(cleaning.duplicates, 'duplicate edge')} merged{added}")
        if cleaning.two_way:
            pairs = counted(cleaning.two_way, "edge")
            notes.append(f"{shown}: {pairs} given in both directions merged{added}; direction does not matter")
        empty = [name for name, own in mine.items() if not own.edges and len(kept) > 1]
        notes += [f"{shown}: the relation {name!r} has only self loops, and so no edges" for name in empty]
    return notes
