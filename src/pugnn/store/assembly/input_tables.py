"""What a user gives: tables of edges by relation, tables of nodes by kind, and the kind that is looked for."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pugnn.errors import PugnnError, printable, quoted, require_type, shorten
from pugnn.store.assembly.hetero import hetero_tables
from pugnn.store.tables.column_names import SOURCE, normal
from pugnn.store.tables.input_files import matching
from pugnn.store.tables.objects import MemoryTable, is_frame, is_from, networkx_tables

#: More relations than this are a mistake: a column of amounts or of dates, not of kinds.
MAX_RELATIONS = 64

#: Letters of the name of a relation or a kind.
MAX_NAME = 100

#: The kind of all nodes, if there is one.
ONE_KIND = ""


@dataclass(frozen=True)
class Link:
    """A table of edges: the relation that it is, the kinds of nodes that it links, and where it is among the tables."""

    name: str
    ends: tuple[str, str]
    role: str


@dataclass(frozen=True, eq=False)
class Inputs:
    """What was given, sorted out.

    Args:
        tables: contents by role: ``edges``, ``nodes``, ``attributes``, with the name of a relation or kind if there are
            several, as in ``edges['pays']``.
        links: the tables of edges.
        kinds: of nodes, the target first; :data:`ONE_KIND` if there is one.
        columns: the columns ``target``, if it is not the kind that is looked for, and ``edge_type`` as they were named.
    """

    tables: Mapping[str, Any]
    links: tuple[Link, ...]
    kinds: tuple[str, ...]
    columns: Mapping[str, str | None]

    @classmethod
    def of(cls, edges: Any, nodes: Any, attributes: Any, target: Any, edge_type: Any) -> Inputs:
        """Sort out what was given; see :func:`pugnn.read_graph`."""
        if edges is None:
            raise PugnnError("edges are missing; give a file name, a data frame, a list of pairs, or a NetworkX graph")
        for name, column in (("target", target), ("edge_type", edge_type)):
            require_type(name, column, str | None, "the name of a column")
        if is_from("torch_geometric.data", "HeteroData", edges):
            _reject_more(nodes, attributes, "PyG data")
            edges, nodes, attributes, target = hetero_tables(edges, target)
        elif is_from("networkx", "Graph", edges):
            _reject_more(nodes, None, "a NetworkX graph")
            edges, nodes, edge_type = networkx_tables(edges, edge_type)
        named = dict(edges) if isinstance(edges, Mapping) and _are_tables(edges) else {"": edges}
        links = _distinct([_link(name, len(named) > 1) for name in named])
        kinds = list(dict.fromkeys(kind for link in links for kind in link.ends))
        if edge_type is not None and len(named) > 1:
            raise PugnnError(
                "--edge-type names the column of one edge table that says which relation a row is of; with several "
                f"tables, their names do: {shorten([link.name for link in links])}. Give one of both."
            )
        tables = {link.role: table for link, table in zip(links, named.values(), strict=True)}
        of_nodes = {"nodes": nodes, "attributes": attributes}
        if kinds == [ONE_KIND]:
            if any(isinstance(each, Mapping) and _are_tables(each) for each in (nodes, attributes)):
                raise PugnnError(
                    "nodes are of several kinds, but the edges do not say which kinds they link. Name them: --edges "
                    "user:NAME:item=orders.csv"
                )
            return cls(tables | of_nodes, links, (ONE_KIND,), {"target": target, "edge_type": edge_type})
        first = _target_of(kinds, target)
        kinds = [first, *(kind for kind in kinds if kind != first)]
        by_kind = {role: _by_kind(role, given, kinds) for role, given in of_nodes.items()}
        if len(kinds) == 1:  # which is the same as none
            links = tuple(Link(link.name, (ONE_KIND, ONE_KIND), link.role) for link in links)
            kinds, by_kind = [ONE_KIND], {role: {ONE_KIND: given.get(first)} for role, given in by_kind.items()}
        tables |= {cls.role(role, kind): table for role, given in by_kind.items() for kind, table in given.items()}
        return cls(tables, links, tuple(kinds), {"target": None, "edge_type": edge_type})

    @staticmethod
    def role(role: str, kind: str) -> str:
        """Where the table of this role for the nodes of a kind is."""
        return role if kind == ONE_KIND else f"{role}[{kind!r}]"


def named_table(text: str) -> tuple[str, str]:
    """The name and the file in ``NAME=FILE``; the name is empty if there is none.

    Example:
        >>> named_table("pays=pays.csv"), named_table("data/a=b/edges.csv")
        (('pays', 'pays.csv'), ('', 'data/a=b/edges.csv'))
    """
    name, equals, file = text.partition("=")
    if not equals or not name or "/" in name or os.sep in name or any(map(os.path.exists, matching(text))):
        return "", text
    return name, file


def named_tables(texts: str | Iterable[str]) -> list[tuple[str, str]]:
    """Names and files of one or several ``NAME=FILE``."""
    return [named_table(text) for text in ([texts] if isinstance(texts, str) else texts)]


def tables_of(texts: str | Iterable[str], option: str) -> Any:
    """What a repeated option names: one file, or files by name; those without a name have that of the file."""
    given = named_tables(texts)
    if len(given) == 1 and not given[0][0]:
        return given[0][1]
    named: dict[str, str] = {}
    for name, file in given:
        own = name or stem(file)
        if own in named:
            raise PugnnError(
                f"--{option}: {quoted(own)} is given twice; give each its name, NAME=FILE. Several files of the same "
                "kind are one table by a pattern in quotes: 'part-*.csv'"
            )
        named[own] = file
    return named


def stem(file: str) -> str:
    """``data/pays.csv.gz`` → ``pays``."""
    return os.path.basename(file).split(".")[0].strip("*?-_ ") or "edges"


def check_name(name: str, what: str) -> str:
    """The name of a relation or a kind, if it can be shown as one."""
    if not name.strip():
        raise PugnnError(f"a {what} has no name; give it one")
    if name != printable(name) or len(name) > MAX_NAME:
        why = f"longer than {MAX_NAME} letters" if len(name) > MAX_NAME else "not printable"
        raise PugnnError(f"the name of the {what} {quoted(name)} is {why}; choose a short, printable one")
    return name


def _are_tables(given: Mapping[Any, Any]) -> bool:
    """Whether the values of a mapping are tables, and not the columns of one."""
    named = any(isinstance(name, tuple) or str(name).count(":") == 2 for name in given)
    return bool(given) and all(
        _is_table(each, named or not {normal(str(name)) for name in given} & {*SOURCE, "id"}) for each in given.values()
    )


def _is_table(given: Any, pairs: bool) -> bool:
    """Whether this is a table; a list of pairs is one only where ``pairs`` says so: ids may be pairs as well."""
    if isinstance(given, str | os.PathLike | Mapping | MemoryTable) or is_frame(given):
        return True
    if isinstance(given, np.ndarray):
        return given.ndim == 2
    return (
        pairs
        and isinstance(given, list | tuple)
        and all(isinstance(each, list | tuple) for each in given[:3])
        and bool(given)
    )


def _link(given: Any, several: bool) -> Link:
    """The relation of a name: ``pays``, ``user:bought:item``, or three names."""
    text = str(given)
    parts = [*map(str, given)] if isinstance(given, tuple) else text.split(":")
    role = f"edges[{':'.join(parts)!r}]" if several else "edges"
    if parts == [""] and not several:
        return Link("", (ONE_KIND, ONE_KIND), role)
    if len(parts) == 1:
        return Link(check_name(parts[0].strip(), "relation"), (ONE_KIND, ONE_KIND), role)
    if len(parts) != 3 or not all(part.strip() for part in parts):
        raise PugnnError(f"a relation is a name, or KIND:NAME:KIND, such as user:bought:item; got {given!r}")
    one, name, other = (
        check_name(part.strip(), what) for part, what in zip(parts, ("kind", "relation", "kind"), strict=True)
    )
    return Link(name, (one, other), role)


def _distinct(links: list[Link]) -> tuple[Link, ...]:
    """The same relations; those of the same name that link other kinds are told apart by these."""
    if len(links) > MAX_RELATIONS:
        raise too_many(len(links))
    if any(ONE_KIND in link.ends for link in links) and any(ONE_KIND not in link.ends for link in links):
        lacking = next(link for link in links if ONE_KIND in link.ends)
        kind = next(link.ends[0] for link in links if ONE_KIND not in link.ends)
        raise PugnnError(
            f"the relation {quoted(lacking.name)} does not say which kinds of nodes it links, but others do. Name "
            f"them, as in --edges {kind}:{lacking.name}:{kind}=FILE"
        )
    times = Counter(link.name for link in links)
    found = [
        link if times[link.name] == 1 else Link(":".join((link.ends[0], link.name, link.ends[1])), link.ends, link.role)
        for link in links
    ]
    name, most = Counter(link.name for link in found).most_common(1)[0]
    if most > 1:
        raise PugnnError(f"two relations are called {quoted(name)}; give each a name of its own")
    return tuple(found)


def too_many(count: int) -> PugnnError:
    """The error for so many relations, or more."""
    return PugnnError(
        f"there are {count:,} relations or more, and at most {MAX_RELATIONS} can be told apart. Leave out --edge-type "
        "to read all edges as one, or group its values into a few."
    )


def _target_of(kinds: list[str], target: str | None) -> str:
    """The kind that is looked for."""
    named = shorten(kinds, 20)
    if target is None and len(kinds) > 1:
        raise PugnnError(f"nodes are of several kinds: {named}. Say which of them is looked for: --target KIND")
    if target is not None and target not in kinds:
        raise PugnnError(
            f"--target {target}: there is no such kind of nodes; the edges link {named}. With several kinds, --target "
            "names the one that is looked for, and columns are found by their usual names or by those of the kinds."
        )
    return target or kinds[0]


def _by_kind(role: str, given: Any, kinds: list[str]) -> dict[str, Any]:
    """The tables of a role by kind."""
    if given is None:
        return {}
    if role == "attributes" and not (isinstance(given, Mapping) and set(given) <= set(kinds)):
        given = {kinds[0]: given}
    if not isinstance(given, Mapping):
        if len(kinds) == 1:
            return {kinds[0]: given}
        raise PugnnError(
            f"nodes are of several kinds: {shorten(kinds, 20)}. Say of which kind those of --{role} are: --{role} "
            f"{kinds[0]}=FILE"
        )
    unknown = [str(kind) for kind in given if kind not in kinds]
    if unknown:
        raise PugnnError(
            f"--{role} {unknown[0]}=…: there is no such kind of nodes; the edges link {shorten(kinds, 20)}"
        )
    return dict(given)


def _reject_more(nodes: Any, attributes: Any, what: str) -> None:
    if nodes is not None or attributes is not None:
        raise PugnnError(f"{what} brings its node attributes with it; do not give nodes as well")
