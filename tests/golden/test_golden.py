"""Scores and features are what they were, bit for bit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from golden.golden import FILE, FITS, TABLES, feature_digest, machine, score_digest

GOLDEN = json.loads(FILE.read_text())


@pytest.mark.parametrize("name", FITS)
def test_scores_are_as_recorded(name: str) -> None:
    if machine() != GOLDEN["machine"]:
        pytest.skip(f"recorded with {GOLDEN['machine']}; here it is {machine()}")
    assert score_digest(name) == GOLDEN["scores"][name]


@pytest.mark.parametrize("name", TABLES)
def test_features_are_as_recorded(name: str, tmp_path: Path) -> None:
    assert feature_digest(name, tmp_path) == GOLDEN["features"][name]
