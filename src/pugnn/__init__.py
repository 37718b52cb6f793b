"""Positive-unlabelled node classification: a graph, a handful of known positives, no negatives."""
