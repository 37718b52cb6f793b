import pytest

from pugnn.runs.writers import plot_log


@pytest.mark.parametrize(("low", "expected"), [(0.2, 0.0), (-0.3, -0.3)])
def test_a_risk_below_zero_stays_in_the_picture(tmp_path, monkeypatch, low, expected):
    figure = pytest.importorskip("matplotlib.figure").Figure
    drawn = []
    monkeypatch.setattr(figure, "savefig", lambda self, path: drawn.append(self.axes[0].get_ylim()))
    log = [{"epoch": at + 1, "negative": value, "total": 0.5, "seconds": 0.1} for at, value in enumerate((0.4, low))]
    assert plot_log(tmp_path / "training.png", log)
    assert (drawn[0][0] == 0) == (low > 0)
    assert drawn[0][0] <= expected
