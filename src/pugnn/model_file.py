"""The file of a model: weights, settings, and what it must be given to score a graph."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from pugnn.errors import PugnnError, require_number, require_type, require_whole, shorten
from pugnn.evidence import Prior
from pugnn.graph import Graph
from pugnn.methods import METHODS
from pugnn.models import BACKBONES, BackboneLike, Scored
from pugnn.priors import PRIORS
from pugnn.registry import Registry
from pugnn.task import KnownIds
from pugnn.training import load_sealed
from pugnn.training.scoring import ABOVE_ALL_SCORES

#: Version of the layout.
FORMAT = 3

#: What torch and our checks may raise for a file from elsewhere.
UNLOADABLE = (ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError, TypeError, ValueError)


def model_file_of(run_or_file: Path) -> Path:
    """The file of a model: that in a run folder, or the file itself."""
    return run_or_file / "model.safetensors" if os.path.isdir(run_or_file) else run_or_file


def load_model(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Weights and metadata of a model, its values checked."""
    weights, metadata = load_sealed(path)
    if metadata.get("format") != FORMAT:
        raise PugnnError(f"{path} is not a model of this version of pugnn; load it with the version that wrote it")
    try:
        require_whole("num_features", metadata["num_features"], 0)
        names = metadata["feature_names"]
        if names is not None:
            if not isinstance(names, list) or len(names) != metadata["num_features"]:
                raise PugnnError("its feature names do not match its features")
            metadata["feature_names"] = tuple(map(str, names))
        require_type("recipe", metadata["recipe"], dict | None, "a mapping")
        for name, most in (("threshold", ABOVE_ALL_SCORES), ("prior", 1.0)):
            require_number(name, metadata[name])
            if not 0 <= metadata[name] <= most:
                raise PugnnError(f"its {name} is {metadata[name]}, which is not between 0 and 1")
        shares = metadata.setdefault("relation_weights", None)  # files of earlier versions have none
        require_type("relation_weights", shares, dict | None, "a mapping")
        for name, share in (shares or {}).items():
            require_number(f"the weight of the relation {name!r}", share)
        settled, scored = metadata["settled_prior"], metadata["scored"]
        if settled is not None:
            for name in ("value", "low", "high", "least", "most"):
                require_number(name, settled[name])
            metadata["settled_prior"] = Prior(**settled)
        metadata["known"] = KnownIds.from_plain(metadata["known"])
        if scored is not None:
            reduced, *sizes = scored
            for size in sizes:
                require_whole("scored", size, 0)
            metadata["scored"] = Scored(bool(reduced), *sizes)
    except UNLOADABLE as error:
        raise PugnnError(f"{path} cannot be loaded: {error}") from None
    return weights, metadata


def require_providers(metadata: dict[str, Any], backbone: BackboneLike | None) -> None:
    """Say which package a model needs that is not installed, and ask for a backbone that has no name."""
    method, parameters = metadata["method"], metadata["parameters"]
    needed: dict[str, tuple[Any, Registry[Any]]] = {
        "method": (method["name"], METHODS),
        "backbone": (parameters.get("backbone"), BACKBONES),
        "prior": (method.get("prior"), PRIORS),
    }
    for kind, provider in metadata.get("provided_by", {}).items():
        name, registry = needed[kind]
        if name in registry or (kind == "backbone" and backbone is not None):
            continue
        if provider is None:
            raise PugnnError(f"its backbone {name} was given as an object; give it again: load(…, backbone=…)")
        words = f"the {registry.kind} {name!r} comes from {provider}, which is not installed here"
        raise PugnnError(f"{words}. Install it, or import the module that registers it")


def require_same_features(
    graph: Graph, num_features: int, names: tuple[str, ...] | None, recipe: Mapping[str, Any] | None
) -> None:
    """Raise an error unless a graph has the features that the model was trained with."""
    if graph.recipe is not None and graph.recipe != recipe:
        remedy = "Read its tables with the model's recipe: read_graph(…, recipe=classifier.recipe_)"
        if recipe is None:
            remedy = "The model was trained on a matrix of features: give it the same features as a matrix"
        raise PugnnError(f"the graph's features were made by a recipe different from the model's. {remedy}")
    if graph.num_features != num_features:
        words = f"the model was trained with {num_features} features, the graph has {graph.num_features}"
        raise PugnnError(f"{words}. Give the same features, in the same order.")
    theirs = graph.feature_names
    if names is None or theirs is None or names == theirs:
        return
    missing, unknown = sorted(set(names) - set(theirs)), sorted(set(theirs) - set(names))
    if not missing and not unknown:
        raise PugnnError("the features are the model's but in another order; reorder the columns")
    differ = f"it misses {shorten(missing)} and does not know {shorten(unknown)}"
    raise PugnnError(f"the model was trained with other features: {differ}")
