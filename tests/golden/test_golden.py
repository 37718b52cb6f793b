"""Scores and features are what they were, but for rounding."""

from __future__ import annotations

import pytest

from golden.golden import FITS, TABLES, differences, fit, too_far
from pugnn.methods import METHODS


def test_no_method_is_forgotten() -> None:
    assert {options["method"].name for options in FITS.values()} == {*METHODS, "PUGNNVariant"}


@pytest.mark.parametrize("name", [*FITS, *TABLES])
def test_values_are_as_recorded(name: str) -> None:
    assert not too_far(name)


@pytest.mark.parametrize("name", ["views", "pu-gnn", "pu-gnn batches", "lsdan"])
def test_twice_gives_the_same_bits(name: str) -> None:
    assert fit(name) == fit(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("rounding", [1, 2, 3])
def test_no_value_hangs_on_rounding(name: str, rounding: int) -> None:
    assert not differences(name, fit(name), fit(name, rounding))
