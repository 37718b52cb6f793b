"""Texts: hashed tf-idf."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import md5
from typing import Self

import numpy as np
import scipy.sparse as sp

from pugnn.features.attribute_table import Cells
from pugnn.features.encoding import ENCODINGS, ColumnFeatures, Encoding, Reading, say_present

#: Number of hash buckets. Of the few thousand words that matter in most tables, two seldom share one; each bucket costs
#: the model a row of weights.
BUCKETS = 4096

#: A text's words: runs of letters and digits of any script, in lower case.
WORDS = r"regexp_extract_all(lower(text), '[\p{L}\p{N}]+')"

#: The bucket of a word: the last eight bytes of its MD5 sum as a little-endian number. DuckDB's own hash is faster but
#: may change with its version.
BUCKET = f"(md5_number_lower(word) % {BUCKETS})::INTEGER"

#: Words of fewer nodes than this identify nodes rather than describe them; they are not kept.
MIN_NODES = 3

#: Texts are split for this many nodes at a time.
ROWS = 1 << 16


@ENCODINGS.register("text")
@dataclass(frozen=True)
class TextEncoding(Encoding):
    r"""Words counted in buckets and weighted by how rare they are; each row has length one.

    .. math:: x_b \propto c_b \left(1 + \ln \frac{1 + n}{1 + n_b}\right)

    with :math:`c_b` the number of the text's words in bucket :math:`b` and :math:`n_b` the number of training texts, of
    :math:`n`, that had any. Buckets without such texts have no feature.
    """

    needs_text = True
    group = "tf-idf of words in hash buckets"
    stand_in = "no words"
    nothing = "no text has a word"

    texts: int  # number of texts, n
    buckets: tuple[int, ...]  # numbers of the buckets that have a feature, in order
    found: tuple[int, ...]  # number of texts with words in each of them, :math:`n_b`
    words: tuple[str, ...]  # the most frequent word of each bucket, to name it, unless it is too rare

    @classmethod
    def learn(cls, cells: Cells) -> Self:  # noqa: D102
        missing = cells.missing()
        found = np.zeros(BUCKETS, dtype=np.int64)
        for counts in count_words(cells):
            found += np.bincount(counts.indices, minlength=BUCKETS)
        buckets = np.flatnonzero(found)
        texts = int((~missing).sum())
        counts_of = tuple(buckets.tolist()), tuple(found[buckets].tolist())
        return cls(cells.name, cells.count_missing(missing), texts, *counts_of, _frequent_words(cells))

    def read(self, cells: Cells) -> ColumnFeatures:  # noqa: D102
        rarity = 1 + np.log((1 + self.texts) / (1 + np.asarray(self.found, dtype=np.float64)))
        parts = []
        for counts in count_words(cells):
            weighted = sp.csr_array(counts[:, list(self.buckets)] * rarity)
            lengths = np.sqrt((weighted * weighted).sum(axis=1))
            weighted.data /= np.repeat(lengths, np.diff(weighted.indptr))
            parts.append(weighted.astype(np.float32))
        return ColumnFeatures(sp.csr_array(sp.vstack(parts, format="csr")), cells.missing())

    @property
    def value_names(self) -> list[str]:  # noqa: D102
        return [f"{self.column} #{bucket}" for bucket in self.buckets]

    def readings(self) -> list[tuple[str, Reading]]:  # noqa: D102
        names = dict(zip(self.buckets, self.value_names, strict=True))
        names |= {bucket_of(word): f"{self.column} “{word}”" for word in self.words}  # the most frequent ones
        return [(names[bucket], say_present) for bucket in self.buckets]

    def describe_values(self) -> str:  # noqa: D102
        return f"tf-idf of words in {len(self.buckets):,} hash buckets, learned from {self.texts:,} texts"


def bucket_of(word: str) -> int:
    """The bucket of a word, as :data:`BUCKET` computes it."""
    return int.from_bytes(md5(word.encode("utf-8", "surrogatepass")).digest()[8:], "little") % BUCKETS


def _frequent_words(cells: Cells) -> tuple[str, ...]:
    words = cells.sql(f"position, unnest({WORDS}) AS word")
    counted = f"SELECT word, count(DISTINCT position) AS nodes FROM ({words}) GROUP BY word HAVING nodes >= {MIN_NODES}"
    first = f"row_number() OVER (PARTITION BY {BUCKET} ORDER BY nodes DESC, word) = 1"
    found = cells.attributes.connection.execute(
        f"SELECT word FROM ({counted}) QUALIFY {first} ORDER BY word"
    ).fetchall()
    return tuple(word for (word,) in found)


def count_words(cells: Cells) -> Iterator[sp.csr_array]:
    """How many words of each node's text fall into each bucket, for consecutive stretches of nodes."""
    for stretch, condition in cells.stretches(ROWS):
        words = cells.sql(f"position, unnest({WORDS}) AS word", f"WHERE {condition}")
        found = cells.attributes.connection.execute(
            f"WITH words AS MATERIALIZED ({words}), "
            f"hashed AS (SELECT word, {BUCKET} AS bucket FROM (SELECT DISTINCT word FROM words)) "
            "SELECT position, bucket FROM words JOIN hashed USING (word)"
        ).fetchnumpy()
        places = found["position"] - stretch.start, found["bucket"]
        yield sp.csr_array((np.ones(len(places[0])), places), shape=(len(stretch), BUCKETS))
