"""One seed in, as many independent ones out as a run needs."""

from __future__ import annotations

import numpy as np


def derive_seed(seed: int, *path: int) -> int:
    """A 63-bit seed that depends on ``seed`` and on every number of ``path``.

    Each epoch's randomness comes from ``derive_seed(seed, epoch, …)`` alone, so that a resumed run needs no
    state of a generator to go on exactly where it stopped.

    Example:
        >>> derive_seed(0, 1) == derive_seed(0, 1), derive_seed(0, 1) == derive_seed(0, 2)
        (True, False)
    """
    # The length goes in too: to a SeedSequence, numbers that end in zeros are the same without them.
    sequence = np.random.SeedSequence([len(path), seed, *path])
    return int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1))
