"""Regularisers: what the graph asks of the embedding, whatever the labels."""

from pugnn.regularizers.structural import StructuralRegularizer, structural_sums, structural_sums_reference

__all__ = ["StructuralRegularizer", "structural_sums", "structural_sums_reference"]
