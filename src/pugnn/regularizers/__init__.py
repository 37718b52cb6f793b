"""Regularisers: what the graph asks of the embedding, whatever the labels."""

from pugnn.regularizers.structural import (
    StructuralRegularizer,
    has_fused_gpu_kernel,
    structural_sums,
    structural_sums_reference,
)

__all__ = ["StructuralRegularizer", "has_fused_gpu_kernel", "structural_sums", "structural_sums_reference"]
