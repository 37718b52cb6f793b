"""The same numbers give the same features, whatever holds them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.io
import scipy.sparse as sp

from pugnn import build_store, open_store, read_graph

N, WIDTH = 60, 40
IDS = [f"n{at}" for at in range(N)]
EDGES = [(IDS[at - 1], IDS[at]) for at in range(N)]
NAMES = [f"attributes[{at}]" for at in range(WIDTH)]  # as those of a matrix
RNG = np.random.default_rng(0)
OFTEN = np.linspace(0.05, 0.85, WIDTH)  # rare words and frequent ones

MATRICES = {
    "word counts": (RNG.random((N, WIDTH)) < OFTEN) * RNG.integers(1, 5, (N, WIDTH)),
    "0 and 1": (RNG.random((N, WIDTH)) < OFTEN).astype(float),
    "weights of words": np.where(RNG.random((N, WIDTH)) < 0.1, RNG.random((N, WIDTH)), 0),
    "signed and mostly zero": np.where(RNG.random((N, WIDTH)) < 0.1, RNG.normal(size=(N, WIDTH)), 0),
    "words beside numbers": np.hstack([RNG.random((N, 30)) < 0.2, RNG.normal(size=(N, 10))]),
    "numbers": RNG.normal(5, 2, (N, WIDTH)),
    "ages": RNG.integers(18, 90, (N, WIDTH)).astype(float),
}


def given(matrix, form, folder):
    """Arguments of ``read_graph`` for a matrix in one of its forms."""
    frame = pd.DataFrame({"id": IDS, **dict(zip(NAMES, matrix.T, strict=True))})
    if matrix.dtype == float and (matrix == matrix.astype(int)).all() and form in ("csv", "parquet"):
        frame[NAMES] = frame[NAMES].astype(int)  # as people write counts
    if form in ("csv", "parquet"):
        path = folder / f"nodes.{form}"
        frame.to_csv(path, index=False) if form == "csv" else frame.to_parquet(path)
        return {"nodes": path}
    if form in ("pandas", "polars"):
        return {"nodes": frame if form == "pandas" else pl.from_pandas(frame)}
    if form == "long":
        rows = frame.melt("id", var_name="attribute", value_name="value")
        rows[rows.value != 0].to_csv(folder / "long.csv", index=False)
        return {"nodes": IDS, "attributes": folder / "long.csv"}
    if form == "npz":
        sp.save_npz(folder / "matrix.npz", sp.csc_array(matrix))
    elif form == "mtx":
        scipy.io.mmwrite(folder / "matrix.mtx", sp.coo_array(matrix), precision=17)
    else:
        return {"nodes": IDS, "attributes": matrix if form == "dense" else sp.csr_array(matrix)}
    return {"nodes": IDS, "attributes": folder / f"matrix.{form}"}


def features(graph):
    x = graph.features if isinstance(graph.features, np.ndarray) else graph.features.toarray()
    return dict(zip(graph.feature_names, x.T, strict=True))


@pytest.mark.parametrize("form", ["csv", "parquet", "pandas", "polars", "long", "npz", "mtx", "scipy", "dense"])
@pytest.mark.parametrize("name", MATRICES)
def test_the_same_numbers_give_the_same_features(name, form, tmp_path):
    matrix = MATRICES[name].astype(float)
    expected = features(read_graph(EDGES, **given(matrix, "pandas", tmp_path)).graph)
    arguments = given(matrix, form, tmp_path)
    found = features(read_graph(EDGES, **arguments).graph)
    assert found.keys() == expected.keys()
    for column, values in found.items():
        np.testing.assert_allclose(values, expected[column], rtol=1e-6, atol=1e-7)
    if form in ("csv", "parquet", "npz"):
        build_store(tmp_path / "store", EDGES, **arguments)
        for column, values in features(open_store(tmp_path / "store")).items():
            np.testing.assert_allclose(values, expected[column], rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", ["word counts", "0 and 1"])
def test_frequent_words_are_treated_like_rare_ones(name):
    recipe = read_graph(EDGES, **given(MATRICES[name], "pandas", None)).recipe
    assert {line.kind for line in recipe.describe()} == {"counts"}


def test_numbers_are_standardised_in_every_form(tmp_path):
    for form in ("csv", "dense", "npz"):
        graph = read_graph(EDGES, **given(MATRICES["numbers"], form, tmp_path)).graph
        np.testing.assert_allclose(graph.features.std(axis=0), 1, rtol=1e-5)
