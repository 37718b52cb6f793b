"""Regularisers: penalties on the embedding that depend on the graph, not on labels."""

from pugnn.regularisers.structural import (
    StructuralRegulariser,
    has_fused_gpu_kernel,
    structural_sums,
    structural_sums_reference,
)

__all__ = ["StructuralRegulariser", "has_fused_gpu_kernel", "structural_sums", "structural_sums_reference"]
