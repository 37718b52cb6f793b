"""Notes on ids that may be no ids, or the same one written differently."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pugnn.errors import counted, quoted
from pugnn.features.attribute_table import MISSING_WORDS
from pugnn.store.edge_table import Edges, EdgeTable
from pugnn.store.ids import IdTable

#: Among more ids, spellings are not compared: that takes half a second for each million.
MAX_COMPARED = 1_000_000


def notes_on_missing(table: EdgeTable, edges: Sequence[Edges], ids_of: Mapping[str, IdTable]) -> list[str]:
    """Words in an edge table that stand for missing ids, with which they become one node."""
    rows = Counter[str]()
    for end, kind in enumerate(table.link.ends):
        ids = ids_of[kind].arrow
        if pa.types.is_integer(ids.type):
            continue
        for at in np.flatnonzero(pc.is_in(pc.ascii_lower(ids), pa.array(MISSING_WORDS, ids.type))).tolist():
            rows[ids[at].as_py()] += sum(int(np.count_nonzero(part[end] == at)) for part in edges)
    return [
        f"{table.table.shown}: {quoted(word)} is the id in {counted(count, 'row')}; leave such rows out if it means "
        "that there is none"
        for word, count in rows.items()
        if count
    ]


def notes_on_spelling(ids: IdTable, kind: str) -> list[str]:
    """Ids that differ only in case, leading zeros or ``.0``."""
    texts = ids.arrow
    if pa.types.is_integer(texts.type) or len(texts) > MAX_COMPARED:
        return []
    plain = pc.replace_substring_regex(pc.utf8_lower(texts), r"^0*([0-9]+)(\.0+)?$", r"\1").dictionary_encode()
    if len(plain.dictionary) == len(texts):
        return []
    codes = plain.indices.to_numpy()
    alike = np.flatnonzero(np.bincount(codes)[codes] > 1)
    one, other = (quoted(texts[int(at)].as_py()) for at in alike[codes[alike] == codes[alike[0]]][:2])
    of = f" of {kind}" if kind else ""
    words = f"{len(alike):,} ids{of} differ from others only in case, leading zeros or '.0', such as {one} and {other}"
    return [f"{words}; they are different nodes. Write them the same way if they are not."]
