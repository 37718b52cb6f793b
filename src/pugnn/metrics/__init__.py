"""Metrics: how good scores are where the truth is known, and bands where it is not."""

from pugnn.metrics.bands import Audit, Decided, Estimate, First, Hidden, Prior, estimate
from pugnn.metrics.base import METRICS, Metric, measure, metric
from pugnn.metrics.classification import (
    accuracy,
    average_precision,
    f1,
    macro_f1,
    precision_at,
    precision_at_positives,
    roc_auc,
)
from pugnn.metrics.rank_model import Band, RankModel

__all__ = [
    "METRICS",
    "Audit",
    "Band",
    "Decided",
    "Estimate",
    "First",
    "Hidden",
    "Metric",
    "Prior",
    "RankModel",
    "accuracy",
    "average_precision",
    "estimate",
    "f1",
    "macro_f1",
    "measure",
    "metric",
    "precision_at",
    "precision_at_positives",
    "roc_auc",
]
