import pytest

from pugnn.errors import PugnnError
from pugnn.memory import Forecast, available_memory, memory_of_groups, parse_memory


def test_memory_is_found():
    assert 10**8 < available_memory() < 2**60


def test_memory_can_be_limited(monkeypatch):
    monkeypatch.setenv("PUGNN_MEMORY", "2GB")
    assert available_memory() == 2 * 10**9
    assert Forecast({"rows": 10**9, "scores": 10**9}).total == available_memory()


@pytest.mark.parametrize(
    ("listed", "folder", "limit", "used"),
    [
        ("0::/slurm/job_7/step_0\n", "", "memory.max", "memory.current"),
        ("4:cpu,memory:/slurm/job_7/step_0\n0::/\n", "memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
    ],
)
def test_the_tightest_control_group_counts(tmp_path, listed, folder, limit, used):
    job = tmp_path / folder / "slurm" / "job_7"
    (job / "step_0").mkdir(parents=True)
    (tmp_path / "groups").write_text(listed)
    assert memory_of_groups(tmp_path / "groups", tmp_path) == 2**60
    for group, most, now in ((job / "step_0", "max", 10), (job, 8000, 1000), (job.parent, 50_000, 1000)):
        (group / limit).write_text(f"{most}\n")
        (group / used).write_text(f"{now}\n")
    assert memory_of_groups(tmp_path / "groups", tmp_path) == 7000
    (job / used).write_text("7900\n")  # which may be cached files
    assert memory_of_groups(tmp_path / "groups", tmp_path) == 4000


def test_without_control_groups_there_is_no_limit(tmp_path):
    assert memory_of_groups(tmp_path / "none", tmp_path) == 2**60


@pytest.mark.parametrize("text", ["", "lots", "-1GB", "8 gigs"])
def test_an_amount_that_is_none(text):
    with pytest.raises(PugnnError, match="not an amount of memory"):
        parse_memory(text)


def test_units():
    assert [parse_memory(text) for text in ("7", "1k", "1 KiB", "3TB", "1GiB")] == [7, 1000, 1024, 3 * 10**12, 2**30]


def test_a_forecast_names_its_largest_part_first():
    assert str(Forecast({"scores": 10**6, "nothing": 0, "rows": 15 * 10**9})) == "15 GB (rows 15 GB, scores 1.0 MB)"
