"""Regularisers: penalties on the embedding that depend on the graph, not on labels."""

from pugnn.regularisers.sampled_pairs import Pairs, sample_pairs
from pugnn.regularisers.structural import StructuralRegulariser, has_fused_gpu_kernel, structural_sums

__all__ = ["Pairs", "StructuralRegulariser", "has_fused_gpu_kernel", "sample_pairs", "structural_sums"]
