import pytest

from pugnn.errors import PugnnError
from pugnn.memory import Forecast, available_memory, parse_memory, peak_memory


def test_memory_is_found():
    assert 10**8 < available_memory() < 2**60
    assert 10**7 < peak_memory() < 2**50


def test_memory_can_be_limited(monkeypatch):
    monkeypatch.setenv("PUGNN_MEMORY", "2GB")
    assert available_memory() == 2 * 10**9
    assert Forecast({"rows": 10**9, "scores": 10**9}).fits
    assert not Forecast({"rows": 10**9, "scores": 10**9 + 1}).fits


@pytest.mark.parametrize("text", ["", "lots", "-1GB", "8 gigs"])
def test_an_amount_that_is_none(text):
    with pytest.raises(PugnnError, match="no amount of memory"):
        parse_memory(text)


def test_units():
    assert [parse_memory(text) for text in ("7", "1k", "1 KiB", "3TB", "1GiB")] == [7, 1000, 1024, 3 * 10**12, 2**30]


def test_a_forecast_names_its_largest_part_first():
    assert str(Forecast({"scores": 10**6, "nothing": 0, "rows": 15 * 10**9})) == "15 GB (rows 15 GB, scores 1.0 MB)"
