import sys
from types import SimpleNamespace

import numpy as np
import pytest

from conftest import random_graph
from planted import evidence
from pugnn import LabelPropagation, PUNodeClassifier
from pugnn.errors import PugnnError
from pugnn.methods import METHODS, PUGNN
from pugnn.metrics import METRICS, in_words, measure, metric
from pugnn.models import BACKBONES
from pugnn.priors import PRIORS, settle_prior
from pugnn.registry import Registry


def test_what_a_room_registers_is_found_by_name():
    assert METHODS["pu-gnn"] is PUGNN
    assert PUGNN.name == "pu-gnn"
    assert "gcn-linear" in BACKBONES
    methods = "centroid dist-pu grab graphany label-propagation lsdan naive nnpu pu-gnn smoothed-logistic upu views"
    assert [name for name in METHODS if METHODS.provider(name) == "pugnn"] == methods.split()
    assert (METHODS.provider("upu"), BACKBONES.provider("gcn-linear")) == ("pugnn", "pugnn")


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(PugnnError, match="there is no method 'magic'; choose one of centroid, dist-pu"):
        METHODS["magic"]
    assert METHODS.get("magic") is None
    assert "magic" not in METHODS


def test_a_misspelt_name_is_corrected():
    with pytest.raises(PugnnError, match=r"centroid, dist-pu, .*, views; did you mean 'label-propagation'\?"):
        METHODS["label-propagate"]


def test_names_are_listed_in_order():
    registry = Registry("thing", "pugnn.no_such_group", "pugnn.losses")
    for name in ("two", "one"):
        registry.register(name)(len)
    with pytest.raises(PugnnError, match=r"choose one of one, two$"):
        registry["ten thousand"]


def test_two_things_cannot_have_one_name():
    registry = Registry("thing", "pugnn.no_such_group", "pugnn.losses")

    @registry.register("one")
    class First: ...

    assert registry.register("one")(First) is First, "the same again is no second one"
    with pytest.raises(PugnnError, match=r"two things are called 'one': .*First and .*Second"):

        @registry.register("one")
        class Second: ...

    assert registry["one"] is First


@pytest.fixture
def registry(tmp_path, monkeypatch):
    """A registry with entry points of packages that were put together badly, and one that was not."""
    module = tmp_path / "other_things.py"
    module.write_text("from things import REGISTRY\n@REGISTRY.register('good')\ndef good(): return 1\n")
    (tmp_path / "forgetful.py").write_text("")
    (tmp_path / "broken.py").write_text("import a_module_that_is_not_there")
    (tmp_path / "things.py").write_text(
        "from pugnn.registry import Registry\nREGISTRY = Registry('thing', 'test.things', 'pugnn.losses')\n"
    )
    info = tmp_path / "other_things-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other-things\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[test.things]\ngood = other_things\nforgotten = forgetful\nbroken = broken\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    from things import REGISTRY

    yield REGISTRY
    for name in ("things", "other_things", "forgetful"):
        sys.modules.pop(name, None)


def test_entry_points_of_other_packages_are_loaded_when_asked_for(registry):
    assert sorted(registry) == ["broken", "forgotten", "good"]
    assert "other_things" not in sys.modules
    assert registry["good"]() == 1
    assert registry.provider("good") == "other-things"


def test_packages_that_do_not_work_are_named(registry):
    with pytest.raises(PugnnError, match="the thing 'broken' of other-things cannot be loaded: No module named"):
        registry["broken"]
    assert list(registry.loadable()) == ["good"]
    with pytest.raises(PugnnError, match="other-things names forgetful as the thing 'forgotten', but does not reg"):
        registry["forgotten"]


#: Modules of packages that were put together badly, and why each of them cannot be loaded.
BAD_MODULES = {
    "leaving": ("import sys; sys.exit(3)", r"the thing 'leaving' of bad-things cannot be loaded: SystemExit\(3\)"),
    "ending": ("raise GeneratorExit", r"cannot be loaded: GeneratorExit\(\)"),
    "silent": ("raise ValueError", r"cannot be loaded: ValueError\(\)"),
    "lazy": ("def __getattr__(name): raise RuntimeError(f'no {name} today')", "cannot be loaded: no thing today"),
    "twice": (
        "from things import REGISTRY\nfor name in 'ab': REGISTRY.register('twice')(type(name, (), {}))",
        "cannot be loaded: two things are called 'twice'",
    ),
}  # fmt: skip


@pytest.fixture
def bad_registry(registry, tmp_path):
    info = tmp_path / "bad_things-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bad-things\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[test.things]\n" + "".join(f"{name} = bad_{name}:thing\n" for name in BAD_MODULES)
    )
    for name, (text, _) in BAD_MODULES.items():
        (tmp_path / f"bad_{name}.py").write_text(f"print('hello')\n{text}\n")
    yield registry
    for name in BAD_MODULES:
        sys.modules.pop(f"bad_{name}", None)


@pytest.mark.parametrize("name", BAD_MODULES)
def test_no_package_ends_the_program_or_prints_into_its_output(bad_registry, capsys, name):
    for _ in range(2):
        with pytest.raises(PugnnError, match=BAD_MODULES[name][1]):
            bad_registry[name]
    assert list(bad_registry.loadable()) == ["good"]
    assert capsys.readouterr().out == ""


def test_an_interruption_is_one(bad_registry, tmp_path):
    (tmp_path / "bad_leaving.py").write_text("raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        bad_registry["leaving"]


def test_what_is_no_method_is_not_registered():
    with pytest.raises(
        PugnnError, match=r"test_what_is_no_method.*magic is not derived from pugnn\.methods\.base\.Method"
    ):

        @METHODS.register("magic")
        def magic(): ...

    assert "magic" not in METHODS


PLUG_IN = """
import numpy as np
from pugnn.metrics import metric
from pugnn.priors import PRIORS

@metric("error", "decisions", "error rate")
def error(truth, decided):
    return np.float32((truth != decided).mean())

@PRIORS.register("half-median")
def half_median(hidden):
    return np.median(hidden.ranks) / 2
"""


@pytest.fixture
def plug_in(tmp_path, monkeypatch):
    """A package with a metric and an estimator of the prior, which the registries have not seen yet."""
    (tmp_path / "plug_in.py").write_text(PLUG_IN)
    info = tmp_path / "plug_in-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plug-in\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[pugnn.metrics]\nerror = plug_in\n[pugnn.priors]\nhalf-median = plug_in\n")
    monkeypatch.syspath_prepend(tmp_path)
    for registry in (METRICS, PRIORS):
        registry._import_room()
        monkeypatch.setattr(registry, "_registered", dict(registry._registered))
        vars(registry).pop("_entry_points", None)
    yield
    sys.modules.pop("plug_in", None)
    for registry in (METRICS, PRIORS):
        vars(registry).pop("_entry_points", None)


@pytest.mark.usefixtures("plug_in")
def test_a_metric_and_a_prior_of_another_package():
    truth = np.arange(60) < 20
    found = measure(SimpleNamespace(positive=truth, scored=np.arange(60)), truth * 0.8, 0.5)
    assert found["error"] == 0.0
    assert type(found["error"]) is float
    assert (METRICS.provider("error"), METRICS.provider("f1")) == ("plug-in", "pugnn")
    assert METRICS.provider("precision_at_20") == "pugnn"
    words = [(each.short, value) for each, value in in_words({"error": 25, "f1": None, "not here": 3, "test_nodes": 9})]
    assert words == [("F1", "not defined"), ("error rate", "25.0 %")]
    settled = settle_prior("half-median", evidence(0.2, apart=2.5))
    assert settled.by == "half-median"
    assert PRIORS.provider("half-median") == "plug-in"


@pytest.mark.usefixtures("plug_in")
def test_a_model_names_the_package_of_its_prior(tmp_path, monkeypatch):
    found = PUNodeClassifier(LabelPropagation(prior="half-median"), progress=False).fit(
        random_graph(60, 0.1, seed=0), range(6)
    )
    found.save(tmp_path / "model")
    assert PUNodeClassifier.load(tmp_path / "model").method.prior == "half-median"
    monkeypatch.setattr(PRIORS, "_entry_points", {})
    monkeypatch.delitem(PRIORS._registered, "half-median")
    with pytest.raises(PugnnError, match="estimator of the prior 'half-median' comes from plug-in, which is not in"):
        PUNodeClassifier.load(tmp_path / "model")


@pytest.mark.usefixtures("plug_in")
def test_a_cell_that_registers_a_metric_may_run_twice():
    for _ in range(2):
        exec(PLUG_IN, {"__name__": "notebook"})
    assert METRICS["error"].words == "error rate"
    with pytest.raises(PugnnError, match=r"two metrics are called 'f1': pugnn\.metrics\.classification\.f1 and "):

        @metric("f1", "decisions", "another F1")
        def another(truth, decided): ...


def test_ours_stay_ours(registry, tmp_path):
    (tmp_path / "other_things-1.0.dist-info" / "entry_points.txt").write_text("[pugnn.methods]\nviews = other_things\n")
    fresh = Registry("method", "pugnn.methods", "pugnn.methods")
    fresh._registered = dict(METHODS._registered)
    assert fresh["views"] is METHODS["views"]
    assert fresh.provider("views") == "pugnn"
