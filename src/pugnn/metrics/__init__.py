"""Metrics: how good scores are where the truth is known."""

from pugnn.metrics.base import METRICS, Metric, in_words, measure, metric
from pugnn.metrics.classification import (
    accuracy,
    average_precision,
    f1,
    macro_f1,
    precision_at,
    precision_at_positives,
    roc_auc,
)

__all__ = [
    "METRICS",
    "Metric",
    "accuracy",
    "average_precision",
    "f1",
    "in_words",
    "macro_f1",
    "measure",
    "metric",
    "precision_at",
    "precision_at_positives",
    "roc_auc",
]
