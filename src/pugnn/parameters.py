"""Parameters in the way of scikit-learn, whose import would take as long as torch's."""

from __future__ import annotations

from copy import deepcopy
from inspect import signature
from typing import Any, Self

from pugnn.errors import PugnnError, html_table


class Parameters:
    """What scikit-learn asks of an estimator: its constructor stores the parameters under their names, untouched.

    ``sklearn.clone``, pipelines and searches accept it, as if it inherited from ``sklearn.base.BaseEstimator``.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 (no parameter has any of its own)
        """All parameters by name."""
        return {name: getattr(self, name) for name in signature(type(self)).parameters}

    def set_params(self, **given: Any) -> Self:
        """Change some parameters."""
        known = self.get_params()
        for name in given:
            if name not in known:
                raise PugnnError(f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(known)}")
        vars(self).update(given)
        return self

    def unfitted(self) -> Self:
        """Another one with the same parameters, which has not been fitted."""
        return type(self)(**deepcopy(self.get_params()))

    def __repr__(self) -> str:
        defaults = {name: parameter.default for name, parameter in signature(type(self)).parameters.items()}
        given = self.get_params().items()
        changed = [f"{name}={value!r}" for name, value in given if repr(value) != repr(defaults[name])]
        return f"{type(self).__name__}({', '.join(changed)})"

    def _repr_html_(self) -> str:
        """In a notebook: what is known of the ranking, what is measured, and what to do next."""
        if not hasattr(self, "model_"):
            return html_table(repr(self), ["Not fitted yet."])
        estimate = getattr(self, "estimate_", None)
        unknown = ("Nothing. To hide known positives and train again without them: pugnn.evaluate",)
        known = unknown if estimate is None else estimate.headline
        facts = [f"What is known: {' '.join(known)}", "What is measured: Nothing yet."]
        if estimate is None or estimate.signal:
            facts.append("What to do next: Check 20 nodes drawn for it, about 20 minutes: audit(n=20)")
        return html_table(repr(self), facts)

    def __sklearn_tags__(self) -> Any:
        from sklearn.base import BaseEstimator

        return BaseEstimator().__sklearn_tags__()


def require_fitted(given: Any, what: str = "estimator") -> None:
    """Raise unless this is a classifier that was fitted or loaded; ``what`` it is for messages."""
    if not isinstance(given, Parameters):
        raise PugnnError(f"{what} must be a fitted PUNodeClassifier, got {type(given).__name__}")
    if not hasattr(given, "model_"):
        from sklearn.exceptions import NotFittedError

        error = type("NotFittedError", (PugnnError, NotFittedError), {})  # which scikit-learn recognises
        raise error("this classifier has not been fitted; call fit(graph, positives) first")
