"""How the attributes of nodes become features, in a form that a model keeps and repeats on new tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Self

import numpy as np

from pugnn.errors import PugnnError, shorten
from pugnn.graph import Graph
from pugnn.graph.building import Features
from pugnn.tables.attributes import Attributes, Cells
from pugnn.tables.blocks import compact
from pugnn.tables.boolean import BooleanEncoding
from pugnn.tables.category import CategoryEncoding
from pugnn.tables.encoding import Encoding
from pugnn.tables.kinds import KINDS, Choice, kind_of
from pugnn.tables.number import NumberEncoding
from pugnn.tables.saved import Saved, damaged
from pugnn.tables.structural import Structure
from pugnn.tables.text import TextEncoding
from pugnn.tables.vector import VectorEncoding

_ENCODINGS: dict[str, type[Encoding]] = {
    encoding.kind: encoding
    for encoding in (NumberEncoding, CategoryEncoding, BooleanEncoding, TextEncoding, VectorEncoding)
}

#: Changes whenever saved recipes mean something else than before.
FORMAT = 1

#: What stands for the column of features that come from none.
NO_ROW, STRUCTURE = "no row", "structure"

#: Why a column is ignored that the user wants ignored.
CHOSEN = "as you chose"


@dataclass(frozen=True)
class Encoded:
    """Features made by a recipe.

    Args:
        features: shape ``(N, F)``, float32, sparse where less than a quarter is not zero.
        names: of the features, unique.
        notes: what differs from the table that the recipe was learned from, and what is not used, a sentence each.
    """

    features: Features
    names: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Statement:
    """One line of the statement of a recipe.

    Args:
        column: name of the column; ``no row`` and ``structure`` for what does not come from one.
        kind: how it is read, such as ``number``.
        text: what is done, in words and figures.
        features: how many features come of it.
    """

    column: str
    kind: str
    text: str
    features: int


@dataclass(frozen=True)
class Recipe:
    """How each column of a node table becomes features; for tables without any, features of the structure.

    Args:
        encodings: of the columns that become features.
        ignored: names of the other columns, and why each is left out.
        rowless: number of nodes without a row in the node table when the recipe was learned; if there were any,
            the last feature says which nodes have none.
        structure: the features of the structure, where no column becomes any.
    """

    encodings: tuple[Encoding, ...]
    ignored: Mapping[str, str]
    rowless: int
    structure: Structure | None

    @classmethod
    def learn(cls, attributes: Attributes, kinds: Mapping[str, str]) -> Self:
        """Learn a recipe from the tables of a training.

        Args:
            attributes: the node table's columns.
            kinds: kinds of columns that are not to be guessed, by name; see :data:`pugnn.tables.kinds.KINDS`.
        """
        _check_kinds(attributes, kinds)
        encodings: list[Encoding] = []
        ignored: dict[str, str] = {}
        for name in attributes.names:
            cells = attributes.cells(name, learning=True)
            choice = _given_kind(cells, kinds[name]) if name in kinds else kind_of(cells)
            if choice.kind == "ignore":
                ignored[name] = choice.reason
                continue
            encoding = _ENCODINGS[choice.kind].learn(cells)
            if encoding.feature_names:
                encodings.append(encoding)
            else:
                ignored[name] = encoding.nothing
        if not encodings:
            return cls((), ignored, 0, Structure())
        return cls(tuple(encodings), ignored, int((~attributes.has_row).sum()), None)

    def apply(self, attributes: Attributes, graph: Graph) -> Encoded:
        """Make the features of a graph's nodes from its node table, which need not be the one learned from."""
        notes = self._notes_on_columns(attributes)
        if self.structure is not None:
            return Encoded(self.structure.encode(graph), self.feature_names, tuple(notes))
        blocks: list[Features] = []
        for encoding in self.encodings:
            encoded, remarks = encoding.encode(attributes.cells(encoding.column))
            blocks += encoded
            if encoding.column in attributes.names:
                notes += [f"{attributes.origin}: column {encoding.column!r}: {remark}" for remark in remarks]
        if self.rowless:
            blocks.append((~attributes.has_row[:, None]).astype(np.float32))
        return Encoded(compact(blocks), self.feature_names, tuple(notes))

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features, in order, unique."""
        if self.structure is not None:
            return tuple(self.structure.feature_names)
        names = [name for encoding in self.encodings for name in encoding.feature_names]
        return _unique([*names, NO_ROW] if self.rowless else names)

    def describe(self) -> list[Statement]:
        """What becomes of each column, in words and figures."""
        lines = [Statement(e.column, e.kind, e.describe(), len(e.feature_names)) for e in self.encodings]
        if self.rowless:
            lines.append(
                Statement(NO_ROW, "boolean", f"1 for nodes without a row, of which there are {self.rowless:,}", 1)
            )
        if self.structure is not None:
            lines.append(Statement(STRUCTURE, "number", self.structure.describe(), len(self.feature_names)))
        return lines + [Statement(name, "ignore", f"not used: {why}", 0) for name, why in self.ignored.items()]

    def _notes_on_columns(self, attributes: Attributes) -> list[str]:
        origin, given = attributes.origin, attributes.names
        wanted = [encoding.column for encoding in self.encodings]
        absent = [name for name in wanted if name not in given]
        extra = [name for name in given if name not in wanted and name not in self.ignored]
        if wanted and len(absent) == len(wanted):
            raise PugnnError(
                f"{origin} has none of the columns that the model was trained on, {shorten(wanted)}; "
                f"it has {shorten(given) if given else 'no columns beside the ids'}. Rename or add them, or give the "
                "right node table."
            )
        unused = [name for name in self.ignored if name in given and self.ignored[name] != CHOSEN]
        notes = [f"{origin}: column {name!r} is not used: {self.ignored[name]}" for name in unused]
        for name in absent:
            near = _nearest(name, extra)
            hint = "" if near is None else f". If {near!r} is the same, rename it"
            notes.append(f"{origin}: column {name!r} is not there; it counts as missing for all nodes{hint}")
        if extra:
            notes.append(f"{origin}: not used, since the model was trained without: {shorten(extra)}")
        if self.structure is not None and self.ignored:
            notes.append(f"{origin}: no column becomes features; they come from the structure of the graph")
        return notes

    def to_plain(self) -> dict[str, Any]:
        """The recipe in a form fit for JSON."""
        return {
            "format": FORMAT,
            "columns": [
                {"name": e.column, "kind": e.kind, "missing": e.missing, **e.to_plain()} for e in self.encodings
            ],
            "ignored": [{"name": name, "reason": reason} for name, reason in self.ignored.items()],
            "rowless": self.rowless,
            "structure": None if self.structure is None else self.structure.to_plain(),
        }

    @classmethod
    def from_plain(cls, plain: object) -> Self:
        """The recipe that :meth:`to_plain` gave; anything else is an error."""
        saved = Saved(plain, "the recipe")
        if saved.whole("format") != FORMAT:
            raise PugnnError(
                f"the recipe of the features has format {saved.whole('format')}, this version reads {FORMAT}. "
                "Use the version that the model was trained with, or train it again."
            )
        encodings = []
        for part in saved.parts("columns"):
            name, kind = part.text("name"), part.text("kind")
            if kind not in _ENCODINGS:
                raise damaged(f"column {name!r} has the unknown kind {kind!r}")
            encodings.append(_ENCODINGS[kind].from_saved(name, part.whole("missing"), part))
        ignored = {part.text("name"): part.text("reason") for part in saved.parts("ignored")}
        structure = saved.part("structure")
        if (structure is None) != bool(encodings):
            raise damaged("there are neither columns nor structure, or both")
        if len({encoding.column for encoding in encodings}.union(ignored)) < len(encodings) + len(ignored):
            raise damaged("two columns have the same name")
        learned = None if structure is None else Structure.from_saved(structure)
        return cls(tuple(encodings), ignored, saved.whole("rowless"), learned)


def _given_kind(cells: Cells, kind: str) -> Choice:
    if kind == "ignore":
        return Choice("ignore", CHOSEN)
    return Choice("ignore", "it is empty") if cells.missing().all() else Choice(kind)


def _check_kinds(attributes: Attributes, kinds: Mapping[str, str]) -> None:
    for name, kind in kinds.items():
        if name not in attributes.names:
            raise PugnnError(f"{attributes.origin} has no column {name!r}{_instead(name, attributes.names)}")
        if kind not in KINDS:
            raise PugnnError(f"column {name!r}: there is no kind {kind!r}{_instead(kind, KINDS)}")


def _instead(word: str, words: tuple[str, ...]) -> str:
    near = _nearest(word, words)
    if near is not None:
        return f"; did you mean {near!r}?"
    return f"; there are {shorten(words, 10)}" if words else "; there are none beside the ids"


def _nearest(word: str, words: Iterable[str]) -> str | None:
    """The word that is most like another one, in whatever case, if any is."""
    lower = {candidate.lower(): candidate for candidate in words}
    found = get_close_matches(word.lower(), lower, n=1)
    return lower[found[0]] if found else None


def _unique(names: list[str]) -> tuple[str, ...]:
    """The names, with a number behind those that stood before."""
    found: dict[str, None] = {}
    for name in names:
        number, candidate = 1, name
        while candidate in found:
            number += 1
            candidate = f"{name} ({number})"
        found[candidate] = None
    return tuple(found)
