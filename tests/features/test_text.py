import hashlib
import math
import re

import numpy as np
import pytest

from attribute_tables import cells_of
from pugnn.features import text
from pugnn.features.text import BUCKETS, TextEncoding, count_words


def bucket(word):
    return int.from_bytes(hashlib.md5(word.encode()).digest()[8:], "little") % BUCKETS


TEXTS = ["The quick, brown Fox!", "the Zürich fox; the 3rd", "", "...", "中文 fox"]


def words_of(cell):
    return re.findall(r"\w+", cell.lower())


def test_tf_idf_by_plain_loops():
    cells = cells_of(TEXTS, num_nodes=6)
    encoding = TextEncoding.learn(cells)
    buckets = sorted({bucket(word) for cell in TEXTS for word in words_of(cell)})
    found = [sum(b in {bucket(word) for word in words_of(cell)} for cell in TEXTS) for b in buckets]
    assert encoding == TextEncoding("x", 1, 4, tuple(buckets), tuple(found), ("fox",))
    assert encoding.feature_names == [*(f"x #{b}" for b in buckets), "x missing"]
    expected = np.zeros((6, len(buckets)))
    for node, cell in enumerate(TEXTS):
        for word in words_of(cell):
            at = buckets.index(bucket(word))
            expected[node, at] += 1 + math.log((1 + 4) / (1 + found[at]))
        length = math.sqrt(sum(value**2 for value in expected[node]))
        expected[node] /= length or 1
    (features, indicator), remarks = encoding.encode(cells)
    np.testing.assert_allclose(features.toarray(), expected, rtol=1e-6)
    np.testing.assert_array_equal(indicator[:, 0], [0, 0, 1, 0, 0, 1])
    assert not remarks


def test_words_that_training_has_not_seen_have_no_feature():
    encoding = TextEncoding.learn(cells_of(["fox and hound", "fox and goose"]))
    (features,), _ = encoding.encode(cells_of(["a fox", "unseen"]))
    at = encoding.buckets.index(bucket("fox"))
    expected = np.zeros((2, len(encoding.buckets)))
    expected[0, at] = 1
    np.testing.assert_array_equal(features.toarray(), expected)


def test_stretches_make_no_difference(monkeypatch):
    cells = cells_of(TEXTS * 3)
    encoding = TextEncoding.learn(cells)
    (features, _), _ = encoding.encode(cells)
    monkeypatch.setattr(text, "ROWS", 4)
    assert TextEncoding.learn(cells) == encoding
    np.testing.assert_array_equal(encoding.encode(cells)[0][0].toarray(), features.toarray())


def test_lists_of_words():
    (counts,) = count_words(cells_of([["machine learning", "graphs"], None], "VARCHAR[]"))
    counts = counts.toarray()
    assert sorted(np.flatnonzero(counts[0])) == sorted(map(bucket, ["machine", "learning", "graphs"]))
    assert not counts[1].any()


def test_text_without_words_gives_no_features():
    assert TextEncoding.learn(cells_of(["!!!", "..."])).feature_names == []


@pytest.mark.parametrize("word", ["fox", "zürich", "中文", "x" * 1000])
def test_the_hash_is_the_stated_one(word):
    assert TextEncoding.learn(cells_of([word])).buckets == (bucket(word),)


def test_a_feature_is_named_by_the_most_frequent_word_of_its_bucket():
    same = next(word for word in (f"w{at}" for at in range(20000)) if bucket(word) == bucket("fox"))
    cells = cells_of(["fox hound", "fox hound", f"fox {same}", same, f"{same} once", f"{same} {same}", "hound"])
    encoding = TextEncoding.learn(cells)
    names = dict(zip(encoding.buckets, (name for name, _ in encoding.readings()), strict=True))
    assert names == {
        bucket("fox"): f"x “{same}”",
        bucket("hound"): "x “hound”",
        bucket("once"): f"x #{bucket('once')}",
    }


def test_words_of_fewer_than_three_texts_are_not_kept():
    assert TextEncoding.learn(cells_of(["secret secret secret", "secret"])).words == ()
