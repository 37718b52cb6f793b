import pytest

from pugnn.errors import PugnnError
from pugnn.methods import METHODS
from pugnn.sweep.space import USUAL, parse_space, settings_of

pytest.importorskip("optuna")
from optuna.distributions import CategoricalDistribution as Choice
from optuna.distributions import FloatDistribution, IntDistribution


def test_ranges_choices_and_given_values():
    over = ["learning-rate=1e-4..1e-1", "hidden=16,64,16", "delta=1..3", "epochs=50", "backbone=gcn,sage"]
    assert parse_space("pu-gnn", over) == {
        "learning_rate": FloatDistribution(1e-4, 1e-1, log=True),
        "hidden": Choice((16, 64)),
        "delta": IntDistribution(1, 3),
        "epochs": Choice((50,)),
        "backbone": Choice(("gcn", "sage")),
    }


def test_values_have_the_type_of_their_setting():
    assert parse_space("naive", ["balanced=true,false", "prior=0.1", "backbone=gcn,sage"]) == {
        "balanced": Choice((True, False)),
        "prior": Choice((0.1,)),
        "backbone": Choice(("gcn", "sage")),
    }
    assert parse_space("nnpu", ["prior=auto,0.1"]) == {"prior": Choice(("auto", 0.1))}


def test_the_usual_settings_are_searched_where_none_is_named():
    assert list(parse_space("label-propagation")) == ["restart"]
    usual = parse_space("lsdan", ["epochs=5", "dropout=0.5"])
    assert set(usual) == {"learning_rate", "hidden", "weight_decay", "hops", "epochs", "dropout"}
    assert usual["dropout"] == Choice((0.5,))
    assert list(parse_space("lsdan", ["epochs=5", "dropout=0..0.5"])) == ["epochs", "dropout"]


def test_usual_settings_exist():
    assert set(USUAL) <= {name for method in METHODS for name in settings_of(METHODS[method])}


def test_two_orders_of_magnitude_are_searched_by_their_logarithm():
    searched = {"1e-3..1e-1": True, "2e-3..1e-1": False, "0..1": False}
    for text, logarithmic in searched.items():
        assert parse_space("nnpu", [f"weight_decay={text}"])["weight_decay"].log == logarithmic


@pytest.mark.parametrize(
    ("method", "over", "words"),
    [
        ("nnpu", "delta=1..2", "nnpu has no setting 'delta'; it has prior, surrogate"),
        ("nnpu", "seed=1,2", "nnpu has no setting 'seed'"),
        ("nnpu", "hidden", "--over takes NAME=LOW..HIGH or NAME=VALUE,VALUE; got 'hidden'"),
        ("nnpu", "hidden=", "--over takes NAME=LOW..HIGH"),
        ("nnpu", "hidden=4..2", "the range hidden=4..2 is empty"),
        ("nnpu", "hidden=1.5..2", "hidden must be a whole number, got '1.5'"),
        ("nnpu", "dropout=a,b", "dropout must be a number, got 'a'"),
        ("nnpu", "surrogate=1..2", "surrogate is not a number; give its values"),
        ("naive", "balanced=maybe", "balanced must be true or false, got 'maybe'"),
        (
            "centroid",
            "prior=0.1",
            r"there is nothing to search for centroid; name settings with --over \(it has prior\)",
        ),
        ("magic", "a=1", "there is no method 'magic'"),
    ],
)
def test_mistakes(method, over, words):
    with pytest.raises(PugnnError, match=words):
        parse_space(method, [over])
