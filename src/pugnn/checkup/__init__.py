"""The check-up: what a graph and its known positives look like before anything is trained."""

from pugnn.checkup.examine import CheckUp, check_up
from pugnn.checkup.findings import Finding
from pugnn.checkup.homophily import Homophily
from pugnn.checkup.sampling import Sampling
from pugnn.checkup.sizes import Degrees, Hub, Reach, Ring, Rings, true_share_of_rings

__all__ = [
    "CheckUp",
    "Degrees",
    "Finding",
    "Homophily",
    "Hub",
    "Reach",
    "Ring",
    "Rings",
    "Sampling",
    "check_up",
    "true_share_of_rings",
]
