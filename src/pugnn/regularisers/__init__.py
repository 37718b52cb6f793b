"""Regularisers: what the graph asks of the embedding, whatever the labels."""

from pugnn.regularisers.structural import (
    StructuralRegulariser,
    has_fused_gpu_kernel,
    structural_sums,
    structural_sums_reference,
)

__all__ = ["StructuralRegulariser", "has_fused_gpu_kernel", "structural_sums", "structural_sums_reference"]
