"""Which modules are searched for doctests."""

from importlib.util import find_spec

# It needs Triton, which comes with torch for CUDA.
collect_ignore = [] if find_spec("triton") else ["pugnn/regularisers/structural_gpu.py"]
