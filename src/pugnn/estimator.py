"""The estimator: fit on a graph and its known positives, score any graph with the same features."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, fields
from numbers import Real
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from pugnn.errors import PugnnError, require_number, require_whole, shorten
from pugnn.graph import Graph
from pugnn.methods import Method, make_method
from pugnn.task import PUTask, resolve_positives, resolve_unlabelled
from pugnn.training import Checkpoint, TrainingSettings, load_sealed, require_fitting, save_sealed, score

#: Version of the layout of saved models.
FORMAT = 2

#: Settings of the training that are the method's own where they are left at ``None``.
OPEN_TO_THE_METHOD = ("backbone", "hidden", "dropout", "epochs", "learning_rate", "weight_decay")


class _NotFitted(PugnnError, NotFittedError):
    """Ours and scikit-learn's."""


class PUNodeClassifier(BaseEstimator):
    """Find the positives among the unlabelled nodes of a graph.

    Parameters follow scikit-learn's conventions: they are stored as given, ``fit`` checks them, and what
    ``fit`` finds ends in an underscore. A method's own settings change with the method:
    ``set_params(method=PUGNN(delta=2))``. Settings of the training that are left at ``None`` are the method's own,
    see :class:`pugnn.training.TrainingSettings` and each method's ``training``.

    Args:
        method: a name, or a method with settings of its own such as ``PUGNN(delta=2)``.
        backbone: ``gcn``, ``gcn-linear``, ``gat``, ``gin``, ``sage``, ``appnp``, ``lsdan``, or ``mlp``, which sees no
            edges.
        hidden: size of the hidden layer.
        dropout: share of inputs dropped before each layer.
        epochs: full passes over the graph.
        learning_rate: of Adam.
        weight_decay: on the first layer.
        threshold: score from which a node is decided positive; ``"prior"`` puts it where the share of
            positives among the unlabelled nodes equals the method's prior.
        seed: decides everything random.
        device: ``cpu``, ``cuda``, ``cuda:1``, …
        progress: show a line on standard error when training takes longer than two seconds.

    Attributes:
        classes_: ``[0, 1]``, not positive and positive.
        labelled_: positions of the known positives.
        log_: one record per epoch with every term of the loss; empty where nothing is trained.
        model_: the trained network.
        recipe_: how the features were made from tables, for reading others the same way; ``None`` if they were not.
        settings_: all settings of the fit as plain values, the method's own and the estimator's.
        prior_: positive share of the unlabelled nodes that the method assumed or found.
        threshold_: the threshold as a number.

    Example:
        >>> from pugnn import Graph, PUNodeClassifier
        >>> graph = Graph.from_edges([0, 1, 2, 3, 4], [1, 2, 0, 4, 5], features=np.eye(6))
        >>> classifier = PUNodeClassifier(epochs=5).fit(graph, positives=[0])  # doctest: +SKIP
        >>> classifier.predict_proba().shape  # doctest: +SKIP
        (6, 2)
    """

    def __init__(
        self,
        method: str | Method = "pu-gnn",
        *,
        backbone: str | None = None,
        hidden: int | None = None,
        dropout: float | None = None,
        epochs: int | None = None,
        learning_rate: float | None = None,
        weight_decay: float | None = None,
        threshold: float | Literal["prior"] = 0.5,
        seed: int = 0,
        device: str = "cpu",
        progress: bool = True,
    ) -> None:
        self.method = method
        self.backbone = backbone
        self.hidden = hidden
        self.dropout = dropout
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.threshold = threshold
        self.seed = seed
        self.device = device
        self.progress = progress

    def fit(
        self,
        graph: Graph,
        positives: Any,
        *,
        unlabelled: ArrayLike | None = None,
        checkpoint: str | Path | None = None,
    ) -> Self:
        """Train on a graph and its known positives.

        Args:
            graph: the graph.
            positives: ids, positions, a mask, or a vector of 1/0 or 1/−1; see
                :func:`pugnn.task.positives.resolve_positives`.
            unlabelled: positions of the nodes that the loss treats as unlabelled; by default all that are
                not known positives. Known positives among them are left out.
            checkpoint: a file to save the state of the training in now and then. If it exists, training
                goes on from there, with the same result as without the interruption. It is yours to remove.
        """
        _check_graph(graph)
        method = self._method()
        settings = self._settings(method)
        self._check_threshold(method)
        task = PUTask.from_positives(graph, resolve_positives(graph, positives))
        if unlabelled is not None:
            task = PUTask(graph, task.labelled, resolve_unlabelled(graph, unlabelled, task.labelled))
        state = None
        if checkpoint is not None:
            state = Checkpoint(Path(checkpoint), _identity(task, method, settings))
        fitted = method.fit(task, settings, checkpoint=state, progress=self.progress)
        self.model_, self.log_, self.prior_ = fitted.model, fitted.log, fitted.prior
        self.settings_ = self._settings_record()  # as fitted, whatever set_params does later
        self.labelled_ = task.labelled
        self.classes_ = np.array([0, 1])
        self.num_features_, self.feature_names_ = graph.num_features, graph.feature_names
        self.recipe_ = graph.recipe
        self._graph: Graph | None = graph
        scores = score(self.model_, graph).numpy()
        self.threshold_ = (
            _prior_threshold(scores[task.unlabelled], self.prior_)
            if self.threshold == "prior"
            else float(self.threshold)
        )
        return self

    def predict_proba(self, graph: Graph | None = None) -> NDArray[np.float64]:
        """Probability of each class for every node, shape ``(N, 2)``; column 1 is the score.

        Args:
            graph: another graph with the same features; by default the one that ``fit`` saw.
        """
        graph = self._checked(graph)
        positive = score(self.model_, graph).numpy()
        return np.stack([1 - positive, positive], axis=1)

    def predict(self, graph: Graph | None = None) -> NDArray[np.int64]:
        """Decision for every node, shape ``(N,)``: 1 where the score reaches the threshold."""
        return (self.predict_proba(graph)[:, 1] >= self.threshold_).astype(np.int64)

    def save(self, path: str | Path) -> None:
        """Write the model to one safetensors file. The training graph is not part of it."""
        self._require_fit()
        metadata = {
            "format": FORMAT,
            **self.settings_,
            "num_features": self.num_features_,
            "feature_names": self.feature_names_,
            "recipe": self.recipe_,
            "threshold": self.threshold_,
            "prior": self.prior_,
        }
        save_sealed(Path(path), self.model_.state_dict(), metadata)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model that :meth:`save` wrote. Nothing in the file is executed."""
        tensors, metadata = load_sealed(Path(path))
        if metadata.get("format") not in (1, FORMAT):  # the first had no recipe
            raise PugnnError(f"{path} is not a model of this version of pugnn; load it with the one that wrote it")
        try:
            estimator = cls._of_metadata(metadata)
            method = estimator._method()
            estimator._check_threshold(method)
            settings = estimator._settings(method)
            with torch.device("meta"):  # sizes are compared before there is any memory for them
                require_fitting(method.build(estimator.num_features_, settings).state_dict(), tensors)
            estimator.model_ = method.build(estimator.num_features_, settings)
            estimator.model_.load_state_dict(tensors)
        except (
            ArithmeticError,
            AttributeError,
            LookupError,
            MemoryError,
            RuntimeError,
            TypeError,
            ValueError,
        ) as error:
            raise PugnnError(f"{path} is not a model of this version of pugnn: {error}") from None
        estimator.model_.eval()
        estimator.settings_ = estimator._settings_record()
        estimator.classes_ = np.array([0, 1])
        estimator._graph = None
        return estimator

    @classmethod
    def _of_metadata(cls, metadata: dict[str, Any]) -> Self:
        """An estimator without a network from what :meth:`save` wrote beside the weights, all of it looked at."""
        options = dict(metadata["method"])
        estimator = cls(make_method(options.pop("name"), **options), **metadata["parameters"])
        require_whole("num_features", metadata["num_features"], 0)
        estimator.num_features_ = metadata["num_features"]
        names, recipe = metadata["feature_names"], metadata.get("recipe")
        if names is not None and (not isinstance(names, list) or len(names) != estimator.num_features_):
            raise PugnnError("its feature names do not fit its features")
        if recipe is not None and not isinstance(recipe, dict):
            raise PugnnError("its recipe is no table of names and values")
        estimator.feature_names_ = None if names is None else tuple(map(str, names))
        estimator.recipe_ = recipe
        for name in ("threshold", "prior"):
            require_number(name, metadata[name])
            if not 0 <= metadata[name] <= 1:
                raise PugnnError(f"its {name} is {metadata[name]}, which is not between 0 and 1")
        estimator.threshold_, estimator.prior_ = metadata["threshold"], metadata["prior"]
        return estimator

    def _settings_record(self) -> dict[str, Any]:
        """All settings as plain values, for JSON: the method's own and the estimator's."""
        method = self._method()
        given = {name: value for name, value in self.get_params(deep=False).items() if name != "method"}
        resolved = asdict(self._settings(method)) if method.trains else {}
        parameters = {name: _plain(value) for name, value in {**given, **resolved}.items()}
        options = {name: _plain(value) for name, value in asdict(method).items()}
        return {"method": {"name": method.name, **options}, "parameters": parameters}

    # ------------------------------------------------------------------ checks

    def _method(self) -> Method:
        method = make_method(self.method) if isinstance(self.method, str) else self.method
        if not isinstance(method, Method):
            raise PugnnError(f"method must be a name or a method such as PUGNN(delta=2); got {self.method!r}")
        method.check_kinds()
        return method

    def _settings(self, method: Method) -> TrainingSettings:
        mine = {field.name: getattr(self, field.name) for field in fields(TrainingSettings)}
        given = {name: value for name, value in mine.items() if value is not None or name not in OPEN_TO_THE_METHOD}
        surplus = [name for name in OPEN_TO_THE_METHOD if name in given]
        if surplus and not method.trains:
            raise PugnnError(f"{method.name} trains no network, so {surplus[0]} says nothing; leave it out")
        return TrainingSettings(**{**method.training, **given})

    def _check_threshold(self, method: Method) -> None:
        threshold: Any = self.threshold
        if threshold == "prior" and getattr(method, "prior", 0.5) is None:
            raise PugnnError(
                f"the threshold 'prior' cuts at a known share of positives, and {method.name} was told none; give it "
                "the prior, such as 0.1, or a threshold as a number"
            )
        number = isinstance(threshold, Real) and not isinstance(threshold, bool)
        if threshold != "prior" and not (number and 0 <= float(threshold) <= 1):
            raise PugnnError(f"threshold must be a number from 0 to 1, or 'prior'; got {self.threshold!r}")

    def _require_fit(self) -> None:
        if not hasattr(self, "model_"):
            raise _NotFitted("this classifier has not been fitted; call fit(graph, positives) first")

    def _checked(self, graph: Graph | None) -> Graph:
        self._require_fit()
        graph = self._graph if graph is None else graph
        if graph is not None and not isinstance(graph, Graph):
            raise _not_a_graph(graph)
        if graph is None:
            raise PugnnError("a loaded model holds no graph; give the graph to score: predict_proba(graph)")
        if graph.recipe is not None and graph.recipe != self.recipe_:
            if self.recipe_ is None:
                raise PugnnError(
                    "the graph's features were made from tables, but the model was trained on a matrix of features; "
                    "give it the same features as a matrix"
                )
            raise PugnnError(
                "the graph's features were made by another recipe than the model's; read its tables with the model's: "
                "read_graph(…, recipe=classifier.recipe_)"
            )
        if graph.num_features != self.num_features_:
            raise PugnnError(
                f"the model was trained with {self.num_features_} features, the graph has {graph.num_features}. "
                "Give the same features, in the same order."
            )
        if None not in (self.feature_names_, graph.feature_names) and graph.feature_names != self.feature_names_:
            assert self.feature_names_ is not None
            assert graph.feature_names is not None
            ours, theirs = self.feature_names_, graph.feature_names
            if set(ours) == set(theirs):
                raise PugnnError("the features are the model's but in another order; reorder the columns")
            raise PugnnError(
                f"the model was trained with other features: it misses {shorten(sorted(set(ours) - set(theirs)))} "
                f"and does not know {shorten(sorted(set(theirs) - set(ours)))}"
            )
        return graph


def _not_a_graph(given: object) -> PugnnError:
    return PugnnError(f"expected a pugnn.Graph, got {type(given).__name__}; make one with Graph.from_edges")


def _check_graph(graph: Graph) -> None:
    if not isinstance(graph, Graph):
        raise _not_a_graph(graph)
    if not graph.num_nodes:
        raise PugnnError("the graph is empty: it has no nodes")
    if not graph.num_edges:
        raise PugnnError("the graph has no edges, so there is no structure to learn from; check the edge list")


def _prior_threshold(scores: NDArray[np.float64], prior: float) -> float:
    count = min(len(scores), max(1, round(prior * len(scores))))
    # A score of 0 says that nothing speaks for the node; no prior makes it a positive.
    return max(float(np.sort(scores)[-count]), np.finfo(np.float64).tiny)


def _identity(task: PUTask, method: Method, settings: TrainingSettings) -> str:
    """A digest of all that decides the result, so that a checkpoint is never continued with something else."""
    graph = task.graph
    features = graph.features if isinstance(graph.features, np.ndarray) else sp.csr_array(graph.features)
    matrices = [features] if isinstance(features, np.ndarray) else [features.data, features.indices, features.indptr]
    digest = hashlib.sha256()
    for array in (graph.indptr, graph.indices, graph.weights, task.labelled, task.unlabelled, *matrices):
        if array is not None:
            digest.update(f"{array.dtype} {array.shape}".encode())  # so that it is clear where each array ends
            digest.update(np.ascontiguousarray(array).tobytes())
    settings_text = json.dumps([method.name, asdict(method), asdict(settings)], sort_keys=True, default=_plain)
    digest.update(settings_text.encode())
    return digest.hexdigest()


def _plain(value: Any) -> Any:
    """A number of numpy's as Python's own, for JSON."""
    return value.item() if isinstance(value, np.generic) else value
