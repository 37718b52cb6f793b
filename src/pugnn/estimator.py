"""The estimator: fit on a graph and its known positives, score any graph with the same features."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pugnn import decisions, fitting, warm_start
from pugnn.errors import PugnnError
from pugnn.evidence import Audit, find_reasons
from pugnn.evidence.bands import estimate
from pugnn.evidence.prior import Prior
from pugnn.evidence.stretches import About
from pugnn.files import as_path
from pugnn.graph import Graph
from pugnn.graph.layers import fused
from pugnn.methods import DEFAULT_METHOD, Method, make_method
from pugnn.model_file import FORMAT, UNLOADABLE, load_model, require_providers, require_same_features
from pugnn.models import Backbone, BackboneLike
from pugnn.parameters import Parameters, require_fitted
from pugnn.store.given import as_graph
from pugnn.task import KnownIds, PUTask
from pugnn.task.task import target_positions
from pugnn.threads import threads_for
from pugnn.training import Checkpoint, RunOptions, TrainingSettings, fix_scoring, log_odds, save_sealed, scores_of

#: What a model's file holds besides weights and settings: attributes of the estimator, without their underscore.
SAVED = ("num_features", "feature_names", "recipe", "threshold", "prior", "settled_prior", "known", "relation_weights")


class PUNodeClassifier(Parameters):
    """Find the positives among the unlabelled nodes of a graph.

    Parameters follow scikit-learn's conventions: they are stored as given, ``fit`` checks them, and what
    ``fit`` finds ends in an underscore. A method's own settings change with the method:
    ``set_params(method=PUGNN(delta=2))``. Settings of the training that are left at ``None`` are the method's own,
    see :class:`pugnn.training.TrainingSettings` and each method's ``training``.

    Args:
        method: a name, or a method with settings such as ``PUGNN(delta=2)``.
        backbone: a name (:data:`pugnn.models.BACKBONES`), or your own factory or network
            (:class:`pugnn.models.Backbone`).
        hidden: size of the hidden layer.
        dropout: share of inputs dropped before each layer.
        epochs: full passes over the graph.
        learning_rate: of Adam.
        weight_decay: on the first layer.
        batch_size: unlabelled nodes per step, or ``"auto"``: all if they fit into memory, otherwise as many as do.
        threshold: score from which a node is decided positive; ``"prior"`` decides the share of the method's prior.
        budget: decide so many unlabelled nodes, those that score highest, whatever the estimate.
        decide: decide although hidden positives cannot be told from other nodes.
        seed: controls all randomness.
        device: ``cpu``, ``cuda``, ``cuda:1``, …
        progress: show a line on standard error when training takes longer than two seconds.

    Attributes:
        classes_: ``[0, 1]``, not positive and positive.
        degenerate_: signs that the training has collapsed (:class:`pugnn.evidence.Reason`); empty if it is healthy.
        labelled_, negative_: positions of the known positives, and of the known negatives.
        known_: the known nodes by their ids (:class:`pugnn.task.KnownIds`); a saved model has them, too.
        log_: one record per epoch with every term of the loss; empty where nothing is trained.
        model_: the trained network; to score with it directly, take :meth:`model_for` a graph.
        notes_: sentences about what the method decided on the way.
        recipe_: how the features were made from tables, for reading others the same way; ``None`` if they were not.
        settings_: all settings of the fit as plain values, the method's own and the estimator's.
        prior_: positive share of the unlabelled nodes that the method assumed or found.
        settled_prior_: how it was settled, with an interval (:class:`pugnn.evidence.Prior`), if the method has one.
        estimate_: how many positives there are, and how good the ranking is (:class:`pugnn.evidence.Estimate`), from
            hidden positives; ``None`` if that needs further trainings, as by :func:`pugnn.evaluate`.
        relation_weights_: how much each relation counts, for methods that take one kind of edge; else ``None``.
        threshold_: the threshold as a number.
        decided_by_: who is decided positive, in words.
        warm_: whether the training went on from an earlier model.
    """

    model_: Backbone
    notes_: tuple[str, ...]
    settings_: dict[str, Any]
    _fitted: tuple[PUTask, NDArray[np.float64]] | None

    def __init__(
        self,
        method: str | Method = DEFAULT_METHOD,
        *,
        backbone: BackboneLike | None = None,
        hidden: int | None = None,
        dropout: float | None = None,
        epochs: int | None = None,
        learning_rate: float | None = None,
        weight_decay: float | None = None,
        batch_size: int | str = "auto",
        threshold: float | Literal["prior"] = 0.5,
        budget: int | None = None,
        decide: bool = False,
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
        self.batch_size = batch_size
        self.threshold = threshold
        self.budget = budget
        self.decide = decide
        self.seed = seed
        self.device = device
        self.progress = progress

    def fit(
        self,
        graph: Any,
        positives: Any = None,
        *,
        checked: Any = None,
        confirmed: Any = (),
        negatives: Any = (),
        unlabelled: ArrayLike | None = None,
        checkpoint: str | Path | None = None,
        start: PUNodeClassifier | None = None,
    ) -> Self:
        """Train on a graph and its known positives.

        Args:
            graph: a graph, what :func:`pugnn.read_graph` returned, a NetworkX graph with its node attributes, PyG data,
                an adjacency matrix of scipy's, or a data frame of edges.
            positives: see :func:`pugnn.task.resolve_positives`; may be left out if they were read with the graph.
            checked: finds that were checked, with verdicts: the file of ``pugnn suggest --out``, its column ``verdict``
                filled in with yes and no; a data frame with the columns ``id`` and ``verdict``; a mapping of ids to
                verdicts; or a list of such. What has no verdict is not checked yet.
            confirmed: more known positives: finds that turned out right. They were found by a ranking, so no
                ranking is judged by them, nor the share of positives.
            negatives: known negatives: finds that turned out wrong. They score 0 and are never decided positive.
            unlabelled: positions of the nodes that the loss treats as unlabelled; by default all that are not known.
                Known positives and negatives among them are left out.
            checkpoint: a file to save the state of the training in at intervals. If it exists, training continues, with
                the same result. It is not removed at the end.
            start: an earlier classifier to go on from: the training starts from its weights. Where its method or sizes
                are others, it starts afresh, and ``notes_`` says so.
        """
        given = {"checked": checked, "confirmed": confirmed, "negatives": negatives, "unlabelled": unlabelled}
        task, notes = fitting.make_task(graph, positives, **given)
        self.fit_task(task, checkpoint=checkpoint, start=start)
        self.notes_ = (*notes, *self.notes_)
        return self

    def check_parameters(self) -> tuple[Method, TrainingSettings]:
        """The method and the settings of its training, or an error if a parameter is invalid; ``fit`` calls it."""
        return fitting.check_settings(self.get_params())

    def fit_task(
        self, task: PUTask, *, checkpoint: str | Path | None = None, start: PUNodeClassifier | None = None
    ) -> Self:
        """Train on a task, as :meth:`fit` makes it from a graph and its known positives."""
        task = fitting.learnable_task(task)
        graph, (method, settings) = task.graph, self.check_parameters()
        run, fresh = RunOptions(progress=self.progress), ""
        if start is not None:
            require_fitted(start, "start")
            weights, earlier = start.model_.state_dict(), start.settings_["method"]["name"]
            fresh = warm_start.why_fresh(method, settings, graph.num_features, earlier, weights)
            run["start"] = None if fresh else weights
            task = replace(task, expected_left=warm_start.expected_left(task, start.settled_prior_, start.known_))
        if checkpoint is not None:
            name = warm_start.digest_of_fit(task, method, settings, run.get("start"))
            run["checkpoint"] = Checkpoint(as_path(checkpoint, "checkpoint"), name)
        with threads_for(graph.num_nodes * graph.num_features):
            self.relation_weights_ = fitting.weigh_relations(method, task, settings)
            learned = self.graph_for(graph)
            fitted, settled = fitting.settle_and_fit(method, replace(task, graph=learned), settings, run)
        hidden = fitted.hidden
        self.settled_prior_: Prior | None = settled if hidden is None else hidden.prior
        self.warm_ = start is not None and not fresh
        self.settings_ = fitting.settings_record(method, settings, self.get_params())  # whatever set_params does later
        self.model_, self.log_, self.prior_ = fitted.model, fitted.log, fitted.prior
        self.notes_ = (*fitted.notes, *([f"Nothing of the earlier model is taken over: {fresh}."] if fresh else []))
        self.known_: KnownIds = KnownIds.of(task)
        self.classes_ = np.array([0, 1])
        self.num_features_, self.feature_names_, self.recipe_ = graph.num_features, graph.feature_names, graph.recipe
        fix_scoring(self.model_, learned)
        self.restore(task, log_odds(self.model_, learned).numpy()[: graph.num_targets])
        scores = self.predict_proba()[:, 1]
        unlabelled = scores[task.unlabelled]
        wanted = (self.threshold, self.budget)
        self.threshold_, self.decided_by_ = decisions.decide(
            unlabelled, self.prior_, hidden, *wanted, anyway=self.decide
        )
        decided = int((unlabelled >= self.threshold_).sum())
        self.estimate_ = None if hidden is None else estimate(hidden, unlabelled=len(unlabelled), decided=decided)
        own = self.threshold_ if self.threshold == "prior" else decisions.DEFAULT_THRESHOLD
        about: dict[str, float] = {"threshold": self.threshold_, "own_threshold": own, "prior": self.prior_}
        found = find_reasons(scores[task.labelled], unlabelled, log=self.log_, **about)
        self.degenerate_ = fitting.warn_of_collapse((*fitted.degenerate, *found))
        return self

    def predict_proba(self, graph: Any = None) -> NDArray[np.float64]:
        """Scores under scikit-learn's name, shape ``(N, 2)``; column 1 is the score, column 0 is 1 minus it.

        With several kinds of nodes, there is a row for each of the target's, ``graph.ids[: graph.num_targets]``. They
        rank nodes and are not probabilities: only an audit tells how many nodes with such scores are positive.

        Args:
            graph: another graph with the same features, in any form that :meth:`fit` takes; by default the fitted one.
        """
        positive = scores_of(self.decision_function(graph))
        return np.stack([1 - positive, positive], axis=1)

    def decision_function(self, graph: Any = None, positives: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """Log-odds of being positive for every node or target, ``(N,)``; they differ even where scores round to 1.

        Nodes of another graph that the training knew are recognised by their ids: closeness to known positives counts,
        known negatives score 0. If ids are just positions, they are recognised in the same graph only.

        Args:
            graph: another graph with the same features, in any form that :meth:`fit` takes; by default the fitted one.
            positives: positions of the known positives of another graph, if they are others.
        """
        require_fitted(self)
        if graph is None and self._fitted is None:
            raise PugnnError("a loaded model holds no graph; give the graph to score: predict_proba(graph)")
        if self._fitted is not None and (graph is None or graph is self._fitted[0].graph):
            return self._fitted[1].copy()
        graph = as_graph(graph, self.recipe_)
        require_same_features(graph, self.num_features_, self.feature_names_, self.recipe_)
        if positives is not None:
            positives = target_positions(graph, positives, "positives")
        found: NDArray[np.float64] = log_odds(self.model_for(graph, positives), self.graph_for(graph)).numpy()
        found = found[: graph.num_targets]
        if self.known_.rejected:
            found[self.known_.find(graph)["rejected"]] = decisions.KNOWN_NEGATIVE
        return found

    def model_for(self, graph: Graph, positives: NDArray[np.int64] | None = None) -> Backbone:
        """The model, with the known positives of this graph if it needs them."""
        if self.model_.needs_known:
            if self._fitted is not None and graph is self._fitted[0].graph:
                positives = self.labelled_
            elif positives is None:
                known = self.known_.find(graph)
                positives = np.union1d(known["positives"], known["confirmed"])
            self.model_.know(self.graph_for(graph), positives)
        return self.model_

    def graph_for(self, graph: Graph) -> Graph:
        """The graph as the model takes it: itself, or the weighted sum of its relations."""
        return fused(graph, self.relation_weights_)

    def predict(self, graph: Any = None) -> NDArray[np.int64]:
        """Decision for every node, or every target: 1 where the score reaches the threshold; shape ``(N,)``."""
        found = self.decision_function(graph)
        # Known negatives are not, even with a threshold of 0.
        decided: NDArray[np.bool_] = (scores_of(found) >= self.threshold_) & (found != decisions.KNOWN_NEGATIVE)
        return decided.astype(np.int64)

    def audit(self, n: int = 20, *, about: About = "both", seed: int = 0) -> Audit:
        """Draw nodes of the fitted graph to check (:meth:`pugnn.Audit.draw`): verdicts measure how good the list is."""
        require_fitted(self)
        if self._fitted is None:
            raise PugnnError("a loaded model holds no ranking to audit; for that of a run, use `pugnn audit RUN`")
        return fitting.start_audit(*self._fitted, self).draw(n, about=about, seed=seed)

    def save(self, path: str | Path) -> None:
        """Write the model to one safetensors file. The training graph is not part of it."""
        require_fitted(self)
        metadata = {"format": FORMAT, **self.settings_, **{name: getattr(self, f"{name}_") for name in SAVED}}
        metadata["settled_prior"] = None if self.settled_prior_ is None else asdict(self.settled_prior_)
        metadata |= {"known": asdict(self.known_), "scored": self.model_.scored}
        save_sealed(as_path(path), self.model_.state_dict(), metadata)

    @classmethod
    def load(cls, path: str | Path, *, backbone: BackboneLike | None = None) -> Self:
        """Read a model that :meth:`save` wrote. Nothing in the file is executed.

        Args:
            path: the file.
            backbone: the factory or network of the training, where it was not a name.
        """
        tensors, metadata = load_model(as_path(path))
        try:
            require_providers(metadata, backbone)
            options = dict(metadata["method"])
            estimator = cls(make_method(options.pop("name"), **options), **metadata["parameters"])
            if backbone is not None:
                estimator.backbone = backbone
            for name in SAVED:
                setattr(estimator, f"{name}_", metadata[name])
            method, settings = estimator.check_parameters()
            warm_start.require_weights(method, settings, estimator.num_features_, tensors)
            estimator.model_ = method.rebuild(estimator.num_features_, settings, tensors)
            estimator.model_.load_state_dict(tensors)
        except UNLOADABLE as error:
            raise PugnnError(f"{path} cannot be loaded: {error}") from None
        estimator.model_.eval().scored = metadata["scored"]
        estimator.settings_ = fitting.settings_record(method, settings, estimator.get_params())
        estimator.classes_, estimator._fitted = np.array([0, 1]), None
        return estimator

    def restore(self, task: PUTask, log_odds: NDArray[np.float64] | None = None) -> Self:
        """Make a loaded classifier what ``fit`` made it: it knows its task, and the log-odds of all nodes there."""
        found = self.decision_function(task.graph) if log_odds is None else log_odds
        found[task.negative] = decisions.KNOWN_NEGATIVE  # whatever the model makes of them, they are known
        self.labelled_, self.negative_, self._fitted = task.labelled, task.negative, (task, found)
        return self
