"""Metrics: how good scores are where the truth is known."""

from pugnn.metrics.classification import accuracy, average_precision, f1, macro_f1, precision_at, roc_auc

__all__ = ["accuracy", "average_precision", "f1", "macro_f1", "precision_at", "roc_auc"]
