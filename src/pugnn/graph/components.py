"""Connected components."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pugnn.graph.compiling import kernel


def connected_components(indptr: NDArray[np.int64], indices: NDArray[np.int32]) -> NDArray[np.int32]:
    """Number of the component of each node, from 0 in the order of their first nodes, shape ``(N,)``.

    Example:
        >>> connected_components(np.array([0, 1, 1, 2]), np.array([2, 0], dtype=np.int32)).tolist()
        [0, 1, 0]
    """
    found: NDArray[np.int32] = _components(indptr, indices)
    return found


@kernel(nogil=True)
def _components(indptr, indices):  # type: ignore[no-untyped-def]
    n = len(indptr) - 1
    component = np.full(n, -1, dtype=np.int32)
    queue = np.empty(n, dtype=np.int32)
    found = 0
    for first in range(n):
        if component[first] >= 0:
            continue
        component[first] = found
        queue[0], done, reached = first, 0, 1
        while done < reached:
            node = queue[done]
            done += 1
            for entry in range(indptr[node], indptr[node + 1]):
                neighbour = indices[entry]
                if component[neighbour] < 0:
                    component[neighbour] = found
                    queue[reached] = neighbour
                    reached += 1
        found += 1
    return component
