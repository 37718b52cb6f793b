"""How the attributes of nodes become features, in a form that a model keeps and applies to new tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from pugnn.errors import Displayed, PugnnError, counted, shorten, similar
from pugnn.features.attribute_table import AttributeTable, Cells
from pugnn.features.counts import Counts
from pugnn.features.encoding import ENCODINGS, Encoding, FeatureBlocks, Statement
from pugnn.features.kinds import EMPTY, Choice, kind_of, needs_text
from pugnn.features.number_columns import STATISTICS, EdgeColumn, names_of
from pugnn.features.saved import damaged, entry, from_plain, optional, to_plain
from pugnn.features.structure import Structure
from pugnn.graph import Graph

#: Changes whenever the meaning of saved recipes does.
FORMAT = 2

#: In place of the column of features that come from none.
NO_ROW, STRUCTURE = "no row", "structure"

#: The reason for a column that the user wants ignored.
CHOSEN = "as you chose"


@dataclass(frozen=True)
class Encoded:
    """Features made by a recipe."""

    blocks: FeatureBlocks
    names: tuple[str, ...]  # of the features, unique
    notes: tuple[str, ...]  # what differs from the table that the recipe was learned from, and what is not used


@dataclass(frozen=True, repr=False)
class Recipe(Displayed):
    """How each column of nodes becomes features; without any in the node table, also features of the structure.

    Args:
        encodings: of the columns that become features.
        ignored: names of the other columns, and why each is left out.
        rowless: number of nodes without a row in the node table in training; if there were any, the last feature marks
            them.
        structure: the features of the structure, if no column of the node table becomes any; they follow those of
            ``encodings``, which edges gave then.
        counts: the columns of counts, which follow those of ``encodings``.
        of_edges: columns of edge tables that say something of their ends.
    """

    encodings: tuple[Encoding, ...]
    ignored: Mapping[str, str]
    rowless: int
    structure: Structure | None
    counts: Counts | None = None
    of_edges: tuple[EdgeColumn, ...] = ()

    #: Names of relations and of kinds of nodes, of which a graph with this recipe has one each.
    relations: ClassVar[tuple[str, ...]] = ()
    kinds: ClassVar[tuple[str, ...]] = ()

    def of_kind(self, kind: str) -> Recipe | None:
        """This recipe, for the only kind of nodes; its name is empty."""
        return None if kind else self

    @property
    def describes_nodes(self) -> bool:
        """Whether any feature is of a column of the nodes themselves, and not of edges or of the structure."""
        given_by_edges = names_of(self.of_edges)
        return self.counts is not None or any(each.column not in given_by_edges for each in self.encodings)

    @property
    def count_columns(self) -> tuple[str, ...]:
        """The names of the columns of counts."""
        return self.counts.columns if self.counts else ()

    @classmethod
    def learn(
        cls,
        attributes: AttributeTable,
        kinds: Mapping[str, str],
        graph: Graph | None,
        blocks: FeatureBlocks | None = None,
    ) -> tuple[Self, Encoded]:
        """Learn a recipe from the tables of a training, and make the features, reading each numeric column once.

        Args:
            attributes: the node table's columns.
            kinds: kinds of columns that are not to be guessed, by name.
            graph: the graph of the nodes, for features of its structure if there are no others; ``None`` for none then.
            blocks: where to collect features; by default in memory.
        """
        encodings: list[Encoding] = []
        blocks = blocks or FeatureBlocks()
        ignored: dict[str, str] = {}
        counts = Counts.learn(attributes, kinds)
        count_columns = set(counts.columns if counts else ())
        for name in attributes.names:
            if name in count_columns:
                continue
            cells = attributes.cells(name)
            choice = _given_kind(cells, kinds[name]) if name in kinds else kind_of(cells)
            _reject_numbers(cells, choice.kind)
            if choice.kind == "ignore":
                ignored[name] = choice.reason
                continue
            encoding = ENCODINGS[choice.kind].learn(cells)
            if encoding.feature_names:
                encodings.append(encoding)
                blocks.add(*encoding.encode(cells)[0])
            else:
                ignored[name] = encoding.nothing
        # Without a node table no node has a row, and none could have had one.
        rowless = attributes.num_nodes - attributes.rows if attributes.rows else 0
        recipe = cls(tuple(encodings), ignored, rowless, None, counts, attributes.of_edges)
        if not recipe.describes_nodes:
            recipe = replace(recipe, rowless=0, structure=None if graph is None else Structure())
        return recipe, recipe._encoded(attributes, graph, blocks, recipe._notes_on_columns(attributes))

    def apply(self, attributes: AttributeTable, graph: Graph, blocks: FeatureBlocks | None = None) -> Encoded:
        """Make the features of a graph's nodes from its node table, which need not be the one learned from."""
        notes = self._notes_on_columns(attributes)
        blocks = blocks or FeatureBlocks()
        given = set(attributes.names)
        for encoding in self.encodings:
            cells = attributes.cells(encoding.column)
            _reject_numbers(cells, encoding.name)
            encoded, remarks = encoding.encode(cells)
            blocks.add(*encoded)
            if encoding.column in given:
                notes += [f"{attributes.origin}: column {encoding.column!r}: {remark}" for remark in remarks]
        return self._encoded(attributes, graph, blocks, notes)

    def _encoded(
        self, attributes: AttributeTable, graph: Graph | None, blocks: FeatureBlocks, notes: list[str]
    ) -> Encoded:
        """All features, from those of the encodings."""
        if self.structure is not None:
            assert graph is not None
            blocks.add(self.structure.encode(graph))
        if self.counts is not None:
            blocks.add(self.counts.encode(attributes))
        if self.rowless:
            blocks.add((~attributes.has_row[:, None]).astype(np.float32))
        return Encoded(blocks, self.feature_names, tuple(notes))

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features, in order, unique."""
        names = [name for encoding in self.encodings for name in encoding.feature_names]
        names += self.structure.feature_names if self.structure else []
        names += self.count_columns
        return unique_names([*names, NO_ROW] if self.rowless else names)

    def _facts(self) -> list[str]:
        columns = len(self.encodings) + len(self.count_columns)
        sources = [*([counted(columns, "column")] if columns else []), *(["the structure"] if self.structure else [])]
        made = f"{counted(len(self.feature_names), 'feature')} of {' and '.join(sources)}"
        return [made, f"{counted(len(self.ignored), 'column')} not used"] if self.ignored else [made]

    def describe(self) -> list[Statement]:
        """What becomes of each column."""
        lines = [encoding.describe() for encoding in self.encodings]
        if self.counts is not None:
            text, group = "used as it is, with other counts", self.counts.describe()
            lines += [Statement(name, "counts", text, 1, group) for name in self.counts.columns]
        if self.rowless:
            text = f"1 for nodes without a row, of which there are {self.rowless:,}"
            lines.append(Statement(NO_ROW, "boolean", text, 1))
        if self.structure is not None:
            lines.append(Statement(STRUCTURE, STRUCTURE, self.structure.describe(), self.structure.width))
        unused = [(name, f"not used: {reason}") for name, reason in self.ignored.items()]
        return lines + [Statement(name, "ignore", why, 0, why) for name, why in unused]

    def _notes_on_columns(self, attributes: AttributeTable) -> list[str]:
        origin, given = attributes.origin, dict.fromkeys(attributes.names)
        wanted = dict.fromkeys([*(e.column for e in self.encodings), *self.count_columns])
        absent = [name for name in wanted if name not in given]
        extra = [name for name in given if name not in wanted and name not in self.ignored]
        if wanted and len(absent) == len(wanted):
            found = f"{origin} has only {shorten(given)}" if given else "none were given"
            raise PugnnError(
                f"the model was trained on the attributes {shorten(wanted)}, but {found}. Give them with --nodes or "
                "--attributes, under the same names."
            )
        unused: dict[str, list[str]] = {}
        for name, reason in self.ignored.items():
            if name in given and reason != CHOSEN:
                unused.setdefault(reason, []).append(name)
        notes = [f"{origin}: {_columns(names)} not used: {reason}" for reason, names in unused.items()]
        if absent:
            alike = [(name, near) for name in absent[:3] for near in similar(name, extra)]
            hint = "".join(f". If {near!r} is {name!r}, rename it" for name, near in alike)
            notes.append(f"{origin}: {_columns(absent)} absent: missing for all nodes{hint}")
        if extra:
            notes.append(f"{origin}: not used, since the model was trained without: {shorten(extra)}")
        if self.structure is not None and self.ignored and not self.encodings:
            notes.append(f"{origin}: no column is usable; features come from the structure of the graph")
        return notes

    def to_plain(self) -> dict[str, Any]:
        """The recipe in a form fit for JSON."""
        columns = [(encoding.name, to_plain(encoding)) for encoding in self.encodings]
        return {
            "format": FORMAT,
            "columns": [{"name": plain.pop("column"), "kind": kind, **plain} for kind, plain in columns],
            "ignored": [{"name": name, "reason": reason} for name, reason in self.ignored.items()],
            "rowless": self.rowless,
            "structure": None if self.structure is None else to_plain(self.structure),
            "counts": None if self.counts is None else to_plain(self.counts),
            **({"edges": [to_plain(column) for column in self.of_edges]} if self.of_edges else {}),
        }

    @classmethod
    def from_plain(cls, plain: Any) -> Self:
        """The recipe that :meth:`to_plain` gave; anything else is an error."""
        version = entry(plain, "format", int, "the recipe")
        if version != FORMAT:
            raise PugnnError(
                f"the recipe of the features has format {version}, but this version reads {FORMAT}. Use the version "
                "that trained the model, or train it again."
            )
        encodings = []
        for column in entry(plain, "columns", list, "the recipe"):
            name, kind = entry(column, "name", str, "a column"), entry(column, "kind", str, "a column")
            if kind not in ENCODINGS:
                raise PugnnError(
                    f"the column {name!r} is of the kind {kind!r}, which is not installed here. Install the package "
                    "that provides it, or import the module that registers it."
                )
            encodings.append(from_plain(ENCODINGS[kind], column, f"column {name!r}", column=name))
        ignored = {
            entry(column, "name", str, "ignored"): entry(column, "reason", str, "ignored")
            for column in entry(plain, "ignored", list, "the recipe")
        }
        structure = optional(plain, "structure", Structure)
        counts = optional(plain, "counts", Counts)
        given = entry(plain, "edges", list, "the recipe") if "edges" in plain else []
        of_edges = tuple(from_plain(EdgeColumn, column, "a column of edges") for column in given)
        if any(column.kind not in STATISTICS for column in of_edges):
            raise damaged("a column of edges has an unknown kind")
        if (structure is None) != bool(encodings or counts) and (structure is None or counts or not of_edges):
            raise damaged("there are neither columns nor structure, or both")
        rowless = entry(plain, "rowless", int, "the recipe")
        return cls(tuple(encodings), ignored, rowless, structure, counts, of_edges)


def _given_kind(cells: Cells, kind: str) -> Choice:
    if kind == "ignore":
        return Choice("ignore", CHOSEN)
    return Choice("ignore", EMPTY) if cells.missing().all() else Choice(kind)


def _reject_numbers(cells: Cells, kind: str) -> None:
    """Reject an attribute that was given in sparse form, and so as a number, if something else is needed."""
    if cells.numbers is not None and needs_text(kind):
        raise PugnnError(f"the attribute {cells.name!r} is a number and cannot be read as {kind}")


def unique_names(names: list[str]) -> tuple[str, ...]:
    """The names, with a number appended to repeated ones."""
    found: dict[str, None] = {}
    for name in names:
        number, candidate = 1, name
        while candidate in found:
            number += 1
            candidate = f"{name} ({number})"
        found[candidate] = None
    return tuple(found)


def _columns(names: Sequence[str]) -> str:
    """``column 'a' is``, ``1,204 columns are ('a', 'b', 'c' and 1,201 more)``."""
    return f"column {names[0]!r} is" if len(names) == 1 else f"{len(names):,} columns ({shorten(names, 3)}) are"
